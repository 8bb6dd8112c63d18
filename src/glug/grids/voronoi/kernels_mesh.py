"""What cells share: vertices, each where the cells of dim + 1 sites meet, and faces, each a ring of vertices."""

import numpy as np

from glug.grids.voronoi.kernels_cells import meet
from glug.jit import kernel, prange

NONE = -1


@kernel(inline=True)
def own(around, s, v):
    """Whether site s is the first of those that meet at vertex v of its cell, and none of them is the box's."""
    lowest = around[s, v, 0]
    for k in range(1, around.shape[2]):
        lowest = min(lowest, around[s, v, k])
    return lowest > s


@kernel(parallel=True)
def count_vertices(count, around, found):
    for index in prange(len(count)):
        s = np.int64(index)
        total = 0
        for v in range(count[s]):
            total += own(around, s, v)
        found[s] = total


@kernel(inline=True)
def circumcentre(sites, of, out):
    """The point that is as far from the first of some sites as from the others."""
    dim = sites.shape[1]
    plane = np.zeros((3, 4))
    for k in range(dim):
        for a in range(dim):
            plane[k, a] = sites[of[k + 1], a] - sites[of[0], a]
            plane[k, 3] += 0.5 * plane[k, a] * plane[k, a]
    meet(plane, 0, 1, 2, out)
    for a in range(dim):
        out[a] += sites[of[0], a]


@kernel(parallel=True)
def fill_vertices(sites, count, around, first, meeting, place):
    """The sites that meet at every vertex, in ascending order, and where it is."""
    dim = sites.shape[1]
    for index in prange(len(count)):
        s = np.int64(index)
        at = first[s]
        for v in range(count[s]):
            if own(around, s, v):
                meeting[at, 0] = s
                for k in range(dim):
                    name, slot = around[s, v, k], k + 1
                    while slot > 1 and meeting[at, slot - 1] > name:
                        meeting[at, slot] = meeting[at, slot - 1]
                        slot -= 1
                    meeting[at, slot] = name
                circumcentre(sites, meeting[at], place[at])
                at += 1


@kernel(inline=True)
def vertex_of(s, names, first, meeting):
    """The number of the vertex where s and others meet, NONE if the first of them does not know of it."""
    dim = names.shape[0]
    lowest = np.int64(s)
    for k in range(dim):
        lowest = min(lowest, np.int64(names[k]))
    for v in range(first[lowest], first[lowest + 1]):
        hits = 0
        for m in range(dim + 1):
            hit = meeting[v, m] == s
            for k in range(dim):
                hit = hit or meeting[v, m] == names[k]
            hits += hit
        if hits == dim + 1:
            return v
    return NONE


@kernel(inline=True)
def ring_of(s, other, count, around, ring):
    """ring = the vertices of the cell of s that it shares with `other`, in order; how many, 0 if one is the box's."""
    dim, length = around.shape[2], 0
    for v in range(count):
        for k in range(dim):
            if around[s, v, k] == other:
                for m in range(dim):
                    if around[s, v, m] < 0:
                        return 0
                if length == len(ring):
                    return 0
                ring[length] = v
                length += 1
    if dim == 2 or length < 3:
        return length
    for place in range(length - 1):  # the next one begins, after `other`, with what this one ends with
        v = ring[place]
        k = 0
        while around[s, v, k] != other:
            k += 1
        towards = around[s, v, (k + 2) % 3]
        for o in range(place + 1, length):
            w = ring[o]
            m = 0
            while around[s, w, m] != other:
                m += 1
            if around[s, w, (m + 1) % 3] == towards:
                ring[place + 1], ring[o] = ring[o], ring[place + 1]
                break
        else:
            return 0
    return length


@kernel(inline=True)
def later(s, count, around, names):
    """names = the sites after s whose cells touch its own, in ascending order; how many."""
    total = 0
    for v in range(count):
        for k in range(around.shape[2]):
            name, known = around[s, v, k], False
            for o in range(total):
                known = known or names[o] == name
            if name > s and not known and total < len(names):
                slot = total
                while slot > 0 and names[slot - 1] > name:
                    names[slot] = names[slot - 1]
                    slot -= 1
                names[slot] = name
                total += 1
    return total


@kernel(parallel=True)
def count_faces(count, around, faces, corners):
    """How many faces every site has with later ones, and how many corners these have."""
    for index in prange(len(count)):
        s = np.int64(index)
        names, ring = np.empty(around.shape[1], np.int64), np.empty(around.shape[1], np.int64)
        faces[s], corners[s] = 0, 0
        for o in range(later(s, count[s], around, names)):
            length = ring_of(s, names[o], count[s], around, ring)
            if length >= around.shape[2]:
                faces[s] += 1
                corners[s] += length


@kernel(parallel=True)
def fill_faces(count, around, vertices, begin, beside, start, corner):
    """The sites beside every face and its ring of vertices, NONE where the first site of a vertex lacks it."""
    first, meeting = vertices
    for index in prange(len(count)):
        s = np.int64(index)
        names, ring = np.empty(around.shape[1], np.int64), np.empty(around.shape[1], np.int64)
        f, at = begin[0][s], begin[1][s]
        for o in range(later(s, count[s], around, names)):
            length = ring_of(s, names[o], count[s], around, ring)
            if length >= around.shape[2]:
                beside[0, f], beside[1, f], start[f] = s, names[o], at
                for k in range(length):
                    corner[at + k] = vertex_of(s, around[s, ring[k]], first, meeting)
                f += 1
                at += length


@kernel(inline=True)
def span(m, p, q, n):
    """Half of (p - m) x (q - m) . n."""
    x, y, z = p[0] - m[0], p[1] - m[1], p[2] - m[2]
    u, v, w = q[0] - m[0], q[1] - m[1], q[2] - m[2]
    return 0.5 * ((y * w - z * v) * n[0] + (z * u - x * w) * n[1] + (x * v - y * u) * n[2])


@kernel(inline=True)
def centroid(ring, place, n, middle, out):
    """The area of a polygon around `middle`, the mean of its corners, which becomes its centroid."""
    total, last = 0.0, ring[-1]
    out[:] = 0.0
    for v in ring:
        size = span(middle, place[last], place[v], n)
        total += size
        for a in range(3):
            out[a] += size * (place[last, a] + place[v, a] - 2.0 * middle[a]) / 3.0
        last = v
    if total != 0.0:
        for a in range(3):
            middle[a] += out[a] / total
    return abs(total)


@kernel(parallel=True)
def measure_faces(sites, beside, start, corner, place, middle, normal, area, distance):
    """The centroid of every face, its normal, area, and the distance of its sites."""
    dim = sites.shape[1]
    for f in prange(len(area)):
        size, known = 0.0, 0
        ring, out = np.empty(start[f + 1] - start[f], np.int64), np.empty(3)
        for a in range(dim):
            normal[f, a] = sites[beside[1, f], a] - sites[beside[0, f], a]
            size += normal[f, a] * normal[f, a]
            middle[f, a] = 0.0
        distance[f] = np.sqrt(size)
        for o in range(start[f], start[f + 1]):
            if corner[o] >= 0:
                ring[known] = corner[o]
                known += 1
                for a in range(dim):
                    middle[f, a] += place[corner[o], a]
        for a in range(dim):
            normal[f, a] /= distance[f]
            middle[f, a] /= max(known, 1)
        area[f] = 0.0
        if known >= dim and dim == 2:
            p, q = place[ring[0]], place[ring[1]]
            area[f] = np.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)
        elif known >= dim:
            area[f] = centroid(ring[:known], place, normal[f], middle[f], out)


@kernel(parallel=True)
def faces_at_vertices(meeting, first_face, beside, out):
    """out = the faces between the sites that meet at every vertex, NONE where there is none."""
    for v in prange(len(meeting)):
        at = 0
        for i in range(meeting.shape[1]):
            for j in range(i + 1, meeting.shape[1]):
                out[v, at] = NONE
                a = meeting[v, i]
                for f in range(first_face[a], first_face[a + 1]):
                    if beside[1, f] == meeting[v, j]:
                        out[v, at] = f
                        break
                at += 1
