"""Vector operations of conjugate gradients on fields, over a list of active blocks.

A vector is a tuple of one or three arrays, equal in shape but for one sample; a task is a block of one of them. Every
task adds to its own slot of `sums`, and the slots are added in order: the result does not depend on the number of
threads. `peaks` are the bits of the largest |r| (int32): numbers without a sign have the order of their bits, those
that are not finite come last, and a maximum of integers vectorises.
"""

import numpy as np

from glug.grids.kernels import block_range
from glug.grids.kernels_blocks import row_range
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
MAGNITUDE = np.int32(0x7FFFFFFF)


@kernel(inline=True)
def task(t, blocks, field):
    """Field and block of task t, and the block's bounds along x and y."""
    c, block = t // blocks.shape[0], t % blocks.shape[0]
    i0, i1, j0, j1, _, _ = block_range(blocks, block, field[c].shape)
    return c, block, i0, i1, j0, j1


@kernel(inline=True)
def advance(x, r, d, q, alpha, i, j, k):
    """x += alpha d and r -= alpha q at one sample; returns r."""
    x[i, j, k] += np.float64(alpha) * np.float64(d[i, j, k])
    v = r[i, j, k] - alpha * q[i, j, k]
    r[i, j, k] = v
    return v


@kernel(inline=True)
def largest_bits(bits, i, j, k0, k1, peak):
    """The larger of `peak` and the bits of |v| in a row, by those of v."""
    for k in range(k0, k1):
        peak = max(peak, bits[i, j, k] & MAGNITUDE)
    return peak


@kernel(parallel=True)
def step_scaled(x, r, d, q, diagonal, blocks, alpha, sums, peaks):
    """x += alpha d; r -= alpha q; sums of r . r / diagonal and the largest |r|."""
    for t in prange(blocks.shape[0] * len(r)):
        c, block, i0, i1, j0, j1 = task(t, blocks, r)
        xc, rc, dc, qc, gc = x[c], r[c], d[c], q[c], diagonal[c]
        bits = rc.view(np.int32)
        total = np.float64(0.0)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                row = ZERO
                for k in range(k0, k1):
                    v = advance(xc, rc, dc, qc, alpha, i, j, k)
                    g = gc[i, j, k]
                    row += v * v / g if g > ZERO else ZERO
                peak = largest_bits(bits, i, j, k0, k1, peak)
                total += np.float64(row)
        sums[t] = total
        peaks[t] = peak


@kernel(parallel=True)
def step(x, r, d, q, blocks, alpha, peaks):
    """x += alpha d; r -= alpha q; the largest |r|."""
    for t in prange(blocks.shape[0] * len(r)):
        c, block, i0, i1, j0, j1 = task(t, blocks, r)
        xc, rc, dc, qc = x[c], r[c], d[c], q[c]
        bits = rc.view(np.int32)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                for k in range(k0, k1):
                    advance(xc, rc, dc, qc, alpha, i, j, k)
                peak = largest_bits(bits, i, j, k0, k1, peak)
        peaks[t] = peak


@kernel(parallel=True)
def measure(r, blocks, peaks):
    """The largest |r|."""
    for t in prange(blocks.shape[0] * len(r)):
        c, block, i0, i1, j0, j1 = task(t, blocks, r)
        bits = r[c].view(np.int32)
        peak = np.int32(0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                peak = largest_bits(bits, i, j, k0, k1, peak)
        peaks[t] = peak


@kernel(parallel=True)
def turn_scaled(d, r, diagonal, blocks, beta):
    """d = r / diagonal + beta d."""
    for t in prange(blocks.shape[0] * len(r)):
        c, block, i0, i1, j0, j1 = task(t, blocks, r)
        rc, dc, gc = r[c], d[c], diagonal[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                for k in range(k0, k1):
                    g = gc[i, j, k]
                    z = rc[i, j, k] / g if g > ZERO else ZERO
                    dc[i, j, k] = z + beta * dc[i, j, k]


@kernel(parallel=True)
def add_scaled(a, x, b, y, blocks):
    """y = a x + b y."""
    for t in prange(blocks.shape[0] * len(x)):
        c, block, i0, i1, j0, j1 = task(t, blocks, x)
        xc, yc = x[c], y[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                for k in range(k0, k1):
                    yc[i, j, k] = a * xc[i, j, k] + b * yc[i, j, k]


@kernel(parallel=True)
def dot(a, b, blocks, sums):
    """Sums of a . b."""
    for t in prange(blocks.shape[0] * len(a)):
        c, block, i0, i1, j0, j1 = task(t, blocks, a)
        ac, bc = a[c], b[c]
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                row = ZERO
                for k in range(k0, k1):
                    row += ac[i, j, k] * bc[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def clear(x, blocks):
    """x = 0."""
    for t in prange(blocks.shape[0] * len(x)):
        c, block, i0, i1, j0, j1 = task(t, blocks, x)
        xc = x[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                for k in range(k0, k1):
                    xc[i, j, k] = ZERO


@kernel(parallel=True)
def copy(a, b, blocks):
    """b = a."""
    for t in prange(blocks.shape[0] * len(a)):
        c, block, i0, i1, j0, j1 = task(t, blocks, a)
        ac, bc = a[c], b[c]
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, block, i, j)
                for k in range(k0, k1):
                    bc[i, j, k] = ac[i, j, k]
