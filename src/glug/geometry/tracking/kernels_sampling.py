"""The distance of a closed triangle mesh on a lattice: exact near it, with signs by crossings along columns."""

import numpy as np

from glug.geometry.tracking.kernels_nearness import dot, point, to_triangle
from glug.jit import kernel


@kernel
def distance_near(x, tri, corner, spacing, reach, out):
    """Least distance to a triangle at samples within `reach` of it; others keep what they have."""
    lo, hi = np.empty(3, np.int64), np.empty(3, np.int64)
    for t in range(len(tri)):
        a, b, c = point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2])
        for i in range(3):
            lower, upper = min(a[i], b[i], c[i]) - reach, max(a[i], b[i], c[i]) + reach
            lo[i] = max(0, int(np.ceil((lower - corner[i]) / spacing)))
            hi[i] = min(out.shape[i] - 1, int(np.floor((upper - corner[i]) / spacing)))
        for i in range(lo[0], hi[0] + 1):
            for j in range(lo[1], hi[1] + 1):
                for k in range(lo[2], hi[2] + 1):
                    p = (corner[0] + i * spacing, corner[1] + j * spacing, corner[2] + k * spacing)
                    v = to_triangle(p, a, b, c)
                    out[i, j, k] = min(out[i, j, k], np.float32(np.sqrt(dot(v, v))))


@kernel(inline=True)
def side_of_edge(x, v, w, px, py):
    """On which side of an edge, seen along z, a column is: the same number for both triangles of the edge."""
    a, b = min(v, w), max(v, w)
    s = (x[b, 0] - x[a, 0]) * (py - x[a, 1]) - (x[b, 1] - x[a, 1]) * (px - x[a, 0])
    return (s >= 0.0) == (v < w)


@kernel
def sign_by_columns(x, tri, corner, spacing, out):
    """Turn distances negative inside: where an odd number of triangles lies below."""
    ni, nj, nk = out.shape
    flips = np.zeros((ni, nj, nk + 1), np.uint8)
    for t in range(len(tri)):
        a, b, c = tri[t, 0], tri[t, 1], tri[t, 2]
        i0 = max(0, int(np.ceil((min(x[a, 0], x[b, 0], x[c, 0]) - corner[0]) / spacing)))
        i1 = min(ni - 1, int(np.floor((max(x[a, 0], x[b, 0], x[c, 0]) - corner[0]) / spacing)))
        j0 = max(0, int(np.ceil((min(x[a, 1], x[b, 1], x[c, 1]) - corner[1]) / spacing)))
        j1 = min(nj - 1, int(np.floor((max(x[a, 1], x[b, 1], x[c, 1]) - corner[1]) / spacing)))
        for i in range(i0, i1 + 1):
            px = corner[0] + i * spacing
            for j in range(j0, j1 + 1):
                py = corner[1] + j * spacing
                s0, s1, s2 = side_of_edge(x, a, b, px, py), side_of_edge(x, b, c, px, py), side_of_edge(x, c, a, px, py)
                if s0 == s1 and s1 == s2:
                    z = height_over(x, a, b, c, px, py)
                    k = min(max(int(np.ceil((z - corner[2]) / spacing)), 0), nk)
                    flips[i, j, k] ^= 1
    for i in range(ni):
        for j in range(nj):
            inside = 0
            for k in range(nk):
                inside ^= flips[i, j, k]
                if inside:
                    out[i, j, k] = -out[i, j, k]


@kernel(inline=True)
def height_over(x, a, b, c, px, py):
    """z of the triangle's plane over a column."""
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    area = ux * vy - uy * vx
    if area == 0.0:
        return x[a, 2]
    dx, dy = px - x[a, 0], py - x[a, 1]
    z = x[a, 2] + (uz * (dx * vy - dy * vx) + vz * (ux * dy - uy * dx)) / area
    return min(max(z, min(x[a, 2], x[b, 2], x[c, 2])), max(x[a, 2], x[b, 2], x[c, 2]))
