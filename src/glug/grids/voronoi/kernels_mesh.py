"""What cells share: vertices, each where the cells of dim + 1 sites meet, and faces, each a ring of vertices.

Cells are given as `kernels_cells.cells` leaves them: how many vertices and sites beside it a cell has, these sites in
ascending order (those of the end of the mesh first, negative), and which of them meet at its vertices.
"""

import numpy as np

from glug.grids.voronoi.kernels_cells import meet
from glug.jit import kernel, prange

NONE = -1
RUN = 128  # cells that share scratch memory


@kernel(inline=True)
def place_of_later(s, degree, names):
    """Where the sites after s begin among those beside its cell."""
    at = degree[s]
    while at > 0 and names[s, at - 1] > s:
        at -= 1
    return at


@kernel(inline=True)
def own(around, s, v, later):
    """Whether site s is the first of those that meet at vertex v of its cell, and none of them is the box's."""
    least = around[s, v, 0]
    for k in range(1, around.shape[2]):
        least = min(least, around[s, v, k])
    return least >= later


@kernel(parallel=True)
def count_vertices(cells, found):
    count, degree, names, around = cells
    for index in prange(len(count)):
        s = np.int64(index)
        later, total = place_of_later(s, degree, names), 0
        for v in range(count[s]):
            total += own(around, s, v, later)
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
def sort_into(s, v, names, around, out):
    """out = the sites that meet at vertex v of the cell of s, in ascending order."""
    out[0] = s
    for k in range(around.shape[2]):
        name, slot = names[s, around[s, v, k]], k + 1
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
def fill_vertices(sites, cells, first, meeting, place):
    """The sites that meet at every vertex, in ascending order, and where it is.

    Those whose first site is the same are in order too, whatever the order in which its cell has them.
    """
    count, degree, names, around = cells
    n, dim = sites.shape
    for run in prange((n + RUN - 1) // RUN):
        found = np.empty(dim + 1, np.int32)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            at, later = first[s], place_of_later(s, degree, names)
            for v in range(count[s]):
                if own(around, s, v, later):
                    sort_into(s, v, names, around, found)
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
def corners_of(s, cells, length, member):
    """How many vertices the cell of s shares with every other; 0 where the end of the mesh is beside them; and which.

    `member` has them from the first vertex of the cell to the last.
    """
    count, degree, names, around = cells
    length[: degree[s]] = 0
    ends = 0
    while ends < degree[s] and names[s, ends] < 0:
        ends += 1
    for v in range(count[s]):
        for k in range(around.shape[2]):
            slot = around[s, v, k]
            member[slot, length[slot]] = v
            length[slot] += 1
    for slot in range(ends):
        for o in range(length[slot]):
            for k in range(around.shape[2]):
                length[around[s, member[slot, o], k]] *= around[s, member[slot, o], k] < ends


@kernel(inline=True)
def memory(cells):
    """Scratch memory for `corners_of`."""
    room = cells[2].shape[1]
    return np.empty(room, np.int32), np.empty((room, cells[3].shape[1]), np.int32)


@kernel(parallel=True)
def count_faces(cells, faces, corners):
    """How many faces every site has with later ones, and how many corners these have."""
    _, degree, names, around = cells
    n, dim = len(names), around.shape[2]
    for run in prange((n + RUN - 1) // RUN):
        length, member = memory(cells)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            corners_of(s, cells, length, member)
            faces[s], corners[s] = 0, 0
            for slot in range(place_of_later(s, degree, names), degree[s]):
                if length[slot] >= dim:
                    faces[s] += 1
                    corners[s] += length[slot]


@kernel(parallel=True)
def later_unmarked(cells, marked, others):
    """others[s] = the later sites with which site s has a face, NONE after them, where neither is marked."""
    _, degree, names, around = cells
    n, dim = len(names), around.shape[2]
    for run in prange((n + RUN - 1) // RUN):
        length, member = memory(cells)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            at = 0
            if not marked[s]:
                corners_of(s, cells, length, member)
                for slot in range(place_of_later(s, degree, names), degree[s]):
                    if length[slot] >= dim and not marked[names[s, slot]]:
                        others[s, at] = names[s, slot]
                        at += 1
            others[s, at:] = NONE


@kernel(inline=True)
def follow(s, slot, around, ring):
    """Put the vertices that the cell of s shares with one beside it in order around it; whether they close."""
    for place in range(len(ring) - 1):  # the next one begins, after that, with what this one ends with
        v = ring[place]
        k = 0
        while around[s, v, k] != slot:
            k += 1
        towards = around[s, v, (k + 2) % 3]
        for o in range(place + 1, len(ring)):
            w = ring[o]
            m = 0
            while around[s, w, m] != slot:
                m += 1
            if around[s, w, (m + 1) % 3] == towards:
                ring[place + 1], ring[o] = ring[o], ring[place + 1]
                break
        else:
            return False
    return True


@kernel(parallel=True)
def fill_faces(cells, vertices, begin, beside, start, corner):
    """The sites beside every face and its ring of vertices from the first on, NONE where the first site lacks it."""
    first, meeting = vertices
    count, degree, names, around = cells
    n, room, dim = around.shape
    for run in prange((n + RUN - 1) // RUN):
        number, sites = np.empty(room, np.int32), np.empty(dim + 1, np.int32)
        length, member = memory(cells)
        for s in range(run * RUN, min(n, (run + 1) * RUN)):
            f, at = begin[0][s], begin[1][s]
            corners_of(s, cells, length, member)
            for v in range(count[s]):
                sort_into(s, v, names, around, sites)
                number[v] = vertex_of(sites, first, meeting)
            for slot in range(place_of_later(s, degree, names), degree[s]):
                size = length[slot]
                if size < dim:
                    continue
                beside[0, f], beside[1, f], start[f] = s, names[s, slot], at
                ring = member[slot, :size]
                closed = dim == 2 or follow(s, slot, around, ring)
                least = 0
                for k in range(1, size):
                    least = k if number[ring[k]] < number[ring[least]] else least
                for _ in range(size):
                    corner[at] = number[ring[least]] if closed else NONE
                    least = least + 1 if least + 1 < size else 0
                    at += 1
                f += 1


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
