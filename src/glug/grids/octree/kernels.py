"""Kernels of the linear octree: grading, leaves in Morton order, numbers of faces.

`level` holds, for every finest cell, the level of the leaf that covers it (0 is finest). Cell (i, j, k) of level l
covers 2^l finest cells along every axis but a flat one: in 2D (`deep` = 0) z is never cut. A leaf is found from any
of its cells, a neighbour by index arithmetic. What happens where is read off the cell's lower corner: its level is l
for a leaf of level l, larger where a coarser leaf covers the cell, smaller where the cell is divided.
"""

import numpy as np

from glug.jit import kernel, prange

ONE = np.uint64(1)
NO_CELL = np.int64(-1)  # the level found outside the forest: as if divided, so that nothing is done there


@kernel(inline=True)
def level_at(level, deep, l, i, j, k):
    """The level at the lower corner of cell (i, j, k) of level l; NO_CELL outside."""
    x, y, z = i << l, j << l, k << (l * deep)
    if x < 0 or y < 0 or z < 0 or x >= level.shape[0] or y >= level.shape[1] or z >= level.shape[2]:
        return NO_CELL
    return np.int64(level[x, y, z])


@kernel(inline=True)
def of_axis(fields, axis, i, j, k):
    """fields[axis][i, j, k]; picking the array out of the tuple would count a reference every time."""
    if axis == 0:
        return fields[0][i, j, k]
    if axis == 1:
        return fields[1][i, j, k]
    return fields[2][i, j, k]


@kernel(inline=True)
def set_of_axis(fields, axis, i, j, k, value):
    if axis == 0:
        fields[0][i, j, k] = value
    elif axis == 1:
        fields[1][i, j, k] = value
    else:
        fields[2][i, j, k] = value


@kernel(parallel=True)
def divide_parents(divided, deep, widen, parents):
    """Mark the parents of the divided cells and, when `widen`, of their face neighbours."""
    ni, nj, nk = divided.shape
    for p in prange(parents.shape[0]):
        for q in range(parents.shape[1]):
            for r in range(parents.shape[2]):
                hit = False
                for i in range(2 * p, 2 * p + 2):
                    for j in range(2 * q, 2 * q + 2):
                        for k in range(r << deep, (r << deep) + 1 + deep):
                            hit = hit or divided[i, j, k]
                            if widen and not hit:
                                hit = hit or (i > 0 and divided[i - 1, j, k]) or (i + 1 < ni and divided[i + 1, j, k])
                                hit = hit or (j > 0 and divided[i, j - 1, k]) or (j + 1 < nj and divided[i, j + 1, k])
                                hit = hit or (k > 0 and divided[i, j, k - 1]) or (k + 1 < nk and divided[i, j, k + 1])
                parents[p, q, r] = hit


@kernel(parallel=True)
def merge_levels(divided, deep, l, level):
    """Level l for the finest cells whose ancestor of level l is not divided; coarser levels first."""
    for p in prange(divided.shape[0]):
        for q in range(divided.shape[1]):
            for r in range(divided.shape[2]):
                if divided[p, q, r]:
                    continue
                i, j, k = p << l, q << l, r << (l * deep)
                if level[i, j, k] >= l:
                    continue
                level[i : i + (1 << l), j : j + (1 << l), k : k + (1 << (l * deep))] = l


@kernel(inline=True)
def beside(level, x, y, z, step_x, step_y, step_z):
    """The levels at (x, y, z) minus and plus the step; NO_CELL outside."""
    i, j, k = x - step_x, y - step_y, z - step_z
    low = NO_CELL if i < 0 or j < 0 or k < 0 else np.int64(level[np.uint64(i), np.uint64(j), np.uint64(k)])
    i, j, k = x + step_x, y + step_y, z + step_z
    if i >= level.shape[0] or j >= level.shape[1] or k >= level.shape[2]:
        return low, NO_CELL
    return low, np.int64(level[np.uint64(i), np.uint64(j), np.uint64(k)])


@kernel(inline=True)
def kept(keep, masked, axis, x, y, z):
    return not masked or of_axis(keep, axis, np.uint64(x), np.uint64(y), np.uint64(z)) > np.float32(0.0)


@kernel(inline=True)
def any_kept(keep, x, y, z, side, depth):
    """Whether a face of the cells from (x, y, z) on, `side` along x and y and `depth` along z, is kept."""
    zero = np.float32(0.0)
    for i in range(np.uint64(x), np.uint64(x + side)):
        for j in range(np.uint64(y), np.uint64(y + side)):
            count = np.int32(0)
            for k in range(np.uint64(z), np.uint64(z + depth)):
                count += np.int32(keep[0][i, j, k] > zero) + np.int32(keep[0][i + ONE, j, k] > zero)
                count += np.int32(keep[1][i, j, k] > zero) + np.int32(keep[1][i, j + ONE, k] > zero)
                count += np.int32(keep[2][i, j, k] > zero) + np.int32(keep[2][i, j, k + ONE] > zero)
            if count > 0:
                return True
    return False


@kernel(parallel=True)
def walk_roots(level, deep, top, curve, keep, masked, everything, first_leaf, first_face, corner, size, place, numbers):
    """Leaves and the faces they own, root by root, within each root along the Morton curve `curve`.

    A face belongs to the finer of its leaves; between equals to the upper one. Faces are kept where `keep` is positive,
    when `masked`. Leaves are listed when `everything`, or where one across a face is of another level. With empty
    outputs both are counted per column of roots; otherwise `first_leaf` and `first_face` say where each column's begin.
    `place` holds axis, level and lower corner of faces, `size` the levels of leaves.
    """
    side, depth = 1 << top, 1 << (top * deep)
    ny, nz = level.shape[1] // side, level.shape[2] // depth
    count_only = numbers.shape[0] == 0
    for column in prange(first_leaf.shape[0]):
        leaves = np.int64(0) if count_only else first_leaf[column]
        faces = np.int64(0) if count_only else first_face[column]
        for root in range(nz):
            x0, y0, z0 = (column // ny) * side, (column % ny) * side, root * depth
            if masked and not any_kept(keep, x0, y0, z0, side, depth):
                continue
            code = np.int64(0)
            while code < curve.shape[0]:
                x, y, z = x0 + curve[code, 0], y0 + curve[code, 1], z0 + curve[code, 2]
                l = np.int64(level[np.uint64(x), np.uint64(y), np.uint64(z)])
                h, k = np.int64(1) << l, np.int64(1) << (l * deep)
                code += h * h * k
                wet = not masked
                alone = True
                for axis in range(2 + deep):
                    dx, dy, dz = h * (axis == 0), h * (axis == 1), k * (axis == 2)
                    low, high = beside(level, x, y, z, dx, dy, dz)
                    alone = alone and low == l and high == l
                    if kept(keep, masked, axis, x, y, z):
                        wet = True
                        if low >= l:
                            if not count_only:
                                number_face(numbers, place, faces, axis, l, x, y, z)
                            faces += 1
                    if kept(keep, masked, axis, x + dx, y + dy, z + dz):
                        wet = True
                        if high > l:
                            if not count_only:
                                number_face(numbers, place, faces, axis, l, x + dx, y + dy, z + dz)
                            faces += 1
                if everything or (wet and not alone):
                    if not count_only:
                        corner[leaves, 0], corner[leaves, 1], corner[leaves, 2] = x, y, z
                        size[leaves] = l
                    leaves += 1
        if count_only:
            first_leaf[column] = leaves
            first_face[column] = faces


@kernel(inline=True)
def number_face(numbers, place, number, axis, l, x, y, z):
    numbers[axis, x, y, z] = number
    place[number, 0], place[number, 1] = axis, l
    place[number, 2], place[number, 3], place[number, 4] = x, y, z


@kernel(parallel=True)
def look_at_faces(axis, m, plain, wet):
    """Clear `plain` at cells without `m` = 1 on both faces of `axis`; mark in `wet` those with a positive one."""
    least, most = np.float32(0.9999), np.float32(1.0001)
    ni, nj, nk = plain.shape
    di, dj, dk = np.int64(axis == 0), np.int64(axis == 1), np.int64(axis == 2)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                low, high = m[i, j, k], m[i + di, j + dj, k + dk]
                plain[i, j, k] &= least < low < most and least < high < most
                wet[i, j, k] |= max(low, high) > np.float32(0.0)


@kernel(parallel=True)
def mark_bent(velocity, most, marked):
    """Mark the cells at whose lower faces a velocity departs from the mean of its neighbours by more than `most`."""
    ni, nj, nk = marked.shape
    half = np.float32(0.5)
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            for k in range(1, nk - 1):
                for axis in range(3):
                    here = of_axis(velocity, axis, i, j, k)
                    for along in range(3):
                        di, dj, dk = along == 0, along == 1, along == 2
                        before = of_axis(velocity, axis, i - di, j - dj, k - dk)
                        after = of_axis(velocity, axis, i + di, j + dj, k + dk)
                        if abs(here - half * (before + after)) > most:
                            marked[i, j, k] = True


@kernel(parallel=True)
def shrink(inside, smaller):
    """1 at the cells inside that have no face on the border or to a cell outside."""
    ni, nj, nk = inside.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                ok = inside[i, j, k] and 0 < i < ni - 1 and 0 < j < nj - 1 and 0 < k < nk - 1
                if ok:
                    ok = inside[i - 1, j, k] and inside[i + 1, j, k] and inside[i, j - 1, k] and inside[i, j + 1, k]
                    ok = ok and inside[i, j, k - 1] and inside[i, j, k + 1]
                smaller[i, j, k] = ok
