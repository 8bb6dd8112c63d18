"""Kernels of the lattices that particles see on a sparse tree, and of windows of finest cells.

A particle in a leaf of level l sees the faces of a regular lattice of that level. Most of those around a leaf are faces
of the tree; the others are ghosts, numbered after the faces.
"""

import numpy as np

from glug.grids.octree.linear.kernels import ABOVE, ABSENT, DIVIDED, OUTSIDE, PLACE, find_tile
from glug.grids.octree.linear.kernels_faces import own_face
from glug.grids.octree.linear.kernels_look import key_of
from glug.jit import kernel, prange

COVERED, SPLIT, AIR, BEHIND, WALL = np.int64(-1), np.int64(-2), np.int64(-3), np.int64(-4), np.int64(-5)
AROUND = 54  # faces around a leaf: 3 axes, lower and upper, 3 x 3 across
NOWHERE = np.int64(-9)  # a place in the air, while ghosts are numbered
BLOCK = 256  # leaves at a time
BITS = np.int64(19)  # of a coordinate in the code of a ghost
ONE = np.int64(1)


@kernel(inline=True)
def gathered_bits(key):
    """Every third bit of a key, from the lowest on: a coordinate."""
    x = np.int64(key) & np.int64(0x1249249249249249)
    x = (x | (x >> 2)) & np.int64(0x10C30C30C30C30C3)
    x = (x | (x >> 4)) & np.int64(0x100F00F00F00F00F)
    x = (x | (x >> 8)) & np.int64(0x1F0000FF0000FF)
    x = (x | (x >> 16)) & np.int64(0x1F00000000FFFF)
    return (x | (x >> 32)) & np.int64(0x1FFFFF)


@kernel(inline=True)
def cell_at(i, j, k, l, limits, tile_key, tile_level, slots, table):
    """The leaf of level l, or coarser, that covers a cell of level l; or DIVIDED, ABSENT or OUTSIDE.

    `limits` (levels, 3) are the cells of the box at every level.
    """
    if i < 0 or j < 0 or k < 0 or i >= limits[l, 0] or j >= limits[l, 1] or k >= limits[l, 2]:
        return OUTSIDE
    here = key_of(i, j, k)
    for up in range(l, limits.shape[0]):
        t = find_tile(here >> 9, up, tile_key, tile_level, slots)
        if t >= 0 and table[t, here & PLACE] != ABOVE:
            return np.int64(table[t, here & PLACE])
        here >>= 3
    return ABSENT


@kernel(inline=True)
def no_face(low, high):
    """What a lattice face is that neither of its cells has; cells are as `cell_at` has them."""
    if low == OUTSIDE or high == OUTSIDE:
        return BEHIND if low == high else WALL
    if low == DIVIDED or high == DIVIDED:
        return SPLIT
    return AIR if low == ABSENT and high == ABSENT else COVERED


@kernel(inline=True)
def face_between(low, high, axis, l, level, first, owned):
    """The number of the face of level l between two cells of that level, as `cell_at` has them; or what it is else."""
    kind = no_face(low, high)
    if kind != COVERED:
        return kind
    if high >= 0 and level[high] == l:
        found = own_face(first, owned, high, 2 * axis)
        if found >= 0:
            return found
    if low >= 0 and level[low] == l:
        found = own_face(first, owned, low, 2 * axis + 1)
        if found >= 0:
            return found
    return COVERED


@kernel(inline=True)
def lattice_face(axis, i, j, k, l, limits, tile_key, tile_level, slots, table, level, first, owned):
    """`face_between` of the lower face of a cell."""
    low = cell_at(i - (axis == 0), j - (axis == 1), k - (axis == 2), l, limits, tile_key, tile_level, slots, table)
    high = cell_at(i, j, k, l, limits, tile_key, tile_level, slots, table)
    return face_between(low, high, axis, l, level, first, owned)


@kernel(inline=True)
def cells_around(t, limits, tile_key, tile_level, slots, table, around):
    """`cell_at` of the 10^3 cells of a tile and around it, in rows of z; only of a tile that has leaves."""
    l, here = np.int64(tile_level[t]), np.int64(tile_key[t])
    i, j, k = gathered_bits(here) << 3, gathered_bits(here >> 1) << 3, gathered_bits(here >> 2) << 3
    own = find_tile(here, l, tile_key, tile_level, slots)
    beside = np.empty(27, np.int64)
    for m in range(27):
        x, y, z = i + 8 * (m // 9 - 1), j + 8 * ((m // 3) % 3 - 1), k + 8 * (m % 3 - 1)
        inside = 0 <= x < limits[l, 0] and 0 <= y < limits[l, 1] and 0 <= z < limits[l, 2]
        beside[m] = find_tile(key_of(x, y, z) >> 9, l, tile_key, tile_level, slots) if inside else np.int64(-1)
    beside[13] = own
    for a in range(10):
        for b in range(10):
            for c in range(10):
                x, y, z = i + a - 1, j + b - 1, k + c - 1
                found = OUTSIDE
                if 0 <= x < limits[l, 0] and 0 <= y < limits[l, 1] and 0 <= z < limits[l, 2]:
                    tile = beside[9 * ((a + 7) >> 3) + 3 * ((b + 7) >> 3) + ((c + 7) >> 3)]
                    found = np.int64(table[tile, key_of(x & 7, y & 7, z & 7)]) if tile >= 0 else ABOVE
                    if found == ABOVE:
                        found = cell_at(x, y, z, l, limits, tile_key, tile_level, slots, table)
                around[100 * a + 10 * b + c] = found


@kernel(inline=True)
def lower_faces(l, around, level, first, owned, face):
    """`face` (3, 1000): `face_between` of the lower faces of cells around a tile, where both cells are there."""
    for axis in range(3):
        along = 100 if axis == 0 else (10 if axis == 1 else 1)
        for m in range(along, 1000):
            face[axis, m] = face_between(around[m - along], around[m], axis, l, level, first, owned)


@kernel(parallel=True)
def faces_around(limits, tile_key, tile_level, slots, table, level, first, owned, near, partly):
    """`near` (leaves, 54): the lattice faces around every leaf, by axis, lower or upper, and place across.

    `partly` is 1 for leaves with lattice faces around them that the tree does not have.
    """
    for t in prange(tile_key.shape[0]):
        around, face = np.empty(1000, np.int64), np.empty((3, 1000), np.int64)
        leaves = False
        for c in range(512):
            leaves = leaves or table[t, c] >= 0
        if not leaves:
            continue
        cells_around(t, limits, tile_key, tile_level, slots, table, around)
        lower_faces(np.int64(tile_level[t]), around, level, first, owned, face)
        for c in range(512):
            n = np.int64(table[t, c])
            if n < 0:
                continue
            here = 100 * (gathered_bits(c) + 1) + 10 * (gathered_bits(c >> 1) + 1) + gathered_bits(c >> 2) + 1
            least = np.int64(0)
            for axis in range(3):
                along = 100 if axis == 0 else (10 if axis == 1 else 1)
                b = 10 if axis == 0 else (1 if axis == 1 else 100)
                d = 1 if axis == 0 else (100 if axis == 1 else 10)
                for upper in range(2):
                    for p in range(3):
                        for q in range(3):
                            found = face[axis, here + upper * along + (p - 1) * b + (q - 1) * d]
                            near[n, 18 * axis + 9 * upper + 3 * p + q] = found
                            least = min(least, found)
            partly[n] = least < 0


# -- ghosts -----------------------------------------------------------------------------------------------


@kernel(inline=True)
def ghost_code(axis, i, j, k, l):
    """A number for the lower face of a cell of level l; coordinates are those of the box, and may be -1."""
    return ((((((i + ONE) << BITS) | (j + ONE)) << BITS) | (k + ONE)) << 6) | (l << 2) | axis


@kernel(inline=True)
def ghost_of(code, kind, count, codes, kinds, slots):
    """The number of a ghost and how many there are, with a new one where it is not known; -1 where there is no room."""
    mixed = code * np.int64(-7046029254386353131)
    at = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
    while slots[at] >= 0:
        if codes[slots[at]] == code:
            return np.int64(slots[at]), count
        at = (at + 1) & (slots.shape[0] - 1)
    if count >= codes.shape[0]:
        return np.int64(-1), count
    slots[at] = count
    codes[count], kinds[count] = code, -kind
    return np.int64(count), count + 1


@kernel
def number_ghosts(begin, key, level, partly, faces, nowhere, low, near, count, codes, kinds, slots):
    """Numbers of ghosts in `near`, from leaf `begin` on: returns the leaf that found no room, and their count.

    Faces in the air are `nowhere`.
    """
    for n in range(begin, near.shape[0]):
        if not partly[n]:
            continue
        l = np.int64(level[n])
        here = np.int64(key[n]) >> (3 * l)
        i, j, k = gathered_bits(here), gathered_bits(here >> 1), gathered_bits(here >> 2)
        i, j, k = i - (low[0] >> l), j - (low[1] >> l), k - (low[2] >> l)
        for m in range(AROUND):
            kind = np.int64(near[n, m])
            if kind >= 0 or kind == nowhere:
                continue
            if kind == AIR:
                near[n, m] = nowhere
                continue
            axis, upper, p, q = m // 18, (m // 9) % 2, (m // 3) % 3 - 1, m % 3 - 1
            a = upper if axis == 0 else (q if axis == 1 else p)
            b = upper if axis == 1 else (p if axis == 0 else q)
            c = upper if axis == 2 else (q if axis == 0 else p)
            code = ghost_code(axis, i + a, j + b, k + c, l)
            found, count = ghost_of(code, kind, count, codes, kinds, slots)
            if found < 0:
                return n, count
            near[n, m] = faces + found
    return near.shape[0], count


@kernel(parallel=True)
def number_air(partly, number, near):
    """Faces in the air get their number."""
    for n in prange(near.shape[0]):
        for m in range(AROUND if partly[n] else 0):
            if near[n, m] < 0:
                near[n, m] = number


@kernel
def rehash(codes, count, slots):
    """The table of the first `count` ghosts anew."""
    for n in range(count):
        mixed = codes[n] * np.int64(-7046029254386353131)
        at = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
        while slots[at] >= 0:
            at = (at + 1) & (slots.shape[0] - 1)
        slots[at] = n


@kernel(inline=True)
def decoded(code, low):
    """Axis, cell and level of a ghost."""
    mask = (ONE << BITS) - ONE
    l = (code >> 2) & np.int64(15)
    k = ((code >> 6) & mask) - ONE + (low[2] >> l)
    j = ((code >> (6 + BITS)) & mask) - ONE + (low[1] >> l)
    i = (code >> (6 + 2 * BITS)) - ONE + (low[0] >> l)
    return code & np.int64(3), i, j, k, l


@kernel
def decode(codes, low, place):
    """Axis, cell and level (n, 5) of ghosts."""
    for n in range(codes.shape[0]):
        place[n, 0], place[n, 1], place[n, 2], place[n, 3], place[n, 4] = decoded(codes[n], low)


@kernel(inline=True)
def clamped(n, count):
    return min(max(n, np.int64(0)), count - ONE)


@kernel(inline=True)
def source(code, low, limits, m):
    """Where ghost samples come from: axis, cell, level and weight of the m-th of eight lattice faces.

    One inside a coarser leaf from those of the level above around it, by linear interpolation.
    """
    axis, i, j, k, l = decoded(code, low)
    weight = np.float32(1.0)
    x, y, z = i >> 1, j >> 1, k >> 1
    for a in range(3):
        n = i if a == 0 else (j if a == 1 else k)
        odd, far = n & ONE, (m >> a) & 1
        step = odd if a == axis else 2 * odd - ONE
        share = np.float32(0.5) * np.float32(odd) if a == axis else np.float32(0.25)
        weight *= share if far else np.float32(1.0) - share
        if far:
            at = (n >> 1) + step
            if a != axis:
                at = clamped(at, limits[l + 1, a])
            x, y, z = (at if a == 0 else x), (at if a == 1 else y), (at if a == 2 else z)
    return axis, x, y, z, l + 1, weight


@kernel(inline=True)
def part_of(code, low, m):
    """The m-th of four parts of a ghost beside a divided cell: axis, cell and level."""
    axis, i, j, k, l = decoded(code, low)
    b, c = m & 1, (m >> 1) & 1
    i2 = 2 * i + (0 if axis == 0 else (c if axis == 1 else b))
    j2 = 2 * j + (0 if axis == 1 else (b if axis == 0 else c))
    k2 = 2 * k + (0 if axis == 2 else (c if axis == 0 else b))
    return axis, i2, j2, k2, l - 1


@kernel
def refer(
    begin, faces, nowhere, low, limits, tiles, tile_level, hashes, table, level, first, owned, count, codes, kinds,
    slots, refs, weights,
):  # fmt: skip
    """What ghosts are made of, from number `begin` on, which may need more ghosts; returns as `number_ghosts`."""
    n = begin
    while n < count:
        kind = -np.int64(kinds[n])
        parts = 8 if kind == COVERED else (4 if kind == SPLIT else (1 if kind == BEHIND else 0))
        total = np.float32(0.0)
        for m in range(8):
            refs[n, m], weights[n, m] = nowhere, np.float32(0.0)
        for m in range(parts):
            weight = np.float32(1.0)
            if kind == COVERED:
                axis, i, j, k, l, weight = source(codes[n], low, limits, m)
            elif kind == SPLIT:
                axis, i, j, k, l = part_of(codes[n], low, m)
            else:
                axis, i, j, k, l = decoded(codes[n], low)
                i = i if axis == 0 else clamped(i, limits[l, 0])
                j = j if axis == 1 else clamped(j, limits[l, 1])
                k = k if axis == 2 else clamped(k, limits[l, 2])
            if weight == np.float32(0.0):
                continue
            found = lattice_face(axis, i, j, k, l, limits, tiles, tile_level, hashes, table, level, first, owned)
            if found in (AIR, BEHIND) or (kind == SPLIT and found == COVERED):
                continue
            if found < 0:
                code = ghost_code(axis, i - (low[0] >> l), j - (low[1] >> l), k - (low[2] >> l), l)
                found, count = ghost_of(code, found, count, codes, kinds, slots)
                if found < 0:
                    return n, count
                found += faces
            refs[n, m], weights[n, m] = found, weight
            total += weight
        for m in range(8):
            weights[n, m] = weights[n, m] / total if total > np.float32(0.0) else np.float32(0.0)
        n += 1
    return n, count


@kernel(parallel=True)
def fill_ghosts(order, faces, refs, weights, values):
    """Ghosts of a group, from what they are made of."""
    for o in prange(order.shape[0]):
        n = order[o]
        total = np.float32(0.0)
        for m in range(8):
            total += weights[n, m] * values[refs[n, m]]
        values[faces + n] = total


@kernel
def push_ghosts(order, faces, refs, weights, values):
    """The transpose: what ghosts have goes to what they are made of."""
    for o in range(order.shape[0]):
        n = order[o]
        for m in range(8):
            values[refs[n, m]] += weights[n, m] * values[faces + n]
        values[faces + n] = np.float32(0.0)


# -- windows of finest cells ------------------------------------------------------------------------------


@kernel(parallel=True)
def leaves_in_window(lo, limits, tile_key, tile_level, slots, table, leaf):
    """The leaf over every cell of a window, or ABSENT, or OUTSIDE."""
    for slab in prange(leaf.shape[0]):
        i = np.int64(slab)
        for j in range(leaf.shape[1]):
            for k in range(leaf.shape[2]):
                found = cell_at(lo[0] + i, lo[1] + j, lo[2] + k, 0, limits, tile_key, tile_level, slots, table)
                leaf[i, j, k] = found


@kernel(parallel=True)
def faces_in_window(leaf, axis, level, first, owned, face):
    """The finest faces of a window, or a negative number."""
    ni, nj, nk = leaf.shape
    for slab in prange(face.shape[0]):
        i = np.int64(slab)
        for j in range(face.shape[1]):
            for k in range(face.shape[2]):
                x, y, z = i - (axis == 0), j - (axis == 1), k - (axis == 2)
                low = np.int64(leaf[x, y, z]) if x >= 0 and y >= 0 and z >= 0 else ABSENT
                high = np.int64(leaf[i, j, k]) if i < ni and j < nj and k < nk else ABSENT
                face[i, j, k] = face_between(low, high, axis, 0, level, first, owned)


@kernel(parallel=True)
def take(index, values, outside, out):
    """out = values[index], `outside` where the index is negative."""
    at, to = index.ravel(), out.ravel()
    for n in prange(at.size):
        to[n] = values[at[n]] if at[n] >= 0 else outside


@kernel(parallel=True)
def give_areas(cells, leaf, ax, ay, az, area):
    """The areas of a window's faces to the sides (leaves, 6) of the leaves at `cells`."""
    for n in prange(cells.shape[0]):
        i, j, k, to = np.int64(cells[n, 0]), np.int64(cells[n, 1]), np.int64(cells[n, 2]), leaf[n]
        area[to, 0], area[to, 1] = ax[i, j, k], ax[i + 1, j, k]
        area[to, 2], area[to, 3] = ay[i, j, k], ay[i, j + 1, k]
        area[to, 4], area[to, 5] = az[i, j, k], az[i, j, k + 1]


@kernel(parallel=True)
def full_leaves(leaf, level, full):
    """1 in the cells of coarse leaves."""
    at, to = leaf.ravel(), full.ravel()
    for n in prange(at.size):
        to[n] = at[n] >= 0 and level[at[n]] > 0
