"""Kernels of incomplete Cholesky factorisations: of seven-point stencils on a grid, and of assembled matrices.

A stencil is its links (`lx, ly, lz`, what couples the cells across a face) and the diagonal, zero where a cell is no
unknown. Cells are eliminated from both ends of the x axis towards the plane `middle`, which comes last, so two threads
share the work and the order does not depend on them. `inverse` is one over the pivots.
"""

import numpy as np

from glug.grids.kernels import ONE
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
MODIFIED = np.float32(0.97)  # share of the dropped fill that goes to the diagonal
LEAST_PIVOT = np.float32(0.25)  # of the diagonal; smaller pivots are not modified (Bridson 2015, section 5.1)


@kernel(inline=True)
def open_link(link, diagonal, i, j, k):
    """A link towards the cell (i, j, k), if that is an unknown."""
    return link if diagonal[i, j, k] > ZERO else ZERO


@kernel(inline=True)
def factorise_plane(lx, ly, lz, diagonal, i, lower, upper, inverse):
    """Pivots of the plane i. Bits 1, 2 of `lower`: the planes i - 1, i + 1 come before it; of `upper`: after it."""
    nj, nk = np.uint64(diagonal.shape[1]), np.uint64(diagonal.shape[2])
    for j in range(ONE, nj - ONE):
        for k in range(ONE, nk - ONE):
            g = diagonal[i, j, k]
            if not g > ZERO:
                inverse[i, j, k] = ZERO
                continue
            e = g
            for side in range(2):
                if lower & (1 << side):
                    a = i + ONE if side else i - ONE
                    link = lx[i + np.uint64(side), j, k]
                    fill = open_link(ly[a, j + ONE, k], diagonal, a, j + ONE, k)
                    fill += open_link(lz[a, j, k + ONE], diagonal, a, j, k + ONE)
                    e -= link * inverse[a, j, k] * (link + MODIFIED * fill)
            across = ZERO
            beside = ZERO
            for side in range(2):
                if upper & (1 << side):
                    a = i + ONE if side else i - ONE
                    across += open_link(lx[i + np.uint64(side), j - ONE, k], diagonal, a, j - ONE, k)
                    beside += open_link(lx[i + np.uint64(side), j, k - ONE], diagonal, a, j, k - ONE)
            link = ly[i, j, k]
            fill = across + open_link(lz[i, j - ONE, k + ONE], diagonal, i, j - ONE, k + ONE)
            e -= link * inverse[i, j - ONE, k] * (link + MODIFIED * fill)
            link = lz[i, j, k]
            fill = beside + open_link(ly[i, j + ONE, k - ONE], diagonal, i, j + ONE, k - ONE)
            e -= link * inverse[i, j, k - ONE] * (link + MODIFIED * fill)
            inverse[i, j, k] = np.float32(1.0) / (e if e > LEAST_PIVOT * g else g)


@kernel(parallel=True)
def factorise_stencil(lx, ly, lz, diagonal, middle, inverse):
    """Modified incomplete Cholesky without fill."""
    last = diagonal.shape[0] - 2
    for side in prange(2):
        for n in range(middle - 1 if side == 0 else last - middle):
            if side == 0:
                i = n + 1
                factorise_plane(lx, ly, lz, diagonal, np.uint64(i), 1 if i > 1 else 0, 2, inverse)
            else:
                i = last - n
                factorise_plane(lx, ly, lz, diagonal, np.uint64(i), 2 if i < last else 0, 1, inverse)
    factorise_plane(lx, ly, lz, diagonal, np.uint64(middle), 3, 0, inverse)


@kernel(inline=True)
def down_plane(lx, ly, lz, inverse, r, s, i, lower, rows, row):
    """s = L^-1 r on the plane i."""
    for j in range(ONE, np.uint64(r.shape[1] - 1)):
        k0, k1 = np.uint64(rows[i, j, 0]), np.uint64(rows[i, j, 1])
        for k in range(k0, k1):
            row[k] = r[i, j, k] + ly[i, j, k] * s[i, j - ONE, k]
        for side in range(2):
            if lower & (1 << side):
                for k in range(k0, k1):
                    row[k] += lx[i + np.uint64(side), j, k] * s[i + np.uint64(2 * side) - ONE, j, k]
        before = ZERO
        for k in range(k0, k1):
            before = inverse[i, j, k] * (row[k] + lz[i, j, k] * before)
            s[i, j, k] = before


@kernel(inline=True)
def up_plane(lx, ly, lz, inverse, s, i, upper, rows, row):
    """s = L'^-1 s on the plane i, in place."""
    nj = np.uint64(s.shape[1] - 1)
    for step in range(ONE, nj):
        j = nj - step
        k0, k1 = np.uint64(rows[i, j, 0]), np.uint64(rows[i, j, 1])
        for k in range(k0, k1):
            row[k] = ly[i, j + ONE, k] * s[i, j + ONE, k]
        for side in range(2):
            if upper & (1 << side):
                for k in range(k0, k1):
                    row[k] += lx[i + np.uint64(side), j, k] * s[i + np.uint64(2 * side) - ONE, j, k]
        before = ZERO
        for back in range(k1 - k0):
            k = k1 - ONE - back
            before = s[i, j, k] + inverse[i, j, k] * (row[k] + lz[i, j, k + ONE] * before)
            s[i, j, k] = before


@kernel(parallel=True)
def solve_stencil(lx, ly, lz, inverse, middle, rows, r, z):
    """z = (L L')^-1 r; `rows` are the ranges along z that hold unknowns."""
    last = inverse.shape[0] - 2
    for side in prange(2):
        row = np.empty(inverse.shape[2], np.float32)
        for n in range(middle - 1 if side == 0 else last - middle):
            i = n + 1 if side == 0 else last - n
            down_plane(lx, ly, lz, inverse, r, z, np.uint64(i), 1 + side if n > 0 else 0, rows, row)
    row = np.empty(inverse.shape[2], np.float32)
    down_plane(lx, ly, lz, inverse, r, z, np.uint64(middle), 3, rows, row)
    up_plane(lx, ly, lz, inverse, z, np.uint64(middle), 0, rows, row)
    for side in prange(2):
        line = np.empty(inverse.shape[2], np.float32)
        for n in range(middle - 1 if side == 0 else last - middle):
            i = middle - 1 - n if side == 0 else middle + 1 + n
            up_plane(lx, ly, lz, inverse, z, np.uint64(i), 2 - side, rows, line)


@kernel
def factorise_rows(start, column, value, factor):
    """Incomplete Cholesky without fill of a lower triangle by rows, columns in order, the diagonal last in its row."""
    for i in range(len(start) - 1):
        for n in range(start[i], start[i + 1]):
            k = column[n]
            total = value[n]
            a, b = start[i], start[k]
            while a < n and column[b] < k:
                if column[a] == column[b]:
                    total -= factor[a] * factor[b]
                    a += 1
                    b += 1
                elif column[a] < column[b]:
                    a += 1
                else:
                    b += 1
            if k < i:
                factor[n] = total / factor[start[k + 1] - 1]
            else:
                factor[n] = np.sqrt(total if total > LEAST_PIVOT * value[n] else value[n])


@kernel
def solve_rows(start, column, factor, z):
    """z = (L L')^-1 z, in place."""
    n = len(start) - 1
    for i in range(n):
        total = z[i]
        end = start[i + 1] - 1
        for a in range(start[i], end):
            total -= factor[a] * z[column[a]]
        z[i] = total / factor[end]
    for back in range(n):
        i = n - 1 - back
        end = start[i + 1] - 1
        z[i] /= factor[end]
        for a in range(start[i], end):
            z[column[a]] -= factor[a] * z[i]
