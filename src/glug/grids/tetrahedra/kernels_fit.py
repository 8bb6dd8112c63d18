"""Kernels of the fit of a regular grid's velocity to what faces of a mesh see of it.

`place` is where faces are, in cells from the corner of the grid; faces of the same cell follow each other from `start`
on. A component's samples are in the middle of cells along all axes but its own.
"""

import math

import numpy as np

from glug.jit import kernel, prange

HALF = np.float32(0.5)
ONE = np.float32(1.0)
NOTHING = np.float32(0.0)


@kernel(parallel=True)
def take_off(place, share, axis, x, out):
    """out -= share times a component x of the grid, linear between its samples, 0 beyond, at faces."""
    dim, (nx, ny, nz) = place.shape[1], x.shape
    for f in prange(place.shape[0]):
        low, part = np.zeros(3, np.int64), np.zeros(3, np.float32)
        for b in range(dim):
            at = place[f, b] - (NOTHING if b == axis else HALF)
            low[b] = math.floor(at)
            part[b] = at - np.float32(low[b])
        total = NOTHING
        for corner in range(1 << dim):
            i, j, k = low[0] + (corner & 1), low[1] + ((corner >> 1) & 1), low[2] + (corner >> 2)
            if i < 0 or j < 0 or k < 0 or i >= nx or j >= ny or k >= nz:
                continue
            weight = (part[0] if corner & 1 else ONE - part[0]) * (part[1] if corner & 2 else ONE - part[1])
            if dim == 3:
                weight *= part[2] if corner & 4 else ONE - part[2]
            total += weight * x[i, j, k]
        out[f] -= share[f] * total


@kernel(inline=True)
def hat(distance):
    """1 at 0, falling to 0 at distances of 1."""
    return max(ONE - abs(distance), NOTHING)


@kernel(inline=True)
def cells_around(i, own, cells):
    """The cells along an axis whose faces see sample i: of the component's own axis the sample is between two."""
    return max(i - 1, 0), min(i + (1 if own else 2), cells)


@kernel(parallel=True)
def add_back(place, start, shape, share, axis, value, mask, scale, x):
    """x += what faces give to the samples that they see, share times value times the sample's part, over `scale`.

    The transpose of `take_off`, gathered by the samples where `mask` is set.
    """
    dim = place.shape[1]
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                if not mask[i, j, k] or scale[i, j, k] == NOTHING:
                    continue
                si = np.float32(i) + (NOTHING if axis == 0 else HALF)
                sj = np.float32(j) + (NOTHING if axis == 1 else HALF)
                sk = np.float32(k) + (NOTHING if axis == 2 else HALF)
                total = NOTHING
                i0, i1 = cells_around(i, axis == 0, shape[0])
                j0, j1 = cells_around(j, axis == 1, shape[1])
                k0, k1 = cells_around(k, axis == 2, shape[2])
                for ci in range(i0, i1):
                    for cj in range(j0, j1):
                        row = (ci * shape[1] + cj) * shape[2]
                        for f in range(start[row + k0], start[row + k1]):
                            weight = hat(place[f, 0] - si) * hat(place[f, 1] - sj)
                            if dim == 3:
                                weight *= hat(place[f, 2] - sk)
                            total += weight * share[f] * value[f]
                x[i, j, k] += total / scale[i, j, k]
