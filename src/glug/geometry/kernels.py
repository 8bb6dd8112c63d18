"""Kernels of geometry: fractions of cut control volumes, distance to the zero level, values between samples."""

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


@kernel(inline=True)
def side_of(row):
    """1 where all samples of a row are positive, -1 where none is, else 0."""
    positive = np.int64(0)
    for k in range(np.uint64(row.size)):
        positive += np.int64(row[k] > np.float32(0.0))
    return np.int64(1) if positive == row.size else np.int64(-1) if positive == 0 else np.int64(0)


@kernel(inline=True)
def shared_side(a, b):
    """That of two rows, if they have the same one."""
    return a if a == b else np.int64(0)


@kernel(inline=True)
def fill_areas(side, row):
    """All open or all closed, where the nodes around a row of faces say so; returns whether they do."""
    if side == 0:
        return False
    for k in range(np.uint64(row.size)):
        row[k] = np.float32(1.0) if side > 0 else np.float32(0.0)
    return True


@kernel(parallel=True)
def open_areas(nodes, ax, ay, az):
    """Fraction of every face where the node-sampled solid distance is positive; most rows have one side of it."""
    ni, nj, nk = nodes.shape[0] - 1, nodes.shape[1] - 1, nodes.shape[2] - 1
    for slab in prange(ni + 1):
        i = np.int64(slab)
        after = min(i + 1, ni)
        here, there = side_of(nodes[i, 0]), side_of(nodes[after, 0])
        for j in range(nj + 1):
            next_here, next_there = here, there
            if j < nj:
                next_here, next_there = side_of(nodes[i, j + 1]), side_of(nodes[after, j + 1])
            along_x, along_y = shared_side(here, next_here), shared_side(here, there)
            along_z = shared_side(along_x, shared_side(there, next_there))
            if j < nj and not fill_areas(along_x, ax[i, j]):
                for k in range(nk):
                    a, b = np.float64(nodes[i, j, k]), np.float64(nodes[i, j + 1, k])
                    c, d = np.float64(nodes[i, j + 1, k + 1]), np.float64(nodes[i, j, k + 1])
                    ax[i, j, k] = positive_fraction(a, b, c, d)
            if i < ni and not fill_areas(along_y, ay[i, j]):
                for k in range(nk):
                    a, b = np.float64(nodes[i, j, k]), np.float64(nodes[i + 1, j, k])
                    c, d = np.float64(nodes[i + 1, j, k + 1]), np.float64(nodes[i, j, k + 1])
                    ay[i, j, k] = positive_fraction(a, b, c, d)
            if i < ni and j < nj and not fill_areas(along_z, az[i, j]):
                for k in range(nk + 1):
                    a, b = np.float64(nodes[i, j, k]), np.float64(nodes[i + 1, j, k])
                    c, d = np.float64(nodes[i + 1, j + 1, k]), np.float64(nodes[i, j + 1, k])
                    az[i, j, k] = positive_fraction(a, b, c, d)
            here, there = next_here, next_there


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


# -- sampled fields --------------------------------------------------------------------------------------


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


@kernel(parallel=True)
def trilinear_many(field, points, out):
    """out[n] = field at points[n], in sample units."""
    for n in prange(points.shape[0]):
        out[n, 0] = trilinear(field, points[n, 0], points[n, 1], points[n, 2])
