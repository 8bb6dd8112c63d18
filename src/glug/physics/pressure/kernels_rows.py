"""Kernels of the pressure matrix on one grid: its product, residuals and Gauss-Seidel.

A level is its links (`lx, ly, lz`, what couples the cells across a face) and the matrix diagonal, zero where a cell is
no unknown. Passes wait for memory, so rows of cells along z are of three kinds. Away from surfaces and solids all links
are `scale`: a row most of whose cells are like that is done without reading a link, and then its other cells anew.
A row with next to no unknowns, in a droplet, is only the list of them. All others read every link.

A row is i, j, k0, k1, its kind and where its cells begin and end in the list; the rows of block t are those from
`start[t]` to `start[t + 1]`. A listed cell is k (`cell`) and `entry`: six links, the diagonal and one over it, all zero
where a cell is no unknown.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.grids.kernels_blocks import inner_row
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
SIX = np.float32(6.0)
GENERAL, UNIFORM, LISTED = np.int32(0), np.int32(1), np.int32(2)
FEW = np.int64(4)  # a uniform row may have one other cell in so many
SHORT = np.int64(16)  # unknowns of a row that are listed


@kernel(inline=True)
def uniform(lx, ly, lz, diagonal, scale, i, j, k):
    """Whether all links of a cell are equal to `scale` and lead to unknowns: nothing ties it to air."""
    same = (lx[i, j, k] == scale) & (lx[i + ONE, j, k] == scale) & (ly[i, j, k] == scale)
    same &= (ly[i, j + ONE, k] == scale) & (lz[i, j, k] == scale) & (lz[i, j, k + ONE] == scale)
    same &= (diagonal[i - ONE, j, k] > ZERO) & (diagonal[i + ONE, j, k] > ZERO) & (diagonal[i, j - ONE, k] > ZERO)
    same &= (diagonal[i, j + ONE, k] > ZERO) & (diagonal[i, j, k - ONE] > ZERO) & (diagonal[i, j, k + ONE] > ZERO)
    return same & (diagonal[i, j, k] == SIX * scale)


@kernel(inline=True)
def kind_of(length, unknowns, same):
    """The kind of a row by how many of its cells are unknowns and uniform, and how many of them are listed."""
    if unknowns <= SHORT:
        return LISTED, unknowns
    if (length - same) * FEW <= length:
        return UNIFORM, length - same
    return GENERAL, np.int64(0)


@kernel(parallel=True)
def find_rows(lx, ly, lz, diagonal, scale, blocks, found, counts):
    """Kind and number of listed cells of the rows of every block (TILE^2 pairs, -1 without unknowns).

    `counts` are the rows and the listed cells of a block.
    """
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, diagonal.shape)
        rows, total, at = np.int64(0), np.int64(0), np.int64(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, diagonal.shape)
                unknowns, same = np.int32(0), np.int32(0)
                for k in range(k0, k1):
                    unknowns += np.int32(diagonal[i, j, k] > ZERO)
                    same += np.int32(uniform(lx, ly, lz, diagonal, scale, i, j, k))
                kind, listed = kind_of(np.int64(k1) - np.int64(k0), np.int64(unknowns), np.int64(same))
                found[t, at] = kind if unknowns > 0 else -1
                found[t, at + 1] = listed
                at += 2
                rows += unknowns > 0
                total += listed
        counts[t, 0], counts[t, 1] = rows, total


@kernel(parallel=True)
def list_rows(lx, ly, lz, diagonal, scale, blocks, found, start, first, rows, cell, entry):
    """Write the rows of every block, and their cells that are listed from `first` on."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, diagonal.shape)
        n, e, at = np.int64(start[t]), np.int64(first[t]), np.int64(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                kind, end = found[t, at], e + np.int64(found[t, at + 1])
                at += 2
                if kind < 0:
                    continue
                k0, k1 = inner_row(blocks, t, i, j, diagonal.shape)
                rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = i, j, k0, k1
                rows[n, 4], rows[n, 5], rows[n, 6] = kind, e, end
                n += 1
                for k in range(k0, k1):
                    if e == end:
                        break
                    g = diagonal[i, j, k]
                    if g > ZERO if kind == LISTED else not uniform(lx, ly, lz, diagonal, scale, i, j, k):
                        known = np.float32(1.0) if g > ZERO else ZERO
                        cell[e] = k
                        entry[e, 0], entry[e, 1] = known * lx[i, j, k], known * lx[i + ONE, j, k]
                        entry[e, 2], entry[e, 3] = known * ly[i, j, k], known * ly[i, j + ONE, k]
                        entry[e, 4], entry[e, 5] = known * lz[i, j, k], known * lz[i, j, k + ONE]
                        entry[e, 6], entry[e, 7] = g, known / g if g > ZERO else ZERO
                        e += 1


@kernel(inline=True)
def bounds(rows, n):
    """i, j, k0, k1, kind, and the range of listed cells of row n."""
    return (
        np.uint64(rows[n, 0]),
        np.uint64(rows[n, 1]),
        np.uint64(rows[n, 2]),
        np.uint64(rows[n, 3]),
        rows[n, 4],
        np.uint64(rows[n, 5]),
        np.uint64(rows[n, 6]),
    )


@kernel(inline=True)
def neighbours(x, lx, ly, lz, i, j, k):
    """What the neighbours of a cell add to its row of the matrix."""
    a = lx[i, j, k] * x[i - ONE, j, k] + lx[i + ONE, j, k] * x[i + ONE, j, k]
    a += ly[i, j, k] * x[i, j - ONE, k] + ly[i, j + ONE, k] * x[i, j + ONE, k]
    return a + lz[i, j, k] * x[i, j, k - ONE] + lz[i, j, k + ONE] * x[i, j, k + ONE]


@kernel(inline=True)
def around(x, i, j, k):
    """The sum of the neighbours."""
    a = x[i - ONE, j, k] + x[i + ONE, j, k]
    a += x[i, j - ONE, k] + x[i, j + ONE, k]
    return a + x[i, j, k - ONE] + x[i, j, k + ONE]


@kernel(inline=True)
def linked(x, entry, e, i, j, k):
    """What the neighbours of a listed cell add to its row of the matrix."""
    a = entry[e, 0] * x[i - ONE, j, k] + entry[e, 1] * x[i + ONE, j, k]
    a += entry[e, 2] * x[i, j - ONE, k] + entry[e, 3] * x[i, j + ONE, k]
    return a + entry[e, 4] * x[i, j, k - ONE] + entry[e, 5] * x[i, j, k + ONE]


@kernel(parallel=True)
def relax_pressure(x, b, lx, ly, lz, diagonal, scale, rows, start, cell, entry, numbers, starts, sweeps, forward):
    """Gauss-Seidel over rows along z, in order within every block, or in the opposite order, `sweeps` times.

    The cells of one row move together, listed ones one after the other. Blocks of one colour, those from starts[n] to
    starts[n + 1] of `numbers`, run at once. A block stays in the cache for all its sweeps.
    """
    part = np.float32(1.0) / (SIX * scale)
    count = starts.shape[0] - 1
    for turn in range(count):
        colour = turn if forward else count - 1 - turn
        for task in prange(starts[colour], starts[colour + 1]):
            begin, end = np.uint64(start[numbers[task]]), np.uint64(start[numbers[task] + 1])
            row = np.empty(diagonal.shape[2], np.float32)
            for _ in range(sweeps):
                for step in range(end - begin):
                    i, j, k0, k1, kind, e0, e1 = bounds(rows, begin + step if forward else end - ONE - step)
                    if kind == LISTED:
                        for s in range(e1 - e0):
                            e = e0 + s if forward else e1 - ONE - s
                            k = np.uint64(cell[e])
                            x[i, j, k] = entry[e, 7] * (b[i, j, k] + linked(x, entry, e, i, j, k))
                        continue
                    if kind == UNIFORM:
                        for k in range(k0, k1):
                            row[k] = part * (b[i, j, k] + scale * around(x, i, j, k))
                        for e in range(e0, e1):
                            k = np.uint64(cell[e])
                            row[k] = entry[e, 7] * (b[i, j, k] + linked(x, entry, e, i, j, k))
                    else:
                        for k in range(k0, k1):
                            g = diagonal[i, j, k]
                            row[k] = (b[i, j, k] + neighbours(x, lx, ly, lz, i, j, k)) / g if g > ZERO else ZERO
                    for k in range(k0, k1):
                        x[i, j, k] = row[k]


@kernel(parallel=True)
def residual_pressure_fast(b, x, r, lx, ly, lz, diagonal, scale, rows, start, cell, entry):
    """r = b - A x in float32."""
    for t in prange(start.shape[0] - 1):
        for n in range(np.uint64(start[t]), np.uint64(start[t + 1])):
            i, j, k0, k1, kind, e0, e1 = bounds(rows, n)
            if kind == UNIFORM:
                for k in range(k0, k1):
                    r[i, j, k] = b[i, j, k] - scale * (SIX * x[i, j, k] - around(x, i, j, k))
            elif kind == GENERAL:
                for k in range(k0, k1):
                    g = diagonal[i, j, k]
                    a = b[i, j, k] - g * x[i, j, k] + neighbours(x, lx, ly, lz, i, j, k)
                    r[i, j, k] = a if g > ZERO else ZERO
            for e in range(e0, e1):
                k = np.uint64(cell[e])
                r[i, j, k] = b[i, j, k] - entry[e, 6] * x[i, j, k] + linked(x, entry, e, i, j, k)


@kernel(parallel=True)
def apply_pressure(d, q, lx, ly, lz, diagonal, scale, rows, start, cell, entry, sums):
    """q = A d; d . q per block. A is the five or seven point matrix of the links."""
    for t in prange(start.shape[0] - 1):
        total = np.float64(0.0)
        for n in range(np.uint64(start[t]), np.uint64(start[t + 1])):
            i, j, k0, k1, kind, e0, e1 = bounds(rows, n)
            if kind == UNIFORM:
                for k in range(k0, k1):
                    q[i, j, k] = scale * (SIX * d[i, j, k] - around(d, i, j, k))
            elif kind == GENERAL:
                for k in range(k0, k1):
                    g = diagonal[i, j, k]
                    v = g * d[i, j, k] - neighbours(d, lx, ly, lz, i, j, k)
                    q[i, j, k] = v if g > ZERO else ZERO
            row = ZERO
            for e in range(e0, e1):
                k = np.uint64(cell[e])
                q[i, j, k] = entry[e, 6] * d[i, j, k] - linked(d, entry, e, i, j, k)
                row += q[i, j, k] * d[i, j, k] if kind == LISTED else ZERO
            if kind != LISTED:
                for k in range(k0, k1):
                    row += q[i, j, k] * d[i, j, k]
            total += np.float64(row)
        sums[t] = total


@kernel(inline=True)
def flow(c, x, xm, xp, ym, yp, zm, zp, i, j, k):
    """What leaves a cell of pressure c through its links."""
    v = xm * (c - x[i - ONE, j, k]) + xp * (c - x[i + ONE, j, k])
    v += ym * (c - x[i, j - ONE, k]) + yp * (c - x[i, j + ONE, k])
    return v + zm * (c - x[i, j, k - ONE]) + zp * (c - x[i, j, k + ONE])


@kernel(parallel=True)
def residual_pressure(b, x, r, lx, ly, lz, diagonal, scale, rows, start, cell, entry):
    """r = b - A x with a float64 x, evaluated in float64."""
    six, full = np.float64(6.0), np.float64(scale)
    for t in prange(start.shape[0] - 1):
        for n in range(np.uint64(start[t]), np.uint64(start[t + 1])):
            i, j, k0, k1, kind, e0, e1 = bounds(rows, n)
            if kind == UNIFORM:
                for k in range(k0, k1):
                    r[i, j, k] = b[i, j, k] - full * (six * x[i, j, k] - around(x, i, j, k))
            elif kind == GENERAL:
                for k in range(k0, k1):
                    xm, xp, ym, yp = lx[i, j, k], lx[i + ONE, j, k], ly[i, j, k], ly[i, j + ONE, k]
                    v = flow(x[i, j, k], x, xm, xp, ym, yp, lz[i, j, k], lz[i, j, k + ONE], i, j, k)
                    r[i, j, k] = b[i, j, k] - v if diagonal[i, j, k] > ZERO else np.float64(0.0)
            for e in range(e0, e1):
                k = np.uint64(cell[e])
                xm, xp, ym, yp, zm, zp = entry[e, 0], entry[e, 1], entry[e, 2], entry[e, 3], entry[e, 4], entry[e, 5]
                r[i, j, k] = b[i, j, k] - flow(x[i, j, k], x, xm, xp, ym, yp, zm, zp, i, j, k)
