"""Voronoi cells by cutting: a box, cut by the bisectors with the sites around, those of the nearest bins first.

A cell is kept by its vertices, each the planes that meet there: two in 2D, three in 3D, in order around the vertex
seen from outside. What a bisector cuts off is a patch of vertices; every step (i, j) around the patch that no other
vertex of it takes back becomes the new vertex (i, j, plane). (In 2D the patch is a run from plane i to plane j.)

`placed` (n, 3) are the sites in the order of their bins, one box of bins after the other along the last axis, so that
what is near is near in memory; 2D has z = 0.
"""

import numpy as np

from glug.jit import kernel, prange

MOST_PLANES, MOST_VERTICES = 160, 192  # of one cell while it is cut
MOST_NEAR = 1 << 14  # sites in a shell of bins
BUCKETS = 64  # of distances by which sites are put in order
RUN = 128  # cells that share scratch memory
FULL = -1  # what a cell says that does not fit


@kernel(inline=True)
def meet(plane, i, j, k, dim):
    """Where planes meet (n . y = offset); i and j only in 2D."""
    a, b = plane[i], plane[j]
    if dim == 2:
        det = a[0] * b[1] - a[1] * b[0]
        return (a[3] * b[1] - b[3] * a[1]) / det, (a[0] * b[3] - b[0] * a[3]) / det, 0.0
    c = plane[k]
    x, y, z = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
    det = a[0] * x + a[1] * y + a[2] * z
    u, v, w = c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]
    p, q, r = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return (
        (a[3] * x + b[3] * u + c[3] * p) / det,
        (a[3] * y + b[3] * v + c[3] * q) / det,
        (a[3] * z + b[3] * w + c[3] * r) / det,
    )


@kernel(inline=True)
def begin(site, box, dim, plane, planes_of, place):
    """What of a box (lower and upper corner, half of the largest width of a cell) is around a site, seen from it."""
    plane[: 2 * dim] = 0.0
    for a in range(dim):
        plane[2 * a, a], plane[2 * a, 3] = -1.0, min(site[a] - box[0, a], box[2, a])
        plane[2 * a + 1, a], plane[2 * a + 1, 3] = 1.0, min(box[1, a] - site[a], box[2, a])
    if dim == 2:
        order = ((2, 1), (1, 3), (3, 0), (0, 2))  # counter-clockwise: bottom to right, ...
        for v in range(4):
            planes_of[v, 0], planes_of[v, 1] = order[v]
            place[0, v], place[1, v], place[2, v] = meet(plane, planes_of[v, 0], planes_of[v, 1], 0, dim)
        return 4
    for v in range(8):
        x, y, z = v & 1, (v >> 1) & 1, v >> 2
        even = (x + y + z) % 2 == 1
        planes_of[v, 0] = x if even else 2 + y
        planes_of[v, 1] = 2 + y if even else x
        planes_of[v, 2] = 4 + z
        place[0, v], place[1, v], place[2, v] = meet(plane, planes_of[v, 0], planes_of[v, 1], planes_of[v, 2], dim)
    return 8


@kernel(inline=True)
def border(planes_of, gone, lost, dim, edge, taken):
    """edge = the steps (i, j) around the vertices that go, which no other of them takes back; how many."""
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
    count = 0
    taken[0, 0] += 1  # no step leads from a plane to itself: here is the number of this cut
    now = taken[0, 0]
    for m in range(lost):
        i, j, k = planes_of[gone[m], 0], planes_of[gone[m], 1], planes_of[gone[m], 2]
        taken[i, j], taken[j, k], taken[k, i] = now, now, now
    for m in range(lost):
        for k in range(3):
            i, j = planes_of[gone[m], k], planes_of[gone[m], (k + 1) % 3]
            if taken[j, i] != now:
                edge[count, 0], edge[count, 1] = i, j
                count += 1
    return count


@kernel(inline=True)
def cut(plane, new, dim, planes_of, place, count, scratch):
    """Cut a cell of `count` vertices by its plane `new`; how many are left, FULL if they do not fit, 0 if all stay."""
    gone, edge, taken = scratch
    a, b, c, offset = plane[new, 0], plane[new, 1], plane[new, 2], plane[new, 3]
    lost = 0
    for v in range(count):
        gone[lost] = v
        lost += a * place[0, v] + b * place[1, v] + c * place[2, v] > offset
    if lost == 0 or lost == count:
        return 0
    edges = border(planes_of, gone, lost, dim, edge, taken)
    if edges == 0:
        return 0
    for m in range(lost - 1, -1, -1):  # the last vertices move into the gaps
        count -= 1
        v = gone[m]
        for k in range(3):
            planes_of[v, k] = planes_of[count, k]
            place[k, v] = place[k, count]
    if count + 2 * edges > place.shape[1]:
        return FULL
    if dim == 2:
        i, j = edge[0]
        planes_of[count, 0], planes_of[count, 1] = i, new
        planes_of[count + 1, 0], planes_of[count + 1, 1] = new, j
        place[0, count], place[1, count], place[2, count] = meet(plane, i, new, 0, dim)
        place[0, count + 1], place[1, count + 1], place[2, count + 1] = meet(plane, new, j, 0, dim)
        return count + 2
    for e in range(edges):
        planes_of[count, 0], planes_of[count, 1], planes_of[count, 2] = edge[e, 0], edge[e, 1], new
        place[0, count], place[1, count], place[2, count] = meet(plane, edge[e, 0], edge[e, 1], new, dim)
        count += 1
    return count


@kernel(inline=True, nan=False)
def most_along(place, count, a, b, c):
    """The largest n . y of the vertices of a cell."""
    most = -np.inf
    for v in range(count):
        most = max(most, a * place[0, v] + b * place[1, v] + c * place[2, v])
    return most


@kernel(inline=True, nan=False)
def farthest(place, count):
    """The square of the largest distance of a vertex from the site."""
    most = 0.0
    for v in range(count):
        most = max(most, place[0, v] ** 2 + place[1, v] ** 2 + place[2, v] ** 2)
    return most


@kernel(inline=True)
def gap(x, corner, width, bin):
    """How far a coordinate is from a bin along its axis."""
    return max(corner + bin * width - x, x - corner - (bin + 1) * width, 0.0)


@kernel(inline=True)
def seen(site, bins, middle, shell):
    """The square of the distance within which all sites are in the bins up to a shell."""
    _, _, corner, shape, width = bins
    least = np.inf
    for a in range(3):
        if middle[a] - shell > 0:
            least = min(least, site[a] - corner[a] - (middle[a] - shell) * width)
        if middle[a] + shell < shape[a] - 1:
            least = min(least, corner[a] + (middle[a] + shell + 1) * width - site[a])
    return max(least, 0.0) ** 2


@kernel(inline=True)
def collect(site, placed, first, end, most, near, count):
    """Add those of some places whose squared distance is less than `most`."""
    names, sizes = near[:2]
    if count + end - first > len(names):
        return FULL
    for p in range(first, end):
        x, y, z = placed[p, 0] - site[0], placed[p, 1] - site[1], placed[p, 2] - site[2]
        size = x * x + y * y + z * z
        names[count], sizes[count] = p, size
        count += 0.0 < size < most
    return count


@kernel(inline=True)
def gather(site, placed, bins, middle, inner, outer, most, near):
    """near = the places in shells `inner` to `outer` of bins that may reach the cell, and their squared distances."""
    start, _, corner, shape, width = bins
    count = 0
    low, high = max(middle[2] - outer, 0), min(middle[2] + outer, shape[2] - 1)
    for i in range(max(middle[0] - outer, 0), min(middle[0] + outer, shape[0] - 1) + 1):
        one = gap(site[0], corner[0], width, i) ** 2
        for j in range(max(middle[1] - outer, 0), min(middle[1] + outer, shape[1] - 1) + 1):
            if one + gap(site[1], corner[1], width, j) ** 2 >= most:
                continue
            b = (i * shape[1] + j) * shape[2]
            if max(abs(i - middle[0]), abs(j - middle[1])) >= inner:
                count = collect(site, placed, start[b + low], start[b + high + 1], most, near, count)
                if count == FULL:
                    return FULL
                continue
            for k in (middle[2] - outer, middle[2] + outer):
                if 0 <= k < shape[2] and one + gap(site[2], corner[2], width, k) ** 2 < most:
                    count = collect(site, placed, start[b + k], start[b + k + 1], most, near, count)
                    if count == FULL:
                        return FULL
    return count


@kernel(inline=True)
def put_in_order(near, count):
    """The numbers of what is near, about the nearest first."""
    _, sizes, ordered, bucket = near
    most = 0.0
    for n in range(count):
        most = max(most, sizes[n])
    scale = (BUCKETS - 1) / max(most, 1e-300)
    bucket[:] = 0
    for n in range(count):
        bucket[int(sizes[n] * scale) + 1] += 1
    for n in range(BUCKETS):
        bucket[n + 1] += bucket[n]
    for n in range(count):
        key = int(sizes[n] * scale)
        ordered[bucket[key]] = n
        bucket[key] += 1


@kernel(inline=True)
def grow(at, placed, bins, box, dim, cell, near, scratch):
    """The cell of the site at a place; its vertices and planes are in the memory `cell`. How many vertices, or FULL."""
    plane, name, planes_of, place, middle = cell
    _, order, corner, shape, width = bins
    site = placed[at]
    count, planes = begin(site, box, dim, plane, planes_of, place), 2 * dim
    for k in range(planes):
        name[k] = -1 - k
    reach = farthest(place, count)
    for a in range(3):
        middle[a] = min(max(int((site[a] - corner[a]) / width), 0), shape[a] - 1) if a < dim else 0
    for shell in range(1, max(shape[0], shape[1], shape[2]) + 1):
        if shell > 1 and seen(site, bins, middle, shell - 1) >= 4.0 * reach:
            break
        left = gather(site, placed, bins, middle, shell if shell > 1 else 0, shell, 4.0 * reach, near)
        if left == FULL:
            return FULL, reach
        put_in_order(near, left)
        for m in range(left):
            n = near[2][m]
            other, size = near[0][n], near[1][n]
            if size >= 4.0 * reach:
                continue
            x, y, z = placed[other, 0] - site[0], placed[other, 1] - site[1], placed[other, 2] - site[2]
            if most_along(place, count, x, y, z) <= 0.5 * size:
                continue
            plane[planes, 0], plane[planes, 1], plane[planes, 2], plane[planes, 3] = x, y, z, 0.5 * size
            found = cut(plane, planes, dim, planes_of, place, count, scratch)
            if found == FULL or planes + 2 >= plane.shape[0]:
                return FULL, reach
            if found > 0:
                name[planes] = order[other]
                planes += 1
                count, reach = found, farthest(place, found)
    return count, reach


@kernel(inline=True)
def keep(s, count, dim, cell, slots, names, around):
    """names[s] = the sites beside the cell of s, in ascending order; around[s] = which of them meet at its vertices."""
    _, name, planes_of = cell[:3]
    slot_of, order = slots
    for v in range(count):
        for k in range(dim):
            slot_of[planes_of[v, k]] = FULL
    total = 0
    for v in range(count):
        for k in range(dim):
            p = planes_of[v, k]
            if slot_of[p] != FULL:
                continue
            slot_of[p], at = 0, total
            while at > 0 and name[order[at - 1]] > name[p]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = p
            total += 1
    for at in range(total):
        slot_of[order[at]], names[s, at] = at, name[order[at]]
    for v in range(count):
        for k in range(dim):
            around[s, v, k] = slot_of[planes_of[v, k]]
    return total


@kernel(parallel=True)
def cells(which, placed, bins, box, shape, reach):
    """The cells of the sites at the places `which`: how many vertices (FULL: more than there is room for) and sites
    beside them there are; these sites, negative ones the box's; and which of them meet at the vertices.

    `reach` is the square of the distance of their farthest vertex.
    """
    count, degree, names, around = shape
    n, (_, room, dim) = len(which), around.shape
    for run in prange((n + RUN - 1) // RUN):
        plane, name = np.zeros((MOST_PLANES, 4)), np.empty(MOST_PLANES, np.int64)
        planes_of, place = np.empty((MOST_VERTICES, 3), np.int64), np.zeros((3, MOST_VERTICES))
        cell = plane, name, planes_of, place, np.zeros(3, np.int64)
        slots = np.empty(MOST_PLANES, np.int64), np.empty(MOST_PLANES, np.int64)
        scratch = (
            np.empty(MOST_VERTICES + 1, np.int64),
            np.empty((3 * MOST_VERTICES, 2), np.int64),
            np.zeros((MOST_PLANES, MOST_PLANES), np.int32),
        )
        near = (
            np.empty(MOST_NEAR + 1, np.int64),
            np.empty(MOST_NEAR + 1),
            np.empty(MOST_NEAR + 1, np.int64),
            np.empty(BUCKETS + 1, np.int64),
        )
        for m in range(run * RUN, min(n, (run + 1) * RUN)):
            s = bins[1][which[m]]
            count[s], reach[s] = grow(which[m], placed, bins, box, dim, cell, near, scratch)
            if count[s] > room:
                count[s] = FULL
            degree[s] = keep(s, count[s], dim, cell, slots, names, around)
