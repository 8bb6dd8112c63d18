"""Where liquid meets walls and air at once."""

import numpy as np

from glug.jit import kernel, prange


@kernel(parallel=True)
def mark_contact(mass, stopping, full, reach, marked):
    """1 at cells with a lower face that is partly liquid and a corner nearer than `reach` to what stops one."""
    ni, nj, nk = marked.shape
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                partly = zero < mass[0][i, j, k] < full or zero < mass[1][i, j, k] < full
                partly = partly or zero < mass[2][i, j, k] < full
                near = min(min(stopping[0][i, j, k], stopping[1][i, j, k]), stopping[2][i, j, k]) < reach
                marked[i, j, k] = partly and near
