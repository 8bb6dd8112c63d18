"""Strain samples of an octree next to coarser leaves, as lists of entries.

A sample is regular when all its velocities are of its own level. The others are listed here with their entries
(`grids.octree.operators` says which), and so is, for every face, where it occurs in the list.

Lengths are finest cells. `look` is the tree: what `kernels_look` takes. `weights` are those of the regular problem: m
of all unknown faces, 1 on coarse ones, and c, e and f on finest cells; and `kappa`, mu dt / (rho dx^2) of all levels
above the finest, which are all liquid, with the `steps` that lead through it; `shift` is the place of the tree's corner
in the regular grid, and `sides` (3, 2) are the slip lengths of the sides of the box. c is twice mu dt / (rho dx^2)
times the liquid fraction, e that of edges; both, and f, are in tiles (`finest`): `number`, `packed`,
`at_solids`, `coupled`.
"""

import numpy as np

from glug.grids.kernels import moved
from glug.grids.octree.linear.kernels_look import face_at, level_at
from glug.jit import kernel, prange
from glug.physics.viscosity.octree.kernels_finest import CELL, EDGE, finest

MOST = 64  # entries of a sample, and more
CHUNK = np.int64(256)  # leaves that one thread takes at a time


@kernel(inline=True)
def append(keys, tiers, slots, table, six, box, axis, l, i, j, k, w, index, weight, n):
    """List face (i, j, k) of level l with its weight, where it is kept; returns the length of the list."""
    number = face_at(keys, tiers, slots, table, six, axis, l, i, j, k)
    if number < 0:
        return n
    index[n], weight[n] = number, w
    return n + 1


@kernel(inline=True)
def add_whole(keys, tiers, slots, table, six, box, axis, l, i, j, k, w, index, weight, n):
    """A face of level l, or its parts when it is divided."""
    a, b, c = moved(axis, -1, i, j, k)
    if (
        level_at(keys, tiers, slots, table, box, l, a, b, c) >= l
        and level_at(keys, tiers, slots, table, box, l, i, j, k) >= l
    ):
        return append(keys, tiers, slots, table, six, box, axis, l, i, j, k, w, index, weight, n)
    share = 0.25 * w
    for p in range(2 if axis != 0 else 1):
        for q in range(2 if axis != 1 else 1):
            for r in range(2 if axis != 2 else 1):
                x, y, z = 2 * i + p, 2 * j + q, 2 * k + r
                n = append(keys, tiers, slots, table, six, box, axis, l - 1, x, y, z, share, index, weight, n)
    return n


@kernel(inline=True)
def strain_entries(keys, tiers, slots, table, six, box, axis, l, i, j, k, index, weight):
    """Entries of the normal strain of leaf (i, j, k)."""
    w = 1.0 / (1 << l)
    n = add_whole(keys, tiers, slots, table, six, box, axis, l, i, j, k, -w, index, weight, 0)
    a, b, c = moved(axis, 1, i, j, k)
    return add_whole(keys, tiers, slots, table, six, box, axis, l, a, b, c, w, index, weight, n)


@kernel(inline=True)
def coarse_side(keys, tiers, slots, table, box, component, l, i, j, k):
    """Whether the two cells at a face of level l lie in coarser leaves, so that there is no such face."""
    a, b, c = moved(component, -1, i, j, k)
    return (
        level_at(keys, tiers, slots, table, box, l, i, j, k) > l
        and level_at(keys, tiers, slots, table, box, l, a, b, c) > l
    )


@kernel(inline=True)
def gradient_entries(
    keys, tiers, slots, table, six, box, enhanced, axis, component, along, l, i, j, k, index, weight, n
):
    """Entries of du_component / dx_along at an edge; returns their number and the distance of the two samples."""
    x, y, z = moved(along, -1, i, j, k)
    below = coarse_side(keys, tiers, slots, table, box, component, l, x, y, z)
    above = coarse_side(keys, tiers, slots, table, box, component, l, i, j, k)
    h = float(1 << l)
    span = 1.5 * h if below or above else h
    for side in range(2):
        x, y, z = moved(along, side - 1, i, j, k)
        w = (2 * side - 1) / span
        if (above if side else below) == 0:
            if enhanced and (below or above):
                s, t, r = x ^ (axis == 0), y ^ (axis == 1), z ^ (axis == 2)
                n = append(keys, tiers, slots, table, six, box, component, l, x, y, z, 0.5 * w, index, weight, n)
                n = append(keys, tiers, slots, table, six, box, component, l, s, t, r, 0.5 * w, index, weight, n)
            else:
                n = append(keys, tiers, slots, table, six, box, component, l, x, y, z, w, index, weight, n)
            continue
        place = x if component == 0 else (y if component == 1 else z)
        x, y, z = x >> 1, y >> 1, z >> 1
        if place % 2 == 0:
            n = append(keys, tiers, slots, table, six, box, component, l + 1, x, y, z, w, index, weight, n)
        else:
            n = add_whole(keys, tiers, slots, table, six, box, component, l + 1, x, y, z, 0.5 * w, index, weight, n)
            x, y, z = moved(component, 1, x, y, z)
            n = add_whole(keys, tiers, slots, table, six, box, component, l + 1, x, y, z, 0.5 * w, index, weight, n)
    return n, span


@kernel(inline=True)
def cells_around(keys, tiers, slots, table, box, axis, l, i, j, k):
    """Levels at the four cells around an edge along `axis`: upper, lower across the next axis, across the one after,
    and across both.
    """
    b, c = (axis + 1) % 3, (axis + 2) % 3
    x, y, z = moved(b, -1, i, j, k)
    p, q, r = moved(c, -1, i, j, k)
    s, t, u = moved(c, -1, x, y, z)
    return (
        level_at(keys, tiers, slots, table, box, l, i, j, k),
        level_at(keys, tiers, slots, table, box, l, x, y, z),
        level_at(keys, tiers, slots, table, box, l, p, q, r),
        level_at(keys, tiers, slots, table, box, l, s, t, u),
    )


@kernel(inline=True)
def edge_state(keys, tiers, slots, table, box, axis, l, i, j, k):
    """0 without a shear, 1 where it is regular, 2 next to coarser leaves."""
    a, b, c, d = cells_around(keys, tiers, slots, table, box, axis, l, i, j, k)
    if min(min(a, b), min(c, d)) != l:
        return 0
    pairs = (a > l and b > l) or (c > l and d > l) or (a > l and c > l) or (b > l and d > l)
    return 2 if pairs else 1


@kernel(inline=True)
def owns_edge(keys, tiers, slots, table, box, axis, l, i, j, k, p, q):
    """Whether the leaf for which the edge is at offset (p, q) is the first leaf around it."""
    a, b, c, _ = cells_around(keys, tiers, slots, table, box, axis, l, i, j, k)
    if p == 0 and q == 0:
        return True
    if p == 1 and q == 0:
        return a != l
    if p == 0:
        return a != l and b != l
    return a != l and b != l and c != l


@kernel(inline=True)
def kappa_at(kappa, steps, l, i, j, k):
    """mu dt / (rho dx^2) of cell (i, j, k) of level l > 0."""
    return np.float64(kappa[steps[l, 0] + i * steps[l, 1] + j * steps[l, 2] + k * steps[l, 3]])


@kernel(inline=True)
def cell_weight(number, packed, kappa, steps, shift, l, i, j, k):
    if l == 0:
        return np.float64(finest(number, packed, CELL, i + shift, j + shift, k + shift))
    return 2.0 * kappa_at(kappa, steps, l, i, j, k)


@kernel(inline=True)
def at_side(box, sides, axis, l, i, j, k):
    """1 where an edge of level l > 0 is not on a side of the box across `axis`; there, how much more its stress holds.

    A side of slip length s bears mu u / (s + h / 2) on the face along it, and an edge inside mu du / h.
    """
    at = i if axis == 0 else (j if axis == 1 else k)
    if at > 0 and (at << l) < box[axis]:
        return 1.0
    h = float(1 << l)
    return h / (sides[axis, 1 if at > 0 else 0] + 0.5 * h)


@kernel(inline=True)
def edge_weight(box, number, packed, kappa, steps, shift, sides, axis, l, i, j, k):
    """That of an edge: the mean of four cells on coarser levels, of those that are in the box."""
    if l == 0:
        return np.float64(finest(number, packed, EDGE + axis, i + shift, j + shift, k + shift))
    total = 0.0
    for p in range(2):
        for q in range(2):
            x, y, z = moved((axis + 1) % 3, -p, i, j, k)
            x, y, z = moved((axis + 2) % 3, -q, x, y, z)
            x, y, z = max(x, 0), max(y, 0), max(z, 0)
            x, y, z = min(x, (box[0] >> l) - 1), min(y, (box[1] >> l) - 1), min(z, (box[2] >> l) - 1)
            total += kappa_at(kappa, steps, l, x, y, z)
    b, c = (axis + 1) % 3, (axis + 2) % 3
    return 0.25 * total * at_side(box, sides, b, l, i, j, k) * at_side(box, sides, c, l, i, j, k)


@kernel(parallel=True)
def irregular_samples(
    look, weights, enhanced, laplacian, corner, leaf_level, starts, sample_weight, sample_first, listed, value
):  # fmt: skip
    """List the irregular samples of the leaves `corner`: weight and first entry, and of every entry face and value.

    `starts` (chunks of leaves, 2) is where each chunk's samples and entries begin; with empty outputs they are counted.
    """
    count_only = sample_weight.shape[0] == 0
    keys, tiers, slots, table, six, box = look
    _, number, packed, _, _, kappa, steps, shift, sides = weights
    for chunk in prange(starts.shape[0]):
        index, weight = np.empty(MOST, np.int64), np.empty(MOST, np.float64)
        s = np.int64(0) if count_only else starts[chunk, 0]
        t = np.int64(0) if count_only else starts[chunk, 1]
        for leaf in range(chunk * CHUNK, min((chunk + 1) * CHUNK, corner.shape[0])):
            l = np.int64(leaf_level[leaf])
            i, j, k = np.int64(corner[leaf, 0]) >> l, np.int64(corner[leaf, 1]) >> l, np.int64(corner[leaf, 2]) >> l
            for kind in range(3 + 12):
                n = 0
                w = 0.0
                if kind < 3:  # normal strains
                    x, y, z = moved(kind, -1, i, j, k)
                    p, q, r = moved(kind, 1, i, j, k)
                    if (
                        min(
                            level_at(keys, tiers, slots, table, box, l, x, y, z),
                            level_at(keys, tiers, slots, table, box, l, p, q, r),
                        )
                        < l
                    ):
                        n = strain_entries(keys, tiers, slots, table, six, box, kind, l, i, j, k, index, weight)
                        w = cell_weight(number, packed, kappa, steps, shift, l, i, j, k) * (1 << (3 * l))
                        w = 0.5 * w if laplacian else w
                else:
                    axis, p, q = (kind - 3) // 4, (kind - 3) // 2 % 2, (kind - 3) % 2
                    b, d = (axis + 1) % 3, (axis + 2) % 3
                    x, y, z = moved(b, p, i, j, k)
                    x, y, z = moved(d, q, x, y, z)
                    if edge_state(keys, tiers, slots, table, box, axis, l, x, y, z) == 2 and owns_edge(
                        keys, tiers, slots, table, box, axis, l, x, y, z, p, q
                    ):
                        n, one = gradient_entries(
                            keys, tiers, slots, table, six, box, enhanced, axis, b, d, l, x, y, z, index, weight, 0
                        )
                        n, two = gradient_entries(
                            keys, tiers, slots, table, six, box, enhanced, axis, d, b, l, x, y, z, index, weight, n
                        )
                        w = edge_weight(box, number, packed, kappa, steps, shift, sides, axis, l, x, y, z)
                        w *= one * two * (1 << l)
                if n > 0:
                    if not count_only:
                        sample_weight[s], sample_first[s] = w, t
                        for o in range(n):
                            listed[t + o], value[t + o] = index[o], weight[o]
                    s += 1
                    t += n
        if count_only:
            starts[chunk, 0], starts[chunk, 1] = s, t


@kernel
def where_faces_occur(entry, first, order):
    """Entries sorted by face: those of face n are order[first[n] : first[n + 1]]."""
    for t in range(entry.shape[0]):
        first[entry[t] + 1] += 1
    for n in range(1, first.shape[0]):
        first[n] += first[n - 1]
    for t in range(entry.shape[0]):
        n = entry[t]
        order[first[n]] = t
        first[n] += 1
    for n in range(first.shape[0] - 1, 0, -1):
        first[n] = first[n - 1]
    first[0] = 0
