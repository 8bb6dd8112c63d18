"""Kernels of a symmetric matrix in compressed rows, the diagonal first in every row.

Vectors are fields of one row, (1, 1, n), so that those of grids serve; blocks are runs of rows.
"""

import numpy as np

from glug.jit import kernel, prange

ONE = np.uint64(1)


@kernel(inline=True)
def row_product(start, column, value, x, n):
    """Row n times x, in float64."""
    total = np.float64(0.0)
    for o in range(np.uint64(start[n]), np.uint64(start[n + ONE])):
        total += value[o] * np.float64(x[np.uint64(column[o])])
    return total


@kernel(parallel=True)
def multiply(start, column, value, x, q, blocks, sums):
    """q = A x; x . q per block."""
    v, out = x[0][0, 0], q[0][0, 0]
    for t in prange(blocks.shape[0]):
        total = np.float64(0.0)
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            a = row_product(start, column, value, v, n)
            out[n] = np.float32(a)
            total += a * np.float64(v[n])
        sums[t] = total


@kernel(parallel=True)
def residual(start, column, value, b, x, r, blocks):
    """r = b - A x."""
    v, known, out = x[0][0, 0], b[0][0, 0], r[0][0, 0]
    for t in prange(blocks.shape[0]):
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            out[n] = np.float32(np.float64(known[n]) - row_product(start, column, value, v, n))


@kernel(parallel=True)
def relax(start, column, value, b, x, before, blocks, keep, step):
    """before = x + keep (x - before) + step (b - A x) / diagonal: one term of a Chebyshev iteration."""
    v, known, out = x[0][0, 0], b[0][0, 0], before[0][0, 0]
    for t in prange(blocks.shape[0]):
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            a = np.float64(known[n]) - row_product(start, column, value, v, n)
            move = step * np.float32(a / value[np.uint64(start[n])])
            out[n] = v[n] + keep * (v[n] - out[n]) + move


@kernel(parallel=True)
def diagonal(start, value, g, blocks):
    """The matrix's diagonal."""
    out = g[0][0, 0]
    for t in prange(blocks.shape[0]):
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            out[n] = np.float32(value[np.uint64(start[n])])


@kernel(parallel=True)
def hold_blocks(start, column, value, hold, blocks):
    """hold = the diagonal plus half of what couples a row to other blocks."""
    out = hold[0][0, 0]
    for t in prange(blocks.shape[0]):
        first, last = blocks[t, 2], blocks[t, 3]
        for n in range(np.uint64(first), np.uint64(last)):
            total = value[np.uint64(start[n])]
            for o in range(np.uint64(start[n]), np.uint64(start[n + ONE])):
                if column[o] < first or column[o] >= last:
                    total += 0.5 * abs(value[o])
            out[n] = np.float32(total)


@kernel(inline=True)
def relaxed(start, column, value, known, v, old, hold, n, first, last):
    """v[n] after a Gauss-Seidel step, with old values from other blocks."""
    a = np.float64(known[n])
    for o in range(np.uint64(start[n]), np.uint64(start[n + ONE])):
        c = column[o]
        inside = first <= c < last
        a -= value[o] * np.float64(v[np.uint64(c)] if inside else old[np.uint64(c)])
    return np.float32(np.float64(v[n]) + a / np.float64(hold[n]))


@kernel(parallel=True)
def sweep(start, column, value, b, x, before, hold, blocks, forward):
    """Gauss-Seidel within blocks, Jacobi between them; the opposite order is the adjoint."""
    known, v, old, g = b[0][0, 0], x[0][0, 0], before[0][0, 0], hold[0][0, 0]
    for t in prange(blocks.shape[0]):
        first, last = blocks[t, 2], blocks[t, 3]
        if forward:
            for n in range(np.uint64(first), np.uint64(last)):
                v[n] = relaxed(start, column, value, known, v, old, g, n, first, last)
        else:
            for back in range(np.uint64(last - first)):
                n = np.uint64(last) - ONE - back
                v[n] = relaxed(start, column, value, known, v, old, g, n, first, last)
