"""Connected parts of a surface: which there are, and what they enclose."""

import numpy as np

from glug.geometry.tracking.kernels_nearness import area_vector, cross, dot, length, point
from glug.grids.kernels import root_of
from glug.jit import kernel


@kernel
def label(elements, out):
    """Numbers of the connected parts of triangles or segments, at their vertices; returns how many there are."""
    n = len(out)
    parent = np.arange(n)
    for t in range(len(elements)):
        a = root_of(parent, elements[t, 0])
        for k in range(1, elements.shape[1]):
            b = root_of(parent, elements[t, k])
            a, b = min(a, b), max(a, b)
            parent[b] = a
    count = 0
    for v in range(n):
        r = root_of(parent, v)
        if r == v:
            out[v] = count
            count += 1
        else:
            out[v] = out[r]
    return count


@kernel
def measure(x, tri, part, volume, area, normal):
    """Volume and area of every part, and area-weighted unit normals at the vertices."""
    volume[:], area[:], normal[:] = 0.0, 0.0, 0.0
    for t in range(len(tri)):
        a, b, c = point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2])
        n = area_vector(a, b, c)
        p = part[tri[t, 0]]
        volume[p] += dot(a, cross(b, c)) / 6.0
        area[p] += length(n)
        for k in range(3):
            for i in range(3):
                normal[tri[t, k], i] += n[i]
    for v in range(len(x)):
        size = length(point(normal, v))
        if size > 0.0:
            for i in range(3):
                normal[v, i] /= size


@kernel
def winding(x, tri, p):
    """The winding number of a closed surface around a point (Van Oosterom and Strackee 1983), or of a closed curve."""
    total = 0.0
    if x.shape[1] == 2:
        for t in range(len(tri)):
            ax, ay = x[tri[t, 0], 0] - p[0], x[tri[t, 0], 1] - p[1]
            bx, by = x[tri[t, 1], 0] - p[0], x[tri[t, 1], 1] - p[1]
            total += np.arctan2(ax * by - ay * bx, ax * bx + ay * by)
        return total / (2.0 * np.pi)
    for t in range(len(tri)):
        a0, a1, a2 = x[tri[t, 0], 0] - p[0], x[tri[t, 0], 1] - p[1], x[tri[t, 0], 2] - p[2]
        b0, b1, b2 = x[tri[t, 1], 0] - p[0], x[tri[t, 1], 1] - p[1], x[tri[t, 1], 2] - p[2]
        c0, c1, c2 = x[tri[t, 2], 0] - p[0], x[tri[t, 2], 1] - p[1], x[tri[t, 2], 2] - p[2]
        a, b, c = (a0, a1, a2), (b0, b1, b2), (c0, c1, c2)
        la, lb, lc = length(a), length(b), length(c)
        below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        total += 2.0 * np.arctan2(dot(a, cross(b, c)), below)
    return total / (4.0 * np.pi)
