"""Kernels that prepare the viscous operator: which faces are solid, and what walls do to the strain rows.

Most rows of a window hold no liquid, and most that do are away from solids: a row is looked at as a whole first.
"""

import numpy as np

from glug.geometry.kernels import cube_fraction, gather_corners
from glug.grids.kernels import any_of, moved
from glug.jit import kernel, prange

LEAST_THETA = 0.05
LOOSE = np.float32(1e-2)  # liquid fraction below which a face bears no shear


@kernel(parallel=True)
def solid_faces(axis, nodes, near, area, solid):
    """1 at faces of `axis` whose centre is inside a solid or nearer to it than `near`, or that are closed.

    With an empty `area` none is closed.
    """
    ni, nj, nk = solid.shape
    areas = area.size > 0
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                closed = areas and area[i, j, k] == np.float32(0.0)
                solid[i, j, k] = closed or face_distance(nodes, axis, i, j, k) <= near


@kernel(inline=True)
def any_positive(row):
    """Whether any sample of a row is positive."""
    found = np.int32(0)
    for k in range(np.uint64(row.size)):
        found |= np.int32(row[k] > np.float32(0.0))
    return found != 0


@kernel(inline=True)
def solids_near(s, i, j, upper):
    """Whether any face of row (i, j), of those before it or, with `upper` = 1, of those after it is solid."""
    found = any_of(s[i, j]) or any_of(s[i - 1, j]) or any_of(s[i, j - 1])
    return found or any_of(s[i + upper, j]) or any_of(s[i, j + upper])


@kernel(inline=True)
def face_distance(nodes, axis, i, j, k):
    """Solid distance at a face centre: the mean of its four corners."""
    q = np.float32(0.25)
    if axis == 0:
        return q * (nodes[i, j, k] + nodes[i, j + 1, k] + nodes[i, j, k + 1] + nodes[i, j + 1, k + 1])
    if axis == 1:
        return q * (nodes[i, j, k] + nodes[i + 1, j, k] + nodes[i, j, k + 1] + nodes[i + 1, j, k + 1])
    return q * (nodes[i, j, k] + nodes[i + 1, j, k] + nodes[i, j + 1, k] + nodes[i + 1, j + 1, k])


@kernel(inline=True)
def cut_distance(outside, inside):
    """Cells from a face to the wall, towards a face inside the solid; from their distances to it."""
    return min(max(outside / (outside - inside), LEAST_THETA), 1.0) if inside < 0.0 else 1.0


@kernel(inline=True)
def pair_distance(nodes, axis, s, a, b):
    """`cut_distance` between two faces of `axis` of which one is solid; 1 otherwise."""
    solid_a, solid_b = s[a] != 0, s[b] != 0
    if solid_a == solid_b:
        return 1.0
    da = np.float64(face_distance(nodes, axis, a[0], a[1], a[2]))
    db = np.float64(face_distance(nodes, axis, b[0], b[1], b[2]))
    return cut_distance(db, da) if solid_a else cut_distance(da, db)


@kernel(inline=True)
def shear_faces(axis, i, j, k):
    """The faces of the shear at the edge along `axis`: two of the next axis, two of the one after."""
    here = (i, j, k)
    return moved((axis + 2) % 3, -1, i, j, k), here, moved((axis + 1) % 3, -1, i, j, k), here


@kernel(inline=True)
def beside(axis, side, i, j, k):
    """The next face of `axis` on a side of the face (i, j, k).

    Sides 0 .. 5 are before and after along `axis`, along the next one and along the one after.
    """
    return moved((axis + side // 2) % 3, 2 * (side % 2) - 1, i, j, k)


@kernel(inline=True)
def sample_beside(axis, side, i, j, k):
    """Where the stress sample between these two is: among cells on sides 0 and 1, else among edges."""
    return moved((axis + side // 2) % 3, side % 2 - (side < 2), i, j, k)


@kernel(inline=True)
def loose(s, m, face):
    """Whether a face is neither solid nor has liquid of its own."""
    return s[face] == 0 and m[face] < LOOSE


@kernel(inline=True)
def hangs(axis, cell, shear_b, shear_c, face):
    """Whether only one stress sample acts on a face.

    `shear_b` are the edges crossed towards the next axis, `shear_c` towards the one after.
    """
    i, j, k = face
    count = 0
    for side in range(6):
        field = cell if side < 2 else (shear_b if side < 4 else shear_c)
        count += field[sample_beside(axis, side, i, j, k)] > np.float32(0.0)
        if count > 1:
            return False
    return count == 1


@kernel(parallel=True)
def mark_hanging(axis, cell, e, ma, mb, marked):
    """Mark the shear samples along `axis` from which two or more faces hang.

    Such faces give way together, so the sample carries no stress; it would only couple them stiffly.
    """
    ni, nj, nk = marked.shape
    first, second = (axis + 1) % 3, (axis + 2) % 3
    own, ea, eb = e[axis], e[first], e[second]
    half = np.float32(0.5)
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            for k in range(1, nk - 1 if any_positive(own[i, j]) else 1):
                if own[i, j, k] > np.float32(0.0):
                    a0, a1, b0, b1 = shear_faces(axis, i, j, k)
                    if min(min(ma[a0], ma[a1]), min(mb[b0], mb[b1])) < half:
                        count = hangs(first, cell, own, eb, a0) + hangs(first, cell, own, eb, a1)
                        count += hangs(second, cell, ea, own, b0) + hangs(second, cell, ea, own, b1)
                        marked[i, j, k] = count > 1


@kernel(parallel=True)
def clear_marked(marked, e):
    """Zero where something is marked."""
    ni, nj, nk = e.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk if any_of(marked[i, j]) else 0):
            if marked[i, j, k]:
                e[i, j, k] = np.float32(0.0)


@kernel(inline=True)
def solid_share(nodes, taken, i, j, k, kx, ky, kz, index, weight, corners):
    """The solid's share of a control volume, by the distance `nodes`; found once where `taken` keeps it."""
    keeps = taken.size > 0
    if keeps and taken[i, j, k] >= np.float32(0.0):
        return taken[i, j, k]
    gather_corners(nodes, i, j, k, kx, ky, kz, index, weight, corners)
    share = np.float32(cube_fraction(corners))
    if keeps:
        taken[i, j, k] = share
    return share


@kernel(parallel=True)
def cut_edges(axis, nodes, taken, sa, sb, ma, mb, e):
    """Drop the shear samples with a loose face, and take the solid's share out of those that touch one.

    `sa`, `sb` are the solid faces and `ma`, `mb` the masses of the two axes after `axis`. A share that is not in
    `taken` yet is found, and kept there, if that is not empty.
    """
    ni, nj, nk = e.shape
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        corners = np.empty(8, np.float64)
        index, weight = np.empty((3, 4), np.int64), np.empty((3, 4), np.float64)
        for j in range(1, nj - 1):
            if not any_positive(e[i, j]):
                continue
            for k in range(1 if nk > 2 else 0, nk - 1 if nk > 2 else nk):
                if not e[i, j, k] > np.float32(0.0):
                    continue
                a0, a1, b0, b1 = shear_faces(axis, i, j, k)
                if loose(sa, ma, a0) or loose(sa, ma, a1) or loose(sb, mb, b0) or loose(sb, mb, b1):
                    e[i, j, k] = np.float32(0.0)
                elif sa[a0] or sa[a1] or sb[b0] or sb[b1]:
                    x, y, z = axis == 0, axis == 1, axis == 2
                    e[i, j, k] *= np.float32(1.0) - solid_share(nodes, taken, i, j, k, x, y, z, index, weight, corners)


@kernel(parallel=True)
def couple(axis, stop_a, stop_b, sa, sb, e, f):
    """f = what couples the two components of the shear samples along `axis`.

    A row (u_b - u_a) / theta_u + (v_b - v_a) / theta_v, where a wall stands theta away, couples u to v by
    e / (theta_u theta_v). `stop_a`, `stop_b` are the distances to what stops the two components.
    """
    ni, nj, nk = e.shape
    first, second = (axis + 1) % 3, (axis + 2) % 3
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            for k in range(np.uint64(1), np.uint64(nk - 1)):
                f[i, j, k] = e[i, j, k]
            if not any_positive(e[i, j]) or not (solids_near(sa, i, j, 0) or solids_near(sb, i, j, 0)):
                continue
            for k in range(1, nk - 1):
                c = e[i, j, k]
                a0, a1, b0, b1 = shear_faces(axis, i, j, k)
                if c > np.float32(0.0) and (sa[a0] or sa[a1] or sb[b0] or sb[b1]):
                    thetas = pair_distance(stop_a, first, sa, a0, a1) * pair_distance(stop_b, second, sb, b0, b1)
                    f[i, j, k] = np.float32(c / thetas)


@kernel(parallel=True)
def cut_cells(dim, nodes, taken, s, m, cell):
    """Drop the cells both of whose faces along an axis are loose, and take the solid's share out of the others.

    A share that is not in `taken` yet is found, and kept there, if that is not empty.
    """
    ni, nj, nk = cell.shape
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        corners = np.empty(8, np.float64)
        index, weight = np.empty((3, 4), np.int64), np.empty((3, 4), np.float64)
        for j in range(1, nj - 1):
            if not any_positive(cell[i, j]):
                continue
            for k in range(1 if nk > 2 else 0, nk - 1 if nk > 2 else nk):
                if not cell[i, j, k] > np.float32(0.0):
                    continue
                here = (i, j, k)
                hangs = loose(s[0], m[0], here) and loose(s[0], m[0], (i + 1, j, k))
                hangs = hangs or (loose(s[1], m[1], here) and loose(s[1], m[1], (i, j + 1, k)))
                hangs = hangs or (dim == 3 and loose(s[2], m[2], here) and loose(s[2], m[2], (i, j, k + 1)))
                if hangs:
                    cell[i, j, k] = np.float32(0.0)
                elif touches_solid(s[0], s[1], s[2], i, j, k):
                    share = solid_share(nodes, taken, i, j, k, 1, 1, 1, index, weight, corners)
                    cell[i, j, k] *= np.float32(1.0) - share


@kernel(parallel=True)
def choose_unknowns(axis, cell, s, least, m):
    """At least `least` at the faces of `axis` between cells of which one has stress; zero at others with less."""
    ni, nj, nk = m.shape
    di, dj, dk = np.uint64(axis == 0), np.uint64(axis == 1), np.uint64(axis == 2)
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.uint64(slab)
        for j in range(np.uint64(nj)):
            inside = di <= i < np.uint64(ni) - di and dj <= j < np.uint64(nj) - dj
            first, last = (dk, np.uint64(nk) - dk) if inside else (np.uint64(nk), np.uint64(nk))
            for k in range(first, last):
                strained = max(cell[i, j, k], cell[i - di, j - dj, k - dk]) > zero and s[i, j, k] == 0
                m[i, j, k] = max(m[i, j, k], least) if strained else m[i, j, k]
            for k in range(np.uint64(nk)):
                m[i, j, k] = zero if m[i, j, k] < least else m[i, j, k]


@kernel(parallel=True)
def hold_by_walls(axis, nodes, s, cell, shear_b, shear_c, m):
    """Add to the unknown faces of `axis` what a wall theta away holds more than a face one cell away.

    That is k (1 / theta^2 - 1). `shear_b` are the edges crossed towards the next axis, `shear_c` towards the one
    after.
    """
    ni, nj, nk = cell.shape
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            if not any_positive(m[i, j]) or not solids_near(s, i, j, 1):
                continue
            for k in range(1, nk - 1):
                if not m[i, j, k] > np.float32(0.0):
                    continue
                total = 0.0
                for side in range(6):
                    there = beside(axis, side, i, j, k)
                    if s[there]:
                        field = cell if side < 2 else (shear_b if side < 4 else shear_c)
                        c = field[sample_beside(axis, side, i, j, k)]
                        theta = pair_distance(nodes, axis, s, (i, j, k), there)
                        total += np.float64(c) * (1.0 / (theta * theta) - 1.0)
                m[i, j, k] += np.float32(total)


@kernel(inline=True)
def difference(axis, begin, a, b, s, velocity, moving, nodes, row, slot, index, weight):
    """Add (value at face b - value at face a) to strain row `row`; returns the part that is known.

    A face inside a solid has a known value; the difference to it is taken at the wall, theta cells away
    (`weight` is 1 / theta). `begin` is the number of the axis' first face.
    """
    solid_a, solid_b = s[a] != 0, s[b] != 0
    va = np.float64(velocity[a]) if moving else 0.0
    vb = np.float64(velocity[b]) if moving else 0.0
    stride_i, stride_j = np.int64(s.shape[1] * s.shape[2]), np.int64(s.shape[2])
    ia = begin + a[0] * stride_i + a[1] * stride_j + a[2]
    ib = begin + b[0] * stride_i + b[1] * stride_j + b[2]
    if solid_a and solid_b:
        return vb - va
    if not solid_a and not solid_b:
        index[row, slot], weight[row, slot] = ia, -1.0
        index[row, slot + 1], weight[row, slot + 1] = ib, 1.0
        return 0.0
    da = np.float64(face_distance(nodes, axis, a[0], a[1], a[2]))
    db = np.float64(face_distance(nodes, axis, b[0], b[1], b[2]))
    if solid_b:
        theta = cut_distance(da, db)
        index[row, slot], weight[row, slot] = ia, -1.0 / theta
        return (va + theta * (vb - va)) / theta
    theta = cut_distance(db, da)
    index[row, slot], weight[row, slot] = ib, 1.0 / theta
    return -(vb + theta * (va - vb)) / theta


@kernel(inline=True)
def touches_solid(s0, s1, s2, i, j, k):
    """Whether any face of a cell is solid. In 2D the faces along z are closed everywhere and do not count."""
    flat = s2.shape[2] == 2
    deep = not flat and (s2[i, j, k] or s2[i, j, k + 1])
    return deep or s0[i, j, k] or s0[i + 1, j, k] or s1[i, j, k] or s1[i, j + 1, k]


@kernel
def strain_rows(
    differences, begins, box, coefficient, stop, s, velocity, moving, every, index, weight, known, stiffness
):
    """Strain rows of the samples of one kind in a box that touch a solid face (of all samples when `every`).

    `differences` (`grids.strain_stencil`) are rows of integers: the axis, and the steps to its lower and upper face. A
    row is up to two faces per difference (`index`, through all axes, whose faces are numbered from `begins` on, and
    `weight`), what is `known` of it, and its stiffness. Returns the number of rows; with empty outputs it only counts.
    Cut distances are those to `stop`, per axis.
    """
    shear = differences.shape[0] == 2
    first, ai, aj, ak, aI, aJ, aK = differences[0]
    second, bi, bj, bk, bI, bJ, bK = differences[-1]
    sa, va, stop_a, begin_a = s[first], velocity[first], stop[first], begins[first]
    sb, vb, stop_b, begin_b = s[second], velocity[second], stop[second], begins[second]
    ni, nj, nk = coefficient.shape
    size = index.shape[0]
    rows = 0
    for i in range(max(box[0, 0], 1), min(box[0, 1], ni - 1)):
        for j in range(max(box[1, 0], 1), min(box[1, 1], nj - 1)):
            for k in range(max(box[2, 0], 1 if nk > 2 else 0), min(box[2, 1], nk - 1 if nk > 2 else nk)):
                c = coefficient[i, j, k]
                if not c > 0.0:
                    continue
                a0, a1 = (i + ai, j + aj, k + ak), (i + aI, j + aJ, k + aK)
                b0, b1 = (i + bi, j + bj, k + bk), (i + bI, j + bJ, k + bK)
                touched = sa[a0] or sa[a1] or sb[b0] or sb[b1] if shear else touches_solid(s[0], s[1], s[2], i, j, k)
                if not (touched or every):
                    continue
                if size > 0:
                    stiffness[rows] = c
                    part = difference(first, begin_a, a0, a1, sa, va, moving, stop_a, rows, 0, index, weight)
                    if shear:
                        part += difference(second, begin_b, b0, b1, sb, vb, moving, stop_b, rows, 2, index, weight)
                    known[rows] = part
                rows += 1
    return rows


@kernel(parallel=True)
def loosen_edges(axis, freed, sa, sb, e):
    """Drop the shear samples along `axis` between a freed cell and a solid face, in place.

    `sa`, `sb` are the solid faces of the two axes after `axis`.
    """
    ni, nj, nk = e.shape
    flat = freed.shape[2] == 1
    di, dj, dk = axis != 0, axis != 1, axis != 2 and not flat
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            for k in range(0 if flat else 1, nk if flat else nk - 1):
                if not e[i, j, k] > np.float32(0.0):
                    continue
                opens = False
                for a in range(i - di, i + 1):
                    for b in range(j - dj, j + 1):
                        for c in range(k - dk, k + 1):
                            opens = opens or freed[a, b, c] != 0
                if opens:
                    a0, a1, b0, b1 = shear_faces(axis, i, j, k)
                    if sa[a0] or sa[a1] or sb[b0] or sb[b1]:
                        e[i, j, k] = np.float32(0.0)
