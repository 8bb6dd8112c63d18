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


@kernel(parallel=True)
def pack(field, place, packed):
    """The samples of the tiles at `place`, one after the other; zero beyond the field."""
    ni, nj, nk = field.shape
    for t in prange(place.shape[0]):
        x, y, z = SIDE * place[t, 0], SIDE * place[t, 1], SIDE * place[t, 2]
        at = np.int64(0)
        for i in range(x, x + SIDE):
            for j in range(y, y + SIDE):
                for k in range(z, z + SIDE):
                    inside = i < ni and j < nj and k < nk
                    packed[t, at] = field[i, j, k] if inside else np.float32(0.0)
                    at += 1


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
