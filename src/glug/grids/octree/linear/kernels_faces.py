"""Kernels of the faces of a sparse tree, and of trees whose finest leaves are merged."""

import numpy as np

from glug.grids.octree.linear.kernels import ABSENT, OUTSIDE
from glug.jit import kernel, prange

ONE = np.int64(1)
NO_FACE = np.int64(-1)


BITS_SET = np.array([n.bit_count() for n in range(64)], np.int64)


@kernel(inline=True)
def bits_below(bits, side):
    """How many of the bits below `side` are set."""
    return BITS_SET[bits & ((ONE << side) - ONE)]


@kernel(inline=True)
def own_face(first, owned, n, side):
    """The number of the face that leaf n has of its own on a side, or NO_FACE."""
    bits = np.int64(owned[n])
    return np.int64(first[n]) + bits_below(bits, side) if (bits >> side) & ONE else NO_FACE


@kernel(inline=True)
def part(links, n, axis, number):
    """One of the four leaves behind a divided face, from the first of them: bits of `number` are along the others."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    if number & 1:
        n = np.int64(links[n, 2 * b + 1])
    if number & 2:
        n = np.int64(links[n, 2 * c + 1])
    return n


@kernel(inline=True)
def sibling(links, key, level, n, axis, number):
    """One of the four leaves of a parent that have the same place along an axis, leaf n is number 0."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    place = key[n] >> (3 * np.int64(level[n]))
    if number & 1:
        n = np.int64(links[n, 2 * b + 1 - ((place >> b) & ONE)])
    if number & 2:
        n = np.int64(links[n, 2 * c + 1 - ((place >> c) & ONE)])
    return n


@kernel(parallel=True)
def own_sides(links, level, owned, count):
    """Which sides of every leaf have a face of its own, and how many."""
    for n in prange(links.shape[0]):
        bits = np.int64(0)
        for side in range(6):
            other = np.int64(links[n, side])
            if other == OUTSIDE:
                continue
            upper = side & 1
            if other == ABSENT or level[other] > level[n] or (level[other] == level[n] and not upper):
                bits |= ONE << side
        owned[n] = bits
        count[n] = bits_below(bits, 6)


@kernel(parallel=True)
def list_faces(first, owned, leaf, side):
    """Leaf and side of every face."""
    for n in prange(first.shape[0]):
        f = np.int64(first[n])
        for s in range(6):
            if (np.int64(owned[n]) >> s) & ONE:
                leaf[f], side[f] = n, s
                f += 1


@kernel
def largest_along(u, side, largest):
    """The largest speeds of faces along every axis; what is not a number is the largest."""
    for f in range(u.size):
        a, speed = np.uint64(side[f] >> 1), abs(u[f])
        if speed > largest[a] or speed != speed:
            largest[a] = speed


@kernel(parallel=True)
def merge_links(key, level, links, first, parent, l, coarse):
    """Links of the tree in which the leaves below level l are merged, from those of the finer one.

    `first` are the first leaves of every merged one, and the end.
    """
    for n in prange(first.shape[0] - 1):
        begin, end = first[n], first[n + 1]
        for side in range(6):
            found = ABSENT
            for c in range(begin, end):
                if level[c] < l and ((key[c] >> (3 * np.int64(level[c]) + (side >> 1))) & ONE) != (side & 1):
                    continue
                other = np.int64(links[c, side])
                if other >= 0:
                    found = np.int64(parent[other])
                    break
                if other == OUTSIDE:
                    found = OUTSIDE
                    break
            coarse[n, side] = found
