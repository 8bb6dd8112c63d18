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
from glug.particles.kernels_motion import AHEAD, SHARES

BLOCKS = 64  # of leaves, dealt out to threads
HALF, ONE, TWO, ZERO = np.float32(0.5), np.float32(1.0), np.float32(2.0), np.float32(0.0)
TOGETHER = 32  # leaves whose particles are looked at together: a loop over these runs eight at a time
BUNCH = 256  # particles at a time


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


@kernel(parallel=True)
def levels_of_particles(volume, ends, level):
    """The number of `ends` that are not above a particle's volume."""
    for n in prange(volume.shape[0]):
        found = np.int8(0)
        for e in range(ends.size):
            found += np.int8(volume[n, 0] >= ends[e])
        level[n] = found


@kernel(parallel=True)
def keep_between(position, lower, upper):
    """Positions inside a box, in place; what is not a number stays so."""
    for n in prange(position.shape[0]):
        for a in range(3):
            x = position[n, a]
            position[n, a] = lower[a] if x < lower[a] else (upper[a] if x > upper[a] else x)


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


@kernel(inline=True)
def nearer_pair(f):
    """Which two of the three samples across a leaf are around f (in leaves): the first (0 or 1), share of the other."""
    s = min(TWO, max(ZERO, f + HALF))  # in this order what is not a number is inside as well
    pair = min(np.int32(s), np.int32(1))
    return pair, s - np.float32(pair)


@kernel(inline=True)
def add_to(sums, at, share, value, slope_b, slope_c):
    """Add mass and momentum to the four samples across at one end of a leaf: shares (b, c) and slopes of the value."""
    mass, b, c = share
    for p in range(2):
        wide = mass * (b if p else ONE - b)
        here = value + slope_b * (np.float32(p) - b) - slope_c * c
        w = wide * (ONE - c)
        sums[at, 0] += w * here
        sums[at, 1] += w
        w = wide * c
        sums[at + np.uint64(1), 0] += w * (here + slope_c)
        sums[at + np.uint64(1), 1] += w
        at += np.uint64(3)


@kernel
def to_faces(position, velocity, affine, mass, start, corner, inverse, key, level, near, momentum, masses):
    """Add momentum and mass of particles to the lattice faces around their leaves, leaf by leaf."""
    f, w, pair = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.int64)
    low, sums, slope = np.empty(3, np.float32), np.empty((54, 2), np.float32), np.zeros(3, np.float32)
    has_affine = affine.shape[0] > 0
    for n in range(near.shape[0]):
        if start[n] == start[n + 1]:
            continue
        size = np.float32(np.int64(1) << np.int64(level[n]))
        corner_of(n, key, low)
        sums[:] = ZERO
        for o in range(start[n], start[n + 1]):
            for a in range(3):
                f[a] = ((position[o, a] - corner[a]) * inverse - low[a]) / size
                pair[a], w[a] = nearer_pair(f[a])
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                if has_affine:
                    slope[0], slope[1] = size * affine[o, 3 * a + a], size * affine[o, 3 * a + b]
                    slope[2] = size * affine[o, 3 * a + c]
                at = np.uint64(18 * a + 3 * pair[b] + pair[c])
                value = velocity[o, a] - slope[0] * f[a]
                add_to(sums, at, (mass[o, 0] * (ONE - f[a]), w[b], w[c]), value, slope[1], slope[2])
                value += slope[0]
                add_to(sums, at + np.uint64(9), (mass[o, 0] * f[a], w[b], w[c]), value, slope[1], slope[2])
        for m in range(54):
            momentum[near[n, m]] += sums[m, 0]
            masses[near[n, m]] += sums[m, 1]


@kernel(parallel=True)
def first_velocities(momentum, mass, least, u, reached):
    """u = momentum / mass where there is more than the least mass, zero elsewhere."""
    for n in prange(u.size):
        reached[n] = mass[n] > least
        u[n] = momentum[n] / mass[n] if mass[n] > least else ZERO


@kernel(parallel=True)
def missed_momenta(momentum, mass, u, missed):
    """What the velocities u miss of momenta."""
    for n in prange(u.size):
        missed[n] = momentum[n] - mass[n] * u[n]


@kernel(parallel=True)
def mend_velocities(step, missed, mass, faces, reached, u):
    """u += step missed / mass, on faces that are reached."""
    for f in prange(faces):
        if reached[f]:
            u[f] += step * missed[f] / mass[f]


@kernel(inline=True)
def take_around(n, near, values, around):
    """The samples around leaf n."""
    for m in range(around.shape[0]):
        around[m] = values[near[n, m]]


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


@kernel(inline=True)
def seen(samples, at, along, b, c):
    """A component at a place in a leaf, from `at` on in samples around leaves; along it and across, in leaves."""
    first, wide = nearer_pair(b)
    second, deep = nearer_pair(c)
    at += np.uint32(np.int32(3) * first + second)
    i, j = samples[at], samples[at + np.uint32(3)]
    k, l = samples[at + np.uint32(9)], samples[at + np.uint32(12)]
    i += deep * (samples[at + np.uint32(1)] - i)
    j += deep * (samples[at + np.uint32(4)] - j)
    k += deep * (samples[at + np.uint32(10)] - k)
    l += deep * (samples[at + np.uint32(13)] - l)
    i += wide * (j - i)
    k += wide * (l - k)
    return i + along * (k - i)


@kernel(inline=True)
def flow_in_leaves(samples, home, count, f, out):
    """Velocity of particles at f (3, n) in their leaves; `home` is where the samples around a leaf begin."""
    for n in range(count):
        out[0, n] = seen(samples, home[n], f[0, n], f[1, n], f[2, n])
    for n in range(count):
        out[1, n] = seen(samples, home[n] + np.uint32(18), f[1, n], f[2, n], f[0, n])
    for n in range(count):
        out[2, n] = seen(samples, home[n] + np.uint32(36), f[2, n], f[0, n], f[1, n])


@kernel(inline=True)
def settle(first, o, position, start, corner, inverse, key, level, home, size, f):
    """Where the next particles of leaves from `first` on are, from particle o on: how many."""
    last = min(first + TOGETHER, np.int64(level.shape[0]))
    count = np.uint64(min(BUNCH, start[last] - o))
    low = np.empty(3, np.float32)
    for n in range(first, last):
        begin, end = max(start[n], o), min(start[n + 1], o + np.int64(count))
        if begin >= end:
            continue
        side = np.float32(np.int64(1) << np.int64(level[n]))
        corner_of(n, key, low)
        for p in range(begin, end):
            at = np.uint64(p - o)
            home[at], size[at] = np.uint32(54 * (n - first)), side
            for a in range(3):
                f[a, at] = ((position[p, a] - corner[a]) * inverse - low[a]) / side
    return count


@kernel(parallel=True)
def to_particles_flip(position, velocity, start, corner, inverse, key, level, near, new, old, ratio):
    """velocity = new(x) + ratio (velocity - old(x)): FLIP blended with 1 - ratio of PIC."""
    leaves = near.shape[0]
    for group in prange((leaves + TOGETHER - 1) // TOGETHER):
        first = np.int64(group) * TOGETHER
        last = min(first + TOGETHER, leaves)
        if start[first] == start[last]:
            continue
        samples, home = np.empty(54 * TOGETHER, np.float32), np.empty(BUNCH, np.uint32)
        size, f, out = np.empty(BUNCH, np.float32), np.empty((3, BUNCH), np.float32), np.empty((3, BUNCH), np.float32)
        for n in range(first, last):
            for m in range(54 if start[n] < start[n + 1] else 0):
                samples[54 * (n - first) + m] = new[near[n, m]] - ratio * old[near[n, m]]
        o = np.int64(start[first])
        while o < start[last]:
            count = settle(first, o, position, start, corner, inverse, key, level, home, size, f)
            flow_in_leaves(samples, home, count, f, out)
            for n in range(count):
                for a in range(3):
                    velocity[o + np.int64(n), a] = out[a, n] + ratio * velocity[o + np.int64(n), a]
            o += np.int64(count)


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
def move_alone(o, there, position, corner, inverse, limits, index, near, values, dt, most, scratch):
    """Move particle o of a leaf through other leaves too, one step per cell that it crosses, `most` at the most.

    scratch  room for vectors: memory of its own would cost as much as the rest
    """
    key, level, tile_key, tile_level, slots, table = index
    weight, first, u, low, begin, place, at = scratch
    u[:] = ZERO
    for a in range(3):
        begin[a] = place[a] = (position[o, a] - corner[a]) * inverse
    s, parts, part = dt * inverse, 1, 0
    while part < parts:
        for stage in range(3):
            for a in range(3):
                at[a] = place[a] + AHEAD[stage] * s * u[max(stage - 1, 0), a]
            there = leaf_around(there, at, limits, key, level, tile_key, tile_level, slots, table)
            flow_at(there, at, key, level, near, values, low, weight, first, u[stage])
            if stage == 0 and part == 0:
                parts = min(1 + np.int64(s * max(abs(u[0, 0]), abs(u[0, 1]), abs(u[0, 2]))), most)
                s /= np.float32(parts)
        for a in range(3):
            place[a] += s * (SHARES[0] * u[0, a] + SHARES[1] * u[1, a] + SHARES[2] * u[2, a])
        part += 1
    for a in range(3):
        position[o, a] += (place[a] - begin[a]) / inverse


@kernel(parallel=True)
def advect(
    position, start, corner, inverse, limits, key, level, tile_key, tile_level, slots, table, near, values, dt, most
):
    """Move particles by Ralston's third-order Runge-Kutta method.

    Those whose velocities are all taken in the leaf in which they begin are moved together, the others alone.
    """
    leaves = near.shape[0]
    for group in prange((leaves + TOGETHER - 1) // TOGETHER):
        first = np.int64(group) * TOGETHER
        last = min(first + TOGETHER, leaves)
        if start[first] == start[last]:
            continue
        samples, home = np.empty(54 * TOGETHER, np.float32), np.empty(BUNCH, np.uint32)
        size, f, u = np.empty(BUNCH, np.float32), np.empty((3, BUNCH), np.float32), np.zeros((3, BUNCH), np.float32)
        mean, place, out = np.empty((3, BUNCH), np.float32), np.empty((3, BUNCH), np.float32), np.empty(BUNCH, np.uint8)
        s = dt * inverse
        weight, pair, us = np.empty((3, 2, 2), np.float32), np.empty(3, np.int64), np.empty((3, 3), np.float32)
        vectors = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
        scratch = weight, pair, us, vectors[0], vectors[1], vectors[2], vectors[3]
        for n in range(first, last):
            for m in range(54 if start[n] < start[n + 1] else 0):
                samples[54 * (n - first) + m] = values[near[n, m]]
        o = np.int64(start[first])
        while o < start[last]:
            count = settle(first, o, position, start, corner, inverse, key, level, home, size, f)
            mean[:] = ZERO
            out[:] = np.uint8(0)
            for stage in range(3):
                ahead, share = AHEAD[stage], SHARES[stage]
                for a in range(3):
                    for n in range(count):
                        x = f[a, n] + ahead * s * u[a, n] / size[n] if stage else f[a, n]
                        place[a, n] = x
                        out[n] |= np.uint8(not ((x >= ZERO) & (x < ONE)))
                flow_in_leaves(samples, home, count, place, u)
                for a in range(3):
                    for n in range(count):
                        mean[a, n] += share * u[a, n]
                        if stage == 0:
                            out[n] |= np.uint8(s * abs(u[a, n]) >= ONE)
            leaf = first
            for p in range(count):
                at = o + np.int64(p)
                if out[p]:
                    while at >= start[leaf + 1]:
                        leaf += 1
                    index = key, level, tile_key, tile_level, slots, table
                    move_alone(at, leaf, position, corner, inverse, limits, index, near, values, dt, most, scratch)
                else:
                    for a in range(3):
                        position[at, a] += s * mean[a, p] / inverse
            o += np.int64(count)


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
