"""Kernels of geometry: fractions of cut control volumes, distance to the zero level, liquid from particles."""

import math

import numpy as np

from glug.jit import kernel, prange

FAR = np.float32(1e30)


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
def tetrahedron_fraction(a, b, c, d):
    """Volume fraction of a tetrahedron where the linear function with vertex values a..d is negative."""
    count = (a < 0.0) + (b < 0.0) + (c < 0.0) + (d < 0.0)
    if count == 0:
        return 0.0
    if count == 4:
        return 1.0
    # Sort ascending: a <= b <= c <= d.
    if a > b:
        a, b = b, a
    if c > d:
        c, d = d, c
    if a > c:
        a, c = c, a
    if b > d:
        b, d = d, b
    if b > c:
        b, c = c, b
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
def axis_pair(i, a, kind, n):
    """The two samples whose mean is the value at side a (0 or 1) of a control volume at index i.

    kind 0: the side lies midway between samples i-1+a and i+a; kind 1: on sample i+a; kind -1: on i-1+a.
    """
    if kind == 0:
        p, q = i - 1 + a, i + a
    elif kind == 1:
        p, q = i + a, i + a
    else:
        p, q = i - 1 + a, i - 1 + a
    return min(max(p, 0), n - 1), min(max(q, 0), n - 1)


@kernel(inline=True)
def gather_corners(field, i, j, k, kx, ky, kz, v):
    """Corner values of the control volume at (i, j, k) by averaging the samples of `field` around them."""
    for a in range(2):
        i0, i1 = axis_pair(i, a, kx, field.shape[0])
        for b in range(2):
            j0, j1 = axis_pair(j, b, ky, field.shape[1])
            for c in range(2):
                k0, k1 = axis_pair(k, c, kz, field.shape[2])
                v[4 * a + 2 * b + c] = 0.125 * (
                    np.float64(field[i0, j0, k0])
                    + field[i0, j0, k1]
                    + field[i0, j1, k0]
                    + field[i0, j1, k1]
                    + field[i1, j0, k0]
                    + field[i1, j0, k1]
                    + field[i1, j1, k0]
                    + field[i1, j1, k1]
                )


@kernel(parallel=True)
def volume_fraction(field, kx, ky, kz, far, out):
    """Fraction of every control volume of `out` where `field` is negative.

    kx, ky, kz place the control volumes relative to the samples (see `axis_pair`); a control volume whose
    nearest sample is farther than `far` from zero is not cut.
    """
    ni, nj, nk = out.shape
    mi, mj, mk = field.shape
    for slab in prange(ni):
        i = np.int64(slab)
        v = np.empty(8, np.float64)
        for j in range(nj):
            for k in range(nk):
                near = field[min(i, mi - 1), min(j, mj - 1), min(k, mk - 1)]
                if near > far:
                    out[i, j, k] = 0.0
                elif near < -far:
                    out[i, j, k] = 1.0
                else:
                    gather_corners(field, i, j, k, kx, ky, kz, v)
                    out[i, j, k] = cube_fraction(v)


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
                    ax[i, j, k] = 1.0 - square_fraction(a, np.float64(b), np.float64(c), np.float64(d))
                if i < ni and k < nk:
                    b, c, d = nodes[i + 1, j, k], nodes[i + 1, j, k + 1], nodes[i, j, k + 1]
                    ay[i, j, k] = 1.0 - square_fraction(a, np.float64(b), np.float64(c), np.float64(d))
                if i < ni and j < nj:
                    b, c, d = nodes[i + 1, j, k], nodes[i + 1, j + 1, k], nodes[i, j + 1, k]
                    az[i, j, k] = 1.0 - square_fraction(a, np.float64(b), np.float64(c), np.float64(d))


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


@kernel(parallel=True)
def seed_distance(phi, h, out, fixed):
    """Distances of the samples next to the zero level, from the crossings along the axes; FAR elsewhere.

    With crossings at distances d_a along the axes, the distance to the plane through them is
    1 / sqrt(sum 1 / d_a^2).
    """
    ni, nj, nk = phi.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                c = phi[i, j, k]
                total = np.float32(0.0)
                touched = False
                for axis in range(3):
                    nearest = FAR
                    for side in range(-1, 2, 2):
                        p = i + side if axis == 0 else i
                        q = j + side if axis == 1 else j
                        r = k + side if axis == 2 else k
                        if p < 0 or q < 0 or r < 0 or p >= ni or q >= nj or r >= nk:
                            continue
                        n = phi[p, q, r]
                        if (n < np.float32(0.0)) != (c < np.float32(0.0)):
                            d = h * c / (c - n)
                            nearest = min(nearest, max(d, np.float32(1e-6) * h))
                    if nearest < FAR:
                        touched = True
                        total += np.float32(1.0) / (nearest * nearest)
                fixed[i, j, k] = touched
                out[i, j, k] = np.float32(1.0) / math.sqrt(total) if touched else FAR


@kernel(parallel=True)
def relax_distance(d, fixed, h, reach, out):
    """One Jacobi pass of the eikonal equation, for samples closer than `reach`; returns nothing."""
    ni, nj, nk = d.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                if fixed[i, j, k]:
                    out[i, j, k] = d[i, j, k]
                    continue
                a = min(d[max(i - 1, 0), j, k], d[min(i + 1, ni - 1), j, k])
                b = min(d[i, max(j - 1, 0), k], d[i, min(j + 1, nj - 1), k])
                c = min(d[i, j, max(k - 1, 0)], d[i, j, min(k + 1, nk - 1)])
                if min(a, min(b, c)) >= reach:
                    out[i, j, k] = FAR
                else:
                    out[i, j, k] = min(d[i, j, k], eikonal(a, b, c, h))


@kernel(parallel=True)
def sign_distance(d, phi, reach):
    """Give the unsigned distance the sign of phi, in place in phi; |phi| is at most `reach`."""
    ni, nj, nk = d.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                m = min(d[i, j, k], reach)
                phi[i, j, k] = -m if phi[i, j, k] < np.float32(0.0) else m


# -- liquid distance from particles ----------------------------------------------------------------------


@kernel(parallel=True)
def occupancy_band(start, shape, reach, band):
    """Mark the cells near the liquid's border: 0 no particle within reach, 1 border, 2 surrounded."""
    ni, nj, nk = shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                full, empty = False, False
                for p in range(i - reach, i + reach + 1):
                    for q in range(j - reach, j + reach + 1):
                        for r in range(k - reach if nk > 1 else k, k + reach + 1 if nk > 1 else k + 1):
                            if p < 0 or q < 0 or r < 0 or p >= ni or q >= nj or r >= nk:
                                empty = True
                            else:
                                c = (p * nj + q) * nk + r
                                if start[c + 1] > start[c]:
                                    full = True
                                else:
                                    empty = True
                band[i, j, k] = 0 if not full else (1 if empty else 2)


@kernel(parallel=True)
def kernel_distance(position, start, band, corner, h, shape, offset, spacing, radius, level, out):
    """Distance |x - mean| - level of the kernel-weighted mean of particles (Zhu and Bridson 2005).

    Samples are at corner + (index + offset) spacing, cells have size h; weights are (1 - (r/radius)^2)^3. A
    sample in a cell that is surrounded by occupied cells gets -level, one with no particle near gets +radius.
    """
    ni, nj, nk = out.shape
    ci, cj, ck = shape
    inverse = np.float32(1.0) / (radius * radius)
    for slab in prange(ni):
        i = np.int64(slab)
        x = corner[0] + (np.float32(i) + offset) * spacing
        for j in range(nj):
            y = corner[1] + (np.float32(j) + offset) * spacing
            for k in range(nk):
                z = corner[2] + (np.float32(k) + offset) * spacing if ck > 1 else corner[2] + np.float32(0.5) * h
                a = min(max(int(math.floor((x - corner[0]) / h)), 0), ci - 1)
                b = min(max(int(math.floor((y - corner[1]) / h)), 0), cj - 1)
                c = min(max(int(math.floor((z - corner[2]) / h)), 0), ck - 1)
                if band[a, b, c] != 1:
                    out[i, j, k] = radius if band[a, b, c] == 0 else -level
                    continue
                i0 = max(int(math.floor((x - radius - corner[0]) / h)), 0)
                i1 = min(int(math.floor((x + radius - corner[0]) / h)), ci - 1)
                j0 = max(int(math.floor((y - radius - corner[1]) / h)), 0)
                j1 = min(int(math.floor((y + radius - corner[1]) / h)), cj - 1)
                k0 = max(int(math.floor((z - radius - corner[2]) / h)), 0)
                k1 = min(int(math.floor((z + radius - corner[2]) / h)), ck - 1)
                total = np.float32(0.0)
                mx, my, mz = np.float32(0.0), np.float32(0.0), np.float32(0.0)
                for p in range(i0, i1 + 1):
                    for q in range(j0, j1 + 1):
                        row = (p * cj + q) * ck
                        for n in range(start[row + k0], start[row + k1 + 1]):
                            dx = position[n, 0] - x
                            dy = position[n, 1] - y
                            dz = position[n, 2] - z
                            s = np.float32(1.0) - (dx * dx + dy * dy + dz * dz) * inverse
                            s = max(s, np.float32(0.0))
                            w = s * s * s
                            total += w
                            mx += w * dx
                            my += w * dy
                            mz += w * dz
                if total > np.float32(1e-9):
                    d = math.sqrt(mx * mx + my * my + mz * mz) / total
                    out[i, j, k] = d - level
                else:
                    out[i, j, k] = radius


@kernel(parallel=True)
def smooth(field, out):
    """Mean of every sample and its six neighbours' mean: a small blur that keeps linear fields."""
    ni, nj, nk = field.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
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


@kernel(parallel=True)
def extend_into_solid(phi, nodes, h, scale, near, far, out):
    """Continue the liquid's distance into the solid along the solid's normal.

    A sample closer to the wall than `far` (or inside the solid) takes the smaller of the values found where
    its normal leaves the wall by `near` and by `far`: the first keeps films thinner than a cell, the second is
    free of the bias that a kernel mean has next to a wall. `scale` is the samples' spacing over the cell size,
    `nodes` the solid distance at cell corners; phi has the samples at (index + 1/2) scale cells.
    """
    ni, nj, nk = phi.shape
    half = np.float32(0.5)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                x = (np.float32(i) + half) * scale
                y = (np.float32(j) + half) * scale
                z = (np.float32(k) + half) * scale
                s = trilinear(nodes, x, y, z)
                value = phi[i, j, k]
                if s < far:
                    gx = trilinear(nodes, x + half, y, z) - trilinear(nodes, x - half, y, z)
                    gy = trilinear(nodes, x, y + half, z) - trilinear(nodes, x, y - half, z)
                    gz = trilinear(nodes, x, y, z + half) - trilinear(nodes, x, y, z - half)
                    norm = math.sqrt(gx * gx + gy * gy + gz * gz)
                    if norm > np.float32(0.3) * h and s > np.float32(-4.0) * h:
                        shift = (far - s) / (h * norm)
                        deep = trilinear(
                            phi,
                            (x + gx * shift) / scale - half,
                            (y + gy * shift) / scale - half,
                            (z + gz * shift) / scale - half,
                        )
                        shift = max(near - s, np.float32(0.0)) / (h * norm)
                        close = trilinear(
                            phi,
                            (x + gx * shift) / scale - half,
                            (y + gy * shift) / scale - half,
                            (z + gz * shift) / scale - half,
                        )
                        value = min(deep, close)
                out[i, j, k] = value


@kernel(parallel=True)
def subtract_solid(phi, nodes, scale):
    """phi = max(phi, -solid distance) in place; samples as in `extend_into_solid`."""
    ni, nj, nk = phi.shape
    half = np.float32(0.5)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                x = (np.float32(i) + half) * scale
                y = (np.float32(j) + half) * scale
                z = (np.float32(k) + half) * scale
                phi[i, j, k] = max(phi[i, j, k], -trilinear(nodes, x, y, z))


@kernel(parallel=True)
def trilinear_many(field, points, out):
    """out[n] = field at points[n], in sample units."""
    for n in prange(points.shape[0]):
        out[n, 0] = trilinear(field, points[n, 0], points[n, 1], points[n, 2])
