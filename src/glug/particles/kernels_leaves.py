"""Kernels between particles and the faces of a sparse tree, and of their motion on it.

A particle interpolates on the lattice of its leaf's level, whose faces around the leaf are in `near` (leaves, 54):
linearly between the lower and the upper face along an axis, and between the two nearest of three across. Places are
in finest cells, from the lower corner of the tree's box. Particles are sorted by leaf.
"""

import numpy as np

from glug.grids.octree.linear.kernels import ABSENT, leaf_at
from glug.grids.octree.linear.kernels_lattice import gathered_bits
from glug.grids.octree.linear.kernels_look import key_of
from glug.jit import kernel, prange

BLOCKS = 64  # of leaves, dealt out to threads
HALF, ONE, ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)


@kernel(inline=True)
def cell_of(x, limit):
    """The cell of a place along an axis, inside the box."""
    return min(max(np.int64(np.floor(x)), np.int64(0)), limit - np.int64(1))


@kernel(parallel=True)
def cells_of_particles(position, corner, inverse, key):
    """Keys of the finest cells of particles, -1 of those below the box's lower corner."""
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        inside = x >= ZERO and y >= ZERO and z >= ZERO  # not NaN either
        key[n] = key_of(np.int64(x), np.int64(y), np.int64(z)) if inside else np.int64(-1)


@kernel(inline=True)
def corner_of(n, key, out):
    """The lower corner of leaf n."""
    for a in range(3):
        out[a] = np.float32(gathered_bits(np.int64(key[n]) >> a))


@kernel(inline=True)
def shares(low, size, place, weight, first):
    """Of a particle in a leaf: weights (3, 2, 2) along (lower, upper) and across (nearer pair), and where pairs begin.

    weight[a, 0] is between the faces of axis a, beyond which nothing is left a leaf behind a wall; weight[a, 1] between
    the samples of other axes, which go on half a leaf behind walls.
    """
    for a in range(3):
        f = (place[a] - low[a]) / size
        weight[a, 0, 0], weight[a, 0, 1] = max(ONE - abs(f), ZERO), max(ONE - abs(ONE - f), ZERO)
        first[a] = 0 if f < HALF else 1
        across = min(max(f + HALF if f < HALF else f - HALF, ZERO), ONE)
        weight[a, 1, 1], weight[a, 1, 0] = across, ONE - across


@kernel
def to_faces(position, velocity, affine, mass, start, corner, inverse, key, level, near, momentum, masses):
    """Add momentum and mass of particles to the lattice faces around their leaves."""
    weight, first, place = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64), np.empty(3, np.float32)
    low = np.empty(3, np.float32)
    has_affine = affine.shape[0] > 0
    for n in range(near.shape[0]):
        size = np.float32(np.int64(1) << np.int64(level[n]))
        corner_of(n, key, low)
        for o in range(start[n], start[n + 1]):
            for a in range(3):
                place[a] = (position[o, a] - corner[a]) * inverse
            shares(low, size, place, weight, first)
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                for i in range(2):
                    for p in range(2):
                        wide = mass[o, 0] * weight[a, 0, i] * weight[b, 1, p]
                        for q in range(2):
                            w = wide * weight[c, 1, q]
                            f = near[n, 18 * a + 9 * i + 3 * (first[b] + p) + first[c] + q]
                            value = velocity[o, a]
                            if has_affine:
                                along = affine[o, 3 * a + a] * (np.float32(i) - weight[a, 0, 1])
                                along += affine[o, 3 * a + b] * (np.float32(p) - weight[b, 1, 1])
                                along += affine[o, 3 * a + c] * (np.float32(q) - weight[c, 1, 1])
                                value += size * along
                            momentum[f] += w * value
                            masses[f] += w


@kernel(inline=True)
def take_around(n, near, values, around):
    """The samples around leaf n."""
    for m in range(around.shape[0]):
        around[m] = values[near[n, m]]


@kernel(inline=True)
def between(around, weight, first, out):
    """Velocity with these shares of the samples around a leaf."""
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        total = ZERO
        for i in range(2):
            for p in range(2):
                wide = weight[a, 0, i] * weight[b, 1, p]
                at = 18 * a + 9 * i + 3 * (first[b] + p) + first[c]
                total += wide * (weight[c, 1, 0] * around[at] + weight[c, 1, 1] * around[at + 1])
        out[a] = total


@kernel(inline=True)
def flow_at(n, place, key, level, near, values, low, weight, first, out):
    """Velocity at a place in leaf n."""
    corner_of(n, key, low)
    shares(low, np.float32(np.int64(1) << np.int64(level[n])), place, weight, first)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        total = ZERO
        for i in range(2):
            for p in range(2):
                wide = weight[a, 0, i] * weight[b, 1, p]
                at = 18 * a + 9 * i + 3 * (first[b] + p) + first[c]
                total += wide * weight[c, 1, 0] * values[near[n, at]]
                total += wide * weight[c, 1, 1] * values[near[n, at + 1]]
        out[a] = total


@kernel(parallel=True)
def to_particles_flip(position, velocity, start, corner, inverse, key, level, near, new, old, ratio):
    """velocity = new(x) + ratio (velocity - old(x)): FLIP blended with 1 - ratio of PIC."""
    leaves = near.shape[0]
    for block in prange(BLOCKS):
        weight, first, place = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64), np.empty(3, np.float32)
        now, before, low = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
        ours, theirs = np.empty(54, np.float32), np.empty(54, np.float32)
        for n in range(leaves * block // BLOCKS, leaves * (block + 1) // BLOCKS):
            if start[n] == start[n + 1]:
                continue
            size = np.float32(np.int64(1) << np.int64(level[n]))
            corner_of(n, key, low)
            take_around(n, near, new, ours)
            take_around(n, near, old, theirs)
            for o in range(start[n], start[n + 1]):
                for a in range(3):
                    place[a] = (position[o, a] - corner[a]) * inverse
                shares(low, size, place, weight, first)
                between(ours, weight, first, now)
                between(theirs, weight, first, before)
                for a in range(3):
                    velocity[o, a] = now[a] + ratio * (velocity[o, a] - before[a])


@kernel(parallel=True)
def to_particles_apic(position, velocity, affine, start, corner, inverse, key, level, near, values):
    """Velocity and its gradient, times the side of a finest cell, at every particle (APIC)."""
    leaves = near.shape[0]
    for block in prange(BLOCKS):
        weight, first, place = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64), np.empty(3, np.float32)
        low, around = np.empty(3, np.float32), np.empty(54, np.float32)
        for n in range(leaves * block // BLOCKS, leaves * (block + 1) // BLOCKS):
            size = np.float32(np.int64(1) << np.int64(level[n]))
            corner_of(n, key, low)
            take_around(n, near, values, around)
            for o in range(start[n], start[n + 1]):
                for a in range(3):
                    place[a] = (position[o, a] - corner[a]) * inverse
                shares(low, size, place, weight, first)
                for a in range(3):
                    b, c = (a + 1) % 3, (a + 2) % 3
                    total, ga, gb, gc = ZERO, ZERO, ZERO, ZERO
                    for i in range(2):
                        for p in range(2):
                            for q in range(2):
                                u = around[18 * a + 9 * i + 3 * (first[b] + p) + first[c] + q]
                                wa, wb, wc = weight[a, 0, i], weight[b, 1, p], weight[c, 1, q]
                                total += wa * wb * wc * u
                                ga += (u if i else -u) * wb * wc
                                gb += (u if p else -u) * wa * wc
                                gc += (u if q else -u) * wa * wb
                    velocity[o, a] = total
                    affine[o, 3 * a + a] = ga / size
                    affine[o, 3 * a + b] = gb / size
                    affine[o, 3 * a + c] = gc / size


@kernel(inline=True)
def leaf_around(n, place, limits, key, level, tile_key, tile_level, slots, table):
    """The leaf at a place, beginning with leaf n; that itself where there is none."""
    side = np.int64(1) << np.int64(level[n])
    i, j, k = cell_of(place[0], limits[0, 0]), cell_of(place[1], limits[0, 1]), cell_of(place[2], limits[0, 2])
    here = np.int64(key[n])
    x, y, z = gathered_bits(here), gathered_bits(here >> 1), gathered_bits(here >> 2)
    if x <= i < x + side and y <= j < y + side and z <= k < z + side:
        return n
    found = leaf_at(key_of(i, j, k), limits.shape[0], tile_key, tile_level, slots, table)
    return n if found == ABSENT else found


@kernel(parallel=True)
def sample(position, leaf, corner, inverse, key, level, near, values, out):
    """Velocities at points; `leaf` is that of each, or negative: zero."""
    for o in prange(position.shape[0]):
        weight, first, place = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64), np.empty(3, np.float32)
        low = np.empty(3, np.float32)
        for a in range(3):
            place[a] = (position[o, a] - corner[a]) * inverse
            out[o, a] = ZERO
        if leaf[o] >= 0:
            flow_at(np.int64(leaf[o]), place, key, level, near, values, low, weight, first, out[o])


@kernel(inline=True)
def inside_leaf(low, size, place):
    """Whether a place is in the leaf with this lower corner."""
    found = True
    for a in range(3):
        found = found and low[a] <= place[a] < low[a] + size
    return found


@kernel(parallel=True)
def advect(
    position, start, corner, inverse, limits, key, level, tile_key, tile_level, slots, table, near, values, dt, most
):
    """Move particles by Ralston's third-order Runge-Kutta method, one step per cell crossed, `most` at the most.

    Within the leaf in which a particle begins, samples are those around it, taken once for all of its particles.
    """
    leaves = near.shape[0]
    for block in prange(BLOCKS):
        weight, first = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64)
        low, other, around = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(54, np.float32)
        place, at, begin = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
        u = np.empty((3, 3), np.float32)
        for n in range(leaves * block // BLOCKS, leaves * (block + 1) // BLOCKS):
            if start[n] == start[n + 1]:
                continue
            size = np.float32(np.int64(1) << np.int64(level[n]))
            corner_of(n, key, low)
            take_around(n, near, values, around)
            for o in range(start[n], start[n + 1]):
                for a in range(3):
                    begin[a] = place[a] = (position[o, a] - corner[a]) * inverse
                s, parts, part = dt * inverse, 1, 0
                while part < parts:
                    for stage in range(3):
                        for a in range(3):
                            at[a] = place[a]
                            if stage == 1:
                                at[a] += HALF * s * u[0, a]
                            elif stage == 2:
                                at[a] += np.float32(0.75) * s * u[1, a]
                        if inside_leaf(low, size, at):
                            shares(low, size, at, weight, first)
                            between(around, weight, first, u[stage])
                        else:
                            there = leaf_around(n, at, limits, key, level, tile_key, tile_level, slots, table)
                            flow_at(there, at, key, level, near, values, other, weight, first, u[stage])
                        if stage == 0 and part == 0:
                            parts = min(1 + np.int64(s * max(abs(u[0, 0]), abs(u[0, 1]), abs(u[0, 2]))), most)
                            s /= np.float32(parts)
                    for a in range(3):
                        way = np.float32(2.0) * u[0, a] + np.float32(3.0) * u[1, a] + np.float32(4.0) * u[2, a]
                        place[a] += way * s / np.float32(9.0)
                    part += 1
                for a in range(3):
                    position[o, a] += (place[a] - begin[a]) / inverse


# -- windows ----------------------------------------------------------------------------------------------


@kernel
def particles_in_window(leaf, level, start, first, order):
    """The particles of a window's finest leaves, cell by cell, and the first of every cell. Returns their number.

    With no room in `order` it only counts.
    """
    flat, count = leaf.ravel(), 0
    for c in range(flat.size):
        first[c] = count
        n = flat[c]
        if n >= 0 and level[n] == 0:
            for o in range(start[n], start[n + 1]):
                if count < order.size:
                    order[count] = o
                count += 1
    first[flat.size] = count
    first[flat.size + 1] = count
    return count
