"""Kernels of the places and sizes of simplices and of the faces between them."""

import numpy as np

from glug.jit import kernel, prange

RUN = 1024  # simplices that share scratch memory


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
    for run in prange((simplices.shape[0] + RUN - 1) // RUN):
        e, x = np.empty((3, 4)), np.empty(3)
        for t in range(run * RUN, min(simplices.shape[0], (run + 1) * RUN)):
            edges_of(points, simplices[t], e)
            det = circumcentre(e, dim, x)
            for a in range(dim):
                centre[t, a] = points[simplices[t, 0], a] + x[a]
            volume[t] = abs(det) / (2.0 if dim == 2 else 6.0)


@kernel(inline=True)
def place_of(points, corners, t, p):
    """p = the places of the corners of simplex t (in 2D with z = 0)."""
    for k in range(corners.shape[1]):
        for a in range(points.shape[1]):
            p[k, a] = points[corners[t, k], a]


@kernel(inline=True)
def face_normal(p, dim, k):
    """The normal, outwards, of its area's length, of the face opposite corner k of a simplex p; and a corner of it."""
    first, second = 1 if k == 0 else 0, 1 if k > 1 else 2
    ux, uy, uz = p[second, 0] - p[first, 0], p[second, 1] - p[first, 1], 0.0
    if dim == 2:
        x, y, z = uy, -ux, 0.0
    else:
        third = 2 if k == 3 else 3
        uz = p[second, 2] - p[first, 2]
        vx, vy, vz = p[third, 0] - p[first, 0], p[third, 1] - p[first, 1], p[third, 2] - p[first, 2]
        x, y, z = 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)
    side = x * (p[k, 0] - p[first, 0]) + y * (p[k, 1] - p[first, 1]) + z * (p[k, 2] - p[first, 2])
    if side > 0.0:
        x, y, z = -x, -y, -z
    return x, y, z, first


@kernel(parallel=True)
def count_faces(across, count):
    """Those that a simplex shares with later ones."""
    for t in prange(across.shape[0]):
        total = 0
        for k in range(across.shape[1]):
            total += across[t, k] > t
        count[t] = total


@kernel(parallel=True)
def make_faces(points, simplices, across, centre, start, beside, corner, ends, position, normal, area, distance):
    """The faces of every simplex with later ones: `corner` is the number of the one opposite it, `ends` are its own.

    `position` is where the line between the pressures crosses its plane: its circumcentre.
    """
    dim = points.shape[1]
    for run in prange((across.shape[0] + RUN - 1) // RUN):
        p = np.zeros((4, 3))
        for t in range(run * RUN, min(across.shape[0], (run + 1) * RUN)):
            place_of(points, simplices, t, p)
            f = start[t]
            for k in range(dim + 1):
                s = across[t, k]
                if s <= t:
                    continue
                x, y, z, first = face_normal(p, dim, k)
                size = np.sqrt(x * x + y * y + z * z)
                x, y, z = x / size, y / size, z / size
                away = x * (p[first, 0] - centre[t, 0]) + y * (p[first, 1] - centre[t, 1])
                along = x * (centre[s, 0] - centre[t, 0]) + y * (centre[s, 1] - centre[t, 1])
                normal[f, 0], normal[f, 1] = x, y
                if dim == 3:
                    away += z * (p[first, 2] - centre[t, 2])
                    along += z * (centre[s, 2] - centre[t, 2])
                    normal[f, 2] = z
                o = 0
                for m in range(dim + 1):
                    if m != k:
                        ends[f, o] = simplices[t, m]
                        o += 1
                for a in range(dim):
                    position[f, a] = centre[t, a] + away * normal[f, a]
                beside[0, f], beside[1, f], corner[f] = t, s, k
                area[f], distance[f] = size, along
                f += 1


@kernel(parallel=True)
def find_turned(points, simplices, across, centre, looked, least, turned):
    """turned[t] = bits of the corners of simplex t opposite which circumcentres are in the wrong order, if looked at.

    By more than `least` of a face's width; faces are looked at from one of their sides.
    """
    dim = points.shape[1]
    for run in prange((across.shape[0] + RUN - 1) // RUN):
        p = np.zeros((4, 3))
        for t in range(run * RUN, min(across.shape[0], (run + 1) * RUN)):
            turned[t] = 0
            if not looked[t]:
                continue
            place_of(points, simplices, t, p)
            for k in range(dim + 1):
                s = across[t, k]
                if s < 0 or (s < t and looked[s]):
                    continue
                x, y, z, _ = face_normal(p, dim, k)
                along = x * (centre[s, 0] - centre[t, 0]) + y * (centre[s, 1] - centre[t, 1])
                if dim == 3:
                    along += z * (centre[s, 2] - centre[t, 2])
                size = np.sqrt(x * x + y * y + z * z)
                if along < -least * (size if dim == 2 else np.sqrt(size)) * size:
                    turned[t] |= 1 << k
