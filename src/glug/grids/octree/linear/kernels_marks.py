"""Kernels of marks that spread from cell to cell, in tiles."""

import numpy as np

from glug.grids.octree.linear.kernels import TILE, X_KEY
from glug.jit import kernel, prange

SPREAD = np.array([n & 1 | (n & 2) << 2 | (n & 4) << 4 for n in range(8)], np.int64)  # places along x in a tile


@kernel(parallel=True)
def dilate(cells, own, lower, upper, axis, reach, out):
    """Marks within `reach` along an axis; `own`, `lower` and `upper` are the tiles of `cells` there, or -1."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    for t in prange(out.shape[0]):
        for p in range(8):
            for q in range(8):
                base = (SPREAD[p] << b) | (SPREAD[q] << c)
                row = np.int64(0)
                for part_of_row in range(3):
                    tile = lower[t] if part_of_row == 0 else (own[t] if part_of_row == 1 else upper[t])
                    if tile >= 0:
                        for i in range(8):
                            row |= np.int64(cells[tile, base | (SPREAD[i] << axis)]) << (8 * part_of_row + i)
                wide = row
                for r in range(1, reach + 1):
                    wide |= (row << r) | (row >> r)
                for i in range(8):
                    out[t, base | (SPREAD[i] << axis)] = (wide >> (8 + i)) & 1


@kernel(parallel=True)
def clip(key, limits, cells):
    """No marks outside the box."""
    for t in prange(cells.shape[0]):
        for c in range(TILE):
            here = (key[t] << 9) | c
            if (here & X_KEY) >= limits[0] or (here & (X_KEY << 1)) >= limits[1] or (here & (X_KEY << 2)) >= limits[2]:
                cells[t, c] = 0
