"""Kernels of the places and sizes of simplices and of the faces between them."""

import numpy as np

from glug.jit import kernel, prange


@kernel(inline=True)
def edges_of(points, corners, e):
    """e = from the first corner to the others; their half squares in the last column."""
    dim = points.shape[1]
    for k in range(dim):
        square = 0.0
        for a in range(dim):
            e[k, a] = points[corners[k + 1], a] - points[corners[0], a]
            square += e[k, a] * e[k, a]
        e[k, dim] = 0.5 * square


@kernel(inline=True)
def circumcentre(e, dim, centre):
    """centre = the solution of e_k . x = |e_k|^2 / 2, from the first corner; the volume times dim!, signed."""
    if dim == 2:
        det = e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0]
        centre[0] = (e[0, 2] * e[1, 1] - e[0, 1] * e[1, 2]) / det
        centre[1] = (e[0, 0] * e[1, 2] - e[0, 2] * e[1, 0]) / det
        return det
    det = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        det += e[0, a] * (e[1, b] * e[2, c] - e[1, c] * e[2, b])
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        centre[a] = (
            e[0, 3] * (e[1, b] * e[2, c] - e[1, c] * e[2, b])
            + e[1, 3] * (e[2, b] * e[0, c] - e[2, c] * e[0, b])
            + e[2, 3] * (e[0, b] * e[1, c] - e[0, c] * e[1, b])
        ) / det
    return det


@kernel(parallel=True)
def circumcentres(points, simplices, centre, volume):
    """Of all simplices."""
    dim = points.shape[1]
    for t in prange(simplices.shape[0]):
        e, x = np.empty((3, 4)), np.empty(3)
        edges_of(points, simplices[t], e)
        det = circumcentre(e, dim, x)
        for a in range(dim):
            centre[t, a] = points[simplices[t, 0], a] + x[a]
        volume[t] = abs(det) / (2.0 if dim == 2 else 6.0)


@kernel(inline=True)
def face_normal(points, corners, t, k, n, first):
    """n = the normal of the face of simplex t opposite corner k, outwards, of its area's length; first: a corner."""
    dim = points.shape[1]
    p = np.empty((3, 3))
    o = 0
    for m in range(dim + 1):
        if m != k:
            v = corners[t, m]
            if o == 0:
                first[0] = v
            for a in range(dim):
                p[o, a] = points[v, a]
            o += 1
    if dim == 2:
        n[0], n[1] = p[1, 1] - p[0, 1], p[0, 0] - p[1, 0]
    else:
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            n[a] = 0.5 * ((p[1, b] - p[0, b]) * (p[2, c] - p[0, c]) - (p[1, c] - p[0, c]) * (p[2, b] - p[0, b]))
    side = 0.0
    for a in range(dim):
        side += n[a] * (points[corners[t, k], a] - p[0, a])
    if side > 0.0:
        for a in range(dim):
            n[a] = -n[a]


@kernel(parallel=True)
def count_faces(across, count):
    """Those that a simplex shares with later ones."""
    for t in prange(across.shape[0]):
        total = 0
        for k in range(across.shape[1]):
            total += across[t, k] > t
        count[t] = total


@kernel(parallel=True)
def make_faces(points, simplices, across, centre, start, beside, corner, normal, area, distance):
    """The faces of every simplex with later ones: `corner` is the number of the one opposite it."""
    dim = points.shape[1]
    for t in prange(across.shape[0]):
        n, first = np.empty(3), np.empty(1, np.int32)
        f = start[t]
        for k in range(dim + 1):
            s = across[t, k]
            if s <= t:
                continue
            face_normal(points, simplices, t, k, n, first)
            size, along = 0.0, 0.0
            for a in range(dim):
                size += n[a] * n[a]
            size = np.sqrt(size)
            for a in range(dim):
                normal[f, a] = n[a] / size
                along += (centre[s, a] - centre[t, a]) * normal[f, a]
            beside[0, f], beside[1, f], corner[f] = t, s, k
            area[f], distance[f] = size, along
            f += 1


@kernel(parallel=True)
def face_points(points, simplices, simplex, corner, centre, normal, ends, position):
    """The corners of every face, and where the line between the pressures crosses its plane: its circumcentre."""
    dim = points.shape[1]
    for f in prange(len(corner)):
        t, o, along = simplex[f], 0, 0.0
        for k in range(dim + 1):
            if k != corner[f]:
                ends[f, o] = simplices[t, k]
                o += 1
        for a in range(dim):
            along += (points[ends[f, 0], a] - centre[t, a]) * normal[f, a]
        for a in range(dim):
            position[f, a] = centre[t, a] + along * normal[f, a]
