"""What is where in a sparse tree: the level at a cell, and the face at a corner, by the index of tiles.

`keys`, `tiers`, `slots` and `table` are the index of the tree: keys and levels of tiles, their hash, their cells. `six`
(leaves, 6) are the numbers of the faces on the sides of every leaf, -1 where there is none, `box` are the cells of the
box along every axis. They come one by one: picking an array out of a tuple would count a reference every time.
"""

import numpy as np

from glug.grids.kernels import moved
from glug.grids.octree.linear.kernels import ABOVE, PLACE, find_tile
from glug.jit import kernel

MOST_UP = 3  # levels by which the leaf at a cell beside a face may be coarser than the face, plus one


@kernel(inline=True)
def spread(n):
    """The bits of a coordinate three places apart."""
    x = np.int64(n)
    x = (x | (x << np.int64(32))) & np.int64(0x1F00000000FFFF)
    x = (x | (x << np.int64(16))) & np.int64(0x1F0000FF0000FF)
    x = (x | (x << np.int64(8))) & np.int64(0x100F00F00F00F00F)
    x = (x | (x << np.int64(4))) & np.int64(0x10C30C30C30C30C3)
    return (x | (x << np.int64(2))) & np.int64(0x1249249249249249)


@kernel(inline=True)
def key_of(i, j, k):
    return spread(i) | (spread(j) << np.int64(1)) | (spread(k) << np.int64(2))


@kernel(inline=True)
def entry(keys, tiers, slots, table, l, key):
    """What the cell with this key is among those of level l: a leaf, or one of the negative marks."""
    t = find_tile(key >> np.int64(9), l, keys, tiers, slots)
    return np.int64(table[t, key & PLACE]) if t >= 0 else ABOVE


@kernel(inline=True)
def level_at(keys, tiers, slots, table, box, l, i, j, k):
    """The level of the leaf over cell (i, j, k) of level l; l - 1 where the cell is divided.

    Beyond the box there are cells as large as what looks at them. Absent space is as fine as can be.
    """
    if i < 0 or j < 0 or k < 0 or (i << l) >= box[0] or (j << l) >= box[1] or (k << l) >= box[2]:
        return np.int64(l)
    key = key_of(i, j, k)
    for up in range(MOST_UP):
        found = entry(keys, tiers, slots, table, l + up, key >> np.int64(3 * up))
        if found >= 0:
            return np.int64(l + up)
        if found != ABOVE:
            break
    return np.int64(max(l - 1, 0))


@kernel(inline=True)
def face_at(keys, tiers, slots, table, six, axis, l, i, j, k):
    """The number of the face of level l whose lower corner is that of cell (i, j, k); -1 where there is none."""
    if i < 0 or j < 0 or k < 0:
        return np.int64(-1)
    leaf = entry(keys, tiers, slots, table, l, key_of(i, j, k))
    if leaf >= 0:
        return np.int64(six[leaf, 2 * axis])
    x, y, z = moved(axis, -1, i, j, k)
    if x < 0 or y < 0 or z < 0:
        return np.int64(-1)
    leaf = entry(keys, tiers, slots, table, l, key_of(x, y, z))
    return np.int64(six[leaf, 2 * axis + 1]) if leaf >= 0 else np.int64(-1)
