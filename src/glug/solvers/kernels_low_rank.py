"""Kernels of reduced unknowns: sparse rows J per item, gathered by item and, transposed, by sample.

Both directions gather, so no two threads write to one place; sums run in the order of the entries, so the result does
not depend on the number of threads.
"""

import numpy as np

from glug.jit import kernel, prange


@kernel(parallel=True)
def sum_rows(x, cell, coefficient, chunks, out):
    """out[t] = sum over the entries of chunk t of coefficient * x[cell]."""
    for t in prange(chunks.shape[0]):
        first, count = chunks[t, 0], chunks[t, 1] - chunks[t, 0]
        values = np.empty(count)
        for e in range(count):
            values[e] = x[cell[first + e]]
        for c in range(coefficient.shape[0]):
            row = coefficient[c, first : first + count]
            total = 0.0
            for e in range(count):
                total += row[e] * values[e]
            out[t, c] = total


@kernel(parallel=True)
def spread_rows(z, first, item, coefficient, out):
    """out[t] = sum over the entries of sample t, from first[t] to first[t + 1], of coefficient . z[item]."""
    for t in prange(out.shape[0]):
        total = 0.0
        for e in range(first[t], first[t + 1]):
            for c in range(coefficient.shape[1]):
                total += coefficient[e, c] * z[item[e], c]
        out[t] = total


@kernel(parallel=True)
def add_rows(z, touched, first, item, coefficient, q):
    """q += the same, at the samples `touched`."""
    for t in prange(touched.shape[0]):
        total = 0.0
        for e in range(first[t], first[t + 1]):
            for c in range(coefficient.shape[1]):
                total += coefficient[e, c] * z[item[e], c]
        q[touched[t]] += total
