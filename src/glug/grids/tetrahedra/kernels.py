"""Kernels of simplices in any order: neighbours, flips.

`simplices` (n, dim + 1) are the numbers of vertices, `across` (n, dim + 1) the simplex behind the face opposite every
vertex, negative at the border.
"""

import numpy as np

from glug.jit import kernel, prange

OUTSIDE = -1


@kernel(parallel=True)
def count_around(simplices, chunks, count):
    """count[c, v] = in how many simplices of chunk c vertex v is."""
    for c in prange(len(chunks) - 1):
        for t in range(chunks[c], chunks[c + 1]):
            for k in range(simplices.shape[1]):
                count[c, simplices[t, k]] += 1


@kernel(parallel=True)
def fill_around(simplices, chunks, place, around):
    """around = the simplices of every vertex, in order; `place` is where those of a chunk begin."""
    for c in prange(len(chunks) - 1):
        for t in range(chunks[c], chunks[c + 1]):
            for k in range(simplices.shape[1]):
                v = simplices[t, k]
                around[place[c, v]] = t
                place[c, v] += 1


@kernel(inline=True)
def face_key(simplices, t, skip, v):
    """The vertices of the face opposite `skip` without v, ascending; false if v is not its first."""
    low, high, others = 0, 0, 0
    for k in range(simplices.shape[1]):
        w = simplices[t, k]
        if k == skip or w == v:
            continue
        if w < v:
            return False, low, high
        if others == 0:
            low = high = w
        elif w < low:
            low = w
        else:
            high = w
        others += 1
    return others == simplices.shape[1] - 2, low, high


@kernel(parallel=True)
def find_neighbours(simplices, start, around, across):
    """Faces with the same vertices are matched at the first of them."""
    for v in prange(len(start) - 1):
        most = (start[v + 1] - start[v]) * (simplices.shape[1] - 1)
        keys, owner, waiting = np.empty((most, 2), np.int32), np.empty((most, 2), np.int32), 0
        for o in range(start[v], start[v + 1]):
            t = around[o]
            for k in range(simplices.shape[1]):
                if simplices[t, k] == v:
                    continue
                mine, low, high = face_key(simplices, t, k, v)
                if not mine:
                    continue
                across[t, k] = OUTSIDE
                for w in range(waiting):
                    if keys[w, 0] == low and keys[w, 1] == high:
                        other = owner[w, 0]
                        across[t, k], across[other, owner[w, 1]] = other, t
                        waiting -= 1
                        keys[w], owner[w] = keys[waiting], owner[waiting]
                        break
                else:
                    keys[waiting, 0], keys[waiting, 1] = low, high
                    owner[waiting, 0], owner[waiting, 1] = t, k
                    waiting += 1


@kernel(inline=True)
def index_of(row, value):
    """Where `value` is in a row."""
    for k in range(len(row)):
        if row[k] == value:
            return k
    return -1


@kernel(inline=True)
def volume_of(points, corners):
    """Of a simplex."""
    dim = points.shape[1]
    e = np.empty((dim, dim))
    for k in range(dim):
        for a in range(dim):
            e[k, a] = points[corners[k + 1], a] - points[corners[0], a]
    if dim == 2:
        return 0.5 * abs(e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0])
    return (
        abs(
            e[0, 0] * (e[1, 1] * e[2, 2] - e[1, 2] * e[2, 1])
            - e[0, 1] * (e[1, 0] * e[2, 2] - e[1, 2] * e[2, 0])
            + e[0, 2] * (e[1, 0] * e[2, 1] - e[1, 1] * e[2, 0])
        )
        / 6.0
    )


@kernel(inline=True)
def flipped(points, simplices, t, s, k, m, made):
    """made = the `dim` simplices around the line between the vertices off the face of t and s; whether they fit.

    In 2D two triangles take the place of two, in 3D three tetrahedra that of two.
    """
    dim = points.shape[1]
    before = volume_of(points, simplices[t]) + volume_of(points, simplices[s])
    after, least, i = 0.0, np.inf, 0
    for omit in range(dim + 1):
        if omit == k:
            continue
        made[i, 0], made[i, 1] = simplices[t, k], simplices[s, m]
        o = 2
        for other in range(dim + 1):
            if other != k and other != omit:
                made[i, o] = simplices[t, other]
                o += 1
        volume = volume_of(points, made[i])
        after, least = after + volume, min(least, volume)
        i += 1
    return abs(after - before) < 1e-9 * before and least > 1e-6 * before


@kernel(inline=True)
def link(simplices, across, t, s, face):
    """t and s are neighbours: `face` are the vertices that they share (its last entries may be unused)."""
    for mine, other in ((t, s), (s, t)):
        if mine < 0:
            continue
        for k in range(simplices.shape[1]):
            if index_of(face, simplices[mine, k]) < 0:
                across[mine, k] = other


@kernel
def flip(points, simplices, across, count, turned, done):
    """Flip the faces (simplex, corner) of `turned` whose simplices are still as they were; simplices afterwards.

    `simplices` and `across` have room for one more per face; `done` marks what has changed.
    """
    dim = points.shape[1]
    made, ring, face = np.empty((dim, dim + 1), np.int32), np.empty(dim, np.int32), np.empty(dim, np.int32)
    outer = np.empty((dim, 2), np.int32)
    for n in range(len(turned)):
        t, k = turned[n, 0], turned[n, 1]
        s = across[t, k]
        if s < 0 or done[t] or done[s]:
            continue
        m = index_of(across[s], t)
        if not flipped(points, simplices, t, s, k, m, made):
            continue
        i = 0
        for omit in range(dim + 1):
            if omit != k:
                outer[i, 0] = across[t, omit]
                outer[i, 1] = across[s, index_of(simplices[s], simplices[t, omit])]
                i += 1
        ring[0], ring[1] = t, s
        if dim == 3:
            ring[2] = count
            count += 1
        for i in range(dim):
            simplices[ring[i]] = made[i]
            done[ring[i]] = True
        for i in range(dim):
            for side in range(2):  # with the vertex of t, then with that of s
                face[0] = made[i, side]
                face[1:] = made[i, 2:]
                link(simplices, across, ring[i], outer[i, side], face)
                if outer[i, side] < 0:
                    across[ring[i], 1 - side] = OUTSIDE
            for j in range(i + 1, dim):
                face[0], face[1] = made[i, 0], made[i, 1]
                for corner in made[i, 2:]:
                    if dim == 3 and index_of(made[j, 2:], corner) >= 0:
                        face[2] = corner
                link(simplices, across, ring[i], ring[j], face)
    return count
