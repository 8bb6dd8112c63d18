"""Kernel of the faces at which solids hold a liquid."""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.jit import kernel, prange


@kernel(parallel=True)
def held_faces(axis, area, nodes, out):
    """1 at the closed faces of `axis`, and at those whose centre is inside a solid."""
    ni, nj, nk = out.shape
    zero, half = np.float32(0.0), np.float32(0.5)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                x = np.float32(i) if axis == 0 else np.float32(i) + half
                y = np.float32(j) if axis == 1 else np.float32(j) + half
                z = np.float32(k) if axis == 2 else np.float32(k) + half
                out[i, j, k] = area[i, j, k] <= zero or trilinear(nodes, x, y, z) <= zero
