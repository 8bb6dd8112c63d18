"""Kernels of a symmetric matrix in compressed rows, for vectors that are fields of one row, (1, 1, n).

Row n of A x is rest[n] x[n] + sum a_nm (x[m] - x[n]) over its entries, all off the diagonal: differences of velocities
times stiff couplings, and the small mass apart from them, so that float32 does not lose it. Blocks are runs of rows.
"""

import numpy as np

from glug.jit import kernel, prange

ONE = np.uint64(1)


@kernel(inline=True)
def row_product(start, length, column, value, rest, x, n):
    """Row n times x; sums in the precision of x."""
    here = x[n]
    total = rest[n] * here
    for o in range(np.uint64(start[n]), np.uint64(start[n]) + np.uint64(length[n])):
        total += value[o] * (x[np.uint64(column[o])] - here)
    return total


@kernel(parallel=True)
def multiply(start, length, column, value, rest, x, q, blocks, sums):
    """q = A x; x . q per block."""
    v, out = x[0][0, 0], q[0][0, 0]
    for t in prange(blocks.shape[0]):
        total = np.float64(0.0)
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            a = row_product(start, length, column, value, rest, v, n)
            out[n] = a
            total += np.float64(a) * np.float64(v[n])
        sums[t] = total


@kernel(parallel=True)
def residual(start, length, column, value, rest, b, x, r, blocks):
    """r = b - A x."""
    v, known, out = x[0][0, 0], b[0][0, 0], r[0][0, 0]
    for t in prange(blocks.shape[0]):
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            out[n] = np.float32(known[n] - row_product(start, length, column, value, rest, v, n))


@kernel(inline=True)
def diagonal_entry(start, length, value, rest, n):
    """What the row has on its diagonal."""
    total = np.float64(rest[n])
    for o in range(np.uint64(start[n]), np.uint64(start[n]) + np.uint64(length[n])):
        total -= np.float64(value[o])
    return total


@kernel(parallel=True)
def diagonal(start, length, value, rest, g, blocks):
    """The matrix's diagonal."""
    out = g[0][0, 0]
    for t in prange(blocks.shape[0]):
        for n in range(np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])):
            out[n] = np.float32(diagonal_entry(start, length, value, rest, n))


@kernel(parallel=True)
def hold_blocks(start, length, column, value, rest, hold, blocks):
    """hold = the diagonal plus half of what couples a row to other blocks."""
    out = hold[0][0, 0]
    for t in prange(blocks.shape[0]):
        first, last = blocks[t, 2], blocks[t, 3]
        for n in range(np.uint64(first), np.uint64(last)):
            total = diagonal_entry(start, length, value, rest, n)
            for o in range(np.uint64(start[n]), np.uint64(start[n]) + np.uint64(length[n])):
                if column[o] < first or column[o] >= last:
                    total += 0.5 * abs(np.float64(value[o]))
            out[n] = np.float32(total)


@kernel(parallel=True)
def sweep(start, length, column, value, rest, b, x, before, hold, blocks, rows, forward):
    """Gauss-Seidel within blocks, Jacobi between them; the opposite order is the adjoint.

    Of the rows from first to last of a block (its third and fourth number) those are swept that `rows` lists from its
    first to its second number, or all where nothing is listed.
    """
    known, v, old, g = b[0][0, 0], x[0][0, 0], before[0][0, 0], hold[0][0, 0]
    listed = rows.shape[0] > 0
    for t in prange(blocks.shape[0]):
        first, last = np.uint64(blocks[t, 2]), np.uint64(blocks[t, 3])
        begin, end = (np.uint64(blocks[t, 0]), np.uint64(blocks[t, 1])) if listed else (first, last)
        for o in range(end - begin):
            n = begin + o if forward else end - ONE - o
            if listed:
                n = np.uint64(rows[n])
            here = v[n]
            total = known[n] - rest[n] * here
            for p in range(np.uint64(start[n]), np.uint64(start[n]) + np.uint64(length[n])):
                c = np.uint64(column[p])
                total -= value[p] * ((v[c] if first <= c < last else old[c]) - here)
            v[n] = here + total / g[n]


@kernel(parallel=True)
def copy_rows(x, out, rows):
    """out = x in the rows that are listed."""
    v, copy = x[0][0, 0], out[0][0, 0]
    for o in prange(rows.shape[0]):
        copy[rows[o]] = v[rows[o]]
