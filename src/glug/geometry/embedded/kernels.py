"""Rays and sides: where segments meet the elements of a closed surface, and which points it is around.

Elements are segments in 2D and triangles in 3D; `x` are their vertices, `tri` (m, dim) the numbers of these.
"""

import numpy as np

from glug.geometry.tracking.kernels_sampling import height_over, side_of_edge
from glug.jit import kernel, prange

RUN = 256  # segments that share scratch memory
WIDER = 1e-6  # bins, by which they are taken wider
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


@kernel
def frames(x, tri, out):
    """What rays need of elements: a corner o, in 3D the normal n = a x b of the sides from there, and the vectors whose
    products with a place on it, seen from o, are the parts that the other corners have there; in 2D the side."""
    for m in range(len(tri)):
        o = x[tri[m, 0]]
        for k in range(x.shape[1]):
            out[m, k] = o[k]
        if x.shape[1] == 2:
            out[m, 2], out[m, 3] = x[tri[m, 1], 0] - o[0], x[tri[m, 1], 1] - o[1]
            continue
        a0, a1, a2 = x[tri[m, 1], 0] - o[0], x[tri[m, 1], 1] - o[1], x[tri[m, 1], 2] - o[2]
        b0, b1, b2 = x[tri[m, 2], 0] - o[0], x[tri[m, 2], 1] - o[1], x[tri[m, 2], 2] - o[2]
        n0, n1, n2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
        size = n0 * n0 + n1 * n1 + n2 * n2
        out[m, 3], out[m, 4], out[m, 5] = n0, n1, n2
        out[m, 6], out[m, 7], out[m, 8] = b1 * n2 - b2 * n1, b2 * n0 - b0 * n2, b0 * n1 - b1 * n0
        out[m, 9], out[m, 10], out[m, 11] = n1 * a2 - n2 * a1, n2 * a0 - n0 * a2, n0 * a1 - n1 * a0
        for k in range(6, 12):
            out[m, k] /= size


@kernel(inline=True)
def meets_segment(frame, m, p, q, u, v):
    """The part of the way (u, v) from (p, q) at which it meets a segment, inf if it does not; that of its corners."""
    ex, ey = frame[m, 2], frame[m, 3]
    det = u * ey - v * ex
    if det == 0.0:
        return np.inf, 0.0, 0.0
    rx, ry = frame[m, 0] - p, frame[m, 1] - q
    t, s = (rx * ey - ry * ex) / det, (rx * v - ry * u) / det
    if s < -EDGE or s > 1.0 + EDGE or t < 0.0 or t > 1.0:
        return np.inf, 0.0, 0.0
    return t, 1.0 - s, s


@kernel(inline=True)
def meets_triangle(frame, m, p, q, r, u, v, w):
    """The part of the way (u, v, w) from (p, q, r) at which it meets a triangle, inf if it does not; that of its
    corners."""
    x, y, z = frame[m, 0] - p, frame[m, 1] - q, frame[m, 2] - r
    det = frame[m, 3] * u + frame[m, 4] * v + frame[m, 5] * w
    along = frame[m, 3] * x + frame[m, 4] * y + frame[m, 5] * z
    if det == 0.0 or along * det < 0.0 or abs(along) > abs(det):
        return np.inf, 0.0, 0.0, 0.0
    t = along / det
    x, y, z = t * u - x, t * v - y, t * w - z
    one = frame[m, 6] * x + frame[m, 7] * y + frame[m, 8] * z
    two = frame[m, 9] * x + frame[m, 10] * y + frame[m, 11] * z
    if one < -EDGE or two < -EDGE or one + two > 1.0 + EDGE:
        return np.inf, 0.0, 0.0, 0.0
    return t, 1.0 - one - two, one, two


@kernel(inline=True)
def has(tri, t, vertex):
    """Whether an element has a vertex."""
    found = False
    for k in range(tri.shape[1]):
        found = found or tri[t, k] == vertex
    return found


@kernel(inline=True)
def within(begin, way, low, high):
    """The part of a way, from and to, that is between two places along an axis; a little more, for rounding."""
    if abs(way) < WIDER * (high - low):
        return 0.0, 1.0
    more = WIDER * (high - low)
    one, two = (low - more - begin) / way, (high + more - begin) / way
    return max(min(one, two), 0.0), min(max(one, two), 1.0)


@kernel(parallel=True)
def first_meetings(frame, tri, bins, begin, end, without, asked, time, element, parts):
    """Where segments first meet the surface: the part of their way (inf: nowhere), the element, its corners' parts.

    Elements with the vertex `without` are passed through. Segments that are not asked for meet nothing.
    """
    start, order, corner, shape, width = bins
    n, dim = begin.shape
    for run in prange((n + RUN - 1) // RUN):
        way, from_corner = np.empty(dim), np.zeros(3)
        lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
        for i in range(run * RUN, min(n, (run + 1) * RUN)):
            time[i], element[i] = np.inf, -1
            if not asked[i]:
                continue
            outside = False
            for a in range(dim):
                way[a], from_corner[a] = end[i, a] - begin[i, a], (begin[i, a] - corner[a]) / width
                least, most = min(begin[i, a], end[i, a]), max(begin[i, a], end[i, a])
                lo[a], hi[a] = int(np.floor((least - corner[a]) / width)), int(np.floor((most - corner[a]) / width))
                outside = outside or hi[a] < 0 or lo[a] >= shape[a]
                lo[a], hi[a] = max(lo[a], 0), min(hi[a], shape[a] - 1)
            if outside:
                continue
            for bx in range(lo[0], hi[0] + 1):
                x0, x1 = within(from_corner[0], way[0] / width, bx, bx + 1)
                for by in range(lo[1], hi[1] + 1):
                    y0, y1 = within(from_corner[1], way[1] / width, by, by + 1)
                    y0, y1 = max(x0, y0), min(x1, y1)
                    if y0 > y1:
                        continue
                    first, last = 0, 0
                    if dim == 3:
                        one, two = from_corner[2] + y0 * way[2] / width, from_corner[2] + y1 * way[2] / width
                        first = max(int(np.floor(min(one, two) - WIDER)), lo[2])
                        last = min(int(np.floor(max(one, two) + WIDER)), hi[2])
                    b = (bx * shape[1] + by) * shape[2]
                    for o in range(start[b + first], start[b + last + 1] if last >= first else 0):
                        t = order[o]
                        if without[i] >= 0 and has(tri, t, without[i]):
                            continue
                        if dim == 2:
                            found, one, two = meets_segment(frame, t, begin[i, 0], begin[i, 1], way[0], way[1])
                            if found < time[i]:
                                time[i], element[i], parts[i, 0], parts[i, 1] = found, t, one, two
                            continue
                        p, q, r = begin[i, 0], begin[i, 1], begin[i, 2]
                        found, one, two, three = meets_triangle(frame, t, p, q, r, way[0], way[1], way[2])
                        if found < time[i]:
                            time[i], element[i] = found, t
                            parts[i, 0], parts[i, 1], parts[i, 2] = one, two, three


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
