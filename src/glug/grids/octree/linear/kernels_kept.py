"""Kernels of the faces of a sparse tree that are unknowns: which they are, where they are, their volumes."""

import numpy as np

from glug.grids.octree.kernels import of_axis
from glug.grids.octree.linear.kernels_faces import own_face
from glug.jit import kernel, prange

ONE = np.int64(1)


@kernel(inline=True)
def gathered(key):
    """The coordinate along x of a key."""
    x = np.int64(key) & np.int64(0x1249249249249249)
    x = (x | (x >> np.int64(2))) & np.int64(0x10C30C30C30C30C3)
    x = (x | (x >> np.int64(4))) & np.int64(0x100F00F00F00F00F)
    x = (x | (x >> np.int64(8))) & np.int64(0x1F0000FF0000FF)
    x = (x | (x >> np.int64(16))) & np.int64(0x1F00000000FFFF)
    return (x | (x >> np.int64(32))) & np.int64(0x1FFFFF)


@kernel(inline=True)
def face_corner(key, level, side):
    """The lower corner of the face on a side of a leaf, in finest cells."""
    by = (ONE << np.int64(level)) * (side & ONE)
    i, j, k = gathered(key), gathered(key >> ONE), gathered(key >> np.int64(2))
    return i + by * (side >> ONE == 0), j + by * (side >> ONE == 1), k + by * (side >> ONE == 2)


@kernel(parallel=True)
def mark_kept(key, level, first, owned, keep, shift, kept):
    """`kept` = 0 at the finest faces where `keep` is not positive."""
    for n in prange(first.shape[0]):
        f = np.int64(first[n])
        for side in range(6):
            if (np.int64(owned[n]) >> side) & ONE:
                if level[n] == 0:
                    i, j, k = face_corner(key[n], level[n], np.int64(side))
                    i, j, k, a = i + shift, j + shift, k + shift, side >> 1
                    x, y, z = keep[0].shape[0] - (a != 0), keep[1].shape[1] - (a != 1), keep[2].shape[2] - (a != 2)
                    inside = 0 <= i < x and 0 <= j < y and 0 <= k < z
                    kept[f] = inside and of_axis(keep, a, i, j, k) > np.float32(0.0)
                f += 1


@kernel(parallel=True)
def list_places(key, level, first, owned, number, place):
    """Axis, level and lower corner of every numbered face."""
    for n in prange(first.shape[0]):
        f = np.int64(first[n])
        for side in range(6):
            if (np.int64(owned[n]) >> side) & ONE:
                at = number[f]
                if at >= 0:
                    i, j, k = face_corner(key[n], level[n], np.int64(side))
                    place[at, 0], place[at, 1] = side >> 1, level[n]
                    place[at, 2], place[at, 3], place[at, 4] = i, j, k
                f += 1


@kernel(parallel=True)
def face_volumes(level, links, first, owned, number, volume):
    """Of every numbered face: a leaf's half on one side, and half the leaf on the other, which may be coarser."""
    for n in prange(first.shape[0]):
        f = np.int64(first[n])
        for side in range(6):
            if (np.int64(owned[n]) >> side) & ONE:
                if number[f] >= 0:
                    other = links[n, side]
                    width = 1.5 if other >= 0 and level[other] > level[n] else 1.0
                    volume[number[f]] = np.float32(width * (ONE << (3 * np.int64(level[n]))))
                f += 1


@kernel(parallel=True)
def faces_around(level, links, first, owned, number, six):
    """Numbers of the faces on the six sides of every leaf; -1 where there is none, or four smaller ones."""
    for n in prange(links.shape[0]):
        for side in range(6):
            face, other = own_face(first, owned, n, side), np.int64(links[n, side])
            if face < 0 and other >= 0 and level[other] == level[n]:
                face = own_face(first, owned, other, side ^ 1)
            six[n, side] = number[face] if face >= 0 else np.int32(-1)


@kernel(parallel=True)
def touches_another_level(level, links, found):
    for n in prange(links.shape[0]):
        hit = False
        for side in range(6):
            other = links[n, side]
            hit = hit or (other >= 0 and level[other] != level[n])
        found[n] = hit


@kernel(parallel=True)
def paint_values(key, level, values, painted):
    """The values of leaves over all their finest cells; absent ones stay as they are."""
    for n in prange(key.shape[0]):
        i, j, k = face_corner(key[n], level[n], np.int64(0))
        h = ONE << np.int64(level[n])
        painted[i : i + h, j : j + h, k : k + h] = values[n]


@kernel(parallel=True)
def clear_stopped(key, level, first, owned, stopped, shift, values):
    """Zero at the finest faces where `stopped` is positive."""
    for n in prange(first.shape[0]):
        f = np.int64(first[n])
        for side in range(6):
            if (np.int64(owned[n]) >> side) & ONE:
                if level[n] == 0:
                    i, j, k = face_corner(key[n], level[n], np.int64(side))
                    if of_axis(stopped, side >> 1, i + shift, j + shift, k + shift) > 0:
                        values[f] = np.float32(0.0)
                f += 1
