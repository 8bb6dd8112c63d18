"""Kernel of the liquid's band: which cells have no room for liquid."""

import numpy as np

from glug.jit import kernel, prange


@kernel(parallel=True)
def fill_solid(nodes, slack, out):
    """out = 1 in cells whose corners all lie in the solid, or on it within `slack`."""
    ni, nj, nk = out.shape
    up = 1 if nodes.shape[2] > nk else 0
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                inside = True
                for a in range(2):
                    for b in range(2):
                        inside = inside and nodes[i + a, j + b, k] <= slack and nodes[i + a, j + b, k + up] <= slack
                if inside:
                    out[i, j, k] = np.float32(1.0)
