"""Kernels of parts that know their solution up to a constant: sums and means over each, block by block."""

import numpy as np

from glug.grids.kernels import block_range
from glug.jit import kernel, prange


@kernel(parallel=True)
def sum_parts(v, label, blocks, sums):
    """sums[t, p] = the sum of v over the cells of part p in block t."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t, v.shape)
        for p in range(sums.shape[1]):
            sums[t, p] = 0.0
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    p = label[i, j, k]
                    if p >= 0:
                        sums[t, p] += np.float64(v[i, j, k])


@kernel(parallel=True)
def subtract_parts(v, label, blocks, mean):
    """v -= the mean of its part."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t, v.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    p = label[i, j, k]
                    if p >= 0:
                        v[i, j, k] -= mean[p]
