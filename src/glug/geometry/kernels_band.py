"""Kernels of the liquid's band: which cells particles or solids fill.

A sum over a box of cells counts both at once: a cell with particles adds 1 and one inside a solid SHARE, of which there
are fewer than 1 / SHARE in a box.
"""

import numpy as np

from glug.jit import kernel, prange

SHARE = np.float32(2.0**-12)


@kernel(parallel=True)
def filled_cells(start, nodes, slack, out):
    """1 in cells that hold particles, else SHARE in those with all corners in the solid (within `slack`), else 0."""
    ni, nj, nk = out.shape
    up = 1 if nodes.shape[2] > nk else 0
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            row = (i * nj + j) * nk
            for k in range(nk):
                solid = True
                for a in range(2):
                    for b in range(2):
                        solid = solid and nodes[i + a, j + b, k] <= slack and nodes[i + a, j + b, k + up] <= slack
                value = SHARE if solid else np.float32(0.0)
                out[i, j, k] = np.float32(1.0) if start[row + k + 1] > start[row + k] else value


@kernel(parallel=True)
def classify_band(sums, full, corner, band):
    """0 where no cell around holds particles, 2 where all `full` are filled and at least `corner` hold some, else 1."""
    ni, nj, nk = band.shape
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                occupied = np.floor(sums[i, j, k])
                filled = occupied + (sums[i, j, k] - occupied) / SHARE
                inside = filled > full - np.float32(0.5) and occupied > corner - np.float32(0.5)
                band[i, j, k] = 0 if occupied < np.float32(0.5) else (2 if inside else 1)
