"""Kernels of geometry: fractions of cut control volumes, distance to the zero level, liquid from particles."""

import math

import numpy as np

from glug.jit import kernel, prange

FAR = np.float32(1e30)
LITTLE_MORE = np.float32(1.0 + 1e-5)  # than rounding
SLIVER = np.float32(1e-3)  # of a cell: at its end a kernel has nothing
ALIGNED = np.float32(1e-4)  # cells: as near to zero distances between corners that all lie on solids are
REACHED = np.float32(0.9)  # of a distance from solids that was asked for: corners and curved walls are met roughly


# -- fractions: volume or area where a linear function is negative, exact for planes ------------------------


@kernel(inline=True)
def triangle_fraction(a, b, c):
    """Area fraction of a triangle where the linear function with vertex values a, b, c is negative."""
    count = (a < 0.0) + (b < 0.0) + (c < 0.0)
    if count == 0:
        return 0.0
    if count == 3:
        return 1.0
    low, high = min(a, b, c), max(a, b, c)
    middle = a + b + c - low - high if low != high else low
    if count == 1:
        return low * low / ((low - middle) * (low - high))
    return 1.0 - high * high / ((high - low) * (high - middle))


@kernel(inline=True)
def square_fraction(a, b, c, d):
    """Area fraction of a square with corner values a, b, c, d in cyclic order: four triangles."""
    m = 0.25 * (a + b + c + d)
    return 0.25 * (
        triangle_fraction(a, b, m)
        + triangle_fraction(b, c, m)
        + triangle_fraction(c, d, m)
        + triangle_fraction(d, a, m)
    )


@kernel(inline=True)
def ordered(a, b):
    """The smaller of two values, and the larger."""
    return (b, a) if a > b else (a, b)


@kernel(inline=True)
def tetrahedron_fraction(a, b, c, d):
    """Volume fraction of a tetrahedron where the linear function with vertex values a..d is negative."""
    count = (a < 0.0) + (b < 0.0) + (c < 0.0) + (d < 0.0)
    if count == 0:
        return 0.0
    if count == 4:
        return 1.0
    # Sort ascending: a <= b <= c <= d.
    a, b = ordered(a, b)
    c, d = ordered(c, d)
    a, c = ordered(a, c)
    b, d = ordered(b, d)
    b, c = ordered(b, c)
    if count == 1:
        return a * a * a / ((a - b) * (a - c) * (a - d))
    if count == 3:
        return 1.0 - d * d * d / ((d - a) * (d - b) * (d - c))
    ac, ad, bc, bd = a / (a - c), a / (a - d), b / (b - c), b / (b - d)
    return ac * ad + ac * bd * (1.0 - ad) + bc * bd * (1.0 - ac)


@kernel(inline=True)
def cube_fraction(v):
    """Volume fraction of a cube with the eight corner values v[4a + 2b + c]: six tetrahedra."""
    low, high = v[0], v[7]
    return (
        tetrahedron_fraction(low, v[4], v[6], high)
        + tetrahedron_fraction(low, v[4], v[5], high)
        + tetrahedron_fraction(low, v[2], v[6], high)
        + tetrahedron_fraction(low, v[2], v[3], high)
        + tetrahedron_fraction(low, v[1], v[5], high)
        + tetrahedron_fraction(low, v[1], v[3], high)
    ) / 6.0


@kernel(inline=True)
def axis_samples(i, a, kind, n, index, weight):
    """Samples and weights along an axis that give the value at side a (0 or 1) of a control volume at i.

    kind 0: the side lies midway between samples i-1+a and i+a, and is interpolated by a cubic (a mean would
    shrink round shapes by a quarter of their curvature); kind 1: on sample i+a; kind -1: on i-1+a.
    Returns how many there are.
    """
    if kind != 0:
        index[0] = min(max(i + a if kind == 1 else i - 1 + a, 0), n - 1)
        weight[0] = 1.0
        return 1
    for m in range(4):
        index[m] = min(max(i - 2 + a + m, 0), n - 1)
        weight[m] = 0.5625 if m == 1 or m == 2 else -0.0625
    return 4


@kernel(inline=True)
def weighted(field, index, weight, ni, nj, nk):
    """Sum of the samples of `field` with tensor-product weights."""
    total = 0.0
    for p in range(ni):
        for q in range(nj):
            w = weight[0, p] * weight[1, q]
            for r in range(nk):
                total += w * weight[2, r] * field[index[0, p], index[1, q], index[2, r]]
    return total


@kernel(inline=True)
def centre_samples(i, kind, n, index, weight):
    """Samples and weights along an axis that give the value in the middle of a control volume at i."""
    if kind == 0:
        index[0], weight[0] = min(max(i, 0), n - 1), 1.0
        return 1
    return axis_samples(i + (1 if kind == 1 else 0), 0, 0, n, index, weight)


@kernel(inline=True)
def gather_corners(field, i, j, k, kx, ky, kz, index, weight, v):
    """Corner values of the control volume at (i, j, k) from the samples of `field` around them.

    Between the corners the function will be taken as linear, which overestimates a convex one: for a quadratic by two
    thirds of what the corners' mean exceeds the middle by. That is subtracted. `index` (3, 4) and `weight` (3, 4) are
    scratch space.
    """
    mean = 0.0
    for a in range(2):
        ni = axis_samples(i, a, kx, field.shape[0], index[0], weight[0])
        for b in range(2):
            nj = axis_samples(j, b, ky, field.shape[1], index[1], weight[1])
            for c in range(2):
                nk = axis_samples(k, c, kz, field.shape[2], index[2], weight[2])
                v[4 * a + 2 * b + c] = weighted(field, index, weight, ni, nj, nk)
                mean += 0.125 * v[4 * a + 2 * b + c]
    ni = centre_samples(i, kx, field.shape[0], index[0], weight[0])
    nj = centre_samples(j, ky, field.shape[1], index[1], weight[1])
    nk = centre_samples(k, kz, field.shape[2], index[2], weight[2])
    excess = (mean - weighted(field, index, weight, ni, nj, nk)) * (2.0 / 3.0)
    for n in range(8):
        v[n] -= excess


@kernel(inline=True)
def positive_fraction(a, b, c, d):
    """Fraction of a square where the distance is positive; a face in the surface of a solid is closed."""
    if max(max(a, b), max(c, d)) <= 0.0:
        return 0.0
    return 1.0 - square_fraction(a, b, c, d)


@kernel(parallel=True)
def open_areas(nodes, ax, ay, az):
    """Fraction of every face where the node-sampled solid distance is positive."""
    ni, nj, nk = nodes.shape[0] - 1, nodes.shape[1] - 1, nodes.shape[2] - 1
    for slab in prange(ni + 1):
        i = np.int64(slab)
        for j in range(nj + 1):
            for k in range(nk + 1):
                a = np.float64(nodes[i, j, k])
                if j < nj and k < nk:
                    b, c, d = nodes[i, j + 1, k], nodes[i, j + 1, k + 1], nodes[i, j, k + 1]
                    ax[i, j, k] = positive_fraction(a, np.float64(b), np.float64(c), np.float64(d))
                if i < ni and k < nk:
                    b, c, d = nodes[i + 1, j, k], nodes[i + 1, j, k + 1], nodes[i, j, k + 1]
                    ay[i, j, k] = positive_fraction(a, np.float64(b), np.float64(c), np.float64(d))
                if i < ni and j < nj:
                    b, c, d = nodes[i + 1, j, k], nodes[i + 1, j + 1, k], nodes[i, j + 1, k]
                    az[i, j, k] = positive_fraction(a, np.float64(b), np.float64(c), np.float64(d))


# -- redistancing ----------------------------------------------------------------------------------------


@kernel(inline=True)
def eikonal(a, b, c, h):
    """Solve |grad phi| = 1 at a sample from its smallest neighbours along the three axes (Zhao 2005)."""
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    x = a + h
    if x > b:
        x = np.float32(0.5) * (a + b + math.sqrt(max(np.float32(2.0) * h * h - (a - b) * (a - b), np.float32(0.0))))
        if x > c:
            s = a + b + c
            q = a * a + b * b + c * c - h * h
            x = (s + math.sqrt(max(s * s - np.float32(3.0) * q, np.float32(0.0)))) / np.float32(3.0)
    return x


@kernel(inline=True)
def rows_beside(field, i, j):
    """The rows along z beside row (i, j): before and after it along x, then along y; at the border itself."""
    ni, nj = field.shape[0], field.shape[1]
    return field[max(i - 1, 0), j], field[min(i + 1, ni - 1), j], field[i, max(j - 1, 0)], field[i, min(j + 1, nj - 1)]


@kernel(parallel=True)
def seed_distance(phi, out, fixed):
    """|phi| at the samples next to the zero level, which they keep; FAR elsewhere."""
    ni, nj, nk = phi.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        left, right, below, above = rows_beside(phi, i, j)
        line, touched = phi[i, j], fixed[i, j]
        zero = np.float32(0.0)
        for k in range(nk):
            inside = line[k] < zero
            across = ((left[k] < zero) != inside) | ((right[k] < zero) != inside)
            touched[k] = across | ((below[k] < zero) != inside) | ((above[k] < zero) != inside)
        for k in range(nk - 1):
            touched[k] |= (line[k + 1] < zero) != (line[k] < zero)
        for k in range(1, nk):
            touched[k] |= (line[k - 1] < zero) != (line[k] < zero)
        for k in range(nk):
            out[i, j, k] = abs(line[k]) if touched[k] else FAR


@kernel(parallel=True)
def relax_distance(d, fixed, h, reach, out):
    """One Jacobi pass of the eikonal equation, for samples closer than `reach`; returns nothing."""
    ni, nj, nk = d.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        left, right, below, above = rows_beside(d, i, j)
        line, seeds = d[i, j], fixed[i, j]
        near = False
        for k in range(nk):
            near |= (seeds[k] != 0) | (line[k] < reach)
            near |= (left[k] < reach) | (right[k] < reach) | (below[k] < reach) | (above[k] < reach)
        if not near:
            out[i, j] = FAR
            continue
        for k in range(nk):
            if seeds[k]:
                out[i, j, k] = line[k]
                continue
            a, b = min(left[k], right[k]), min(below[k], above[k])
            c = min(line[max(k - 1, 0)], line[min(k + 1, nk - 1)])
            if min(a, min(b, c)) >= reach:
                out[i, j, k] = FAR
            else:
                out[i, j, k] = min(line[k], eikonal(a, b, c, h))


@kernel(parallel=True)
def sign_distance(d, phi, reach):
    """Give the unsigned distance the sign of phi, in place in phi; |phi| is at most `reach`."""
    distance, signed = d.reshape(-1), phi.reshape(-1)
    for n in prange(signed.size):
        m = min(distance[n], reach)
        signed[n] = -m if signed[n] < np.float32(0.0) else m


# -- liquid distance from particles ----------------------------------------------------------------------


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


@kernel(parallel=True)
def smooth(field, out):
    """Mean of every sample and its six neighbours' mean: a small blur that keeps linear fields."""
    ni, nj, nk = field.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk):
            m = (
                field[max(i - 1, 0), j, k]
                + field[min(i + 1, ni - 1), j, k]
                + field[i, max(j - 1, 0), k]
                + field[i, min(j + 1, nj - 1), k]
                + field[i, j, max(k - 1, 0)]
                + field[i, j, min(k + 1, nk - 1)]
            )
            out[i, j, k] = np.float32(0.5) * field[i, j, k] + m * np.float32(1.0 / 12.0)


@kernel(inline=True)
def trilinear(field, x, y, z):
    """Value of `field` at (x, y, z) in sample units, clamped to its border."""
    ni, nj, nk = field.shape
    i = min(max(int(math.floor(x)), 0), max(ni - 2, 0))
    j = min(max(int(math.floor(y)), 0), max(nj - 2, 0))
    k = min(max(int(math.floor(z)), 0), max(nk - 2, 0))
    one = np.float32(1.0)
    fx = min(max(x - np.float32(i), np.float32(0.0)), one)
    fy = min(max(y - np.float32(j), np.float32(0.0)), one)
    fz = min(max(z - np.float32(k), np.float32(0.0)), one)
    i1, j1, k1 = min(i + 1, ni - 1), min(j + 1, nj - 1), min(k + 1, nk - 1)
    return (one - fx) * (
        (one - fy) * ((one - fz) * field[i, j, k] + fz * field[i, j, k1])
        + fy * ((one - fz) * field[i, j1, k] + fz * field[i, j1, k1])
    ) + fx * (
        (one - fy) * ((one - fz) * field[i1, j, k] + fz * field[i1, j, k1])
        + fy * ((one - fz) * field[i1, j1, k] + fz * field[i1, j1, k1])
    )


@kernel(inline=True)
def leave_wall(nodes, h, reach, x, y, z):
    """The point (in cells) that is `reach` from solids, reached from (x, y, z) along the solids' normals."""
    half = np.float32(0.5)
    for _ in range(3):  # a corner has up to three walls
        s = trilinear(nodes, x, y, z)
        if s >= reach:
            break
        gx = trilinear(nodes, x + half, y, z) - trilinear(nodes, x - half, y, z)
        gy = trilinear(nodes, x, y + half, z) - trilinear(nodes, x, y - half, z)
        gz = trilinear(nodes, x, y, z + half) - trilinear(nodes, x, y, z - half)
        norm = math.sqrt(gx * gx + gy * gy + gz * gz)
        if norm < np.float32(0.3) * h:
            break
        shift = (reach - s) / (h * norm)
        x, y, z = x + gx * shift, y + gy * shift, z + gz * shift
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
def even_in_depth(phi, nodes, h, scale, far, beyond, s, x, y, z):
    """phi at the depth s from a wall by the parabola, even in s, through its values at `far` and `beyond`.

    So the surface meets the wall at right angles and is as curved there as beside it. Both are read along the wall's
    normal; where there is not that much room, or s is beyond `far` on the other side, the value is that at `far`.
    """
    half = np.float32(0.5)
    a, b, c = leave_wall(nodes, h, far, x, y, z)
    value = trilinear(phi, a / scale - half, b / scale - half, c / scale - half)
    if beyond <= far or s < -far:
        return value, True
    u, v, w = a - x, b - y, c - z  # on along the same line: another wall that is near must not turn it
    more = (beyond - far) / (h * max(np.sqrt(u * u + v * v + w * w), SLIVER))
    a, b, c = a + more * u, b + more * v, c + more * w
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
    deep in solids at most.
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
                    p, q, r = leave_wall(nodes, h, far, x, y, z)
                    if trilinear(nodes, p, q, r) < REACHED * far:
                        opened = open_share(nodes, h, x, y, z, radius, nk == 1)
                        fraction[i, j, k] = min(c / max(opened, least), one)


@kernel(parallel=True)
def extend_into_solid(phi, nodes, h, scale, near, far, beyond, out):
    """Continue the liquid's distance into the solid along the solid's normal.

    A sample closer to the wall than `far` (or inside the solid) takes the value of `even_in_depth`, without the
    bias that a kernel has next to a wall. Where the surface lies along the wall, or that is half a cell outside the
    liquid, there may be a film, and it takes the value found where its normal leaves the wall by `near`, if that is
    smaller. `scale` is the samples' spacing over the cell size, `nodes` the solid distance at cell corners; phi has the
    samples at (index + 1/2) scale cells.
    """
    ni, nj, nk = phi.shape
    half = np.float32(0.5)
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
                    value, along = even_in_depth(phi, nodes, h, scale, far, beyond, s, x, y, z)
                    if along or value > half * h:
                        a, b, c = leave_wall(nodes, h, near, x, y, z)
                        value = min(value, trilinear(phi, a / scale - half, b / scale - half, c / scale - half))
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


@kernel(parallel=True)
def trilinear_many(field, points, out):
    """out[n] = field at points[n], in sample units."""
    for n in prange(points.shape[0]):
        out[n, 0] = trilinear(field, points[n, 0], points[n, 1], points[n, 2])
