"""Kernels of viscosity: the matrix-free operator, and the strain rows that a wall cuts.

Unknowns are faces, indexed like the cell above them. Coefficients are dimensionless: `cell` is
2 mu dt / (rho dx^2) times the liquid fraction of the cell, `ex, ey, ez` are mu dt / (rho dx^2) times that of the
edges along x, y, z (which carry the shear of the other two axes).
"""

import numpy as np

from glug.geometry.kernels import cube_fraction, gather_corners
from glug.grids.kernels import ONE, inner_range
from glug.jit import kernel, prange

LEAST_THETA = 0.05


@kernel(parallel=True)
def apply_viscosity(u, v, w, qu, qv, qw, gu, gv, gw, cell, ex, ey, ez, blocks, sums):
    """q = A u over active blocks, without the rows cut by walls; u . q per block (g is the diagonal)."""
    count = blocks.shape[0]
    zero = np.float32(0.0)
    for t in prange(count):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, cell.shape)
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                row = zero
                for k in range(k0, k1):
                    g = gu[i, j, k]
                    z0, z1, y0, y1 = ez[i, j, k], ez[i, j + ONE, k], ey[i, j, k], ey[i, j, k + ONE]
                    a = g * u[i, j, k] - cell[i, j, k] * u[i + ONE, j, k] - cell[i - ONE, j, k] * u[i - ONE, j, k]
                    a += z0 * (v[i, j, k] - v[i - ONE, j, k] - u[i, j - ONE, k])
                    a -= z1 * (v[i, j + ONE, k] - v[i - ONE, j + ONE, k] + u[i, j + ONE, k])
                    a += y0 * (w[i, j, k] - w[i - ONE, j, k] - u[i, j, k - ONE])
                    a -= y1 * (w[i, j, k + ONE] - w[i - ONE, j, k + ONE] + u[i, j, k + ONE])
                    a = a if g > zero else zero
                    qu[i, j, k] = a
                    row += a * u[i, j, k]
                for k in range(k0, k1):
                    g = gv[i, j, k]
                    z0, z1, x0, x1 = ez[i, j, k], ez[i + ONE, j, k], ex[i, j, k], ex[i, j, k + ONE]
                    a = g * v[i, j, k] - cell[i, j, k] * v[i, j + ONE, k] - cell[i, j - ONE, k] * v[i, j - ONE, k]
                    a += z0 * (u[i, j, k] - u[i, j - ONE, k] - v[i - ONE, j, k])
                    a -= z1 * (u[i + ONE, j, k] - u[i + ONE, j - ONE, k] + v[i + ONE, j, k])
                    a += x0 * (w[i, j, k] - w[i, j - ONE, k] - v[i, j, k - ONE])
                    a -= x1 * (w[i, j, k + ONE] - w[i, j - ONE, k + ONE] + v[i, j, k + ONE])
                    a = a if g > zero else zero
                    qv[i, j, k] = a
                    row += a * v[i, j, k]
                for k in range(k0, k1):
                    g = gw[i, j, k]
                    y0, y1, x0, x1 = ey[i, j, k], ey[i + ONE, j, k], ex[i, j, k], ex[i, j + ONE, k]
                    a = g * w[i, j, k] - cell[i, j, k] * w[i, j, k + ONE] - cell[i, j, k - ONE] * w[i, j, k - ONE]
                    a += y0 * (u[i, j, k] - u[i, j, k - ONE] - w[i - ONE, j, k])
                    a -= y1 * (u[i + ONE, j, k] - u[i + ONE, j, k - ONE] + w[i + ONE, j, k])
                    a += x0 * (v[i, j, k] - v[i, j, k - ONE] - w[i, j - ONE, k])
                    a -= x1 * (v[i, j + ONE, k] - v[i, j + ONE, k - ONE] + w[i, j + ONE, k])
                    a = a if g > zero else zero
                    qw[i, j, k] = a
                    row += a * w[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def viscosity_diagonal(mu, mv, mw, su, sv, sw, cell, ex, ey, ez, gu, gv, gw):
    """Matrix diagonal of the faces that are not solid (s = 0): mass and the coefficients around them."""
    ni, nj, nk = cell.shape
    zero = np.float32(0.0)
    for slab in prange(1, ni):
        i = np.int64(slab)
        for j in range(1, nj):
            for k in range(1, nk):
                z, y, x = ez[i, j, k], ey[i, j, k], ex[i, j, k]
                c = cell[i, j, k]
                a = mu[i, j, k] + c + cell[i - 1, j, k] + z + ez[i, j + 1, k] + y + ey[i, j, k + 1]
                gu[i, j, k] = zero if su[i, j, k] else a
                a = mv[i, j, k] + c + cell[i, j - 1, k] + z + ez[i + 1, j, k] + x + ex[i, j, k + 1]
                gv[i, j, k] = zero if sv[i, j, k] else a
                a = mw[i, j, k] + c + cell[i, j, k - 1] + y + ey[i + 1, j, k] + x + ex[i, j + 1, k]
                gw[i, j, k] = zero if sw[i, j, k] else a


@kernel(parallel=True)
def strain_energy_residual(b, x, r, g, cell, ex, ey, ez, blocks):
    """r = b - A x with a float64 x, evaluated in float64; without the rows cut by walls.

    The diagonal's mass part is g minus the coefficients around the face, so that rigid motions cancel before
    they are rounded.
    """
    u, v, w = x
    bu, bv, bw = b
    ru, rv, rw = r
    gu, gv, gw = g
    zero = np.float32(0.0)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, cell.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    c = np.float64(cell[i, j, k])
                    x0, y0, z0 = np.float64(ex[i, j, k]), np.float64(ey[i, j, k]), np.float64(ez[i, j, k])
                    if gu[i, j, k] > zero:
                        c0, z1, y1 = cell[i - ONE, j, k], ez[i, j + ONE, k], ey[i, j, k + ONE]
                        a = (np.float64(gu[i, j, k]) - c - c0 - z0 - z1 - y0 - y1) * u[i, j, k]
                        a += c * (u[i, j, k] - u[i + ONE, j, k]) + c0 * (u[i, j, k] - u[i - ONE, j, k])
                        a += z0 * (u[i, j, k] - u[i, j - ONE, k] + v[i, j, k] - v[i - ONE, j, k])
                        a -= z1 * (u[i, j + ONE, k] - u[i, j, k] + v[i, j + ONE, k] - v[i - ONE, j + ONE, k])
                        a += y0 * (u[i, j, k] - u[i, j, k - ONE] + w[i, j, k] - w[i - ONE, j, k])
                        a -= y1 * (u[i, j, k + ONE] - u[i, j, k] + w[i, j, k + ONE] - w[i - ONE, j, k + ONE])
                        ru[i, j, k] = bu[i, j, k] - a
                    if gv[i, j, k] > zero:
                        c0, z1, x1 = cell[i, j - ONE, k], ez[i + ONE, j, k], ex[i, j, k + ONE]
                        a = (np.float64(gv[i, j, k]) - c - c0 - z0 - z1 - x0 - x1) * v[i, j, k]
                        a += c * (v[i, j, k] - v[i, j + ONE, k]) + c0 * (v[i, j, k] - v[i, j - ONE, k])
                        a += z0 * (v[i, j, k] - v[i - ONE, j, k] + u[i, j, k] - u[i, j - ONE, k])
                        a -= z1 * (v[i + ONE, j, k] - v[i, j, k] + u[i + ONE, j, k] - u[i + ONE, j - ONE, k])
                        a += x0 * (v[i, j, k] - v[i, j, k - ONE] + w[i, j, k] - w[i, j - ONE, k])
                        a -= x1 * (v[i, j, k + ONE] - v[i, j, k] + w[i, j, k + ONE] - w[i, j - ONE, k + ONE])
                        rv[i, j, k] = bv[i, j, k] - a
                    if gw[i, j, k] > zero:
                        c0, y1, x1 = cell[i, j, k - ONE], ey[i + ONE, j, k], ex[i, j + ONE, k]
                        a = (np.float64(gw[i, j, k]) - c - c0 - y0 - y1 - x0 - x1) * w[i, j, k]
                        a += c * (w[i, j, k] - w[i, j, k + ONE]) + c0 * (w[i, j, k] - w[i, j, k - ONE])
                        a += y0 * (w[i, j, k] - w[i - ONE, j, k] + u[i, j, k] - u[i, j, k - ONE])
                        a -= y1 * (w[i + ONE, j, k] - w[i, j, k] + u[i + ONE, j, k] - u[i + ONE, j, k - ONE])
                        a += x0 * (w[i, j, k] - w[i, j - ONE, k] + v[i, j, k] - v[i, j, k - ONE])
                        a -= x1 * (w[i, j + ONE, k] - w[i, j, k] + v[i, j + ONE, k] - v[i, j + ONE, k - ONE])
                        rw[i, j, k] = bw[i, j, k] - a


@kernel(parallel=True)
def solid_faces(axis, nodes, near, area, solid):
    """1 at faces of `axis` whose centre is inside a solid or nearer to it than `near`, or that are closed."""
    ni, nj, nk = solid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                closed = area[i, j, k] == np.float32(0.0)
                solid[i, j, k] = closed or face_distance(nodes, axis, i, j, k) <= near


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
def difference(axis, a, b, s, velocity, moving, nodes, row, slot, index, weight):
    """Add (value at face b - value at face a) to strain row `row`; returns the part that is known.

    A face inside a solid has a known value; the difference to it is taken at the wall, theta cells away
    (`weight` is 1 / theta).
    """
    solid_a, solid_b = s[a] != 0, s[b] != 0
    va = np.float64(velocity[a]) if moving else 0.0
    vb = np.float64(velocity[b]) if moving else 0.0
    stride_i, stride_j = np.int64(s.shape[1] * s.shape[2]), np.int64(s.shape[2])
    ia = a[0] * stride_i + a[1] * stride_j + a[2]
    ib = b[0] * stride_i + b[1] * stride_j + b[2]
    if solid_a and solid_b:
        return vb - va
    if not solid_a and not solid_b:
        index[row, slot], weight[row, slot] = ia, -1.0
        index[row, slot + 1], weight[row, slot + 1] = ib, 1.0
        return 0.0
    da = np.float64(face_distance(nodes, axis, a[0], a[1], a[2]))
    db = np.float64(face_distance(nodes, axis, b[0], b[1], b[2]))
    if solid_b:
        theta = min(max(da / (da - db), LEAST_THETA), 1.0) if db < 0.0 else 1.0
        index[row, slot], weight[row, slot] = ia, -1.0 / theta
        return (va + theta * (vb - va)) / theta
    theta = min(max(db / (db - da), LEAST_THETA), 1.0) if da < 0.0 else 1.0
    index[row, slot], weight[row, slot] = ib, 1.0 / theta
    return -(vb + theta * (va - vb)) / theta


@kernel(inline=True)
def touches_solid(s0, s1, s2, i, j, k):
    """Whether any face of a cell is solid: then all three of its normal strains leave the stencil.

    In 2D the faces along z are closed everywhere and do not count.
    """
    flat = s2.shape[2] == 2
    deep = not flat and (s2[i, j, k] or s2[i, j, k + 1])
    return deep or s0[i, j, k] or s0[i + 1, j, k] or s1[i, j, k] or s1[i, j + 1, k]


@kernel
def strain_rows(
    kind,
    coefficient,
    nodes,
    stop0,
    stop1,
    stop2,
    s0,
    s1,
    s2,
    velocity0,
    velocity1,
    velocity2,
    moving,
    every,
    index,
    weight,
    known,
    stiffness,
    samples,
):
    """Strain rows of the samples of one kind that touch a solid face (of all samples when `every`).

    kind 0..2: shear at the edges along x, y, z; kind 3..5: normal strain at cells along x, y, z. A row is up to
    four faces (`index` into the raveled faces of an axis, `weight`), what is `known` of it, and its stiffness.
    Faces of the first two slots belong to the row's first axis, the others to its second. Returns the number of
    rows (numbered in `samples`); with empty outputs it only counts. Solid fractions (of `nodes`) scale the stiffness,
    so that a wall's cut distance (of `stop`, per axis) and the volume in front of it shrink together.
    """
    shear = kind < 3
    axis = kind % 3
    first, second = ((axis + 1) % 3, (axis + 2) % 3) if shear else (axis, axis)
    sa = s0 if first == 0 else (s1 if first == 1 else s2)
    sb = s0 if second == 0 else (s1 if second == 1 else s2)
    stop_a = stop0 if first == 0 else (stop1 if first == 1 else stop2)
    stop_b = stop0 if second == 0 else (stop1 if second == 1 else stop2)
    va = velocity0 if first == 0 else (velocity1 if first == 1 else velocity2)
    vb = velocity0 if second == 0 else (velocity1 if second == 1 else velocity2)
    kx = 1 if (not shear or axis == 0) else 0
    ky = 1 if (not shear or axis == 1) else 0
    kz = 1 if (not shear or axis == 2) else 0
    corners = np.empty(8, np.float64)
    taken, shares = np.empty((3, 4), np.int64), np.empty((3, 4), np.float64)
    ni, nj, nk = coefficient.shape
    low = np.zeros(3, np.int64)
    size = index.shape[0]
    rows = 0
    for i in range(1, ni - 1):
        for j in range(1, nj - 1):
            for k in range(1 if nk > 2 else 0, nk - 1 if nk > 2 else nk):
                c = coefficient[i, j, k]
                if not c > 0.0:
                    continue
                # First axis varies along the second's direction for shear, along itself for normal strain.
                low[0], low[1], low[2] = i, j, k
                if shear:
                    low[second] -= 1
                    a0, a1 = (low[0], low[1], low[2]), (i, j, k)
                    low[second] += 1
                    low[first] -= 1
                    b0, b1 = (low[0], low[1], low[2]), (i, j, k)
                    low[first] += 1
                    touched = sa[a0] or sa[a1] or sb[b0] or sb[b1]
                else:
                    low[axis] += 1
                    a0, a1 = (i, j, k), (low[0], low[1], low[2])
                    low[axis] -= 1
                    b0, b1 = a0, a1
                    touched = touches_solid(s0, s1, s2, i, j, k)
                if not (touched or every):
                    continue
                if size > 0:
                    gather_corners(nodes, i, j, k, kx, ky, kz, taken, shares, corners)
                    stiffness[rows] = c * (1.0 - cube_fraction(corners)) if touched else c
                    part = difference(first, a0, a1, sa, va, moving, stop_a, rows, 0, index, weight)
                    if shear:
                        part += difference(second, b0, b1, sb, vb, moving, stop_b, rows, 2, index, weight)
                    known[rows] = part
                    samples[rows] = (i * nj + j) * nk + k
                rows += 1
    return rows


@kernel(parallel=True)
def apply_rows(row_start, row_axis, row_index, column_axis, column_index, values, scale, u, v, w, qu, qv, qw, sums):
    """q += scale S u for the sparse rows of the faces next to walls; returns u . S u through `sums`."""
    count = row_start.size - 1
    chunk = (count + sums.size - 1) // sums.size
    for t in prange(sums.size):
        total = np.float64(0.0)
        for r in range(t * chunk, min((t + 1) * chunk, count)):
            a = np.float32(0.0)
            for e in range(row_start[r], row_start[r + 1]):
                c = column_axis[e]
                m = column_index[e]
                a += values[e] * (u[m] if c == 0 else (v[m] if c == 1 else w[m]))
            a *= scale
            c, m = row_axis[r], row_index[r]
            if c == 0:
                qu[m] += a
                total += np.float64(a * u[m])
            elif c == 1:
                qv[m] += a
                total += np.float64(a * v[m])
            else:
                qw[m] += a
                total += np.float64(a * w[m])
        sums[t] = total
