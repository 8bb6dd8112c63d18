"""Kernels that carry velocities between a regular grid and an octree, level by level.

A field of level l has one sample per face that a regular grid of cells of level l would have. Along its own axis a
coarse face lies on every second fine one; across, it covers two by two (one by two in 2D). All transfers are exact for
velocities that are linear in space. A `shift` is added to the indices of a field that has empty layers around it.
"""

import numpy as np

from glug.grids.octree.kernels import level_at, of_axis, set_of_axis
from glug.jit import kernel, prange

QUARTER, HALF, ONE = np.float32(0.25), np.float32(0.5), np.float32(1.0)


@kernel(inline=True)
def plane_mean(fine, axis, deep, shift, n, i, j, k):
    """Mean of the fine faces that coarse face (i, j, k) covers, in the fine plane `n` along its axis."""
    total = np.float32(0.0)
    for p in range(2 if axis != 0 else 1):
        for q in range(2 if axis != 1 else 1):
            for r in range(1 + deep if axis != 2 else 1):
                x = n if axis == 0 else 2 * i + p
                y = n if axis == 1 else 2 * j + q
                z = n if axis == 2 else (k << deep) + r
                total += fine[x + shift, y + shift, z + shift]
    return total * (QUARTER if deep else HALF)


@kernel(parallel=True)
def restrict_faces(fine, axis, deep, shift, coarse):
    """Every coarse face: 1/4, 1/2, 1/4 of the planes before, at and after it (Zhu et al. 2010, section 6)."""
    last = 2 * (coarse.shape[axis] - 1)
    for slab in prange(coarse.shape[0]):
        i = np.int64(slab)
        for j in range(coarse.shape[1]):
            for k in range(coarse.shape[2]):
                n = 2 * (i if axis == 0 else (j if axis == 1 else k))
                total = HALF * plane_mean(fine, axis, deep, shift, n, i, j, k)
                if 0 < n < last:
                    total += QUARTER * plane_mean(fine, axis, deep, shift, n - 1, i, j, k)
                    total += QUARTER * plane_mean(fine, axis, deep, shift, n + 1, i, j, k)
                else:
                    total += total
                coarse[i, j, k] = total


@kernel(parallel=True)
def spread_faces(coarse, axis, shift, fine):
    """Add the transpose of `restrict_faces` (in 3D) to the fine field."""
    ni, nj, nk = coarse.shape
    for slab in prange(2 * ni - (axis == 0)):
        x = np.int64(slab)
        for y in range(2 * nj - (axis == 1)):
            for z in range(2 * nk - (axis == 2)):
                n = x if axis == 0 else (y if axis == 1 else z)
                i, j, k = x >> 1, y >> 1, z >> 1
                if n % 2 == 0:
                    part = np.float32(0.125) * coarse[i, j, k]
                else:
                    above = coarse[i + (axis == 0), j + (axis == 1), k + (axis == 2)]
                    part = np.float32(0.0625) * (coarse[i, j, k] + above)
                fine[x + shift, y + shift, z + shift] += part


@kernel(inline=True)
def around(level, axis, deep, l, i, j, k):
    """Levels at the two cells of a face."""
    low = level_at(level, deep, l, i - (axis == 0), j - (axis == 1), k - (axis == 2))
    return low, level_at(level, deep, l, i, j, k)


@kernel(parallel=True)
def fill_divided(level, deep, l, axis, fine, coarse):
    """Faces of level l next to divided cells take the mean of their parts."""
    for slab in prange(coarse.shape[0]):
        i = np.int64(slab)
        for j in range(coarse.shape[1]):
            for k in range(coarse.shape[2]):
                low, high = around(level, axis, deep, l, i, j, k)
                if low < l or high < l:
                    n = 2 * (i if axis == 0 else (j if axis == 1 else k))
                    coarse[i, j, k] = plane_mean(fine, axis, deep, 0, n, i, j, k)


@kernel(parallel=True)
def fill_covered(level, deep, l, axis, coarse, fine):
    """Faces of level l inside coarser leaves: linear interpolation from level l + 1."""
    for slab in prange(fine.shape[0]):
        x = np.int64(slab)
        for y in range(fine.shape[1]):
            for z in range(fine.shape[2]):
                low, high = around(level, axis, deep, l, x, y, z)
                if low > l and high > l:
                    fine[x, y, z] = between(coarse, axis, deep, 0, x, y, z)


@kernel(inline=True)
def between(coarse, axis, deep, shift, x, y, z):
    """Linear interpolation of a coarse field at the fine face (x, y, z); at the border its last samples hold."""
    i, j, k = (x >> 1) + shift, (y >> 1) + shift, (z >> deep) + shift
    # The other sample along each axis, and its weight: half way between planes, a quarter across.
    si = x % 2 if axis == 0 else 2 * (x % 2) - 1
    sj = y % 2 if axis == 1 else 2 * (y % 2) - 1
    sk = (z % 2 if axis == 2 else 2 * (z % 2) - 1) * deep
    si = si if 0 <= i + si < coarse.shape[0] else 0
    sj = sj if 0 <= j + sj < coarse.shape[1] else 0
    sk = sk if 0 <= k + sk < coarse.shape[2] else 0
    wi = HALF * np.float32(x % 2) if axis == 0 else QUARTER
    wj = HALF * np.float32(y % 2) if axis == 1 else QUARTER
    wk = (HALF * np.float32(z % 2) if axis == 2 else QUARTER) * np.float32(deep)
    a = lerp(coarse[i, j, k], coarse[i + si, j, k], wi)
    b = lerp(coarse[i, j + sj, k], coarse[i + si, j + sj, k], wi)
    c = lerp(coarse[i, j, k + sk], coarse[i + si, j, k + sk], wi)
    d = lerp(coarse[i, j + sj, k + sk], coarse[i + si, j + sj, k + sk], wi)
    return lerp(lerp(a, b, wj), lerp(c, d, wj), wk)


@kernel(inline=True)
def lerp(a, b, w):
    return a + w * (b - a)


@kernel(parallel=True)
def take_level(place, l, deep, fields, values):
    """values = the samples of `fields`, which are of level l, at the faces of that level."""
    for n in prange(place.shape[0]):
        if place[n, 1] == l:
            values[n] = of_axis(fields, place[n, 0], place[n, 2] >> l, place[n, 3] >> l, place[n, 4] >> (l * deep))


@kernel(parallel=True)
def add_level(place, l, fields, shift, values):
    """Add the samples of `fields`, which are of level l, to the values at the faces of that level (3D)."""
    for n in prange(place.shape[0]):
        if place[n, 1] == l:
            x, y, z = (place[n, 2] >> l) + shift, (place[n, 3] >> l) + shift, (place[n, 4] >> l) + shift
            values[n] += of_axis(fields, place[n, 0], x, y, z)


@kernel(parallel=True)
def add_to_level(place, l, values, fields, shift):
    """Add the values at the faces of level l to `fields`, which are of that level (3D)."""
    for n in prange(place.shape[0]):
        if place[n, 1] == l:
            x, y, z = (place[n, 2] >> l) + shift, (place[n, 3] >> l) + shift, (place[n, 4] >> l) + shift
            set_of_axis(fields, place[n, 0], x, y, z, of_axis(fields, place[n, 0], x, y, z) + values[n])


@kernel(parallel=True)
def add_between(place, fields, shift, values):
    """Add the linear interpolation of `fields`, which are of level 1, to the values at faces of level 0 (3D)."""
    for n in prange(place.shape[0]):
        if place[n, 1] == 0:
            x, y, z = np.int64(place[n, 2]), np.int64(place[n, 3]), np.int64(place[n, 4])
            if place[n, 0] == 0:
                values[n] += between(fields[0], 0, 1, shift, x, y, z)
            elif place[n, 0] == 1:
                values[n] += between(fields[1], 1, 1, shift, x, y, z)
            else:
                values[n] += between(fields[2], 2, 1, shift, x, y, z)


@kernel(parallel=True)
def put_level(place, l, deep, values, scale, fields):
    """`scale` times the values at the faces of level l, into fields of that level."""
    for n in prange(place.shape[0]):
        if place[n, 1] == l:
            x, y, z = place[n, 2] >> l, place[n, 3] >> l, place[n, 4] >> (l * deep)
            set_of_axis(fields, place[n, 0], x, y, z, scale * np.float32(values[n]))


@kernel(parallel=True)
def put_finest(place, axis, values, scale, shift, field):
    """`scale` times the values at the faces of level 0 of one axis, into the regular field."""
    for n in prange(place.shape[0]):
        if place[n, 1] == 0 and place[n, 0] == axis:
            field[place[n, 2] + shift, place[n, 3] + shift, place[n, 4] + shift] = scale * values[n]
