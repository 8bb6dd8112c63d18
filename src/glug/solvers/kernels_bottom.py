"""Kernels of the coarsest level: its matrix from products with it, the parts of it, and its solution."""

import numpy as np

from glug.jit import kernel


@kernel(inline=True)
def source(place, colour):
    """The sample of every third, from `colour` on, that is at `place` or next to it."""
    return place + (colour - place + 1) % 3 - 1


@kernel
def take_columns(products, places, number, ci, cj, ck, matrix):
    """Write the products with one at every third sample into the columns of these samples.

    `number` are the columns of the component that was one there, -1 at samples that are no unknowns; `places` (3, n)
    are the samples of the rows, component by component.
    """
    ni, nj, nk = number.shape
    row = 0
    for c in range(len(places)):
        place, product = places[c], products[c]
        for n in range(place.shape[1]):
            i, j, k = place[0, n], place[1, n], place[2, n]
            si, sj, sk = source(i, ci), source(j, cj), source(k, ck)
            if 0 <= si < ni and 0 <= sj < nj and 0 <= sk < nk and number[si, sj, sk] >= 0:
                matrix[row, number[si, sj, sk]] = product[i, j, k]
            row += 1


@kernel
def label_parts(matrix, label):
    """label = the connected part of every row, numbered by their first rows; returns how many there are."""
    n = matrix.shape[0]
    waiting = np.empty(n, np.int64)
    label[:] = -1
    parts = 0
    for first in range(n):
        if label[first] >= 0:
            continue
        label[first] = parts
        waiting[0], count = first, 1
        while count > 0:
            count -= 1
            row = matrix[waiting[count]]
            for m in range(n):
                if row[m] != 0.0 and label[m] < 0:
                    label[m] = parts
                    waiting[count] = m
                    count += 1
        parts += 1
    return parts


@kernel
def solve_factored(factor, x):
    """x = (L L')^-1 x, in place; `factor` holds L by rows, and is not read above its diagonal.

    Library calls cost several times as much for a matrix of this size, and differ from one library to another.
    """
    n = np.uint64(len(x))
    one = np.uint64(1)
    for i in range(n):
        row = factor[i]
        total = 0.0
        for m in range(i):
            total += row[m] * x[m]
        x[i] = (x[i] - total) / row[i]
    for step in range(n):
        i = n - one - step
        row = factor[i]
        x[i] /= row[i]
        value = x[i]
        for m in range(i):
            x[m] -= value * row[m]
