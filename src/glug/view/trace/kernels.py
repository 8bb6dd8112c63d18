"""The path of a ray through the picture: mirrored and bent at the liquid's surface, absorbed inside."""

import numpy as np

from glug.jit import kernel, prange
from glug.view.trace.kernels_march import FAR, HALF, ONE, TWO, ZERO, along, cone, dot, march, normal_at, row, value_at
from glug.view.trace.kernels_studio import (
    KEY,
    KEY_WIDTH,
    SKY,
    backdrop,
    floor_colour,
    floor_distance,
    lit,
    mix,
    passed,
    plus,
    scaled,
    solid_colour,
    surroundings,
    times,
)

EVENTS = 12  # surfaces that a ray meets at most
FAINT = np.float32(0.01)
OPAQUE = np.float32(1e6)  # scattering [1/m] from which nothing is seen inside
NOTHING, FLOOR, LIQUID = -2, -1, 0


@kernel(inline=True)
def nearest(stage, o, d, inside):
    """(t, what) the ray meets first: NOTHING, FLOOR, LIQUID or the number of a solid."""
    t, what = floor_distance(stage, o, d), FLOOR
    if t == FAR:
        what = NOTHING
    for v in range(stage.table.shape[0]):
        side = -ONE if inside else ONE
        if v > 0:  # a ray starts inside a solid only if that lets light through
            side = -ONE if value_at(stage, v, o) < ZERO else ONE
        found = march(stage, v, o, d, side, t)
        if found < t:
            t, what = found, v
    return t, what


@kernel(inline=True)
def mirrored_part(cosine, index):
    """Fresnel reflectance at the surface of a liquid (Schlick)."""
    base = (index - ONE) / (index + ONE)
    base *= base
    x = ONE - cosine
    x2 = x * x
    return base + (ONE - base) * x2 * x2 * x


@kernel(inline=True)
def bend(d, n, ratio):
    """Direction after the surface with normal n against d (Snell); (0, 0, 0) if all is reflected."""
    cosine = -dot(d, n)
    k = ONE - ratio * ratio * (ONE - cosine * cosine)
    if k < ZERO:
        return ZERO, ZERO, ZERO
    s = ratio * cosine - np.sqrt(k)
    return ratio * d[0] + s * n[0], ratio * d[1] + s * n[1], ratio * d[2] + s * n[2]


@kernel(inline=True)
def mirror(stage, p, n, d):
    """Radiance that the liquid at p mirrors towards a viewer looking along d."""
    r = along(d, n, -TWO * dot(d, n))
    away = along(p, n, stage.place[0, 3])
    t = floor_distance(stage, away, r)
    if t < FAR:
        q = along(away, r, t)
        x, z = q[0] - stage.floor[1], q[2] - stage.floor[2]
        part = min(np.sqrt(x * x + z * z) / (np.float32(3.0) * stage.floor[3]), ONE)
        seen = mix(row(stage.colours, 0), backdrop(r), part)
    else:
        seen = surroundings(stage, r)
    start = along(p, n, np.float32(1.5) * stage.density_place[3])
    way = cone(stage, start, r, np.float32(0.12), FAR)
    clear = way[1] * way[2]
    scattered = (stage.optics[3], stage.optics[4], stage.optics[5])
    return mix(scaled(scattered, HALF), seen, clear)


@kernel(inline=True)
def glow(stage, p, n, length):
    """Radiance scattered inside the liquid over `length` [m] of path that begins at p with normal n."""
    scattered = (stage.optics[3], stage.optics[4], stage.optics[5])
    part = ONE - np.exp(-stage.optics[6] * length)
    if stage.optics[6] >= OPAQUE:
        away = along(p, n, stage.density_place[3])
        return times(scattered, lit(stage, away, n))
    inner = along(p, n, np.float32(-0.5) * stage.density_place[3])
    key = passed(stage, cone(stage, inner, row(stage.lights, 0), KEY_WIDTH, FAR))
    wrapped = HALF + HALF * dot(n, row(stage.lights, 0))
    light = (
        KEY[0] * key[0] * wrapped + SKY[0],
        KEY[1] * key[1] * wrapped + SKY[1],
        KEY[2] * key[2] * wrapped + SKY[2],
    )
    return scaled(times(scattered, light), part)


@kernel(inline=True)
def absorbed(stage, length):
    """Part of the light, by colour, that is left after `length` [m] of liquid (Beer and Lambert)."""
    return (
        np.exp(-length * (stage.optics[0] + stage.optics[6])),
        np.exp(-length * (stage.optics[1] + stage.optics[6])),
        np.exp(-length * (stage.optics[2] + stage.optics[6])),
    )


@kernel(inline=True)
def appearance(stage, what, p, d, direct):
    """Radiance of what is not liquid, seen at p along d, and the part of the view that it hides."""
    if what == NOTHING:
        return (backdrop(d) if direct else surroundings(stage, d)), ONE
    if what == FLOOR:
        return floor_colour(stage, p, d), ONE
    n = normal_at(stage, what, p)
    if dot(d, n) > ZERO:
        n = scaled(n, -ONE)
    edge = ONE + dot(d, n)
    opacity = stage.colours[what, 3]
    return solid_colour(stage, what, p, n, d), opacity + (ONE - opacity) * edge * edge * edge


@kernel(inline=True)
def crossed(stage, p, d, n, inside):
    """(origin, direction, inside) of the ray after the liquid's surface at p with outward normal n."""
    beside = HALF * stage.place[0, 3]
    index = stage.optics[7]
    if not inside:
        return along(p, n, -beside), bend(d, n, ONE / index), True
    inward = scaled(n, -ONE)
    turned = bend(d, inward, index)
    if dot(turned, turned) > ZERO:
        return along(p, n, beside), turned, False
    return along(p, n, -beside), along(d, n, -TWO * dot(d, n)), True


@kernel(inline=True)
def radiance(stage, o, d):
    """(r, g, b, what) seen from o along d; `what` is the first thing met."""
    total, through = (ZERO, ZERO, ZERO), (ONE, ONE, ONE)
    first, inside, entry = NOTHING, False, (ZERO, ONE, ZERO)
    film = np.float32(1.5) * stage.place[0, 3]
    for event in range(EVENTS):
        t, what = nearest(stage, o, d, inside)
        p = along(o, d, t)
        if event == 0:
            first = what
        if inside and t < FAR:
            total = plus(total, times(through, glow(stage, o, entry, t)))
            through = times(through, absorbed(stage, t))
        if inside and what == LIQUID and p[1] - stage.floor[0] < film and d[1] < ZERO:
            what = FLOOR  # no film of air between the liquid and the floor it stands on
        if what != LIQUID:
            seen, part = appearance(stage, what, p, d, event == 0)
            total = plus(total, times(through, scaled(seen, part)))
            through = scaled(through, ONE - part)
            if part == ONE:
                break
            o = along(p, d, HALF * stage.place[what, 3])  # through thin glass, straight on
        else:
            n = normal_at(stage, 0, p)
            if not inside:
                part = mirrored_part(max(-dot(d, n), ZERO), stage.optics[7])
                total = plus(total, times(through, scaled(mirror(stage, p, n, d), part)))
                through, entry = scaled(through, ONE - part), n
                if stage.optics[6] >= OPAQUE:
                    total = plus(total, times(through, glow(stage, p, n, ONE)))
                    through = (ZERO, ZERO, ZERO)
                    break
            o, d, inside = crossed(stage, p, d, n, inside)
        if max(through[0], max(through[1], through[2])) < FAINT:
            break
    # What is left after the last event has been scattered about in the liquid.
    scattered = (stage.optics[3], stage.optics[4], stage.optics[5])
    total = plus(total, times(through, times(scattered, SKY)))
    return total[0], total[1], total[2], first


@kernel(parallel=True)
def trace(stage, view, pixels, seen, what):
    """Radiance (n, 3) and the first thing met (n,) at picture positions pixels (n, 2).

    view: rows eye, direction of pixel (0, 0), change of direction per pixel in x and in y
    """
    eye = row(view, 0)
    for i in prange(pixels.shape[0]):
        d = along(along(row(view, 1), row(view, 2), pixels[i, 0]), row(view, 3), pixels[i, 1])
        s = ONE / np.sqrt(dot(d, d))
        r, g, b, first = radiance(stage, eye, (d[0] * s, d[1] * s, d[2] * s))
        seen[i, 0] = r
        seen[i, 1] = g
        seen[i, 2] = b
        what[i] = first
