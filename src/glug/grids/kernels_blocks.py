"""Kernels of blocks: the samples of every row that are worth a visit.

A block is a row of integers: i0, j0, k0, k1, and then the range of every one of its TILE x TILE rows along z. Rows are
whole vector registers long where there is room, because what is left over is done sample by sample.
"""

import numpy as np

from glug.grids.kernels import TILE, block_range
from glug.jit import kernel, prange

HEAD = np.int64(4)
LANES = np.int64(8)  # float32 in a register of the processors that kernels are compiled for
LINES = TILE * TILE  # rows of a block


@kernel(inline=True)
def row_range(blocks, t, i, j):
    """Bounds along z of row (i, j) in block t; without ranges of rows, those of the block."""
    at = HEAD + 2 * (np.int64(i) % TILE * TILE + np.int64(j) % TILE) if blocks.shape[1] > HEAD else HEAD - 2
    return np.uint64(blocks[t, at]), np.uint64(blocks[t, at + 1])


@kernel(inline=True)
def inner_row(blocks, t, i, j, shape):
    """The same without the outermost cells of a window of `shape`."""
    k0, k1 = row_range(blocks, t, i, j)
    return max(k0, np.uint64(1)), min(k1, np.uint64(shape[2] - 1))


@kernel(inline=True)
def inner_line(blocks, t, n, shape):
    """Row n of the LINES of block t: i, j and bounds along z, without the outermost cells of a window of `shape`."""
    i, j = np.int64(blocks[t, 0]) + n // TILE, np.int64(blocks[t, 1]) + n % TILE
    k0, k1 = inner_row(blocks, t, i, j, shape)
    inside = 0 < i < shape[0] - 1 and 0 < j < shape[1] - 1
    return np.uint64(i), np.uint64(j), k0, k1 if inside else k0


@kernel
def count_runs(found):
    """How many runs along z there are of tiles that are `found`."""
    count = 0
    for a in range(found.shape[0]):
        for b in range(found.shape[1]):
            for c in range(found.shape[2]):
                count += found[a, b, c] and not (c > 0 and found[a, b, c - 1])
    return count


@kernel
def find_runs(found, nk, blocks):
    """The head of a block for every one of these runs, in order; the window has `nk` cells along z."""
    count = -1
    for a in range(found.shape[0]):
        for b in range(found.shape[1]):
            for c in range(found.shape[2]):
                if found[a, b, c]:
                    if not (c > 0 and found[a, b, c - 1]):
                        count += 1
                        blocks[count, 0], blocks[count, 1], blocks[count, 2] = a * TILE, b * TILE, c * TILE
                    blocks[count, 3] = min((c + 1) * TILE, nk)


@kernel(parallel=True)
def fit_rows(active, blocks):
    """Give every row of the blocks the range of its active cells.

    It may pass the end of the block, but not reach the next one, which is a tile away.
    """
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t, active.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                line = active[i, j]
                first, last = k1, k0
                for k in range(k0, k1):
                    if line[k] != 0:
                        first, last = min(first, k), k + np.uint64(1)
                if last > first:
                    begin, end = np.int64(first), np.int64(last)
                    length = (end - begin + LANES - 1) // LANES * LANES
                    end = max(end, min(begin + length, np.int64(k1) + TILE, np.int64(active.shape[2]) - 1))
                    begin = min(begin, max(end - length, np.int64(max(k0, np.uint64(1)))))
                    at = HEAD + 2 * (np.int64(i) % TILE * TILE + np.int64(j) % TILE)
                    blocks[t, at], blocks[t, at + 1] = begin, end


@kernel
def touch(blocks, shape, touched):
    """Mark the cells of the coarse grid that samples in the rows of `blocks` are restricted to, and those around them.

    Fine sample i counts in the coarse samples from i / 2 to (i + 3) / 2; `shape` is that of the fine grid.
    """
    ni, nj, nk = touched.shape
    for t in range(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = block_range(blocks, t, shape)
        for i in range(np.int64(i0), np.int64(i1)):
            for j in range(np.int64(j0), np.int64(j1)):
                k0, k1 = row_range(blocks, t, i, j)
                if k1 > k0:
                    first, last = max(np.int64(k0) // 2 - 1, 0), min((np.int64(k1) + 2) // 2 + 2, nk)
                    for a in range(max(i // 2 - 1, 0), min((i + 3) // 2 + 2, ni)):
                        for b in range(max(j // 2 - 1, 0), min((j + 3) // 2 + 2, nj)):
                            touched[a, b, first:last] = 1
