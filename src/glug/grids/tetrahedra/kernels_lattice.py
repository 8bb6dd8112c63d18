"""Kernels of the body-centred lattice: the simplices between the leaves of a tree.

`level` has the level of the leaf over every finest cell, `leaf` its number, `node` the number of a vertex at every
corner of the finest cells (negative: none); in 2D their third axis has one entry. The centre of leaf n is vertex n.
"""

import numpy as np

from glug.jit import kernel, prange

NONE, EQUAL, LARGER, SMALLER = 0, 1, 2, 3  # what is behind a side of a leaf


@kernel(inline=True)
def behind(level, x, y, z, here):
    """What kind of leaf the finest cell (x, y, z) is in, seen from one of level `here`."""
    if x < 0 or y < 0 or z < 0 or x >= level.shape[0] or y >= level.shape[1] or z >= level.shape[2]:
        return NONE
    there = level[x, y, z]
    return EQUAL if there == here else LARGER if there > here else SMALLER


@kernel(inline=True)
def across(origin, n, size, axis, side, place):
    """The first finest cell behind a side of leaf n; where a larger leaf is, some cell of it."""
    for a in range(3):
        place[a] = origin[n, a]
    place[axis] += size if side == 1 else -1


@kernel(parallel=True)
def mark_corners(origin, size, node):
    """node = 0 at the corners of all leaves."""
    for n in prange(origin.shape[0]):
        for c in range(8):
            x = origin[n, 0] + size[n] * (c & 1)
            y = origin[n, 1] + size[n] * ((c >> 1) & 1)
            z = min(origin[n, 2] + size[n] * ((c >> 2) & 1), node.shape[2] - 1)
            node[x, y, z] = 0


@kernel(inline=True)
def face_corner(origin, n, size, axis, side, p, q, double):
    """Twice the place of a point of a side of leaf n: p and q in half sizes along the two other axes."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    double[axis] = 2 * (origin[n, axis] + size * side)
    double[b] = 2 * origin[n, b] + size * p
    double[c] = 2 * origin[n, c] + size * q


@kernel(inline=True)
def node_at(node, double):
    """The vertex at twice a place: negative where there is none."""
    if (double[0] | double[1] | double[2]) & 1:
        return -1
    return node[double[0] >> 1, double[1] >> 1, double[2] >> 1]


@kernel(inline=True)
def ring_corner(e):
    """Corner e of a side, in half sizes, around it."""
    e = e & 3
    return (2 if e == 1 or e == 2 else 0), (2 if e >= 2 else 0)


@kernel(inline=True)
def equal_pair(origin, node, n, other, size, axis, tets, at, double):
    """The tetrahedra between the centres of two equal leaves and the edges of their side; how many.

    An edge with a vertex in its middle makes two. Nothing is written where `at` is negative.
    """
    count = 0
    for e in range(4):
        p0, q0 = ring_corner(e)
        p1, q1 = ring_corner(e + 1)
        face_corner(origin, n, size, axis, 1, (p0 + p1) // 2, (q0 + q1) // 2, double)
        middle = node_at(node, double)
        if at < 0:
            count += 1 if middle < 0 else 2
            continue
        face_corner(origin, n, size, axis, 1, p0, q0, double)
        first = node_at(node, double)
        face_corner(origin, n, size, axis, 1, p1, q1, double)
        last = node_at(node, double)
        for half in range(1 if middle < 0 else 2):
            t = at + count
            tets[t, 0], tets[t, 1] = n, other
            tets[t, 2] = first if half == 0 else middle
            tets[t, 3] = last if middle < 0 or half == 1 else middle
            count += 1
    return count


@kernel(inline=True)
def unequal_pair(origin, node, n, other, size, axis, side, tets, at, double):
    """Four tetrahedra over the side of leaf n that is a quarter of a larger leaf's, cut through that one's middle."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    p = 2 if (origin[n, b] // size) % 2 == 0 else 0  # where the middle of the larger side is
    q = 2 if (origin[n, c] // size) % 2 == 0 else 0
    face_corner(origin, n, size, axis, side, p, q, double)
    middle = node_at(node, double)
    face_corner(origin, n, size, axis, side, 2 - p, 2 - q, double)
    corner = node_at(node, double)
    for half in range(2):
        face_corner(origin, n, size, axis, side, p if half == 0 else 2 - p, 2 - q if half == 0 else q, double)
        beside = node_at(node, double)
        for whose in range(2):
            t = at + 2 * half + whose
            tets[t, 0] = n if whose == 0 else other
            tets[t, 1], tets[t, 2], tets[t, 3] = middle, corner, beside


@kernel(parallel=True)
def count_tetrahedra(origin, size, level, node, count):
    """How many tetrahedra every leaf makes."""
    for n in prange(origin.shape[0]):
        place, double = np.empty(3, np.int32), np.empty(3, np.int32)
        here, total = level[origin[n, 0], origin[n, 1], origin[n, 2]], 0
        empty = np.empty((0, 4), np.int32)
        for axis in range(3):
            for side in range(2):
                across(origin, n, size[n], axis, side, place)
                kind = behind(level, place[0], place[1], place[2], here)
                if kind == LARGER:
                    total += 4
                elif kind == EQUAL and side == 1:
                    total += equal_pair(origin, node, n, 0, size[n], axis, empty, -1, double)
        count[n] = total


@kernel(parallel=True)
def make_tetrahedra(origin, size, level, leaf, node, start, tets):
    """The tetrahedra of every leaf, from `start` on."""
    for n in prange(origin.shape[0]):
        place, double = np.empty(3, np.int32), np.empty(3, np.int32)
        here, at = level[origin[n, 0], origin[n, 1], origin[n, 2]], start[n]
        for axis in range(3):
            for side in range(2):
                across(origin, n, size[n], axis, side, place)
                kind = behind(level, place[0], place[1], place[2], here)
                if kind == LARGER:
                    other = leaf[place[0], place[1], place[2]]
                    unequal_pair(origin, node, n, other, size[n], axis, side, tets, at, double)
                    at += 4
                elif kind == EQUAL and side == 1:
                    other = leaf[place[0], place[1], place[2]]
                    at += equal_pair(origin, node, n, other, size[n], axis, tets, at, double)


@kernel
def make_triangles(origin, size, level, leaf, node, triangles):
    """The triangles of all leaves of a plane tree; how many. Leaves are stretched along y: see `lattice`."""
    count = 0
    for n in range(origin.shape[0]):
        x, y, s = origin[n, 0], origin[n, 1], size[n]
        here = level[x, y, 0]
        for axis in range(2):
            for side in range(2):
                i = x + ((s if side == 1 else -1) if axis == 0 else 0)
                j = y + ((s if side == 1 else -1) if axis == 1 else 0)
                if i < 0 or j < 0 or i >= level.shape[0] or j >= level.shape[1]:
                    continue
                there, other = level[i, j, 0], leaf[i, j, 0]
                if there < here or (there == here and side == 0):
                    continue
                i0, j0 = (x + s * side, y) if axis == 0 else (x, y + s * side)
                first = node[i0, j0, 0]
                last = node[i0, j0 + s, 0] if axis == 0 else node[i0 + s, j0, 0]
                for half in range(2):
                    triangles[count, 0] = n if half == 0 else other
                    triangles[count, 1], triangles[count, 2] = first, last
                    if there == here and axis == 0:  # the shorter diagonal
                        triangles[count, 0], triangles[count, 1] = n, other
                        triangles[count, 2] = first if half == 0 else last
                    count += 1
    return count


@kernel(parallel=True)
def number_leaves(origin, size, leaf):
    """leaf = the number of the leaf over every finest cell."""
    for n in prange(origin.shape[0]):
        for i in range(origin[n, 0], origin[n, 0] + size[n]):
            for j in range(origin[n, 1], origin[n, 1] + size[n]):
                for k in range(origin[n, 2], min(origin[n, 2] + size[n], leaf.shape[2])):
                    leaf[i, j, k] = n
