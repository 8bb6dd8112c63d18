"""Rays through sampled distances and cones through blurred densities. Vectors are tuples of float32."""

from typing import NamedTuple

import numpy as np

from glug.jit import kernel

ZERO = np.float32(0.0)
HALF = np.float32(0.5)
ONE = np.float32(1.0)
TWO = np.float32(2.0)
FAR = np.float32(1e30)
# Sampled distances are approximate and clamped: go this part of them, at least this part of a cell.
RELAXATION = np.float32(0.85)
SHORTEST = np.float32(0.35)
MARCH_STEPS = 400
BISECTIONS = 5
CONE_STEPS = 24


class Stage(NamedTuple):
    """All that rays meet (see `Volumes`), the light and the liquid's optics; arrays are float32.

    lights    unit vectors: towards the key light, its right, its up, towards the rim light
    optics    absorption r g b [1/m], scattered colour r g b, scattering [1/m], index of refraction,
              depth of its shadow (0 to 1), distance [m] from which things do not shade the light of the sky
    colours   of the volumes, linear, and their opacity; the first row is the floor's
    floor     height y [m]; centre x, z and radius [m] of its lit part
    """

    samples: np.ndarray
    table: np.ndarray
    place: np.ndarray
    density: np.ndarray
    density_place: np.ndarray
    lights: np.ndarray
    optics: np.ndarray
    colours: np.ndarray
    floor: np.ndarray


@kernel(inline=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def along(p, d, t):
    """p + t d"""
    return p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]


@kernel(inline=True)
def unit(a):
    s = ONE / np.sqrt(dot(a, a) + np.float32(1e-30))
    return a[0] * s, a[1] * s, a[2] * s


@kernel(inline=True)
def row(array, i):
    return array[i, 0], array[i, 1], array[i, 2]


@kernel(inline=True)
def value_at(stage, v, p):
    """Distance of volume v at p, trilinear; beyond the samples that of the nearest one."""
    h = ONE / stage.place[v, 3]
    nx, ny, nz = stage.table[v, 1], stage.table[v, 2], stage.table[v, 3]
    top = np.float32(1.0001)
    x = min(max((p[0] - stage.place[v, 0]) * h, ZERO), np.float32(nx) - top)
    y = min(max((p[1] - stage.place[v, 1]) * h, ZERO), np.float32(ny) - top)
    z = min(max((p[2] - stage.place[v, 2]) * h, ZERO), np.float32(nz) - top)
    i, j, k = int(x), int(y), int(z)
    x, y, z = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    s = stage.samples
    a = stage.table[v, 0] + (i * ny + j) * nz + k
    b = a + ny * nz
    low = (s[a] * (ONE - z) + s[a + 1] * z) * (ONE - y) + (s[a + nz] * (ONE - z) + s[a + nz + 1] * z) * y
    high = (s[b] * (ONE - z) + s[b + 1] * z) * (ONE - y) + (s[b + nz] * (ONE - z) + s[b + nz + 1] * z) * y
    return low * (ONE - x) + high * x


@kernel(inline=True)
def normal_at(stage, v, p):
    """Outward unit normal: differences over two cells of the trilinear values, so that it is continuous."""
    h = stage.place[v, 3]
    return unit(
        (
            value_at(stage, v, (p[0] + h, p[1], p[2])) - value_at(stage, v, (p[0] - h, p[1], p[2])),
            value_at(stage, v, (p[0], p[1] + h, p[2])) - value_at(stage, v, (p[0], p[1] - h, p[2])),
            value_at(stage, v, (p[0], p[1], p[2] + h)) - value_at(stage, v, (p[0], p[1], p[2] - h)),
        )
    )


@kernel(inline=True)
def box_range(o, d, lower, upper):
    """The part (t0, t1) of the ray o + t d inside a box; t0 > t1 if none."""
    t0, t1 = ZERO, FAR
    for axis in range(3):
        slope = d[axis]
        if abs(slope) < np.float32(1e-9):
            slope = np.float32(1e-9)
        a = (lower[axis] - o[axis]) / slope
        b = (upper[axis] - o[axis]) / slope
        t0 = max(t0, min(a, b))
        t1 = min(t1, max(a, b))
    return t0, t1


@kernel(inline=True)
def march(stage, v, o, d, side, limit):
    """First t < limit where the distance of volume v, times `side`, falls below zero; FAR if nowhere.

    side is +1 for a ray outside the volume and -1 for one inside.
    """
    h = stage.place[v, 3]
    lower = row(stage.place, v)
    reach_x = h * np.float32(stage.table[v, 1] - 1)
    reach_y = h * np.float32(stage.table[v, 2] - 1)
    reach_z = h * np.float32(stage.table[v, 3] - 1)
    t, last = box_range(o, d, lower, (lower[0] + reach_x, lower[1] + reach_y, lower[2] + reach_z))
    last = min(last, limit)
    before = t
    for _ in range(MARCH_STEPS):
        if t > last:
            break
        value = side * value_at(stage, v, along(o, d, t))
        if value < ZERO:
            inner, outer = t, before
            for _ in range(BISECTIONS):
                middle = HALF * (inner + outer)
                if side * value_at(stage, v, along(o, d, middle)) < ZERO:
                    inner = middle
                else:
                    outer = middle
            return inner
        before = t
        t += max(RELAXATION * value, SHORTEST * h)
    return FAR


@kernel(inline=True)
def density_at(stage, level, x, y, z):
    """(liquid, solid) part of space at lattice position x, y, z of one level, trilinear."""
    i, j, k = int(x), int(y), int(z)
    x, y, z = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    q = stage.density
    liquid, solid = ZERO, ZERO
    for a in range(2):
        wx = x if a == 1 else ONE - x
        for b in range(2):
            wxy = wx * (y if b == 1 else ONE - y)
            near, far = wxy * (ONE - z), wxy * z
            liquid += near * q[level, i + a, j + b, k, 0] + far * q[level, i + a, j + b, k + 1, 0]
            solid += near * q[level, i + a, j + b, k, 1] + far * q[level, i + a, j + b, k + 1, 1]
    return liquid, solid


@kernel(inline=True)
def cone(stage, p, d, width, reach):
    """What stands between p and a light along d whose angular radius is `width`.

    Returns the length [m] of liquid on the way and the parts of the light that pass the liquid and the solids
    if both are opaque. What is farther than `reach` [m] does not count, with a soft limit.
    """
    h = stage.density_place[3]
    lower = (stage.density_place[0], stage.density_place[1], stage.density_place[2])
    nx, ny, nz = stage.density.shape[1], stage.density.shape[2], stage.density.shape[3]
    top = np.float32(1.001)
    upper = (
        lower[0] + h * (np.float32(nx) - top),
        lower[1] + h * (np.float32(ny) - top),
        lower[2] + h * (np.float32(nz) - top),
    )
    start, last = box_range(p, d, lower, upper)
    last = min(last, reach)
    finest = np.float32(stage.density.shape[0] - 1) - np.float32(1e-3)
    length, past_liquid, past_solid = ZERO, ONE, ONE
    t = start + HALF * h
    for _ in range(CONE_STEPS):
        if t > last:
            break
        radius = width * t / h  # in cells
        step = max(np.float32(0.9), np.float32(0.6) * radius)
        level = min(max(np.log2(radius + HALF) + np.float32(0.3), ZERO), finest)  # blur = 0.6 radius
        base = int(level)
        blend = level - np.float32(base)
        q = along(p, d, t)
        x, y, z = (q[0] - lower[0]) / h, (q[1] - lower[1]) / h, (q[2] - lower[2]) / h
        sharp = density_at(stage, base, x, y, z)
        soft = density_at(stage, base + 1, x, y, z)
        near = ONE - t / reach
        liquid = near * (sharp[0] * (ONE - blend) + soft[0] * blend)
        solid = near * (sharp[1] * (ONE - blend) + soft[1] * blend)
        # A ball as wide as the blur counts once, however many steps are in it.
        share = step / max(ONE, np.float32(1.2) * radius)
        length += step * h * liquid
        past_liquid *= ONE - share * min(liquid, ONE)
        past_solid *= ONE - share * min(solid, ONE)
        t += step * h
    return length, past_liquid, past_solid
