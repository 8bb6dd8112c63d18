"""Kernels that carry momentum and mass from faces that a tree does not have to those that it has (3D).

They are the transposes of `kernels_transfer.fill_covered` and `fill_divided`: what particles leave on a lattice of
their own level goes to faces of the tree, and nothing of it is lost. Faces at the border of the box keep theirs.
"""

import numpy as np

from glug.grids.octree.kernels_transfer import around
from glug.jit import kernel, prange

QUARTER, HALF, THREE, ONE = np.float32(0.25), np.float32(0.5), np.float32(0.75), np.float32(1.0)


@kernel(inline=True)
def share(x, i, along, count):
    """What coarse sample i has in the interpolation at fine sample x; `count` coarse samples, the last hold."""
    if along:
        return ONE if x == 2 * i else HALF
    near = x >> 1
    if near == i:
        other = near + 2 * (x & 1) - 1
        return THREE if 0 <= other < count else ONE
    return QUARTER


@kernel(parallel=True)
def push_covered(level, l, axis, fine, coarse):
    """Faces of level l inside coarser leaves give theirs to the faces of level l + 1 that they lie between."""
    ni, nj, nk = coarse.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                total = np.float32(0.0)
                for x in range(max(2 * i - 1, np.int64(0)), min(2 * i + 2 + (axis != 0), fine.shape[0])):
                    for y in range(max(2 * j - 1, 0), min(2 * j + 2 + (axis != 1), fine.shape[1])):
                        for z in range(max(2 * k - 1, 0), min(2 * k + 2 + (axis != 2), fine.shape[2])):
                            if fine[x, y, z] == 0.0:
                                continue
                            low, high = around(level, axis, 1, l, x, y, z)
                            if low > l and high > l:
                                weight = share(x, i, axis == 0, ni) * share(y, j, axis == 1, nj)
                                total += weight * share(z, k, axis == 2, nk) * fine[x, y, z]
                coarse[i, j, k] += total


@kernel(parallel=True)
def push_divided(level, l, axis, coarse, fine):
    """Faces of level l next to divided cells give a quarter each to their parts."""
    for slab in prange(coarse.shape[0]):
        i = np.int64(slab)
        for j in range(coarse.shape[1]):
            for k in range(coarse.shape[2]):
                if coarse[i, j, k] == 0.0:
                    continue
                low, high = around(level, axis, 1, l, i, j, k)
                if low < l or high < l:
                    for p in range(2 if axis != 0 else 1):
                        for q in range(2 if axis != 1 else 1):
                            for r in range(2 if axis != 2 else 1):
                                fine[2 * i + p, 2 * j + q, 2 * k + r] += QUARTER * coarse[i, j, k]
