"""The quadric of a vertex: which directions a surface leaves free there (Jiao 2007).

A = sum of area n n' over the triangles around it, as (xx, yy, zz, xy, xz, yz). Directions whose eigenvalue is small
against the largest change no triangle's plane: two on a smooth surface, one along a ridge, none at a corner.
"""

import math

import numpy as np

from glug.geometry.tracking.kernels_nearness import area_vector, cross, dot, point, sub
from glug.jit import kernel

FREE = 0.03  # of the largest eigenvalue (Brochu and Bridson 2009)


@kernel(inline=True)
def eigenvalues(A):
    """In descending order."""
    xx, yy, zz, xy, xz, yz = A
    mean = (xx + yy + zz) / 3.0
    off = xy * xy + xz * xz + yz * yz
    p = math.sqrt(((xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2 + 2.0 * off) / 6.0)
    if p <= 1e-300:
        return mean, mean, mean
    a, b, c = (xx - mean) / p, (yy - mean) / p, (zz - mean) / p
    d, e, f = xy / p, xz / p, yz / p
    half = 0.5 * (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e))
    angle = math.acos(min(max(half, -1.0), 1.0)) / 3.0
    first = mean + 2.0 * p * math.cos(angle)
    last = mean + 2.0 * p * math.cos(angle + 2.0 * math.pi / 3.0)
    return first, 3.0 * mean - first - last, last


@kernel(inline=True)
def eigenvector(A, value):
    """Of unit length, for an eigenvalue that stands apart."""
    xx, yy, zz, xy, xz, yz = A
    r0, r1, r2 = (xx - value, xy, xz), (xy, yy - value, yz), (xz, yz, zz - value)
    v, w = cross(r0, r1), cross(r1, r2)
    v = w if dot(w, w) > dot(v, v) else v
    w = cross(r2, r0)
    v = w if dot(w, w) > dot(v, v) else v
    size = math.sqrt(dot(v, v))
    return (v[0] / size, v[1] / size, v[2] / size) if size > 0.0 else (0.0, 0.0, 0.0)


@kernel(inline=True)
def rank(A):
    """1 on a smooth surface, 2 on a ridge, 3 at a corner."""
    first, second, third = eigenvalues(A)
    return 3 if third > FREE * first else (2 if second > FREE * first else 1)


@kernel(inline=True)
def in_null_space(A, d):
    """What of a displacement the quadric leaves free."""
    first, second, third = eigenvalues(A)
    if third > FREE * first or first <= 0.0:
        return 0.0, 0.0, 0.0
    if second > FREE * first:
        e = eigenvector(A, third)
        s = dot(d, e)
        return s * e[0], s * e[1], s * e[2]
    e = eigenvector(A, first)
    s = dot(d, e)
    return d[0] - s * e[0], d[1] - s * e[1], d[2] - s * e[2]


@kernel
def smoothing(x, tri, most, out):
    """Displacements towards the centroids of the triangles around, in the null space, at most `most`; keeps volume."""
    quadric, towards, normal = np.zeros((len(x), 6)), np.zeros((len(x), 4)), np.zeros((len(x), 3))
    for t in range(len(tri)):
        a, b, c = point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2])
        n = area_vector(a, b, c)
        area = math.sqrt(dot(n, n))
        if area <= 0.0:
            continue
        for k in range(3):
            v = tri[t, k]
            at = point(x, v)
            quadric[v, 0] += n[0] * n[0] / area
            quadric[v, 1] += n[1] * n[1] / area
            quadric[v, 2] += n[2] * n[2] / area
            quadric[v, 3] += n[0] * n[1] / area
            quadric[v, 4] += n[0] * n[2] / area
            quadric[v, 5] += n[1] * n[2] / area
            for i in range(3):
                towards[v, i] += area * ((a[i] + b[i] + c[i]) / 3.0 - at[i])
                normal[v, i] += n[i]
            towards[v, 3] += area
    for v in range(len(x)):
        if towards[v, 3] <= 0.0:
            out[v] = 0.0
            continue
        d = (towards[v, 0] / towards[v, 3], towards[v, 1] / towards[v, 3], towards[v, 2] / towards[v, 3])
        A = (quadric[v, 0], quadric[v, 1], quadric[v, 2], quadric[v, 3], quadric[v, 4], quadric[v, 5])
        d = in_null_space(A, d)
        n = point(normal, v)
        nn = dot(n, n)
        if nn > 0.0:  # the gradient of the volume
            s = dot(d, n) / nn
            d = sub(d, (s * n[0], s * n[1], s * n[2]))
        size = math.sqrt(dot(d, d))
        share = min(1.0, most / size) if size > 0.0 else 0.0
        for i in range(3):
            out[v, i] = share * d[i]


@kernel
def roughness(x, tri, normal, out):
    """How far the surface stands out from its surroundings at every vertex, along the unit normals.

    L is the way to the centroid of the triangles around; what the mean of L around does not have is of the length of an
    edge: minus the square of the Laplacian, which leaves larger shapes alone.
    """
    way, area = np.zeros((len(x), 3)), np.zeros(len(x))
    mean = np.zeros((len(x), 3))
    for t in range(len(tri)):
        a, b, c = point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2])
        n = area_vector(a, b, c)
        size = math.sqrt(dot(n, n))
        for k in range(3):
            v = tri[t, k]
            area[v] += size
            for i in range(3):
                way[v, i] += size * ((a[i] + b[i] + c[i]) / 3.0 - x[v, i])
    for v in range(len(x)):
        way[v] /= max(area[v], 1e-300)
    for t in range(len(tri)):
        n = area_vector(point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2]))
        size = math.sqrt(dot(n, n))
        for i in range(3):
            here = (way[tri[t, 0], i] + way[tri[t, 1], i] + way[tri[t, 2], i]) / 3.0
            for k in range(3):
                mean[tri[t, k], i] += size * here
    for v in range(len(x)):
        s = 0.0
        for i in range(3):
            s += (way[v, i] - mean[v, i] / max(area[v], 1e-300)) * normal[v, i]
        out[v] = -s
