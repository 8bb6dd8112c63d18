"""Walls of a fine grid that a coarse one does not see, such as rods thinner than its cells."""

import numpy as np

from glug.grids.kernels import any_of
from glug.jit import kernel, prange
from glug.physics.viscosity.kernels import any_positive, beside, sample_beside, solids_near


@kernel(inline=True)
def between(along, x):
    """The coarse samples that a fine one is interpolated between: nodes along the face's axis, else cells."""
    return ((x + 2) // 2 if along else (x + 1) // 2), (x + 3) // 2


@kernel(parallel=True)
def lost_walls(axis, solid, coarse_solid, lost, found):
    """`lost` = 1 at solid faces of `axis` that are interpolated from coarse faces none of which is stopped.

    `found` is 1 at slabs with any; both are zero before.
    """
    ni, nj, nk = solid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        i0, i1 = between(axis == 0, i)
        stopped = np.empty(coarse_solid.shape[2], np.uint8)
        for j in range(nj):
            if not any_of(solid[i, j]):
                continue
            j0, j1 = between(axis == 1, j)
            for k in range(stopped.size):
                stopped[k] = coarse_solid[i0, j0, k] | coarse_solid[i0, j1, k]
                stopped[k] |= coarse_solid[i1, j0, k] | coarse_solid[i1, j1, k]
            for k in range(nk):
                if solid[i, j, k]:
                    k0, k1 = between(axis == 2, k)
                    if stopped[k0] | stopped[k1] == 0:
                        lost[i, j, k] = 1
                        found[i] = 1


@kernel(parallel=True)
def hold_by_lost_walls(axis, lost, cell, shear_b, shear_c, m, held):
    """`held` = the weights of the samples between unknown faces of `axis` and `lost` ones; zero before."""
    ni, nj, nk = cell.shape
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            if not any_positive(m[i, j]) or not solids_near(lost, i, j, 1):
                continue
            for k in range(1, nk - 1):
                if m[i, j, k] > np.float32(0.0):
                    total = np.float32(0.0)
                    for side in range(6):
                        if lost[beside(axis, side, i, j, k)]:
                            field = cell if side < 2 else (shear_b if side < 4 else shear_c)
                            total += field[sample_beside(axis, side, i, j, k)]
                    held[i, j, k] = total
