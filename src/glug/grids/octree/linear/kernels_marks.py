"""Kernels that find where a tree is to be finest: wet leaves, their surface, marks that spread."""

import numpy as np

from glug.grids.octree.linear.kernels import OUTSIDE, TILE, X_KEY
from glug.grids.octree.linear.kernels_faces import part
from glug.jit import kernel, prange

SPREAD = np.array([n & 1 | (n & 2) << 2 | (n & 4) << 4 for n in range(8)], np.int64)  # places along x in a tile
SURROUNDED = 5  # wet neighbours of a coarse leaf that no particle happens to be in: it is wet


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


@kernel
def mark_wet(key, level, cells, first, wet):
    """1 for leaves in one of the `cells`, sorted keys of every level from `first[l]` on; leaves are sorted too."""
    levels = first.shape[0] - 1
    at = first[:-1].copy()
    for n in range(key.shape[0]):
        wet[n] = 0
        for l in range(np.int64(level[n]), levels):
            here = key[n] >> (3 * l)
            while at[l] < first[l + 1] and cells[at[l]] < here:
                at[l] += 1
            if at[l] < first[l + 1] and cells[at[l]] == here:
                wet[n] = 1


@kernel(parallel=True)
def fill_surrounded(links, level, wet, out):
    """Coarse leaves with liquid, or walls, almost all around are wet: eight particles leave one by chance."""
    for n in prange(links.shape[0]):
        out[n] = wet[n]
        if not wet[n] and level[n] > 0:
            around = 0
            for side in range(6):
                other = np.int64(links[n, side])
                around += 1 if other == OUTSIDE or (other >= 0 and wet[other] != 0) else 0
            out[n] = around >= SURROUNDED


@kernel(parallel=True)
def mark_surface(links, level, wet, surface):
    """1 for wet leaves with a neighbour that is not."""
    for n in prange(links.shape[0]):
        found = False
        if wet[n]:
            for side in range(6):
                other = np.int64(links[n, side])
                if other == OUTSIDE:
                    continue
                if other < 0 or not wet[other]:
                    found = True
                elif level[other] < level[n]:
                    for number in range(1, 4):
                        one = part(links, other, side >> 1, number)
                        found = found or one < 0 or not wet[one]
        surface[n] = found
