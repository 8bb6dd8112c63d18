"""Kernels of the sparse tree: cells that are divided, the numbers of leaves, links to neighbours, and looking up.

A tile is 8^3 cells of one level, in the order of their Morton keys: the nine lowest bits are the place in the tile. The
children of 64 cells in a row are one tile of the level below. Every tile is written by one thread, and leaves are
numbered by counting: the same for any number of threads.
"""

import numpy as np

from glug.jit import kernel, prange

TILE = np.int64(512)
PLACE = np.int64(511)  # the bits of a place in a tile
X_BITS = np.int64(0b001001001)  # of the place along x
X_KEY = np.int64(int("001" * 21, 2))  # of a key along x
ABOVE, DIVIDED, ABSENT, OUTSIDE = np.int64(-1), np.int64(-2), np.int64(-3), np.int64(-4)


@kernel(inline=True)
def moved(place, side):
    """The place beside one in a tile, and whether it is in the next tile."""
    a = side >> 1
    bits = X_BITS << a
    if side & 1:
        return ((((place | ~bits) + (1 << a)) & bits) | (place & ~bits)) & PLACE, (place & bits) == bits
    return ((((place & bits) - (1 << a)) & bits) | (place & ~bits)) & PLACE, (place & bits) == 0


@kernel(inline=True)
def outside(key, side, limits):
    """Whether the neighbour of a cell across a side is not in the box; `limits` are the bits of its cells per axis."""
    a = side >> 1
    bits = X_KEY << a
    if side & 1:
        return (((key | ~bits) + (1 << a)) & bits) >= limits[a]
    return (key & bits) == 0


@kernel(parallel=True)
def widen(divided, own, beside, key, limits, wanted):
    """Add to `wanted` the divided cells and their face neighbours in the box.

    `own` is the tile of `divided` that a tile of `wanted` is, `beside` (T, 6) those around it; -1 where there is none.
    """
    for t in prange(wanted.shape[0]):
        for c in range(TILE):
            if wanted[t, c]:
                continue
            here = (key[t] << 9) | c
            if (here & X_KEY) >= limits[0] or (here & (X_KEY << 1)) >= limits[1] or (here & (X_KEY << 2)) >= limits[2]:
                continue
            hit = own[t] >= 0 and divided[own[t], c] != 0
            for side in range(6):
                if not hit:
                    place, next_tile = moved(c, side)
                    other = beside[t, side] if next_tile else own[t]
                    hit = other >= 0 and divided[other, place] != 0
            wanted[t, c] = hit


@kernel(parallel=True)
def divide_parents(wanted, children, divided):
    """Cells of which a child is wanted; `children` (T, 8) are the tiles below, -1 where there is none."""
    for t in prange(divided.shape[0]):
        for octant in range(8):
            child = children[t, octant]
            for g in range(64):
                hit = False
                if child >= 0:
                    for c in range(8 * g, 8 * g + 8):
                        hit = hit or wanted[child, c] != 0
                divided[t, 64 * octant + g] = hit


@kernel(parallel=True)
def used_octants(divided, used):
    """Which tiles of the level below hold children of divided cells."""
    for t in prange(divided.shape[0]):
        for octant in range(8):
            hit = False
            for g in range(64):
                hit = hit or divided[t, 64 * octant + g] != 0
            used[t, octant] = hit


@kernel(parallel=True)
def count_leaves(parent, octant, divided, own, below, counts, first, count):
    """How many leaves every cell of a level holds: 1 for a leaf, none where the tree is coarser or absent.

    `parent` and `octant` say which of the cells above are whose (`parent` has one row of ones for roots); `own` is the
    tile of `divided`, the cells of this level that are; `counts` has the counts of all levels, `below` its tiles.
    """
    for t in prange(count):
        for c in range(TILE):
            held = np.int32(0)
            if parent[octant[t, 0], octant[t, 1] + (c >> octant[t, 2])]:
                held = np.int32(1)
                if own[t] >= 0 and divided[own[t], c]:
                    child = below[first + t, c >> 6]
                    held = np.int32(0)
                    for n in range((c & 63) << 3, ((c & 63) << 3) + 8):
                        held += counts[child, n]
            counts[first + t, c] = held


@kernel(parallel=True)
def number_roots(counts, first, count, starts, number):
    """Numbers of the first leaves of all cells of the coarsest level; `starts` are those of its tiles."""
    for t in prange(count):
        n = starts[t]
        for c in range(TILE):
            number[first + t, c] = n
            n += counts[first + t, c]


@kernel(parallel=True)
def number_children(counts, above, octant, first, count, number):
    """Numbers of the first leaves of all cells of a level, from those of the level above."""
    for t in prange(count):
        parent = above[first + t]
        for g in range(64):
            n = number[parent, 64 * octant[t] + g]
            for c in range(8 * g, 8 * g + 8):
                number[first + t, c] = n
                n += counts[first + t, c]


@kernel(parallel=True)
def list_leaves(counts, number, tile_key, tile_level, table, key, level):
    """`table` says what every cell is; keys and levels of the leaves."""
    for t in prange(table.shape[0]):
        l = np.int64(tile_level[t])
        for c in range(TILE):
            held = counts[t, c]
            table[t, c] = ABOVE if held == 0 else DIVIDED
            if held == 1:
                n = number[t, c]
                table[t, c] = n
                key[n] = ((tile_key[t] << 9) | c) << (3 * l)
                level[n] = l


@kernel(parallel=True)
def renumber(table, numbers):
    """Leaves get new numbers, negative where they go."""
    for t in prange(table.shape[0]):
        for c in range(TILE):
            if table[t, c] >= 0:
                table[t, c] = numbers[table[t, c]]


@kernel(inline=True)
def hashed(key, level, slots):
    """Where the search for a tile begins."""
    mixed = (key * 16 + level) * np.int64(-7046029254386353131)
    return (mixed ^ (mixed >> 32)) & (slots - 1)


@kernel
def fill_slots(tile_key, tile_level, slots):
    """An open-addressing table of all tiles; `slots` begin with -1."""
    for t in range(tile_key.shape[0]):
        at = hashed(tile_key[t], np.int64(tile_level[t]), slots.shape[0])
        while slots[at] >= 0:
            at = (at + 1) & (slots.shape[0] - 1)
        slots[at] = t


@kernel(inline=True)
def find_tile(key, level, tile_key, tile_level, slots):
    """The number of a tile, or -1."""
    at = hashed(key, level, slots.shape[0])
    while slots[at] >= 0:
        t = np.int64(slots[at])
        if tile_key[t] == key and tile_level[t] == level:
            return t
        at = (at + 1) & (slots.shape[0] - 1)
    return np.int64(-1)


@kernel(inline=True)
def leaf_at(key, levels, tile_key, tile_level, slots, table):
    """The leaf that covers a finest cell, or ABSENT."""
    for l in range(levels):
        here = key >> (3 * l)
        t = find_tile(here >> 9, l, tile_key, tile_level, slots)
        if t >= 0 and table[t, here & PLACE] != ABOVE:
            found = np.int64(table[t, here & PLACE])
            return found if found >= 0 else ABSENT
    return ABSENT


@kernel(parallel=True)
def find_leaves(keys, levels, tile_key, tile_level, slots, table, leaf):
    """The leaves that cover finest cells."""
    for n in prange(keys.shape[0]):
        leaf[n] = leaf_at(keys[n], levels, tile_key, tile_level, slots, table)


@kernel(inline=True)
def child_beside(place, side):
    """The first child, of the cell across a side, that touches it: its place among the eight."""
    return np.int64(0) if side & 1 else np.int64(1) << (side >> 1)


@kernel(parallel=True)
def link(table, tile_key, tile_level, levels, beside, below, above, limits, links):
    """Links of all leaves across their six sides: a leaf, of a finer neighbour the first child, ABSENT or OUTSIDE.

    `limits` (levels, 3) are the bits of the box's cells at every level. No neighbour is searched: it is in the tile, in
    one beside it (`beside`), above that of the parent (`above`) or below that of the neighbour (`below`).
    """
    for t in prange(table.shape[0]):
        l = np.int64(tile_level[t])
        for c in range(TILE):
            n = table[t, c]
            if n < 0:
                continue
            here = (tile_key[t] << 9) | c
            for side in range(6):
                if outside(here, side, limits[l]):
                    links[n, side] = OUTSIDE
                    continue
                place, next_tile = moved(c, side)
                other = np.int64(beside[t, side]) if next_tile else np.int64(t)
                found = np.int64(table[other, place]) if other >= 0 else ABOVE
                if found == DIVIDED:
                    child = np.int64(below[other, place >> 6])
                    found = np.int64(table[child, ((place & 63) << 3) + child_beside(place, side)])
                elif found == ABOVE:
                    found = ABSENT
                    if l + 1 < levels:
                        up = np.int64(above[t])
                        parent = (here >> 3) & PLACE
                        place, next_tile = moved(parent, side)
                        other = np.int64(beside[up, side]) if next_tile else up
                        if other >= 0:
                            found = np.int64(table[other, place])
                links[n, side] = found if found >= 0 else ABSENT
