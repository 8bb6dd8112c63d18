"""Rows of the viscous matrix of an octree, straight into compressed storage (see `solvers.assembled.kernels_rows`).

Most rows are plain: all strain samples around the face are regular, so the row is that of a regular grid of the face's
level. The others add what the listed samples (`kernels_samples`, where `look` and `weights` are explained) hold for
their face. Of the regular weights `f` is what couples the two components of a shear, `m` what acts on a face alone.
"""

import numpy as np

from glug.grids.kernels import moved
from glug.grids.octree.linear.kernels_look import entry, key_of, level_at
from glug.jit import kernel, prange
from glug.physics.viscosity.octree.kernels_finest import CELL, EDGE, coupling, finest
from glug.physics.viscosity.octree.kernels_samples import append, cell_weight, edge_state, edge_weight

MOST = 256  # entries of a row; the longest in the figure of the bench has 53
CHUNK = 256  # rows that one thread takes at a time
ONE, PLAIN = np.uint64(1), np.uint64(14)  # and the entries of a plain row


@kernel(inline=True)
def inside(shape, l, i, j, k):
    """Whether all cells around a face of level l are in the box."""
    return 0 < i < (shape[0] >> l) - 1 and 0 < j < (shape[1] >> l) - 1 and 0 < k < (shape[2] >> l) - 1


@kernel(inline=True)
def edge_mean(kappa, p, a, b):
    """The mean over the four cells around an edge, the last of which is p; exact, so the same from all its faces."""
    total = np.float64(kappa[p]) + np.float64(kappa[p - a]) + np.float64(kappa[p - b]) + np.float64(kappa[p - a - b])
    return 0.25 * total


@kernel(inline=True)
def finest_weights(axis, number, packed, at_solids, coupled, i, j, k, w, v):
    """Weights around a face of the finest level: the cells before and after it, the edges before and after it along the
    next axis and along the one before. `v` are the couplings.
    """
    x, y, z = moved(axis, -1, i, j, k)
    w[0], w[1] = finest(number, packed, CELL, x, y, z), finest(number, packed, CELL, i, j, k)
    for turn in range(1, 3):
        along = (axis + turn) % 3
        edge = 3 - axis - along
        x, y, z = moved(along, 1, i, j, k)
        t = 2 * turn
        w[t], w[t + 1] = finest(number, packed, EDGE + edge, i, j, k), finest(number, packed, EDGE + edge, x, y, z)
        v[t] = coupling(number, packed, at_solids, coupled, edge, i, j, k)
        v[t + 1] = coupling(number, packed, at_solids, coupled, edge, x, y, z)


@kernel(inline=True)
def coarse_weights(axis, kappa, steps, l, i, j, k, w, v):
    """The same on coarser levels, from cell (i, j, k) of level l."""
    a, b, d = steps[l, 1 + axis], steps[l, 1 + (axis + 1) % 3], steps[l, 1 + (axis + 2) % 3]
    q = steps[l, 0] + i * steps[l, 1] + j * steps[l, 2] + k * steps[l, 3]
    scale = np.float64(1 << l)
    w[0], w[1] = 2.0 * scale * np.float64(kappa[q - a]), 2.0 * scale * np.float64(kappa[q])
    w[2], w[3] = scale * edge_mean(kappa, q, a, b), scale * edge_mean(kappa, q + b, a, b)
    w[4], w[5] = scale * edge_mean(kappa, q, a, d), scale * edge_mean(kappa, q + d, a, d)
    v[2], v[3], v[4], v[5] = w[2], w[3], w[4], w[5]


@kernel(inline=True)
def across(links, level, six, n, p, side, axis):
    """The face of `axis` beyond a side of leaves n, above it, and p, below it, of their level; -1 if there is none."""
    other = np.int64(links[n, side])
    if other >= 0 and level[other] == level[n]:
        return np.int64(six[other, 2 * axis])
    other = np.int64(links[p, side])
    if other >= 0 and level[other] == level[n]:
        return np.int64(six[other, 2 * axis + 1])
    return np.int64(-1)


@kernel(inline=True)
def put(number, weight, column, value, n, total):
    """Write an entry, if there is one; returns where the next goes and the sum of the row."""
    if number < 0:
        return n, total
    column[n], value[n] = number, weight
    return n + ONE, total + weight


@kernel(inline=True)
def plain_row(links, level, six, n, p, axis, w, f, total, column, value, at):
    """Write a plain row from its weights; returns where it ends and the sum of the row.

    Leaf n is above the face, p below. Every weight holds the face against the next one of its component; a shear also
    couples it to the faces on both sides of its edge.
    """
    for side in range(2):
        if w[side] > 0.0:
            number = np.int64(six[n, 2 * axis + 1]) if side else np.int64(six[p, 2 * axis])
            at, total = put(number, -w[side], column, value, at, total + w[side])
    for turn in range(1, 3):
        along = (axis + turn) % 3
        for side in range(2):
            t = 2 * turn + side
            if w[t] > 0.0:
                beside, sign = 2 * along + side, 1.0 - 2.0 * side
                number = across(links, level, six, n, p, beside, axis)
                at, total = put(number, -w[t], column, value, at, total + w[t])
                at, total = put(np.int64(six[n, beside]), sign * f[t], column, value, at, total)
                at, total = put(np.int64(six[p, beside]), -sign * f[t], column, value, at, total)
    return at, total


@kernel(inline=True)
def regular_part(
    keys, tiers, slots, table, six, box, number, packed, at_solids, coupled, kappa, steps, shift, sides, laplacian,
    mass, axis, l, i, j, k, column, value,
):  # fmt: skip
    """What regular samples add to the row of a face; returns the number of entries and the diagonal, mass included."""
    x, y, z = moved(axis, -1, i, j, k)
    low = level_at(keys, tiers, slots, table, box, l, x, y, z)
    high = level_at(keys, tiers, slots, table, box, l, i, j, k)
    mass *= (1.0 if low > l else 0.5) + (1.0 if high > l else 0.5)
    scale = float(1 << l)
    n = 0
    for side in range(2):
        x, y, z = moved(axis, side - 1, i, j, k)
        p, q, r = moved(axis, 2 * side - 1, x, y, z)
        if (high if side else low) != l or level_at(keys, tiers, slots, table, box, l, p, q, r) < l:
            continue
        w = scale * cell_weight(number, packed, kappa, steps, shift, l, x, y, z)
        w = 0.5 * w if laplacian else w
        if w > 0.0:
            mass += w
            x, y, z = moved(axis, 2 * side - 1, i, j, k)
            n = append(keys, tiers, slots, table, six, box, axis, l, x, y, z, -w, column, value, n)
    for turn in range(1, 3):
        along = (axis + turn) % 3
        edge = 3 - axis - along
        for side in range(2):
            x, y, z = moved(along, side, i, j, k)
            if edge_state(keys, tiers, slots, table, box, edge, l, x, y, z) != 1:
                continue
            w = scale * edge_weight(box, number, packed, kappa, steps, shift, sides, edge, l, x, y, z)
            if not w > 0.0:
                continue
            mass += w
            p, q, r = moved(along, 2 * side - 1, i, j, k)
            n = append(keys, tiers, slots, table, six, box, axis, l, p, q, r, -w, column, value, n)
            if laplacian:
                continue
            if l == 0:
                w = np.float64(coupling(number, packed, at_solids, coupled, edge, x + shift, y + shift, z + shift))
            w = w if side == 0 else -w
            n = append(keys, tiers, slots, table, six, box, along, l, x, y, z, w, column, value, n)
            x, y, z = moved(axis, -1, x, y, z)
            n = append(keys, tiers, slots, table, six, box, along, l, x, y, z, -w, column, value, n)
    return n, mass


@kernel(inline=True)
def slot_of(number, row, column, taken, entry):
    """The slot of a column in a row's table of MOST slots; one that the row has not taken where it is new."""
    slot = (np.uint64(number) * np.uint64(0x9E3779B1) >> np.uint64(16)) % np.uint64(MOST)
    while taken[slot] == row and column[entry[slot]] != number:
        slot = (slot + ONE) % np.uint64(MOST)
    return slot


@kernel(inline=True)
def sample_of(first, entry):
    """The sample that an entry is of, by bisection."""
    low, high = 0, first.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= entry:
            low = middle
        else:
            high = middle
    return low


@kernel(inline=True)
def irregular_part(laplacian, place, face, lists, column, value, n, total, taken, entry):
    """What the listed samples add to the row of `face`; returns the number of entries and the sum of the row.

    Products are symmetric in the two faces, and added in the order of the samples: so are the rounded entries.
    """
    begin, order, sample_first, sample_weight, listed, listed_value = lists
    for o in range(n):
        slot = slot_of(column[o], face, column, taken, entry)
        taken[slot], entry[slot] = face, o
    for o in range(begin[face], begin[face + 1]):
        s = sample_of(sample_first, order[o])
        mine = np.float64(listed_value[order[o]])
        for t in range(sample_first[s], sample_first[s + 1]):
            other = listed[t]
            if laplacian and place[other, 0] != place[face, 0]:
                continue
            v = sample_weight[s] * (mine * np.float64(listed_value[t]))
            total += v
            if other == face:
                continue
            slot = slot_of(other, face, column, taken, entry)
            if taken[slot] == face:
                value[entry[slot]] += v
            else:
                taken[slot], entry[slot] = face, n
                column[n], value[n] = other, v
                n += 1
    return n, total


@kernel(parallel=True)
def fill_rows(
    look, leaves, weights, laplacian, place, lists, chunks, begins, ends, fits, start, length, column, value, rest
):  # fmt: skip
    """The rows of `chunks`, those of each one after the other from its begin on; `fits` says whether they end in time.

    `leaves` are the links and levels of the tree's.
    """
    begin = lists[0]
    keys, tiers, slots, table, six, box = look
    links, level = leaves
    m, number, packed, at_solids, coupled, kappa, steps, shift, sides = weights
    for turn in prange(chunks.shape[0]):
        chunk = chunks[turn]
        index, weight = np.empty(MOST, np.int64), np.empty(MOST, np.float64)
        taken, entries = np.full(MOST, -1, np.int64), np.empty(MOST, np.int64)
        w, v = np.zeros(6, np.float64), np.zeros(6, np.float64)
        at, end = np.uint64(begins[turn]), np.uint64(ends[turn])
        for row in range(np.uint64(chunk * CHUNK), np.uint64(min((chunk + 1) * CHUNK, place.shape[0]))):
            axis, l = np.int64(place[row, 0]), np.int64(place[row, 1])
            i, j, k = np.int64(place[row, 2]) >> l, np.int64(place[row, 3]) >> l, np.int64(place[row, 4]) >> l
            start[row] = at
            mass = np.float64(m[row]) * (1 << (3 * l))  # what acts on the face alone, were it as large as a cell
            upper, lower = np.int64(-1), np.int64(-1)
            if not laplacian and begin[row] == begin[row + ONE] and inside(box, l, i, j, k):
                upper = entry(keys, tiers, slots, table, l, key_of(i, j, k))
                lower = np.int64(links[upper, 2 * axis]) if upper >= 0 else np.int64(-1)
            plain = upper >= 0 and lower >= 0
            n, total = 0, 0.0
            if not plain:
                n, total = regular_part(
                    keys, tiers, slots, table, six, box, number, packed, at_solids, coupled, kappa, steps, shift, sides,
                    laplacian, mass, axis, l, i, j, k, index, weight,
                )  # fmt: skip
                for o in range(n):
                    total += weight[o]
                n, total = irregular_part(
                    laplacian, place, np.int64(row), lists, index, weight, n, total, taken, entries
                )
            if at + (PLAIN if plain else np.uint64(n)) > end:
                at = end + ONE
                break
            if plain:
                if l == 0:
                    x, y, z = i + shift, j + shift, k + shift
                    finest_weights(axis, number, packed, at_solids, coupled, x, y, z, w, v)
                else:
                    coarse_weights(axis, kappa, steps, l, i, j, k, w, v)
                at, total = plain_row(links, level, six, upper, lower, axis, w, v, mass, column, value, at)
            else:
                for o in range(n):
                    column[at], value[at] = index[o], weight[o]
                    at += ONE
            length[row] = at - np.uint64(start[row])
            rest[row] = total
        fits[turn] = at <= end


@kernel
def close_up(chunks, top, start, length, column, value):
    """Move the rows of `chunks` to where each ends when the next begins, from `top` on; returns where the last ends."""
    at, rows = np.uint64(top), start.shape[0]
    for turn in range(chunks.shape[0]):
        for row in range(chunks[turn] * CHUNK, min((chunks[turn] + 1) * CHUNK, rows)):
            begin = np.uint64(start[row])
            start[row] = at
            for o in range(np.uint64(length[row])):
                column[at + o], value[at + o] = column[begin + o], value[begin + o]
            at += np.uint64(length[row])
    return at
