"""Stress weights of finest cells in tiles around finest leaves (`finest`): how they are filled, and one of them."""

import numpy as np

from glug.grids.octree.linear.kernels_kept import face_corner
from glug.jit import kernel, prange

SIDE, LOW, DEEP = np.int64(4), np.int64(3), np.int64(2)  # of a tile, the bits of a cell in it, and how many they are
CELL, EDGE = np.int64(0), np.int64(1)  # where fields begin among those of a tile


@kernel
def mark_tiles(key, level, shift, found):
    """True at the tiles that hold a finest leaf, or a cell beside one."""
    for n in range(key.shape[0]):
        if level[n] != 0:
            continue
        i, j, k = face_corner(key[n], level[n], np.int64(0))
        for p in range(-1, 2, 2):
            for q in range(-1, 2, 2):
                for r in range(-1, 2, 2):
                    x, y, z = max(i + shift + p, 0), max(j + shift + q, 0), max(k + shift + r, 0)
                    found[x >> DEEP, y >> DEEP, z >> DEEP] = True


@kernel(inline=True)
def sample(field, i, j, k):
    """That of a field, zero beyond it."""
    inside = i < field.shape[0] and j < field.shape[1] and k < field.shape[2]
    return field[i, j, k] if inside else np.float32(0.0)


@kernel(inline=True)
def in_tile(place, o):
    """The o-th cell of a tile."""
    return SIDE * place[0] + (o >> (DEEP + DEEP)), SIDE * place[1] + ((o >> DEEP) & LOW), SIDE * place[2] + (o & LOW)


@kernel(parallel=True)
def pack(field, place, packed):
    """The samples of the tiles at `place`, one after the other."""
    for t in prange(place.shape[0]):
        for o in range(packed.shape[1]):
            i, j, k = in_tile(place[t], o)
            packed[t, o] = sample(field, i, j, k)


@kernel(parallel=True)
def mark_other(field, place, packed, other):
    """True at the tiles at `place` whose samples are not those that are `packed`."""
    for t in prange(place.shape[0]):
        for o in range(packed.shape[1]):
            i, j, k = in_tile(place[t], o)
            other[t] |= packed[t, o] != sample(field, i, j, k)


@kernel(inline=True)
def place_in_tile(i, j, k):
    return ((i & LOW) << (DEEP + DEEP)) | ((j & LOW) << DEEP) | (k & LOW)


@kernel(inline=True)
def finest(number, packed, field, i, j, k):
    """The weight of a finest cell or edge."""
    return packed[field, number[i >> DEEP, j >> DEEP, k >> DEEP], place_in_tile(i, j, k)]


@kernel(inline=True)
def coupling(number, packed, at_solids, coupled, axis, i, j, k):
    """What couples the two components of a shear."""
    t = at_solids[i >> DEEP, j >> DEEP, k >> DEEP]
    return coupled[axis, t, place_in_tile(i, j, k)] if t > 0 else finest(number, packed, EDGE + axis, i, j, k)
