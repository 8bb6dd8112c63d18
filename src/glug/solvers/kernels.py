"""Vector operations of conjugate gradients on fields, over a list of active blocks.

A vector is a tuple of one or three arrays of one shape. Every block adds to its own slot of `sums`, and the
slots are added in order: the result does not depend on the number of threads.
"""

import numpy as np

from glug.grids.kernels import block_range
from glug.jit import kernel, prange


@kernel(inline=True, nan=False)
def larger(a, b):
    """Maximum of two numbers; what is not a number shows in the sums, not here."""
    return a if a > b else b


@kernel(parallel=True)
def step_solution(x, r, d, q, diagonal, blocks, alpha, sums, peaks):
    """x += alpha d; r -= alpha q; sums of r . r / diagonal and the largest |r|."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t % count, r[0].shape)
        xc, rc, dc, qc, gc = x[c], r[c], d[c], q[c], diagonal[c]
        total = np.float64(0.0)
        peak = np.float32(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                row = np.float32(0.0)
                for k in range(k0, k1):
                    xc[i, j, k] += np.float64(alpha) * np.float64(dc[i, j, k])
                    v = rc[i, j, k] - alpha * qc[i, j, k]
                    rc[i, j, k] = v
                    g = gc[i, j, k]
                    row += v * v / g if g > np.float32(0.0) else np.float32(0.0)
                    peak = larger(peak, abs(v))
                total += np.float64(row)
        sums[t] = total
        peaks[t] = peak


@kernel(parallel=True)
def step_direction(d, r, diagonal, blocks, beta):
    """d = r / diagonal + beta d."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t % count, r[0].shape)
        rc, dc, gc = r[c], d[c], diagonal[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    g = gc[i, j, k]
                    z = rc[i, j, k] / g if g > np.float32(0.0) else np.float32(0.0)
                    dc[i, j, k] = z + beta * dc[i, j, k]


@kernel(parallel=True)
def measure(r, diagonal, blocks, sums, peaks):
    """Sums of r . r / diagonal and the largest |r|, per block."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t % count, r[0].shape)
        rc, gc = r[c], diagonal[c]
        total = np.float64(0.0)
        peak = np.float32(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    v, g = rc[i, j, k], gc[i, j, k]
                    total += np.float64(v * v / g) if g > np.float32(0.0) else np.float64(v * np.float32(0.0))
                    peak = larger(peak, abs(v))
        sums[t] = total
        peaks[t] = peak
