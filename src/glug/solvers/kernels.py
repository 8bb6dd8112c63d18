"""Vector operations of conjugate gradients on fields, over a list of active blocks.

A vector is a tuple of one or three arrays, equal in shape but for one sample. Every block adds to its own slot of
`sums`, and the slots are added in order: the result does not depend on the number of threads. `peaks` are the bits of
the largest |r| (int32): numbers without a sign have the order of their bits, and a maximum of integers vectorises.
"""

import numpy as np

from glug.grids.kernels import block_range
from glug.grids.kernels_blocks import row_range
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
MAGNITUDE = np.int32(0x7FFFFFFF)


@kernel(inline=True)
def size(bits):
    """The bits of |v| by those of v."""
    return bits & MAGNITUDE


@kernel(parallel=True)
def step_scaled(x, r, d, q, diagonal, blocks, alpha, sums, peaks):
    """x += alpha d; r -= alpha q; sums of r . r / diagonal and the largest |r|."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, r[c].shape)
        xc, rc, dc, qc, gc = x[c], r[c], d[c], q[c], diagonal[c]
        bits = rc.view(np.int32)
        total = np.float64(0.0)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                row = ZERO
                for k in range(k0, k1):
                    xc[i, j, k] += np.float64(alpha) * np.float64(dc[i, j, k])
                    v = rc[i, j, k] - alpha * qc[i, j, k]
                    rc[i, j, k] = v
                    g = gc[i, j, k]
                    row += v * v / g if g > ZERO else ZERO
                for k in range(k0, k1):
                    peak = max(peak, size(bits[i, j, k]))
                total += np.float64(row)
        sums[t] = total
        peaks[t] = peak


@kernel(parallel=True)
def turn_scaled(d, r, diagonal, blocks, beta):
    """d = r / diagonal + beta d."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, r[c].shape)
        rc, dc, gc = r[c], d[c], diagonal[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                for k in range(k0, k1):
                    g = gc[i, j, k]
                    z = rc[i, j, k] / g if g > ZERO else ZERO
                    dc[i, j, k] = z + beta * dc[i, j, k]


@kernel(parallel=True)
def step(x, r, d, q, blocks, alpha, sums, peaks):
    """x += alpha d; r -= alpha q; sums of r . r and the largest |r|."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, r[c].shape)
        xc, rc, dc, qc = x[c], r[c], d[c], q[c]
        bits = rc.view(np.int32)
        total = np.float64(0.0)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                row = ZERO
                for k in range(k0, k1):
                    xc[i, j, k] += np.float64(alpha) * np.float64(dc[i, j, k])
                    v = rc[i, j, k] - alpha * qc[i, j, k]
                    rc[i, j, k] = v
                    row += v * v
                for k in range(k0, k1):
                    peak = max(peak, size(bits[i, j, k]))
                total += np.float64(row)
        sums[t] = total
        peaks[t] = peak


@kernel(parallel=True)
def add_scaled(a, x, b, y, blocks):
    """y = a x + b y."""
    count = blocks.shape[0]
    for t in prange(count * len(x)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, x[c].shape)
        xc, yc = x[c], y[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                for k in range(k0, k1):
                    yc[i, j, k] = a * xc[i, j, k] + b * yc[i, j, k]


@kernel(parallel=True)
def dot(a, b, blocks, sums):
    """Sums of a . b per block."""
    count = blocks.shape[0]
    for t in prange(count * len(a)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, a[c].shape)
        ac, bc = a[c], b[c]
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                row = ZERO
                for k in range(k0, k1):
                    row += ac[i, j, k] * bc[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def measure(r, blocks, sums, peaks):
    """Sums of r . r, not finite if any sample is not, and the largest |r|, per block."""
    count = blocks.shape[0]
    for t in prange(count * len(r)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, r[c].shape)
        rc = r[c]
        bits = rc.view(np.int32)
        total = np.float64(0.0)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                for k in range(k0, k1):
                    v = np.float64(rc[i, j, k])
                    total += v * v
                for k in range(k0, k1):
                    peak = max(peak, size(bits[i, j, k]))
        sums[t] = total
        peaks[t] = peak


@kernel(parallel=True)
def clear(x, blocks):
    """x = 0."""
    count = blocks.shape[0]
    for t in prange(count * len(x)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, x[c].shape)
        xc = x[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                for k in range(k0, k1):
                    xc[i, j, k] = ZERO


@kernel(parallel=True)
def copy(a, b, blocks):
    """b = a."""
    count = blocks.shape[0]
    for t in prange(count * len(a)):
        c = t // count
        i0, i1, j0, j1, _, _ = block_range(blocks, t % count, a[c].shape)
        ac, bc = a[c], b[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t % count, i, j)
                for k in range(k0, k1):
                    bc[i, j, k] = ac[i, j, k]
