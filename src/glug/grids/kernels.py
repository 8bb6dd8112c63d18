"""Kernels of the grid: which tiles are active, filling a velocity field outwards."""

import numpy as np

from glug.jit import kernel, prange

# Hot loops count in unsigned integers: for a signed index Numba checks at every access whether it is negative and
# counts from the end, which keeps the loop from vectorising (five times slower, measured on a 7-point stencil).
ONE = np.uint64(1)
TILE = np.int64(8)


@kernel(inline=True)
def moved(axis, by, i, j, k):
    """`by` steps along an axis."""
    return i + by * (axis == 0), j + by * (axis == 1), k + by * (axis == 2)


@kernel(inline=True)
def block_range(blocks, t, shape):
    """Bounds of block t along x, y, z within arrays of `shape`."""
    i0, j0 = np.int64(blocks[t, 0]), np.int64(blocks[t, 1])
    return (
        np.uint64(i0),
        np.uint64(min(i0 + TILE, shape[0])),
        np.uint64(j0),
        np.uint64(min(j0 + TILE, shape[1])),
        np.uint64(blocks[t, 2]),
        np.uint64(blocks[t, 3]),
    )


@kernel(inline=True)
def inner_range(blocks, t, shape):
    """The same without the outermost cells of a window of `shape`, where a stencil would leave it."""
    i0, j0, k0, k1 = (
        np.int64(blocks[t, 0]),
        np.int64(blocks[t, 1]),
        np.int64(blocks[t, 2]),
        np.int64(blocks[t, 3]),
    )
    return (
        np.uint64(max(i0, 1)),
        np.uint64(min(i0 + TILE, shape[0] - 1)),
        np.uint64(max(j0, 1)),
        np.uint64(min(j0 + TILE, shape[1] - 1)),
        np.uint64(max(k0, 1)),
        np.uint64(min(k1, shape[2] - 1)),
    )


@kernel(parallel=True)
def active_tiles(active, tile, found):
    """found[a, b, c] is true when any cell of tile (a, b, c) is active."""
    ni, nj, nk = active.shape
    for a in prange(found.shape[0]):
        for b in range(found.shape[1]):
            for c in range(found.shape[2]):
                hit = False
                for i in range(a * tile, min((a + 1) * tile, ni)):
                    for j in range(b * tile, min((b + 1) * tile, nj)):
                        for k in range(c * tile, min((c + 1) * tile, nk)):
                            hit = hit or active[i, j, k] != 0
                found[a, b, c] = hit


@kernel(parallel=True)
def spread(field, known, next_field, next_known):
    """One layer outwards: a sample that is not known takes the mean of its known neighbours."""
    ni, nj, nk = field.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                value, state = field[i, j, k], known[i, j, k]
                if state == 0:
                    total, count = np.float32(0.0), np.float32(0.0)
                    if i > 0 and known[i - 1, j, k]:
                        total += field[i - 1, j, k]
                        count += np.float32(1.0)
                    if i < ni - 1 and known[i + 1, j, k]:
                        total += field[i + 1, j, k]
                        count += np.float32(1.0)
                    if j > 0 and known[i, j - 1, k]:
                        total += field[i, j - 1, k]
                        count += np.float32(1.0)
                    if j < nj - 1 and known[i, j + 1, k]:
                        total += field[i, j + 1, k]
                        count += np.float32(1.0)
                    if k > 0 and known[i, j, k - 1]:
                        total += field[i, j, k - 1]
                        count += np.float32(1.0)
                    if k < nk - 1 and known[i, j, k + 1]:
                        total += field[i, j, k + 1]
                        count += np.float32(1.0)
                    if count > np.float32(0.0):
                        value, state = total / count, np.uint8(1)
                next_field[i, j, k] = value
                next_known[i, j, k] = state


@kernel(parallel=True)
def sum_along_z(values, reach, out):
    """Sum of the samples within `reach` along z."""
    ni, nj, nk = out.shape
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                total = np.float32(0.0)
                for r in range(max(k - reach, 0), min(k + reach + 1, nk)):
                    total += values[i, j, r]
                out[i, j, k] = total


@kernel(parallel=True)
def sum_along_y(values, reach, out):
    """Sum of the samples within `reach` along y."""
    ni, nj, nk = out.shape
    for i in prange(ni):
        for j in range(nj):
            out[i, j] = np.float32(0.0)
            for q in range(max(j - reach, 0), min(j + reach + 1, nj)):
                for k in range(nk):
                    out[i, j, k] += values[i, q, k]


@kernel(parallel=True)
def sum_along_x(values, reach, out):
    """Sum of the samples within `reach` along x."""
    ni, nj, nk = out.shape
    for slab in prange(ni):
        i = np.int64(slab)
        out[i] = np.float32(0.0)
        for p in range(max(i - reach, 0), min(i + reach + 1, ni)):
            for j in range(nj):
                for k in range(nk):
                    out[i, j, k] += values[p, j, k]
