"""Voronoi cells by cutting: a box, cut by the bisectors with the sites around, nearest bins first.

A cell is kept by its vertices, each the planes that meet there: two in 2D, three in 3D, in order around the vertex
seen from outside. What a bisector cuts off is a patch of vertices; every step (i, j) around the patch that no other
vertex of it takes back becomes the new vertex (i, j, plane). (In 2D the patch is a run from plane i to plane j.)
"""

import numpy as np

from glug.jit import kernel, prange

MOST_PLANES, MOST_VERTICES = 160, 192  # of one cell while it is cut
MOST_NEAR = 1 << 14  # sites in a shell of bins
RUN = 64  # cells that share scratch memory
FULL = -1  # what a cell says that does not fit


@kernel(inline=True)
def meet(plane, i, j, k, out):
    """out = where planes meet (n . y = offset); i and j only in 2D."""
    a, b = plane[i], plane[j]
    if out.shape[0] == 2:
        det = a[0] * b[1] - a[1] * b[0]
        out[0] = (a[3] * b[1] - b[3] * a[1]) / det
        out[1] = (a[0] * b[3] - b[0] * a[3]) / det
        return
    c = plane[k]
    x, y, z = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
    det = a[0] * x + a[1] * y + a[2] * z
    u, v, w = c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]
    p, q, r = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    out[0] = (a[3] * x + b[3] * u + c[3] * p) / det
    out[1] = (a[3] * y + b[3] * v + c[3] * q) / det
    out[2] = (a[3] * z + b[3] * w + c[3] * r) / det


@kernel(inline=True)
def begin(site, box, plane, planes_of, place):
    """What of a box (lower and upper corner, half of the largest width of a cell) is around a site, seen from it."""
    dim = site.shape[0]
    plane[: 2 * dim] = 0.0
    for a in range(dim):
        plane[2 * a, a], plane[2 * a, 3] = -1.0, min(site[a] - box[0, a], box[2, a])
        plane[2 * a + 1, a], plane[2 * a + 1, 3] = 1.0, min(box[1, a] - site[a], box[2, a])
    if dim == 2:
        order = ((2, 1), (1, 3), (3, 0), (0, 2))  # counter-clockwise: bottom to right, ...
        for v in range(4):
            planes_of[v, 0], planes_of[v, 1] = order[v]
            meet(plane, planes_of[v, 0], planes_of[v, 1], 0, place[v])
        return 4
    for v in range(8):
        x, y, z = v & 1, (v >> 1) & 1, v >> 2
        even = (x + y + z) % 2 == 1
        planes_of[v, 0] = x if even else 2 + y
        planes_of[v, 1] = 2 + y if even else x
        planes_of[v, 2] = 4 + z
        meet(plane, planes_of[v, 0], planes_of[v, 1], planes_of[v, 2], place[v])
    return 8


@kernel(inline=True)
def border(planes_of, gone, lost, dim, edge):
    """edge = the steps (i, j) around the vertices that go, which no other of them takes back; how many."""
    count = 0
    if dim == 2:
        first, last = -1, -1
        for m in range(lost):
            i, j = planes_of[gone[m], 0], planes_of[gone[m], 1]
            starts, ends = True, True
            for o in range(lost):
                starts = starts and planes_of[gone[o], 1] != i
                ends = ends and planes_of[gone[o], 0] != j
            first, last = i if starts else first, j if ends else last
        edge[0, 0], edge[0, 1] = first, last
        return 1 if first >= 0 and last >= 0 else 0
    for m in range(lost):
        for k in range(3):
            i, j = planes_of[gone[m], k], planes_of[gone[m], (k + 1) % 3]
            alone = True
            for o in range(lost):
                for l in range(3):
                    alone = alone and not (planes_of[gone[o], l] == j and planes_of[gone[o], (l + 1) % 3] == i)
            if alone:
                edge[count, 0], edge[count, 1] = i, j
                count += 1
    return count


@kernel(inline=True)
def cut(plane, new, planes_of, place, count, gone, edge):
    """Cut a cell of `count` vertices by its plane `new`; how many are left, FULL if they do not fit."""
    dim = place.shape[1]
    n, lost = plane[new], 0
    for v in range(count):
        along = 0.0
        for a in range(dim):
            along += n[a] * place[v, a]
        if along > n[3]:
            gone[lost] = v
            lost += 1
    if lost == 0 or lost == count:
        return count
    edges = border(planes_of, gone, lost, dim, edge)
    if edges == 0:
        return count
    for m in range(lost - 1, -1, -1):  # the last vertices move into the gaps
        count -= 1
        v = gone[m]
        for k in range(dim):
            planes_of[v, k] = planes_of[count, k]
            place[v, k] = place[count, k]
    if count + 2 * edges > place.shape[0]:
        return FULL
    for e in range(edges):
        i, j = edge[e]
        if dim == 2:
            planes_of[count, 0], planes_of[count, 1] = i, new
            meet(plane, i, new, 0, place[count])
            planes_of[count + 1, 0], planes_of[count + 1, 1] = new, j
            meet(plane, new, j, 0, place[count + 1])
            return count + 2
        planes_of[count, 0], planes_of[count, 1], planes_of[count, 2] = i, j, new
        meet(plane, i, j, new, place[count])
        count += 1
    return count


@kernel(inline=True)
def farthest(place, count):
    """The square of the largest distance of a vertex from the site."""
    most = 0.0
    for v in range(count):
        size = 0.0
        for a in range(place.shape[1]):
            size += place[v, a] * place[v, a]
        most = max(most, size)
    return most


@kernel(inline=True)
def gather(s, sites, bins, middle, inner, outer, reach, near):
    """near = the sites in shells `inner` to `outer` of bins that may reach the cell, and their squared distances."""
    start, order, _, shape, _ = bins
    names, sizes = near
    count = 0
    for i in range(max(middle[0] - outer, 0), min(middle[0] + outer, shape[0] - 1) + 1):
        for j in range(max(middle[1] - outer, 0), min(middle[1] + outer, shape[1] - 1) + 1):
            flat = max(abs(i - middle[0]), abs(j - middle[1]))
            for k in range(max(middle[2] - outer, 0), min(middle[2] + outer, shape[2] - 1) + 1):
                if max(flat, abs(k - middle[2])) < inner:
                    continue
                b = (i * shape[1] + j) * shape[2] + k
                for o in range(start[b], start[b + 1]):
                    other, size = order[o], 0.0
                    for a in range(sites.shape[1]):
                        size += (sites[other, a] - sites[s, a]) ** 2
                    if other != s and size < 4.0 * reach:
                        if count == len(names):
                            return FULL
                        names[count], sizes[count] = other, size
                        count += 1
    return count


@kernel(inline=True)
def take_nearest(near, count):
    """The place of the nearest site that is left."""
    sizes, best = near[1], 0
    for n in range(1, count):
        if sizes[n] < sizes[best]:
            best = n
    return best


@kernel(inline=True)
def grow(s, sites, bins, box, scratch):
    """The cell of site s; its vertices and planes are in the scratch memory. Its number of vertices, or FULL."""
    plane, name, planes_of, place, gone, edge, near = scratch
    dim, shape = sites.shape[1], bins[3]
    count, planes = begin(sites[s], box, plane, planes_of, place), 2 * dim
    for k in range(planes):
        name[k] = -1 - k
    reach = farthest(place, count)
    middle = np.zeros(3, np.int64)
    for a in range(dim):
        middle[a] = min(max(int((sites[s, a] - bins[2][a]) / bins[4]), 0), shape[a] - 1)
    for shell in range(1, max(shape[0], shape[1], shape[2]) + 1):
        if ((shell - 1) * bins[4]) ** 2 > 4.0 * reach and shell > 1:
            break
        left = gather(s, sites, bins, middle, shell if shell > 1 else 0, shell, reach, near)
        if left == FULL:
            return FULL
        while left > 0:
            best = take_nearest(near, left)
            other, size = near[0][best], near[1][best]
            left -= 1
            near[0][best], near[1][best] = near[0][left], near[1][left]
            if size >= 4.0 * reach:
                break
            for a in range(dim):
                plane[planes, a] = sites[other, a] - sites[s, a]
            plane[planes, 3] = 0.5 * size
            found = cut(plane, planes, planes_of, place, count, gone, edge)
            if found == FULL:
                return FULL
            changed = False
            for k in range(dim):
                changed = changed or planes_of[found - 1, k] == planes
            if changed:
                name[planes] = other
                planes += 1
                count, reach = found, farthest(place, found)
                if planes + 1 >= plane.shape[0]:
                    return FULL
    return count


@kernel(parallel=True)
def cells(sites, bins, box, room, count, around):
    """around[s] = the sites that meet at every vertex of the cell of s, besides s; negative ones are the box's."""
    n, dim = sites.shape
    for run in prange((n + RUN - 1) // RUN):
        plane, name = np.empty((MOST_PLANES, 4)), np.empty(MOST_PLANES, np.int64)
        planes_of, place = np.empty((MOST_VERTICES, dim), np.int64), np.empty((MOST_VERTICES, dim))
        gone, edge = np.empty(MOST_VERTICES, np.int64), np.empty((3 * MOST_VERTICES, 2), np.int64)
        near = np.empty(MOST_NEAR, np.int64), np.empty(MOST_NEAR)
        scratch = plane, name, planes_of, place, gone, edge, near
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            vertices = grow(s, sites, bins, box, scratch)
            if vertices > room:
                vertices = FULL
            count[s] = vertices
            for v in range(max(vertices, 0)):
                for k in range(dim):
                    around[s, v, k] = name[planes_of[v, k]]
