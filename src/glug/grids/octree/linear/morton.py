"""Morton keys: the bits of three coordinates in turn, x lowest, so that cells of a cube come one after the other.

A key has 21 bits per axis and is an int64 that is never negative. The key of a cell of level l, counted in cells of
that level, is that of its lower corner in finest cells shifted by 3 l bits; its parent's is shifted by 3 more.
"""

import numpy as np

BITS = 21  # per axis
MOST_CELLS = 1 << BITS  # along an axis, less one: a step below 0 wraps to the last cell, which must be outside
AXIS = np.array([int("001" * BITS, 2) << a for a in range(3)], np.int64)  # the bits of every axis
SIDES = 6  # of a cell: below and above it along x, y and z


def spread(n: np.ndarray) -> np.ndarray:
    """The bits of coordinates three places apart."""
    x = np.asarray(n, np.int64)
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        x = (x | (x << shift)) & mask
    return x


def gathered(key: np.ndarray) -> np.ndarray:
    """The inverse of `spread`, of the bits of x."""
    x = np.asarray(key, np.int64) & AXIS[0]
    for shift, mask in (
        (2, 0x10C30C30C30C30C3),
        (4, 0x100F00F00F00F00F),
        (8, 0x1F0000FF0000FF),
        (16, 0x1F00000000FFFF),
        (32, 0x1FFFFF),
    ):
        x = (x | (x >> shift)) & mask
    return x


def keys_of(cells: np.ndarray) -> np.ndarray:
    """Of cells (n, 3)."""
    x, y, z = (spread(cells[:, a]) for a in range(3))
    return x | (y << 1) | (z << 2)


def cells_of(key: np.ndarray) -> np.ndarray:
    """Cells (n, 3) int64 of keys."""
    return np.stack([gathered(key >> a) for a in range(3)], axis=-1)


def beside(key: np.ndarray, side: int) -> np.ndarray:
    """The keys of the neighbours across a side; below 0 they wrap."""
    a = side >> 1
    bits = AXIS[a]
    own = (key | ~bits) + (1 << a) if side & 1 else (key & bits) - (1 << a)
    return (own & bits) | (key & ~bits)


def inside(key: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """Which cells are in a box of so many cells along every axis."""
    found = np.ones(len(key), bool)
    for a in range(3):
        found &= (key & AXIS[a]) < (spread(np.array(shape[a])) << a)
    return found
