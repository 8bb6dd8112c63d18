"""What cells share: vertices, each where the cells of dim + 1 sites meet, and faces, each a ring of vertices."""

import numpy as np

from glug.grids.voronoi.kernels_cells import meet
from glug.jit import kernel, prange

NONE = -1
RUN = 128  # cells that share scratch memory


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
    found = meet(plane, 0, 1, 2, dim)
    for a in range(dim):
        out[a] = found[a] + sites[of[0], a]


@kernel(inline=True)
def sort_into(s, names, out):
    """out = site s and others (one that may be before it included), in ascending order."""
    out[0] = s
    for k in range(len(names)):
        name, slot = names[k], k + 1
        while slot > 0 and out[slot - 1] > name:
            out[slot] = out[slot - 1]
            slot -= 1
        out[slot] = name


@kernel(inline=True)
def before(one, two):
    """Whether one list of sites comes before another."""
    for k in range(len(one)):
        if one[k] != two[k]:
            return one[k] < two[k]
    return False


@kernel(parallel=True)
def fill_vertices(sites, count, around, first, meeting, place):
    """The sites that meet at every vertex, in ascending order, and where it is.

    Those whose first site is the same are in order too, whatever the order in which its cell has them.
    """
    dim = sites.shape[1]
    for index in prange(len(count)):
        s = np.int64(index)
        at, found = first[s], np.empty(dim + 1, np.int32)
        for v in range(count[s]):
            if own(around, s, v):
                sort_into(s, around[s, v], found)
                slot = at
                while slot > first[s] and before(found, meeting[slot - 1]):
                    meeting[slot] = meeting[slot - 1]
                    slot -= 1
                meeting[slot] = found
                at += 1
        for v in range(first[s], at):
            circumcentre(sites, meeting[v], place[v])


@kernel(inline=True)
def vertex_of(sites, first, meeting):
    """The number of the vertex where sites (in ascending order) meet, NONE if the first of them does not know of it."""
    if sites[0] < 0:
        return NONE
    for v in range(first[sites[0]], first[sites[0] + 1]):
        k = 1
        while k < len(sites) and meeting[v, k] == sites[k]:
            k += 1
        if k == len(sites):
            return v
    return NONE


@kernel(inline=True)
def later(s, count, around, found):
    """The sites after s whose cells touch its own, with the vertices of its cell where they do; how many.

    `found` is names, lengths (0 where the end of the mesh is), those vertices, and the order by names.
    """
    names, length, member, order = found
    total, dim = 0, around.shape[2]
    for v in range(count):
        for k in range(dim):
            name, slot = around[s, v, k], 0
            if name < s:
                continue
            while slot < total and names[slot] != name:
                slot += 1
            if slot == total:
                names[slot], length[slot] = name, 0
                total += 1
            member[slot, length[slot]] = v
            length[slot] += 1
    for v in range(count):
        for k in range(dim):
            if around[s, v, k] < 0:
                for slot in range(total):
                    for m in range(dim):
                        length[slot] = 0 if around[s, v, m] == names[slot] else length[slot]
    for n in range(total):
        slot = n
        while slot > 0 and names[order[slot - 1]] > names[n]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = n
    return total


@kernel(inline=True)
def memory(room):
    """Scratch memory for `later`."""
    names, length, order = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    return names, length, np.empty((room, room), np.int32), order


@kernel(parallel=True)
def count_faces(count, around, faces, corners):
    """How many faces every site has with later ones, and how many corners these have."""
    n, room, dim = around.shape
    for run in prange((n + RUN - 1) // RUN):
        found = memory(room)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            faces[s], corners[s] = 0, 0
            for o in range(later(s, count[s], around, found)):
                length = found[1][o]
                if length >= dim:
                    faces[s] += 1
                    corners[s] += length


@kernel(inline=True)
def follow(s, other, around, ring):
    """Put the vertices that the cell of s shares with that of `other` in order around it; whether they close."""
    for place in range(len(ring) - 1):  # the next one begins, after `other`, with what this one ends with
        v = ring[place]
        k = 0
        while around[s, v, k] != other:
            k += 1
        towards = around[s, v, (k + 2) % 3]
        for o in range(place + 1, len(ring)):
            w = ring[o]
            m = 0
            while around[s, w, m] != other:
                m += 1
            if around[s, w, (m + 1) % 3] == towards:
                ring[place + 1], ring[o] = ring[o], ring[place + 1]
                break
        else:
            return False
    return True


@kernel(parallel=True)
def fill_beside(count, around, first, beside):
    """The sites beside every face."""
    n, room, dim = around.shape
    for run in prange((n + RUN - 1) // RUN):
        found = memory(room)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            f = first[s]
            for slot in found[3][: later(s, count[s], around, found)]:
                if found[1][slot] >= dim:
                    beside[0, f], beside[1, f] = s, found[0][slot]
                    f += 1


@kernel(parallel=True)
def fill_rings(count, around, vertices, begin, start, corner):
    """The vertices of every face in order, beginning with the first; NONE where the first site of one lacks it."""
    first, meeting = vertices
    n, room, dim = around.shape
    for run in prange((n + RUN - 1) // RUN):
        found, number, sites = memory(room), np.empty(room, np.int32), np.empty(dim + 1, np.int32)
        names, length, member, order = found
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            f, at, total = begin[0][s], begin[1][s], later(s, count[s], around, found)
            for v in range(count[s]):
                sort_into(s, around[s, v], sites)
                number[v] = vertex_of(sites, first, meeting)
            for slot in order[:total]:
                size = length[slot]
                if size < dim:
                    continue
                start[f] = at
                ring = member[slot, :size]
                closed = dim == 2 or follow(s, names[slot], around, ring)
                least = 0
                for k in range(1, size):
                    least = k if number[ring[k]] < number[ring[least]] else least
                for k in range(size):
                    corner[at + k] = number[ring[(least + k) % size]] if closed else NONE
                f += 1
                at += size


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
