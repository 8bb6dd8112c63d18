"""Rays and sides: where segments meet the elements of a closed surface, and which points it is around.

Elements are segments in 2D and triangles in 3D; `x` are their vertices, `tri` (m, dim) the numbers of these.
"""

import numpy as np

from glug.geometry.tracking.kernels_sampling import height_over, side_of_edge
from glug.jit import kernel, prange

RUN = 256  # segments that share scratch memory
EDGE = 1e-9  # part of an element by which it is larger for rays: none passes between two


@kernel
def sort_elements(x, tri, corner, shape, width, fill, start, order):
    """Count the elements whose boxes touch every bin into `start`, or fill `order` by the sums of that."""
    lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
    dim = x.shape[1]
    for t in range(len(tri)):
        for a in range(dim):
            least, most = x[tri[t, 0], a], x[tri[t, 0], a]
            for k in range(1, dim):
                least, most = min(least, x[tri[t, k], a]), max(most, x[tri[t, k], a])
            lo[a] = min(max(int(np.floor((least - corner[a]) / width)), 0), shape[a] - 1)
            hi[a] = min(max(int(np.floor((most - corner[a]) / width)), 0), shape[a] - 1)
        for i in range(lo[0], hi[0] + 1):
            for j in range(lo[1], hi[1] + 1):
                for k in range(lo[2], hi[2] + 1):
                    b = (i * shape[1] + j) * shape[2] + k
                    if fill:
                        order[start[b]] = t
                    start[b] += 1


@kernel(inline=True)
def meeting(x, tri, p, way, part):
    """The part of the way from p at which it meets an element, inf if it does not; `part` is that of its corners."""
    o = x[tri[0]]
    if len(p) == 2:
        ex, ey = x[tri[1], 0] - o[0], x[tri[1], 1] - o[1]
        det = way[0] * ey - way[1] * ex
        if det == 0.0:
            return np.inf
        rx, ry = o[0] - p[0], o[1] - p[1]
        t, s = (rx * ey - ry * ex) / det, (rx * way[1] - ry * way[0]) / det
        if s < -EDGE or s > 1.0 + EDGE or t < 0.0 or t > 1.0:
            return np.inf
        part[0], part[1] = 1.0 - s, s
        return t
    a0, a1, a2 = x[tri[1], 0] - o[0], x[tri[1], 1] - o[1], x[tri[1], 2] - o[2]
    b0, b1, b2 = x[tri[2], 0] - o[0], x[tri[2], 1] - o[1], x[tri[2], 2] - o[2]
    n0, n1, n2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    det = n0 * way[0] + n1 * way[1] + n2 * way[2]
    if det == 0.0:
        return np.inf
    r0, r1, r2 = o[0] - p[0], o[1] - p[1], o[2] - p[2]
    t = (n0 * r0 + n1 * r1 + n2 * r2) / det
    if t < 0.0 or t > 1.0:
        return np.inf
    h0, h1, h2 = t * way[0] - r0, t * way[1] - r1, t * way[2] - r2
    size = n0 * n0 + n1 * n1 + n2 * n2
    u = (n0 * (h1 * b2 - h2 * b1) + n1 * (h2 * b0 - h0 * b2) + n2 * (h0 * b1 - h1 * b0)) / size
    v = (n0 * (a1 * h2 - a2 * h1) + n1 * (a2 * h0 - a0 * h2) + n2 * (a0 * h1 - a1 * h0)) / size
    if u < -EDGE or v < -EDGE or u + v > 1.0 + EDGE:
        return np.inf
    part[0], part[1], part[2] = 1.0 - u - v, u, v
    return t


@kernel(inline=True)
def has(tri, vertex, dim):
    """Whether an element has a vertex."""
    found = False
    for k in range(dim):
        found = found or tri[k] == vertex
    return found


@kernel(parallel=True)
def first_meetings(x, tri, bins, begin, end, without, asked, time, element, parts):
    """Where segments first meet the surface: the part of their way (inf: nowhere), the element, its corners' parts.

    Elements with the vertex `without` are passed through. Segments that are not asked for meet nothing.
    """
    start, order, corner, shape, width = bins
    dim, n = x.shape[1], len(begin)
    for run in prange((n + RUN - 1) // RUN):
        way, part = np.empty(dim), np.empty(3)
        lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
        for i in range(run * RUN, min(n, (run + 1) * RUN)):
            time[i], element[i] = np.inf, -1
            outside = not asked[i]
            for a in range(dim):
                way[a] = end[i, a] - begin[i, a]
                least, most = min(begin[i, a], end[i, a]), max(begin[i, a], end[i, a])
                lo[a], hi[a] = int(np.floor((least - corner[a]) / width)), int(np.floor((most - corner[a]) / width))
                outside = outside or hi[a] < 0 or lo[a] >= shape[a]
                lo[a], hi[a] = max(lo[a], 0), min(hi[a], shape[a] - 1)
            if outside:
                continue
            for bx in range(lo[0], hi[0] + 1):
                for by in range(lo[1], hi[1] + 1):
                    b = (bx * shape[1] + by) * shape[2]
                    for o in range(start[b + lo[2]], start[b + hi[2] + 1]):
                        t = order[o]
                        if without[i] >= 0 and has(tri[t], without[i], dim):
                            continue
                        found = meeting(x, tri[t], begin[i], way, part)
                        if found < time[i]:
                            time[i], element[i] = found, t
                            for k in range(dim):
                                parts[i, k] = part[k]


@kernel(inline=True)
def above(x, tri, p):
    """Whether an element is above a point; edges and vertices belong to one of the elements that share them."""
    if len(p) == 2:
        a, b = min(tri[0], tri[1]), max(tri[0], tri[1])
        if (x[a, 0] <= p[0]) == (x[b, 0] <= p[0]):
            return False
        return x[a, 1] + (p[0] - x[a, 0]) * ((x[b, 1] - x[a, 1]) / (x[b, 0] - x[a, 0])) > p[1]
    one, two = side_of_edge(x, tri[0], tri[1], p[0], p[1]), side_of_edge(x, tri[1], tri[2], p[0], p[1])
    if one != two or two != side_of_edge(x, tri[2], tri[0], p[0], p[1]):
        return False
    return height_over(x, tri[0], tri[1], tri[2], p[0], p[1]) > p[2]


@kernel(parallel=True)
def sides(x, tri, columns, points, inside):
    """Whether points are inside a closed surface: an odd number of elements is above them."""
    start, order, corner, shape, width = columns
    dim = x.shape[1]
    for i in prange(len(points)):
        inside[i] = False
        b, outside = 0, False
        for a in range(dim - 1):
            place = int(np.floor((points[i, a] - corner[a]) / width))
            outside = outside or place < 0 or place >= shape[a]
            b = b * shape[a] + place
        if outside:
            continue
        for o in range(start[b], start[b + 1]):
            inside[i] ^= above(x, tri[order[o]], points[i])


@kernel(parallel=True)
def crowded(points, bins, centre, radius, own, found):
    """Whether a point lies inside a ball, other than the two that are its own."""
    start, order, corner, shape, width = bins
    dim = points.shape[1]
    for i in prange(len(centre)):
        lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
        for a in range(dim):
            lo[a] = max(int(np.floor((centre[i, a] - radius[i] - corner[a]) / width)), 0)
            hi[a] = min(int(np.floor((centre[i, a] + radius[i] - corner[a]) / width)), shape[a] - 1)
        found[i] = False
        for bx in range(lo[0], hi[0] + 1):
            for by in range(lo[1], hi[1] + 1):
                for bz in range(lo[2], hi[2] + 1):
                    b = (bx * shape[1] + by) * shape[2] + bz
                    for o in range(start[b], start[b + 1]):
                        p, size = order[o], 0.0
                        if p == own[i, 0] or p == own[i, 1]:
                            continue
                        for a in range(dim):
                            size += (points[p, a] - centre[i, a]) ** 2
                        found[i] |= size <= radius[i] * radius[i]


@kernel
def covered(points, bins, centre, radius, found):
    """Mark the points that are in one of some balls."""
    start, order, corner, shape, width = bins
    dim = points.shape[1]
    lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for i in range(len(centre)):
        for a in range(dim):
            lo[a] = max(int(np.floor((centre[i, a] - radius[i] - corner[a]) / width)), 0)
            hi[a] = min(int(np.floor((centre[i, a] + radius[i] - corner[a]) / width)), shape[a] - 1)
        for bx in range(lo[0], hi[0] + 1):
            for by in range(lo[1], hi[1] + 1):
                for bz in range(lo[2], hi[2] + 1):
                    b = (bx * shape[1] + by) * shape[2] + bz
                    for o in range(start[b], start[b + 1]):
                        size = 0.0
                        for a in range(dim):
                            size += (points[order[o], a] - centre[i, a]) ** 2
                        if size <= radius[i] * radius[i]:
                            found[order[o]] = True
