"""Rows of the viscous matrix of an octree, straight into compressed storage.

A strain sample is regular when all its velocities are of its own level: its part of a row is the stencil of a regular
grid. The others, next to coarser leaves, are listed with their entries (`octree_operators` says which), and so is, for
every face, where it occurs in the list. A row is the sum of both parts, its diagonal first.

Lengths are finest cells. Weights are those of the regular problem on finest cells: `c` twice mu dt / (rho dx^2) times
the liquid fraction, `e` that of edges, `f` what couples the two components of a shear, `m` what acts on a face alone.
On coarser levels, all liquid, `kappa` is mu dt / (rho dx^2): all levels above the finest, one after the other.
"""

import numpy as np

from glug.grids.kernels_octree import face_at, level_at, of_axis
from glug.jit import kernel, prange

MOST = 256  # entries of a row or sample; the longest rows of random trees have 39
CHUNK = np.int64(512)  # leaves or rows that one thread takes at a time


@kernel(inline=True)
def moved(axis, by, i, j, k):
    return i + by * (axis == 0), j + by * (axis == 1), k + by * (axis == 2)


@kernel(inline=True)
def add_face(numbers, axis, deep, l, i, j, k, w, index, weight, n):
    number = face_at(numbers, axis, deep, l, i, j, k)
    if number < 0:
        return n
    index[n], weight[n] = number, w
    return n + 1


@kernel(inline=True)
def add_whole(level, numbers, axis, deep, l, i, j, k, w, index, weight, n):
    """A face of level l, or its parts when it is divided."""
    a, b, c = moved(axis, -1, i, j, k)
    if level_at(level, deep, l, a, b, c) >= l and level_at(level, deep, l, i, j, k) >= l:
        return add_face(numbers, axis, deep, l, i, j, k, w, index, weight, n)
    share = w / (2.0 + 2.0 * deep)
    for p in range(2 if axis != 0 else 1):
        for q in range(2 if axis != 1 else 1):
            for r in range(1 + deep if axis != 2 else 1):
                x, y, z = 2 * i + p, 2 * j + q, (k << deep) + r
                n = add_face(numbers, axis, deep, l - 1, x, y, z, share, index, weight, n)
    return n


@kernel(inline=True)
def strain_entries(level, numbers, deep, axis, l, i, j, k, index, weight):
    """Entries of the normal strain of leaf (i, j, k)."""
    w = 1.0 / (1 << l)
    n = add_whole(level, numbers, axis, deep, l, i, j, k, -w, index, weight, 0)
    a, b, c = moved(axis, 1, i, j, k)
    return add_whole(level, numbers, axis, deep, l, a, b, c, w, index, weight, n)


@kernel(inline=True)
def coarse_side(level, deep, component, l, i, j, k):
    """Whether the two cells at a face of level l lie in coarser leaves, so that there is no such face."""
    a, b, c = moved(component, -1, i, j, k)
    return level_at(level, deep, l, i, j, k) > l and level_at(level, deep, l, a, b, c) > l


@kernel(inline=True)
def gradient_entries(level, numbers, deep, enhanced, axis, component, along, l, i, j, k, index, weight, n):
    """Entries of du_component / dx_along at an edge; returns their number and the distance of the two samples."""
    x, y, z = moved(along, -1, i, j, k)
    below = coarse_side(level, deep, component, l, x, y, z)
    above = coarse_side(level, deep, component, l, i, j, k)
    h = float(1 << l)
    span = 1.5 * h if below or above else h
    for side in range(2):
        x, y, z = moved(along, side - 1, i, j, k)
        w = (2 * side - 1) / span
        if (above if side else below) == 0:
            if enhanced and deep and (below or above):
                s, t, r = x ^ (axis == 0), y ^ (axis == 1), z ^ (axis == 2)
                n = add_face(numbers, component, deep, l, x, y, z, 0.5 * w, index, weight, n)
                n = add_face(numbers, component, deep, l, s, t, r, 0.5 * w, index, weight, n)
            else:
                n = add_face(numbers, component, deep, l, x, y, z, w, index, weight, n)
            continue
        place = x if component == 0 else (y if component == 1 else z)
        x, y, z = x >> 1, y >> 1, z >> deep
        if place % 2 == 0:
            n = add_face(numbers, component, deep, l + 1, x, y, z, w, index, weight, n)
        else:
            n = add_whole(level, numbers, component, deep, l + 1, x, y, z, 0.5 * w, index, weight, n)
            x, y, z = moved(component, 1, x, y, z)
            n = add_whole(level, numbers, component, deep, l + 1, x, y, z, 0.5 * w, index, weight, n)
    return n, span


@kernel(inline=True)
def cells_around(level, deep, axis, l, i, j, k):
    """Levels at the four cells around an edge along `axis`: upper, lower across the next axis, across the one after,
    and across both.
    """
    b, c = (axis + 1) % 3, (axis + 2) % 3
    x, y, z = moved(b, -1, i, j, k)
    p, q, r = moved(c, -1, i, j, k)
    s, t, u = moved(c, -1, x, y, z)
    return (
        level_at(level, deep, l, i, j, k),
        level_at(level, deep, l, x, y, z),
        level_at(level, deep, l, p, q, r),
        level_at(level, deep, l, s, t, u),
    )


@kernel(inline=True)
def edge_state(level, deep, axis, l, i, j, k):
    """0 without a shear, 1 where it is regular, 2 next to coarser leaves."""
    a, b, c, d = cells_around(level, deep, axis, l, i, j, k)
    if min(min(a, b), min(c, d)) != l:
        return 0
    pairs = (a > l and b > l) or (c > l and d > l) or (a > l and c > l) or (b > l and d > l)
    return 2 if pairs else 1


@kernel(inline=True)
def owns_edge(level, deep, axis, l, i, j, k, p, q):
    """Whether the leaf for which the edge is at offset (p, q) is the first leaf around it."""
    a, b, c, _ = cells_around(level, deep, axis, l, i, j, k)
    if p == 0 and q == 0:
        return True
    if p == 1 and q == 0:
        return a != l
    if p == 0:
        return a != l and b != l
    return a != l and b != l and c != l


@kernel(inline=True)
def kappa_at(kappa, first, shape, deep, l, i, j, k):
    """mu dt / (rho dx^2) of cell (i, j, k) of level l > 0."""
    return np.float64(kappa[first[l] + (i * (shape[1] >> l) + j) * (shape[2] >> (l * deep)) + k])


@kernel(inline=True)
def cell_weight(c, kappa, first, deep, l, i, j, k):
    return np.float64(c[i, j, k]) if l == 0 else 2.0 * kappa_at(kappa, first, c.shape, deep, l, i, j, k)


@kernel(inline=True)
def edge_weight(e, c, kappa, first, deep, axis, l, i, j, k):
    """That of an edge: the mean of four cells on coarser levels."""
    if l == 0:
        return np.float64(of_axis(e, axis, i, j, k))
    total = 0.0
    for p in range(2):
        for q in range(2):
            x, y, z = moved((axis + 1) % 3, -p, i, j, k)
            x, y, z = moved((axis + 2) % 3, -q, x, y, z)
            total += kappa_at(kappa, first, c.shape, deep, l, x, y, z)
    return 0.25 * total


@kernel(inline=True)
def alone(level, deep, l, i, j, k):
    """Whether no leaf that shares a face with this one is coarser or finer: none of its samples is irregular."""
    for axis in range(2 + deep):
        for side in range(2):
            x, y, z = moved(axis, 2 * side - 1, i, j, k)
            if level_at(level, deep, l, x, y, z) != l:
                return False
    return True


@kernel(parallel=True)
def irregular_samples(
    level,
    deep,
    enhanced,
    laplacian,
    corner,
    leaf_level,
    numbers,
    c,
    e,
    kappa,
    first,
    starts,
    sample_weight,
    sample,
    entry,
    value,
):
    """List the samples next to coarser leaves: weights, and for every entry its sample, face and value.

    `starts` (chunks of leaves, 2) is where each chunk's samples and entries begin; with empty outputs they are counted.
    """
    count_only = sample_weight.shape[0] == 0
    for chunk in prange(starts.shape[0]):
        index, weight = np.empty(MOST, np.int64), np.empty(MOST, np.float64)
        s = np.int64(0) if count_only else starts[chunk, 0]
        t = np.int64(0) if count_only else starts[chunk, 1]
        for leaf in range(chunk * CHUNK, min((chunk + 1) * CHUNK, corner.shape[0])):
            l = np.int64(leaf_level[leaf])
            i, j, k = corner[leaf, 0] >> l, corner[leaf, 1] >> l, np.int64(corner[leaf, 2]) >> (l * deep)
            if alone(level, deep, l, i, j, k):
                continue
            for kind in range(3 + 12):
                n = 0
                w = 0.0
                if kind < 2 + deep:  # normal strains; the kind after those of 2D is no kind there
                    x, y, z = moved(kind, -1, i, j, k)
                    p, q, r = moved(kind, 1, i, j, k)
                    low, high = level_at(level, deep, l, x, y, z), level_at(level, deep, l, p, q, r)
                    if min(low, high) < l and low >= 0 and high >= 0:
                        n = strain_entries(level, numbers, deep, kind, l, i, j, k, index, weight)
                        w = cell_weight(c, kappa, first, deep, l, i, j, k) * (1 << (l * (2 + deep)))
                        w = 0.5 * w if laplacian else w
                elif kind >= 3:
                    axis, p, q = (kind - 3) // 4, (kind - 3) // 2 % 2, (kind - 3) % 2
                    if not deep and axis != 2:
                        continue
                    b, d = (axis + 1) % 3, (axis + 2) % 3
                    x, y, z = moved(b, p, i, j, k)
                    x, y, z = moved(d, q, x, y, z)
                    if edge_state(level, deep, axis, l, x, y, z) == 2 and owns_edge(
                        level, deep, axis, l, x, y, z, p, q
                    ):
                        n, one = gradient_entries(
                            level, numbers, deep, enhanced, axis, b, d, l, x, y, z, index, weight, 0
                        )
                        n, two = gradient_entries(
                            level, numbers, deep, enhanced, axis, d, b, l, x, y, z, index, weight, n
                        )
                        w = edge_weight(e, c, kappa, first, deep, axis, l, x, y, z) * one * two * (1 << (l * deep))
                if n > 0:
                    if not count_only:
                        sample_weight[s] = w
                        for o in range(n):
                            sample[t + o], entry[t + o], value[t + o] = s, index[o], weight[o]
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


@kernel(inline=True)
def accumulate(column, value, n, number, v):
    """Add v to the entry of column `number`; entry 0 is the diagonal."""
    for o in range(n):
        if column[o] == number:
            value[o] += v
            return n
    column[n], value[n] = number, v
    return n + 1


@kernel(inline=True)
def inside(shape, deep, l, i, j, k):
    """Whether all cells around a face of level l are in the forest."""
    flat = not deep or 0 < k < (shape[2] >> l) - 1
    return flat and 0 < i < (shape[0] >> l) - 1 and 0 < j < (shape[1] >> l) - 1


@kernel(inline=True)
def append(numbers, axis, deep, l, i, j, k, v, column, value, n):
    """Add the entry of a face that the row does not have yet."""
    number = face_at(numbers, axis, deep, l, i, j, k)
    if number < 0:
        return n
    column[n], value[n] = number, v
    return n + 1


@kernel(inline=True)
def regular_part(level, deep, laplacian, numbers, m, c, e, f, kappa, first, axis, l, i, j, k, column, value):
    """The diagonal's mass and what regular samples add to the row of a face; returns the number of entries."""
    x, y, z = moved(axis, -1, i, j, k)
    low, high = level_at(level, deep, l, x, y, z), level_at(level, deep, l, i, j, k)
    mass = (1.0 if low > l else 0.5) + (1.0 if high > l else 0.5)
    mass *= np.float64(of_axis(m, axis, i, j, k)) if l == 0 else np.float64(1 << (l * (2 + deep)))
    scale = float(1 << (l * deep))
    n = 1
    for side in range(2):
        x, y, z = moved(axis, side - 1, i, j, k)
        p, q, r = moved(axis, 2 * side - 1, x, y, z)
        if (high if side else low) != l or level_at(level, deep, l, p, q, r) < l:
            continue
        w = scale * cell_weight(c, kappa, first, deep, l, x, y, z)
        w = 0.5 * w if laplacian else w
        if w > 0.0:
            mass += w
            x, y, z = moved(axis, 2 * side - 1, i, j, k)
            n = append(numbers, axis, deep, l, x, y, z, -w, column, value, n)
    for turn in range(1, 3):
        along = (axis + turn) % 3
        edge = 3 - axis - along
        if not deep and edge != 2:
            continue
        for side in range(2):
            x, y, z = moved(along, side, i, j, k)
            if edge_state(level, deep, edge, l, x, y, z) != 1:
                continue
            w = scale * edge_weight(e, c, kappa, first, deep, edge, l, x, y, z)
            if not w > 0.0:
                continue
            mass += w
            p, q, r = moved(along, 2 * side - 1, i, j, k)
            n = append(numbers, axis, deep, l, p, q, r, -w, column, value, n)
            if laplacian:
                continue
            w = np.float64(of_axis(f, edge, x, y, z)) if l == 0 else w
            w = w if side == 0 else -w
            n = append(numbers, along, deep, l, x, y, z, w, column, value, n)
            x, y, z = moved(axis, -1, x, y, z)
            n = append(numbers, along, deep, l, x, y, z, -w, column, value, n)
    value[0] = mass
    return n


@kernel(inline=True)
def irregular_part(
    laplacian, axes, face, begin, order, sample, sample_first, sample_weight, entry, entry_value, column, value, n
):
    """What the listed samples add to the row of `face`."""
    for o in range(begin[face], begin[face + 1]):
        s = sample[order[o]]
        pull = sample_weight[s] * entry_value[order[o]]
        for t in range(sample_first[s], sample_first[s + 1]):
            other = entry[t]
            if laplacian and axes[other, 0] != axes[face, 0]:
                continue
            n = accumulate(column, value, n, other, pull * entry_value[t])
    return n


@kernel(parallel=True)
def fill_rows(
    level,
    deep,
    laplacian,
    numbers,
    place,
    m,
    c,
    e,
    f,
    kappa,
    first,
    begin,
    order,
    sample,
    sample_first,
    sample_weight,
    entry,
    entry_value,
    start,
    column,
    value,
):
    """Write the rows that are not plain at their `start`; with empty outputs start[n + 1] becomes a row's length."""
    count = place.shape[0]
    count_only = column.shape[0] == 0
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        index, weight = np.empty(MOST, np.int64), np.empty(MOST, np.float64)
        for face in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
            axis, l = np.int64(place[face, 0]), np.int64(place[face, 1])
            i, j, k = place[face, 2] >> l, place[face, 3] >> l, np.int64(place[face, 4]) >> (l * deep)
            index[0] = face
            if begin[face + 1] == begin[face] and inside(level.shape, deep, l, i, j, k):
                continue
            n = regular_part(level, deep, laplacian, numbers, m, c, e, f, kappa, first, axis, l, i, j, k, index, weight)
            if begin[face + 1] > begin[face]:
                n = irregular_part(
                    laplacian,
                    place,
                    face,
                    begin,
                    order,
                    sample,
                    sample_first,
                    sample_weight,
                    entry,
                    entry_value,
                    index,
                    weight,
                    n,
                )
            if count_only:
                start[face + 1] = n
            else:
                s = start[face]
                for o in range(n):
                    column[s + o], value[s + o] = index[o], weight[o]


@kernel(parallel=True)
def fill_plain_rows(
    axis, deep, laplacian, numbers, place, m, c, eb, ed, fb, fd, kappa, first, begin, start, column, value
):
    """The same for the plain rows of one axis: no listed sample, and all cells around the face in the forest.

    `eb`, `fb` are the weights of the edges crossed towards the next axis, `ed`, `fd` towards the one after.
    """
    count_only = column.shape[0] == 0
    ai, aj, ak = np.int64(axis == 0), np.int64(axis == 1), np.int64(axis == 2)
    for face in prange(place.shape[0]):
        l = np.int64(place[face, 1])
        x, y, z = np.int64(place[face, 2]), np.int64(place[face, 3]), np.int64(place[face, 4])
        i, j, k = x >> l, y >> l, z >> (l * deep)
        if place[face, 0] != axis or begin[face + 1] > begin[face] or not inside(c.shape, deep, l, i, j, k):
            continue
        h, scale = np.int64(1) << l, np.float64(1 << (l * deep))
        total = np.float64(m[x, y, z]) if l == 0 else np.float64(1 << (l * (2 + deep)))
        s = np.int64(0) if count_only else start[face]
        n = np.int64(1)
        for side in range(2):
            o = side - 1
            w = scale * cell_weight(c, kappa, first, deep, l, i + o * ai, j + o * aj, k + o * ak)
            w = 0.5 * w if laplacian else w
            o = (2 * side - 1) * h
            number = numbers[axis, x + o * ai, y + o * aj, z + o * ak]
            if w > 0.0:
                total += w
                if number >= 0:
                    if not count_only:
                        column[s + n], value[s + n] = number, -w
                    n += 1
        for turn in range(1, 3):
            along = (axis + turn) % 3
            if not deep and 3 - axis - along != 2:
                continue
            bi, bj, bk = np.int64(along == 0), np.int64(along == 1), np.int64(along == 2)
            for side in range(2):
                p, q, r = x + side * h * bi, y + side * h * bj, z + side * h * bk  # the edge
                if l == 0:
                    w = np.float64(eb[p, q, r] if turn == 1 else ed[p, q, r])
                    v = np.float64(fb[p, q, r] if turn == 1 else fd[p, q, r])
                else:
                    u = kappa_at(
                        kappa, first, c.shape, deep, l, i + (side - 1) * bi, j + (side - 1) * bj, k + (side - 1) * bk
                    )
                    u += kappa_at(kappa, first, c.shape, deep, l, i + side * bi, j + side * bj, k + side * bk)
                    u += kappa_at(
                        kappa,
                        first,
                        c.shape,
                        deep,
                        l,
                        i + (side - 1) * bi - ai,
                        j + (side - 1) * bj - aj,
                        k + (side - 1) * bk - ak,
                    )
                    u += kappa_at(
                        kappa, first, c.shape, deep, l, i + side * bi - ai, j + side * bj - aj, k + side * bk - ak
                    )
                    w = scale * 0.25 * u
                    v = w
                if not w > 0.0:
                    continue
                total += w
                o = (2 * side - 1) * h
                number = numbers[axis, x + o * bi, y + o * bj, z + o * bk]
                if number >= 0:
                    if not count_only:
                        column[s + n], value[s + n] = number, -w
                    n += 1
                if laplacian:
                    continue
                v = v if side == 0 else -v
                number = numbers[along, p, q, r]
                if number >= 0:
                    if not count_only:
                        column[s + n], value[s + n] = number, v
                    n += 1
                number = numbers[along, p - h * ai, q - h * aj, r - h * ak]
                if number >= 0:
                    if not count_only:
                        column[s + n], value[s + n] = number, -v
                    n += 1
        if count_only:
            start[face + 1] = n
        else:
            column[s], value[s] = face, total
