"""Smoothers on an assembled matrix by rows (`start`, `column`, `value`), in order on one thread."""

import numpy as np

from glug.jit import kernel


@kernel(inline=True)
def residual_at(start, column, value, b, x, i):
    total = b[i]
    for n in range(start[i], start[i + 1]):
        total -= value[n] * x[column[n]]
    return total


@kernel
def sweep_rows(start, column, value, b, x, forward):
    """Gauss-Seidel, in place."""
    count = len(b)
    for step in range(count):
        i = step if forward else count - 1 - step
        for n in range(start[i], start[i + 1]):
            if column[n] == i:
                x[i] += residual_at(start, column, value, b, x, i) / value[n]


@kernel(inline=True)
def gather_box(start, column, value, i, matrix):
    """matrix = the sub-matrix of the unknowns in row i."""
    first, size = start[i], start[i + 1] - start[i]
    for p in range(size):
        row = column[first + p]
        for q in range(size):
            matrix[p, q] = 0.0
        for n in range(start[row], start[row + 1]):
            for q in range(size):
                if column[n] == column[first + q]:
                    matrix[p, q] = value[n]


@kernel(inline=True)
def solve_dense(matrix, right, size):
    """right = matrix^-1 right by Cholesky factorisation in place."""
    for p in range(size):
        for q in range(p + 1):
            total = matrix[p, q]
            for s in range(q):
                total -= matrix[p, s] * matrix[q, s]
            matrix[p, q] = total / matrix[q, q] if q < p else np.sqrt(total)
    for p in range(size):
        for s in range(p):
            right[p] -= matrix[p, s] * right[s]
        right[p] /= matrix[p, p]
    for back in range(size):
        p = size - 1 - back
        for s in range(p + 1, size):
            right[p] -= matrix[s, p] * right[s]
        right[p] /= matrix[p, p]


@kernel
def sweep_boxes(start, column, value, most, b, x, forward):
    """For every row solve for all its unknowns together, in place; no row has more than `most`."""
    count = len(b)
    matrix, right = np.empty((most, most)), np.empty(most)
    for step in range(count):
        i = step if forward else count - 1 - step
        first, size = start[i], start[i + 1] - start[i]
        for p in range(size):
            right[p] = residual_at(start, column, value, b, x, column[first + p])
        gather_box(start, column, value, i, matrix)
        solve_dense(matrix, right, size)
        for p in range(size):
            x[column[first + p]] += right[p]
