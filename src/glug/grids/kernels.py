"""Kernels of the grid: active tiles, sums over boxes, filling a field outwards, and connected parts."""

import numpy as np

from glug.jit import kernel, prange

# Hot loops count in unsigned integers: for a signed index Numba checks at every access whether it is negative and
# counts from the end, which keeps the loop from vectorising (five times slower, measured on a 7-point stencil).
ONE = np.uint64(1)
TILE = np.int64(8)
SLAB = np.int64(8)  # layers that one thread joins before the slabs are joined


@kernel(inline=True)
def moved(axis, by, i, j, k):
    """`by` steps along an axis."""
    return i + by * (axis == 0), j + by * (axis == 1), k + by * (axis == 2)


@kernel(inline=True)
def block_range(blocks, t, shape):
    """Bounds of block t along x, y, z within arrays of `shape`."""
    i0, j0 = np.int64(blocks[t, 0]), np.int64(blocks[t, 1])
    return (
        np.uint64(i0),
        np.uint64(min(i0 + TILE, shape[0])),
        np.uint64(j0),
        np.uint64(min(j0 + TILE, shape[1])),
        np.uint64(blocks[t, 2]),
        np.uint64(blocks[t, 3]),
    )


@kernel(inline=True)
def inner_range(blocks, t, shape):
    """The same without the outermost cells of a window of `shape`, where a stencil would leave it."""
    i0, j0, k0, k1 = (
        np.int64(blocks[t, 0]),
        np.int64(blocks[t, 1]),
        np.int64(blocks[t, 2]),
        np.int64(blocks[t, 3]),
    )
    return (
        np.uint64(max(i0, 1)),
        np.uint64(min(i0 + TILE, shape[0] - 1)),
        np.uint64(max(j0, 1)),
        np.uint64(min(j0 + TILE, shape[1] - 1)),
        np.uint64(max(k0, 1)),
        np.uint64(min(k1, shape[2] - 1)),
    )


@kernel(parallel=True)
def active_tiles(active, tile, found):
    """found[a, b, c] is true when any cell of tile (a, b, c) is active."""
    ni, nj, nk = active.shape
    for row in prange(found.shape[0] * found.shape[1]):
        a, b = divmod(np.int64(row), np.int64(found.shape[1]))
        line = np.zeros(nk, np.uint8)
        for i in range(a * tile, min((a + 1) * tile, ni)):
            for j in range(b * tile, min((b + 1) * tile, nj)):
                for k in range(np.uint64(nk)):
                    line[k] |= active[i, j, k]
        for c in range(found.shape[2]):
            hit = np.uint8(0)
            for k in range(c * tile, min((c + 1) * tile, nk)):
                hit |= line[k]
            found[a, b, c] = hit != 0


@kernel(parallel=True)
def sum_faces(fx, fy, fz, member, out):
    """The sum of a field on faces over the faces of every `member` cell; zero elsewhere."""
    for slab in prange(out.shape[0]):
        i = np.int64(slab)
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                total = fx[i, j, k] + fx[i + 1, j, k] + fy[i, j, k] + fy[i, j + 1, k] + fz[i, j, k] + fz[i, j, k + 1]
                out[i, j, k] = total if member[i, j, k] else np.float32(0.0)


@kernel(parallel=True)
def find_front(known, front):
    """1 at the samples that are not known and have a known neighbour, else 0."""
    ni, nj, nk = known.shape
    for slab in prange(ni):
        i = np.int64(slab)
        left, right = max(i - 1, 0), min(i + 1, ni - 1)
        for j in range(nj):
            below, above = max(j - 1, 0), min(j + 1, nj - 1)
            row, next_to = known[i, j], front[i, j]
            for k in range(nk):
                next_to[k] = known[left, j, k] | known[right, j, k] | known[i, below, k] | known[i, above, k]
            for k in range(nk - 1):
                next_to[k] |= row[k + 1]
            for k in range(1, nk):
                next_to[k] |= row[k - 1]
            for k in range(nk):
                next_to[k] &= row[k] ^ np.uint8(1)


@kernel(inline=True)
def any_of(row):
    """Whether anything in a row is set."""
    found = np.uint8(0)
    for k in range(row.size):
        found |= row[k]
    return found != 0


@kernel(parallel=True)
def spread(field, known, front):
    """The samples of the front take the mean of their known neighbours."""
    ni, nj, nk = field.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk if any_of(front[i, j]) else 0):
            if front[i, j, k]:
                total, count = np.float32(0.0), np.float32(0.0)
                if i > 0 and known[i - 1, j, k]:
                    total += field[i - 1, j, k]
                    count += np.float32(1.0)
                if i < ni - 1 and known[i + 1, j, k]:
                    total += field[i + 1, j, k]
                    count += np.float32(1.0)
                if j > 0 and known[i, j - 1, k]:
                    total += field[i, j - 1, k]
                    count += np.float32(1.0)
                if j < nj - 1 and known[i, j + 1, k]:
                    total += field[i, j + 1, k]
                    count += np.float32(1.0)
                if k > 0 and known[i, j, k - 1]:
                    total += field[i, j, k - 1]
                    count += np.float32(1.0)
                if k < nk - 1 and known[i, j, k + 1]:
                    total += field[i, j, k + 1]
                    count += np.float32(1.0)
                field[i, j, k] = total / count


@kernel(inline=True)
def continued_line(field, known, at, step, room):
    """What the three samples next to `at` lead to, each a `step` from the last, and whether one and all are known.

    `field` and `known` are flat, and `room` is how many samples there are. It goes on with the smaller one of their two
    slopes, and with none where these have different signs: a linear field goes on as it is, noise does not grow.
    There are no branches, which a processor could not foretell: where there is no sample, `at` is asked, unknown too.
    """
    first = np.uint64(at + step if room > 0 else at)
    second, third = np.uint64(at + 2 * step if room > 2 else at), np.uint64(at + 3 * step if room > 2 else at)
    one = known[first]
    three = one & known[second] & known[third]
    slope, next_slope = field[first] - field[second], field[second] - field[third]
    smaller = slope if abs(slope) < abs(next_slope) else next_slope
    goes_on = three != 0 and slope * next_slope > np.float32(0.0)
    return field[first] + (smaller if goes_on else np.float32(0.0)), one, three


@kernel(parallel=True)
def spread_linearly(field, known, front):
    """The samples of the front take the mean of the lines through known samples; of neighbours where there is none."""
    ni, nj, nk = np.int64(field.shape[0]), np.int64(field.shape[1]), np.int64(field.shape[2])
    values, knows, zero = field.reshape(-1), known.reshape(-1), np.float32(0.0)
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk if any_of(front[i, j]) else 0):
            if front[i, j, k]:
                at = (i * nj + j) * nk + k
                near, neighbours, total, lines = zero, zero, zero, zero
                for way in range(6):
                    axis, ahead = way // 2, way % 2
                    here, size = (i, ni) if axis == 0 else ((j, nj) if axis == 1 else (k, nk))
                    step = nj * nk if axis == 0 else (nk if axis == 1 else 1)
                    room = size - 1 - here if ahead else here
                    found, one, three = continued_line(values, knows, at, step if ahead else -step, room)
                    total += found if three else zero
                    lines += np.float32(three)
                    near += found if one else zero
                    neighbours += np.float32(one)
                values[at] = total / lines if lines > zero else near / neighbours


@kernel(parallel=True)
def sum_along_rows(values, reach, out):
    """Sum of the samples within `reach` along the last axis."""
    ni, nj, nk = out.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        total, line = out[i, j], values[i, j]
        total[:] = np.float32(0.0)
        for by in range(-reach, reach + 1):  # a shift at a time: sums of few samples do not vectorise
            here, there = np.uint64(max(-by, 0)), np.uint64(max(by, 0))
            for k in range(np.uint64(max(nk - abs(by), 0))):
                total[here + k] += line[there + k]


@kernel(parallel=True)
def sum_of_rows(values, reach, out):
    """Sum of the samples within `reach` along the axis before the last."""
    ni, nj, nk = out.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        out[i, j] = np.float32(0.0)
        for q in range(max(j - reach, 0), min(j + reach + 1, nj)):
            for k in range(nk):
                out[i, j, k] += values[i, q, k]


# -- connected parts: `parent` leads from every cell to the first one of its part --------------------------


@kernel(inline=True)
def root_of(parent, c):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@kernel(inline=True)
def join(parent, a, b):
    a, b = root_of(parent, a), root_of(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@kernel(parallel=True)
def join_slabs(member, ax, ay, az, parent):
    """Within every slab of layers, join member cells that share an open face: parent leads to the first of a part."""
    ni, nj, nk = member.shape
    for s in prange(-(-ni // SLAB)):
        first = np.int64(s) * SLAB
        for c in range(first * nj * nk, min(first + SLAB, ni) * nj * nk):
            parent[c] = c
        for i in range(first, min(first + SLAB, ni)):
            for j in range(nj):
                for k in range(nk):
                    if member[i, j, k]:
                        c = (i * nj + j) * nk + k
                        if i > first and member[i - 1, j, k] and ax[i, j, k] > np.float32(0.0):
                            join(parent, c, c - nj * nk)
                        if j > 0 and member[i, j - 1, k] and ay[i, j, k] > np.float32(0.0):
                            join(parent, c, c - nk)
                        if k > 0 and member[i, j, k - 1] and az[i, j, k] > np.float32(0.0):
                            join(parent, c, c - 1)


@kernel
def join_between(member, ax, parent):
    """Join the slabs across the faces between them."""
    ni, nj, nk = member.shape
    for i in range(SLAB, ni, SLAB):
        for j in range(nj):
            for k in range(nk):
                if member[i, j, k] and member[i - 1, j, k] and ax[i, j, k] > np.float32(0.0):
                    c = (i * nj + j) * nk + k
                    join(parent, c, c - nj * nk)


@kernel(parallel=True)
def count_roots(member, parent, found):
    """Parts that begin in each slab."""
    ni, nj, nk = member.shape
    flat = member.ravel()
    for s in prange(found.shape[0]):
        total = 0
        for c in range(s * SLAB * nj * nk, min((s + 1) * SLAB, ni) * nj * nk):
            if flat[c] and parent[c] == c:
                total += 1
        found[s] = total


@kernel(parallel=True)
def number_roots(member, parent, before, label):
    """label of the first cell of every part, in order; -1 where there is no member. `before` counts earlier slabs."""
    ni, nj, nk = member.shape
    flat, out = member.ravel(), label.ravel()
    for s in prange(before.shape[0]):
        total = before[s]
        for c in range(s * SLAB * nj * nk, min((s + 1) * SLAB, ni) * nj * nk):
            if not flat[c]:
                out[c] = -1
            elif parent[c] == c:
                out[c] = total
                total += 1


@kernel(parallel=True)
def number_members(member, parent, label):
    """label of the other cells."""
    ni, nj, nk = member.shape
    flat, out = member.ravel(), label.ravel()
    for s in prange(ni):
        for c in range(s * nj * nk, (s + 1) * nj * nk):
            if flat[c] and parent[c] != c:
                root = parent[c]
                while parent[root] != root:
                    root = parent[root]
                out[c] = out[root]


@kernel
def join_pairs(pairs, small, parent):
    """Union-find over the `small` ones of pairs (2, n): parent = the first member of every one's cluster."""
    for n in range(len(small)):
        a, b = pairs[0, small[n]], pairs[1, small[n]]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for t in range(len(parent)):
        parent[t] = parent[parent[t]]


@kernel
def faces_of_cells(beside, start, face, place):
    """face = the faces of every cell, in order."""
    for f in range(beside.shape[1]):
        for side in range(2):
            c = beside[side, f]
            face[place[c]] = f
            place[c] += 1
