"""Light in the studio: soft boxes, a floor that fades into the backdrop, soft coloured shadows.

Radiance is linear, in units where a white floor in full light is about 1.
"""

import numpy as np

from glug.jit import kernel
from glug.view.trace.kernels_march import FAR, HALF, ONE, TWO, ZERO, along, cone, dot, row

KEY = (np.float32(0.80), np.float32(0.78), np.float32(0.74))  # irradiance of the key light
SKY = (np.float32(0.34), np.float32(0.36), np.float32(0.39))  # irradiance of everything else, from above
BOUNCE = np.float32(0.55)  # of it that comes back from the floor
KEY_WIDTH = np.float32(0.20)  # angular radius: softness of shadows
SKY_WIDTH = np.float32(0.75)
OPEN_SKY = np.float32(0.2)  # part of the sky's light that nothing can shade
HORIZON = (np.float32(0.80), np.float32(0.80), np.float32(0.79))
ZENITH = (np.float32(0.40), np.float32(0.43), np.float32(0.47))


@kernel(inline=True)
def mix(a, b, t):
    s = ONE - t
    return a[0] * s + b[0] * t, a[1] * s + b[1] * t, a[2] * s + b[2] * t


@kernel(inline=True)
def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel(inline=True)
def times(a, b):
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel(inline=True)
def scaled(a, s):
    return a[0] * s, a[1] * s, a[2] * s


@kernel(inline=True)
def ramp(low, high, x):
    """0 below `low`, 1 above `high`, smooth between."""
    t = min(max((x - low) / (high - low), ZERO), ONE)
    return t * t * (np.float32(3.0) - TWO * t)


@kernel(inline=True)
def backdrop(d):
    """What the camera sees behind everything, in direction d."""
    return mix(HORIZON, ZENITH, ramp(np.float32(-0.05), np.float32(0.75), d[1]))


@kernel(inline=True)
def soft_box(d, centre, right, up, half_width, half_height):
    """1 inside a rectangle of light around the direction `centre`, with soft borders."""
    ahead = dot(d, centre)
    if ahead < np.float32(0.05):
        return ZERO
    x, y = abs(dot(d, right)) / ahead, abs(dot(d, up)) / ahead
    soft = np.float32(0.10)
    return (ONE - ramp(half_width - soft, half_width + soft, x)) * (
        ONE - ramp(half_height - soft, half_height + soft, y)
    )


@kernel(inline=True)
def surroundings(stage, d):
    """What a glossy liquid mirrors, and sees through itself, in direction d."""
    wall = mix(HORIZON, ZENITH, ramp(np.float32(-0.1), np.float32(0.6), d[1]))
    light = row(stage.lights, 0), row(stage.lights, 1), row(stage.lights, 2)
    key = np.float32(14.0) * soft_box(d, light[0], light[1], light[2], np.float32(0.34), np.float32(0.24))
    rim = np.float32(4.0) * soft_box(
        d,
        row(stage.lights, 3),
        row(stage.lights, 4),
        row(stage.lights, 5),
        np.float32(0.16),
        np.float32(0.60),
    )
    return wall[0] + key + rim, wall[1] + key + rim, wall[2] + key + rim


@kernel(inline=True)
def passed(stage, way):
    """Part of the light, by colour, that gets through what `cone` found on its way."""
    deep = stage.optics[8]
    part = way[2] * (ONE - deep + deep * way[1])
    return (
        part * np.exp(-way[0] * stage.optics[0]),
        part * np.exp(-way[0] * stage.optics[1]),
        part * np.exp(-way[0] * stage.optics[2]),
    )


@kernel(inline=True)
def lit(stage, p, n):
    """Light that arrives at p on a matt surface with normal n."""
    key = passed(stage, cone(stage, p, row(stage.lights, 0), KEY_WIDTH, FAR))
    sky = mix(passed(stage, cone(stage, p, n, SKY_WIDTH, stage.optics[9])), (ONE, ONE, ONE), OPEN_SKY)
    facing = max(dot(n, row(stage.lights, 0)), ZERO)
    above = BOUNCE + (ONE - BOUNCE) * (HALF + HALF * n[1])
    return (
        KEY[0] * key[0] * facing + SKY[0] * sky[0] * above,
        KEY[1] * key[1] * facing + SKY[1] * sky[1] * above,
        KEY[2] * key[2] * facing + SKY[2] * sky[2] * above,
    )


@kernel(inline=True)
def floor_distance(stage, o, d):
    """Where the ray meets the floor; FAR if it does not."""
    height = stage.floor[0]
    if d[1] > np.float32(-1e-6) or height < -HALF * FAR:
        return FAR
    return max((height - o[1]) / d[1], ZERO)


@kernel(inline=True)
def floor_colour(stage, p, d):
    """Radiance of the floor at p, seen along d; far away it becomes the backdrop."""
    x, z = p[0] - stage.floor[1], p[2] - stage.floor[2]
    radius = np.sqrt(x * x + z * z) / stage.floor[3]
    light = lit(stage, p, (ZERO, ONE, ZERO))
    near = times(row(stage.colours, 0), light)
    return mix(near, backdrop(d), ramp(ONE, np.float32(3.5), radius))


@kernel(inline=True)
def solid_colour(stage, v, p, n, d):
    """Radiance of solid v: matt, with a faint gloss."""
    away = along(p, n, stage.density_place[3])
    matt = times(row(stage.colours, v), lit(stage, away, n))
    mirrored = surroundings(stage, along(d, n, -TWO * dot(d, n)))
    edge = ONE - max(-dot(d, n), ZERO)
    gloss = np.float32(0.02) + np.float32(0.10) * edge * edge * edge * edge * edge
    return mix(matt, mirrored, gloss)
