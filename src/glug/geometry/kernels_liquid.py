"""Kernels of the liquid's distance: where it is looked for, from particles, beside walls and in gaps between them."""

import math

import numpy as np

from glug.geometry.kernels import trilinear
from glug.jit import kernel, prange

SHARE = np.float32(2.0**-12)  # of a cell with particles, for one inside a solid
LITTLE_MORE = np.float32(1.0 + 1e-5)  # than rounding
SLIVER = np.float32(1e-3)  # of a cell: at its end a kernel has nothing
ALIGNED = np.float32(1e-4)  # cells: as near to zero distances between corners that all lie on solids are
FLAT = np.float32(0.02)  # sine of the slope of a solid: from one less steep no way is level
TRUST = np.float32(0.85)  # cells of air at a wall that liquid at the same height fills: without a particle 0.9 or 1
SIDES, LEVEL_WAYS = 3, 6  # that a corner has; level ways out of one: its edges are a bit round
REACHED = np.float32(0.9)  # of a distance from solids that was asked for: corners and curved walls are met roughly


# -- where it is looked for ------------------------------------------------------------------------------
# A sum over a box of cells counts both at once: a cell with particles adds 1 and one inside a solid SHARE, of which
# there are fewer than 1 / SHARE in a box.


@kernel(parallel=True)
def filled_cells(start, nodes, slack, out):
    """1 in cells that hold particles, else SHARE in those with all corners in the solid (within `slack`), else 0."""
    ni, nj, nk = out.shape
    up = 1 if nodes.shape[2] > nk else 0
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            row = (i * nj + j) * nk
            for k in range(nk):
                solid = True
                for a in range(2):
                    for b in range(2):
                        solid = solid and nodes[i + a, j + b, k] <= slack and nodes[i + a, j + b, k + up] <= slack
                value = SHARE if solid else np.float32(0.0)
                out[i, j, k] = np.float32(1.0) if start[row + k + 1] > start[row + k] else value


@kernel(parallel=True)
def classify_band(sums, full, corner, band):
    """0 where no cell around holds particles, 2 where all `full` are filled and at least `corner` hold some, else 1."""
    ni, nj, nk = band.shape
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                occupied = np.floor(sums[i, j, k])
                filled = occupied + (sums[i, j, k] - occupied) / SHARE
                inside = filled > full - np.float32(0.5) and occupied > corner - np.float32(0.5)
                band[i, j, k] = 0 if occupied < np.float32(0.5) else (2 if inside else 1)


# -- from particles --------------------------------------------------------------------------------------


@kernel(inline=True)
def cells_within(x, radius, h, count):
    """The first and the last of `count` cells of size h that are nearer than `radius` to x, but for rounding."""
    first, last = math.floor((x - radius) / h + SLIVER), math.ceil((x + radius) / h - SLIVER) - 1.0
    return max(int(first), 0), min(int(last), count - 1)


@kernel(parallel=True)
def filled_fraction(position, volume, start, band, corner, h, shape, spacing, radius, norm, out):
    """How much of a kernel (1 - (r/radius)^2)^3 of integral 1 / norm the particles fill.

    Samples are at corner + (index + 1/2) spacing, cells have size h. A sample in a cell that is surrounded by
    occupied cells counts as full, one with no particle near as empty.
    """
    ni, nj, nk = out.shape
    ci, cj, ck = shape
    half = np.float32(0.5)
    inverse = np.float32(1.0) / (radius * radius)
    for slab in prange(ni):
        i = np.int64(slab)
        x = (np.float32(i) + half) * spacing
        a = min(int(x / h), ci - 1)
        i0, i1 = cells_within(x, radius, h, ci)
        for j in range(nj):
            y = (np.float32(j) + half) * spacing
            b = min(int(y / h), cj - 1)
            j0, j1 = cells_within(y, radius, h, cj)
            for k in range(nk):
                z = (np.float32(k) + half) * spacing if ck > 1 else half * h
                c = min(int(z / h), ck - 1)
                if band[a, b, c] != 1:
                    out[i, j, k] = np.float32(0.0) if band[a, b, c] == 0 else np.float32(1.0)
                    continue
                k0, k1 = cells_within(z, radius, h, ck)
                px, py, pz = corner[0] + x, corner[1] + y, corner[2] + z
                total = np.float32(0.0)
                for p in range(i0, i1 + 1):
                    for q in range(j0, j1 + 1):
                        row = (p * cj + q) * ck
                        for n in range(start[row + k0], start[row + k1 + 1]):
                            dx = position[n, 0] - px
                            dy = position[n, 1] - py
                            dz = position[n, 2] - pz
                            s = max(np.float32(1.0) - (dx * dx + dy * dy + dz * dz) * inverse, np.float32(0.0))
                            total += s * s * s * volume[n, 0]
                out[i, j, k] = total * norm


@kernel(inline=True)
def depth_from_fraction(c, slope):
    """Distance, in kernel radii, at which a half space covers the fraction c of the kernel (0 at c = 1/2).

    The series of the inverse of c(t) = 1/2 - slope (t - 4/3 t^3 + ...), made monotone up to c = 0 and 1.
    """
    y = (np.float32(0.5) - min(max(c, np.float32(0.0)), np.float32(1.0))) / slope
    y2 = y * y
    return y * (np.float32(1.0) + y2 * (np.float32(1.3333333) + np.float32(9.7) * y2))


@kernel(inline=True)
def at_fraction(table, c):
    """What a table of values at evenly spaced fractions, from 0 to 1, holds for c."""
    x = min(max(c, np.float32(0.0)), np.float32(1.0)) * np.float32(len(table) - 1)
    n = min(int(x), len(table) - 2)
    f = x - np.float32(n)
    return (np.float32(1.0) - f) * table[n] + f * table[n + 1]


@kernel(parallel=True)
def distance_from_fraction(fraction, reach, cores, sparse, slope, radius, out):
    """Signed distance to where the filled fraction is half of what its core has, the largest within `reach` samples.

    A core is whole where it has what `cores` says for the fraction, and counts as at least `sparse` of that: less has
    only stray particles. Measured by its own core, a thread of liquid that is thin or thinly sampled keeps its width.
    """
    ni, nj, nk = fraction.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk):
            c = fraction[i, j, k]
            if c > np.float32(0.0) and c < cores[-1]:
                core = c
                for p in range(max(i - reach, 0), min(i + reach + 1, ni)):
                    for q in range(max(j - reach, 0), min(j + reach + 1, nj)):
                        for r in range(max(k - reach, 0), min(k + reach + 1, nk)):
                            core = max(core, fraction[p, q, r])
                c /= min(max(core / at_fraction(cores, c), sparse), np.float32(1.0))
            out[i, j, k] = radius * depth_from_fraction(c, slope)


# -- beside solids ---------------------------------------------------------------------------------------


@kernel(inline=True)
def past_window(nodes, x, y, z):
    """Whether a point is beyond the outermost samples: along axes that have several."""
    ni, nj, nk = nodes.shape
    ends = (x < 0) | (x > ni - 1) | (y < 0) | (y > nj - 1)
    return ends | ((nk > 2) & ((z < 0) | (z > nk - 1)))


@kernel(inline=True)
def leave_wall(nodes, h, reach, up, x, y, z):
    """The point (in cells) that is `reach` from solids, reached from (x, y, z) along their normals.

    The ways are level, which still water is, where there is room at that height: `up` is a unit vector, or zero where
    nothing falls.
    """
    half, one, zero = np.float32(0.5), np.float32(1.0), np.float32(0.0)
    level = up[0] * up[0] + up[1] * up[1] + up[2] * up[2] > zero
    left, begin = LEVEL_WAYS if level else SIDES, (x, y, z)
    s = trilinear(nodes, x, y, z)
    while s < reach:
        if left == 0 or (level and past_window(nodes, x, y, z)):
            if not level or (left == 0 and s >= REACHED * reach):
                break
            x, y, z = begin
            s = trilinear(nodes, x, y, z)
            level, left = False, SIDES
        gx = trilinear(nodes, x + half, y, z) - trilinear(nodes, x - half, y, z)
        gy = trilinear(nodes, x, y + half, z) - trilinear(nodes, x, y - half, z)
        gz = trilinear(nodes, x, y, z + half) - trilinear(nodes, x, y, z - half)
        norm = np.sqrt(gx * gx + gy * gy + gz * gz)
        if norm < np.float32(0.3) * h:
            break
        rise = (gx * up[0] + gy * up[1] + gz * up[2]) / norm
        rise = rise if level and one - rise * rise > FLAT * FLAT else zero
        off = rise * norm
        shift = (reach - s) / (h * norm * (one - rise * rise))
        x, y, z = x + (gx - off * up[0]) * shift, y + (gy - off * up[1]) * shift, z + (gz - off * up[2]) * shift
        s = trilinear(nodes, x, y, z)
        left -= 1
    return x, y, z


@kernel(inline=True)
def solid_within(nodes, x, y, reach):
    """Whether a solid is nearer than `reach` to a row of samples along z through (x, y), in cells, by its corners."""
    i, j = min(int(x), nodes.shape[0] - 1), min(int(y), nodes.shape[1] - 1)
    right, above = min(i + 1, nodes.shape[0] - 1), min(j + 1, nodes.shape[1] - 1)
    a, b, c, d = nodes[i, j], nodes[right, j], nodes[i, above], nodes[right, above]
    found = False
    for k in range(a.size):
        found |= (a[k] < reach) | (b[k] < reach) | (c[k] < reach) | (d[k] < reach)
    return found


@kernel(inline=True)
def even_in_depth(phi, nodes, h, scale, far, beyond, up, s, x, y, z):
    """phi at the depth s from a wall by the parabola, even in s, through its values at `far` and `beyond`.

    So the surface is level at the wall, and as curved there as beside it. Both are read on the way from the wall
    (`leave_wall`); where there is not that much room, or s is beyond `far` on the other side, it is that at `far`.
    """
    half = np.float32(0.5)
    a, b, c = leave_wall(nodes, h, far, up, x, y, z)
    value = trilinear(phi, a / scale - half, b / scale - half, c / scale - half)
    if beyond <= far or s < -far:
        return value, True
    more = (beyond - far) / max(far - s, SLIVER * h)  # along the same line: another wall that is near must not turn it
    a, b, c = a + more * (a - x), b + more * (b - y), c + more * (c - z)
    if trilinear(nodes, a, b, c) < REACHED * beyond:
        return value, True
    change = trilinear(phi, a / scale - half, b / scale - half, c / scale - half) - value
    if abs(change) > half * h:
        return value, True
    here, there = (s / beyond) ** 2, (far / beyond) ** 2
    return value + change * (here - there) / (np.float32(1.0) - there), False


@kernel(inline=True)
def open_share(nodes, h, x, y, z, radius, flat):
    """What solids leave open of a kernel (1 - (r/radius)^2)^3 around a point (in cells), by cubes of half a cell.

    A slot one cell wide, with all corners of its cells on solids, looks as a plate as thick does: as there is liquid in
    it, it is open.
    """
    inverse = (h / radius) * (h / radius)
    half, one, zero, side = np.float32(0.5), np.float32(1.0), np.float32(0.0), np.float32(0.5)
    opened, whole = zero, zero
    for p in range(-3, 3):
        u = (np.float32(p) + half) * side
        for q in range(-3, 3):
            v = (np.float32(q) + half) * side
            for r in range(0 if flat else -3, 1 if flat else 3):
                w = zero if flat else (np.float32(r) + half) * side
                s = max(one - (u * u + v * v + w * w) * inverse, zero)
                s = s * s * s
                whole += s
                if s > zero:
                    d = trilinear(nodes, x + u, y + v, z + w) / h
                    opened += s if abs(d) < ALIGNED else s * min(max(half + d / side, zero), one)
    return opened / whole


@kernel(parallel=True)
def fill_gaps(fraction, nodes, h, scale, far, radius, least):
    """Where solids leave no room that is `far` from them, fractions become those of what is open, `least` at least.

    No kernel is full there, and none that is could be read nearby. In place; samples as in `extend_into_solid`, a cell
    deep in solids at most. Gaps are measured across, however steep they are.
    """
    ni, nj, nk = fraction.shape
    half, one, zero = np.float32(0.5), np.float32(1.0), np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        x = (np.float32(i) + half) * scale
        for j in range(nj):
            y = (np.float32(j) + half) * scale
            if not solid_within(nodes, x, y, LITTLE_MORE * far):
                continue
            for k in range(nk):
                c = fraction[i, j, k]
                if c in (zero, one):
                    continue
                z = (np.float32(k) + half) * scale if nk > 1 else half
                s = trilinear(nodes, x, y, z)
                if s < far and s > -h:
                    p, q, r = leave_wall(nodes, h, far, (zero, zero, zero), x, y, z)
                    if trilinear(nodes, p, q, r) < REACHED * far:
                        opened = open_share(nodes, h, x, y, z, radius, nk == 1)
                        fraction[i, j, k] = min(c / max(opened, least), one)


@kernel(parallel=True)
def extend_into_solid(phi, nodes, h, scale, near, far, beyond, up, out):
    """Continue the liquid's distance into the solid.

    A sample closer to the wall than `far` (or inside the solid) takes the value of `even_in_depth`, without the
    bias that a kernel has next to a wall. Where the surface lies along the wall, or that is half a cell outside the
    liquid, there may be a film, and it takes the value found `near` to the wall, if that is smaller. That also says
    where the wall is dry, however much liquid there is at the same height. `scale` is the samples' spacing over the
    cell size, `nodes` the solid distance at cell corners; phi has the samples at (index + 1/2) scale cells.
    """
    ni, nj, nk = phi.shape
    half, zero = np.float32(0.5), np.float32(0.0)
    deep = np.float32(-4.0) * h
    for slab in prange(ni):
        i = np.int64(slab)
        x = (np.float32(i) + half) * scale
        for j in range(nj):
            y = (np.float32(j) + half) * scale
            if not solid_within(nodes, x, y, LITTLE_MORE * far):
                out[i, j] = phi[i, j]
                continue
            for k in range(nk):
                z = (np.float32(k) + half) * scale if nk > 1 else half
                value = phi[i, j, k]
                s = trilinear(nodes, x, y, z)
                if s < far and s > deep:
                    value, along = even_in_depth(phi, nodes, h, scale, far, beyond, up, s, x, y, z)
                    a, b, c = leave_wall(nodes, h, near, (zero, zero, zero), x, y, z)
                    film = trilinear(phi, a / scale - half, b / scale - half, c / scale - half)
                    value = max(value, film - TRUST * h)
                    if along or value > half * h:
                        value = min(value, film)
                out[i, j, k] = value


@kernel(parallel=True)
def subtract_solid(phi, nodes, scale):
    """phi = max(phi, -solid distance) in place; samples as in `extend_into_solid`."""
    ni, nj, nk = phi.shape
    half = np.float32(0.5)
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        x = (np.float32(i) + half) * scale
        y = (np.float32(j) + half) * scale
        deepest = np.float32(0.0)
        for k in range(nk):
            deepest = min(deepest, phi[i, j, k])
        if not solid_within(nodes, x, y, -LITTLE_MORE * deepest):
            continue
        for k in range(nk):
            z = (np.float32(k) + half) * scale
            phi[i, j, k] = max(phi[i, j, k], -trilinear(nodes, x, y, z))
