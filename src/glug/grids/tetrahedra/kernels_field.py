"""Kernels of the velocity between the faces: vectors of cells and vertices, and what is in between.

A vector field has three columns; in 2D the last is zero.
"""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.02  # least determinant of the mean of n n', over that of directions spread evenly
INSIDE = -1e-9
MOST_STEPS = 4000  # of a walk
HALF, ONE, TWO = 0.5, np.uint64(1), np.uint64(2)
ROWS = np.uint64(0), np.uint64(3), np.uint64(6)  # of a gradient, where they begin


@kernel(inline=True)
def inverse_of(sxx, syy, szz, sxy, syz, szx):
    """The cofactors of a symmetric matrix (xx, yy, zz, xy, yz, zx), and its determinant."""
    cxx, cxy, czx = syy * szz - syz * syz, syz * szx - sxy * szz, sxy * syz - syy * szx
    det = sxx * cxx + sxy * cxy + szx * czx
    return (cxx, sxx * szz - szx * szx, sxx * syy - sxy * sxy, cxy, sxy * szx - sxx * syz, czx, det)


@kernel(inline=True)
def bent(gradient, t, x, y, z, nx, ny, nz):
    """n . G d for the gradient G of simplex t and the way d = (x, y, z)."""
    return (
        nx * (gradient[t, 0] * x + gradient[t, 1] * y + gradient[t, 2] * z)
        + ny * (gradient[t, 3] * x + gradient[t, 4] * y + gradient[t, 5] * z)
        + nz * (gradient[t, 6] * x + gradient[t, 7] * y + gradient[t, 8] * z)
    )


@kernel(parallel=True)
def fit_cells(start, face, beside, simplex, normal, face_position, position, u, used, gradient, vector, known):
    """The vector of every cell, at its pressure, that fits n . (U + G d) = u best over its used faces.

    d is the way from the pressure to the velocity of the face, G the gradient of the face's simplex in the cell, of
    which there may be none (0 rows): then it is found out where faces fix a vector, known.
    """
    dim, bends = normal.shape[1], len(gradient) > 0
    for c in prange(len(start) - 1):
        if bends and not known[c]:
            continue
        count, nz, dz = 0, 0.0, 0.0
        sxx = syy = sxy = syz = szx = rx = ry = rz = 0.0
        szz = 1.0 if dim == 2 else 0.0
        for o in range(start[c], start[c + 1]):
            f = np.uint64(face[o])
            if not used[f]:
                continue
            count += 1
            nx, ny, along = normal[f, 0], normal[f, 1], u[f]
            if dim == 3:
                nz = normal[f, 2]
            if bends:
                t = np.uint64(simplex[0, f] if beside[0, f] == c else simplex[1, f])
                if dim == 3:
                    dz = face_position[f, 2] - position[c, 2]
                dx, dy = (face_position[f, 0] - position[c, 0], face_position[f, 1] - position[c, 1])
                along -= bent(gradient, t, dx, dy, dz, nx, ny, nz)
            sxx, syy, szz = sxx + nx * nx, syy + ny * ny, szz + nz * nz
            sxy, syz, szx = sxy + nx * ny, syz + ny * nz, szx + nz * nx
            rx, ry, rz = rx + nx * along, ry + ny * along, rz + nz * along
        known[c] = False
        if count < dim:
            continue
        cxx, cyy, czz, cxy, cyz, czx, det = inverse_of(sxx, syy, szz, sxy, syz, szx)
        share = count / dim
        if det > RANK * (share * share if dim == 2 else share * share * share):
            known[c] = True
            vector[c, 0] = (cxx * rx + cxy * ry + czx * rz) / det
            vector[c, 1] = (cxy * rx + cyy * ry + cyz * rz) / det
            vector[c, 2] = (czx * rx + cyz * ry + czz * rz) / det


@kernel(parallel=True)
def vertex_weights(points, start, cells, position, weight):
    """What the linear function that fits the cells around a vertex best has there, as a sum over their values.

    Their mean where they are flat.
    """
    dim = points.shape[1]
    for v in prange(len(start) - 1):
        first, last, mx, my, mz, ez = start[v], start[v + 1], 0.0, 0.0, 0.0, 0.0
        if first == last:
            continue
        each = 1.0 / (last - first)
        for o in range(first, last):
            c = cells[o]
            mx, my = mx + each * position[c, 0], my + each * position[c, 1]
            if dim == 3:
                mz += each * position[c, 2]
        sxx = syy = szz = sxy = syz = szx = 0.0
        for o in range(first, last):
            c = cells[o]
            ex, ey = position[c, 0] - mx, position[c, 1] - my
            if dim == 3:
                ez = position[c, 2] - mz
            sxx, syy, szz = sxx + ex * ex, syy + ey * ey, szz + ez * ez
            sxy, syz, szx = sxy + ex * ey, syz + ey * ez, szx + ez * ex
        size = (sxx + syy + szz) / dim
        if dim == 2:
            szz = size
        cxx, cyy, czz, cxy, cyz, czx, det = inverse_of(sxx, syy, szz, sxy, syz, szx)
        flat = not det > RANK * size * size * size
        x, y = points[v, 0] - mx, points[v, 1] - my
        z = points[v, 2] - mz if dim == 3 else 0.0
        wx, wy, wz = (cxx * x + cxy * y + czx * z, cxy * x + cyy * y + cyz * z, czx * x + cyz * y + czz * z)
        for o in range(first, last):
            c = cells[o]
            if dim == 3:
                ez = position[c, 2] - mz
            slope = wx * (position[c, 0] - mx) + wy * (position[c, 1] - my) + wz * ez
            weight[o] = each if flat else each + slope / det


@kernel(parallel=True)
def vertex_means(start, cells, weight, vector, known, wanted, at_vertex, found, near):
    """The vector of every wanted vertex: of the linear function between cells around it, or their mean at the border.

    The vector of a cell is at its pressure: there it is exact for rotations, whatever the cell's shape. `near` is set
    for cells around vertices at the border: those that may take a mean of vertices.
    """
    for v in prange(len(start) - 1):
        if not wanted[v]:
            continue
        first, last, count = start[v], start[v + 1], 0
        x = y = z = mx = my = mz = 0.0
        for o in range(first, last):
            c = np.uint64(cells[o])
            if known[c]:
                w, count = weight[o], count + 1
                a, b, d = vector[c, 0], vector[c, 1], vector[c, 2]
                x, y, z = x + w * a, y + w * b, z + w * d
                mx, my, mz = mx + a, my + b, mz + d
        found[v] = count > 0
        if count == 0:
            continue
        if count < last - first:
            each = 1.0 / count
            x, y, z = each * mx, each * my, each * mz
            for o in range(first, last):
                near[np.uint64(cells[o])] = True
        at_vertex[v, 0], at_vertex[v, 1], at_vertex[v, 2] = x, y, z


@kernel(parallel=True)
def gradients(points, corners, at_vertex, found, gradient):
    """The gradient (rows of components) of the linear function between a simplex's vertices, if all have a vector."""
    dim = points.shape[1]
    for t in prange(corners.shape[0]):
        i, j, k = np.uint64(corners[t, 0]), np.uint64(corners[t, 1]), np.uint64(corners[t, 2])
        n = np.uint64(corners[t, 3]) if dim == 3 else i
        if not (found[i] and found[j] and found[k] and found[n]):
            continue
        ax, ay, az = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], 0.0
        bx, by, bz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], 0.0
        cx, cy, cz = 0.0, 0.0, 1.0
        if dim == 3:
            az, bz = points[j, 2] - points[i, 2], points[k, 2] - points[i, 2]
            cx, cy, cz = (points[n, 0] - points[i, 0], points[n, 1] - points[i, 1], points[n, 2] - points[i, 2])
        px, py, pz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        qx, qy, qz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
        rx, ry, rz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        each = 1.0 / (ax * px + ay * py + az * pz)
        for b in range(3):
            first = at_vertex[i, b]
            p, q, r = (
                each * (at_vertex[j, b] - first),
                each * (at_vertex[k, b] - first),
                each * (at_vertex[n, b] - first),
            )
            gradient[t, 3 * b] = p * px + q * qx + r * rx
            gradient[t, 3 * b + 1] = p * py + q * qy + r * ry
            gradient[t, 3 * b + 2] = p * pz + q * qz + r * rz


@kernel(parallel=True)
def cell_means(start, members, corners, at_vertex, found, near, vector, known, reached):
    """Cells `near` the border that are not known take the mean of the vertices that are, of all their simplices.

    `reached` is set at their other vertices.
    """
    for c in prange(len(start) - 1):
        if known[c] or not near[c]:
            continue
        count, x, y, z = 0, 0.0, 0.0, 0.0
        for o in range(start[c], start[c + 1]):
            for k in range(corners.shape[1]):
                v = np.uint64(corners[members[o], k])
                if found[v]:
                    count, x, y, z = count + 1, x + at_vertex[v, 0], y + at_vertex[v, 1], z + at_vertex[v, 2]
                else:
                    reached[v] = True
        known[c] = True
        vector[c, 0], vector[c, 1], vector[c, 2] = x / count, y / count, z / count


@kernel(parallel=True)
def faces_of_simplices(across, side, found):
    """found = the number of a face in both of its simplices, at the corner opposite it; `side` has the first one."""
    for f in prange(side.shape[1]):
        first, corner = side[0, f], side[1, f]
        second = across[first, corner]
        found[first, corner] = f
        for k in range(across.shape[1]):
            if across[second, k] == first:
                found[second, k] = f


@kernel(inline=True)
def parts_of(points, corners, p, part):
    """Barycentric coordinates of p."""
    o = corners[0]
    ax, ay = points[corners[1], 0] - points[o, 0], points[corners[1], 1] - points[o, 1]
    bx, by = points[corners[2], 0] - points[o, 0], points[corners[2], 1] - points[o, 1]
    px, py = p[0] - points[o, 0], p[1] - points[o, 1]
    if points.shape[1] == 2:
        det = ax * by - ay * bx
        part[1], part[2] = (px * by - py * bx) / det, (ax * py - ay * px) / det
        part[0] = 1.0 - part[1] - part[2]
        return
    az, bz, pz = (points[corners[1], 2] - points[o, 2], points[corners[2], 2] - points[o, 2], p[2] - points[o, 2])
    cx, cy = points[corners[3], 0] - points[o, 0], points[corners[3], 1] - points[o, 1]
    cz = points[corners[3], 2] - points[o, 2]
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    det = ax * ux + ay * uy + az * uz
    part[1] = (px * ux + py * uy + pz * uz) / det
    part[2] = (px * (cy * az - cz * ay) + py * (cz * ax - cx * az) + pz * (cx * ay - cy * ax)) / det
    part[3] = (px * (ay * bz - az * by) + py * (az * bx - ax * bz) + pz * (ax * by - ay * bx)) / det
    part[0] = 1.0 - part[1] - part[2] - part[3]


@kernel(inline=True)
def walk(points, corners, across, t, p, part):
    """The simplex around p, from simplex t on; where the mesh ends, the last one before."""
    for _ in range(MOST_STEPS):
        parts_of(points, corners[t], p, part)
        least = 0
        for k in range(1, corners.shape[1]):
            if part[k] < part[least]:
                least = k
        if part[least] >= INSIDE:
            break
        if across[t, least] < 0:
            total = 0.0
            for k in range(corners.shape[1]):
                part[k] = max(part[k], 0.0)
                total += part[k]
            for k in range(corners.shape[1]):
                part[k] /= total
            break
        t = across[t, least]
    return t


@kernel
def seed_bins(points, corners, corner, width, bins):
    """bins = the last simplex whose middle is in every bin; where there is none, that of the bin before."""
    dim, k = points.shape[1], corners.shape[1]
    each = 1.0 / (k * width)
    at = np.zeros(3, np.int64)
    for t in range(corners.shape[0]):
        for a in range(dim):
            x = 0.0
            for i in range(k):
                x += points[corners[t, i], a] - corner[a]
            at[a] = min(max(int(each * x), 0), bins.shape[a] - 1)
        bins[at[0], at[1], at[2]] = t
    flat, last = bins.ravel(), 0
    for n in range(len(flat)):
        if flat[n] < 0:
            flat[n] = last
        last = flat[n]


@kernel(inline=True)
def seed_of(seeds, corner, width, p, dim):
    """A simplex near p."""
    at = np.zeros(3, np.int64)
    for a in range(dim):
        at[a] = min(max(int((p[a] - corner[a]) / width), 0), seeds.shape[a] - 1)
    return seeds[at[0], at[1], at[2]]


@kernel(parallel=True)
def locate(points, corners, across, seeds, corner, width, at, simplex):
    """The simplex around every point."""
    for n in prange(at.shape[0]):
        part = np.empty(4)
        t = seed_of(seeds, corner, width, at[n], points.shape[1])
        simplex[n] = walk(points, corners, across, t, at[n], part)


@kernel(inline=True)
def add_to(out, weight, row):
    for a in range(3):
        out[a] += weight * row[a]


@kernel(inline=True)
def add_there(points, corners, t, skip, weight, position, vector, gradient, cell, out):
    """Add what a cell has in the middle of its simplex t, or of the face opposite `skip` if that is not negative."""
    dim, k = points.shape[1], corners.shape[1]
    x = y = z = 0.0
    each = 1.0 / (k if skip < 0 else k - 1)
    for i in range(k):
        if i != skip:
            v = corners[t, i]
            x, y = x + each * points[v, 0], y + each * points[v, 1]
            if dim == 3:
                z += each * points[v, 2]
    x, y = x - position[cell, 0], y - position[cell, 1]
    if dim == 3:
        z -= position[cell, 2]
    for b in range(3):
        g = 3 * b
        out[b] += weight * (vector[cell, b] + gradient[t, g] * x + gradient[t, g + 1] * y + gradient[t, g + 2] * z)


@kernel(inline=True)
def between(points, corners, t, part, face_of, position, at_vertex, at_face, vector, gradient, cell, out):
    """Linear in the parts of a simplex between its middle, the middle of a face, and an edge of it."""
    k = corners.shape[1]
    low = 0
    for i in range(1, k):
        if part[i] < part[low]:
            low = i
    second = -1
    for i in range(k):
        if i != low and (second < 0 or part[i] < part[second]):
            second = i
    out[0] = out[1] = out[2] = 0.0
    f, weight = face_of[t, low], (k - 1) * (part[second] - part[low])
    if f >= 0:
        add_to(out, weight, at_face[f])
    else:  # inside a cell
        add_there(points, corners, t, low, weight, position, vector, gradient, cell, out)
    add_there(points, corners, t, -1, k * part[low], position, vector, gradient, cell, out)
    for i in range(k):
        if i != low and i != second:
            add_to(out, part[i] - part[second], at_vertex[corners[t, i]])


@kernel(inline=True)
def means_of_sides(gradient, s, t, row, ways, both):
    """Half of `both` and of what a row of two gradients adds on ways a and b to the middle of a face.

    And the same at the place of the face's velocity, which is f from its middle.
    """
    ax, ay, az, bx, by, bz, fx, fy, fz = ways
    gx, gy, gz = gradient[s, row], gradient[s, row + ONE], gradient[s, row + TWO]
    hx, hy, hz = gradient[t, row], gradient[t, row + ONE], gradient[t, row + TWO]
    there = HALF * (both + gx * ax + gy * ay + gz * az + hx * bx + hy * by + hz * bz)
    return there, there + HALF * ((gx + hx) * fx + (gy + hy) * fy + (gz + hz) * fz)


@kernel(parallel=True)
def face_vectors(points, ends, beside, simplex, normal, face_position, position, u, used, gradient, vector, known, out):
    """The vector in the middle of every face: the mean of what its two cells have there; none where both have none.

    Where the face is used, with its own velocity along its normal, at the place of the velocity.
    """
    dim = normal.shape[1]
    each = 1.0 / dim
    for f in prange(ends.shape[0]):
        c, e = np.uint64(beside[0, f]), np.uint64(beside[1, f])
        if not (known[c] or known[e]):
            continue
        mx = my = mz = 0.0
        for i in range(dim):
            v = np.uint64(ends[f, i])
            mx, my = mx + each * points[v, 0], my + each * points[v, 1]
            if dim == 3:
                mz += each * points[v, 2]
        ax, ay, az = mx - position[c, 0], my - position[c, 1], 0.0
        bx, by, bz = mx - position[e, 0], my - position[e, 1], 0.0
        nx, ny, nz = normal[f, 0], normal[f, 1], 0.0
        fx, fy, fz = face_position[f, 0] - mx, face_position[f, 1] - my, 0.0
        if dim == 3:
            az, bz = mz - position[c, 2], mz - position[e, 2]
            nz, fz = normal[f, 2], face_position[f, 2] - mz
        ways = ax, ay, az, bx, by, bz, fx, fy, fz
        s, t = np.uint64(simplex[0, f]), np.uint64(simplex[1, f])
        ox, px = means_of_sides(gradient, s, t, ROWS[0], ways, vector[c, 0] + vector[e, 0])
        oy, py = means_of_sides(gradient, s, t, ROWS[1], ways, vector[c, 1] + vector[e, 1])
        oz, pz = means_of_sides(gradient, s, t, ROWS[2], ways, vector[c, 2] + vector[e, 2])
        along = u[f] - (nx * px + ny * py + nz * pz) if used[f] else 0.0
        out[f, 0], out[f, 1], out[f, 2] = (ox + along * nx, oy + along * ny, oz + along * nz)


@kernel(parallel=True)
def sample_component(
    points,
    corners,
    across,
    seeds,
    corner,
    width,
    cell_of,
    face_of,
    position,
    at_vertex,
    at_face,
    vector,
    gradient,
    trusted,
    refined,
    origin,
    dx,
    axis,
    mask,
    out,
):
    """out = a component of the field at the samples of a lattice from `origin` on, where `mask` is set."""
    dim = points.shape[1]
    for i in prange(out.shape[0]):
        p, part, value = np.zeros(3), np.empty(4), np.empty(3)
        last = -1
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                if not mask[i, j, k]:
                    continue
                p[0], p[1], p[2] = (origin[0] + dx * i, origin[1] + dx * j, origin[2] + dx * k)
                if last < 0:
                    last = seed_of(seeds, corner, width, p, dim)
                last = walk(points, corners, across, last, p, part)
                cell = cell_of[last]
                if not trusted[cell]:
                    continue
                if refined:
                    between(
                        points,
                        corners,
                        last,
                        part,
                        face_of,
                        position,
                        at_vertex,
                        at_face,
                        vector,
                        gradient,
                        cell,
                        value,
                    )
                else:
                    linear_in(corners, last, part, at_vertex, value)
                out[i, j, k] = value[axis]


@kernel(parallel=True)
def sample_points(
    points,
    corners,
    across,
    seeds,
    corner,
    width,
    cell_of,
    face_of,
    position,
    at_vertex,
    at_face,
    vector,
    gradient,
    trusted,
    refined,
    at,
    out,
    known,
):
    """out = the field at points, known where the cell there is trusted."""
    dim = points.shape[1]
    for n in prange(at.shape[0]):
        part, value = np.empty(4), np.empty(3)
        t = walk(points, corners, across, seed_of(seeds, corner, width, at[n], dim), at[n], part)
        cell = cell_of[t]
        known[n] = trusted[cell]
        if not known[n]:
            continue
        if refined:
            between(points, corners, t, part, face_of, position, at_vertex, at_face, vector, gradient, cell, value)
        else:
            linear_in(corners, t, part, at_vertex, value)
        for a in range(dim):
            out[n, a] = value[a]


@kernel(inline=True)
def linear_in(corners, t, part, at_vertex, out):
    """The baseline: linear between the vertices of a simplex."""
    out[0] = out[1] = out[2] = 0.0
    for i in range(corners.shape[1]):
        add_to(out, part[i], at_vertex[corners[t, i]])


@kernel(parallel=True)
def linear_at(field, origin, dx, at, out):
    """out = a field on a regular lattice that begins at `origin`, at points; constant beyond its ends."""
    dim = at.shape[1]
    for n in prange(at.shape[0]):
        low, share = np.zeros(3, np.int64), np.zeros(3)
        for a in range(dim):
            x = (at[n, a] - origin[a]) / dx
            x = min(max(x, 0.0), field.shape[a] - 1.0)
            low[a] = min(int(x), max(field.shape[a] - 2, 0))
            share[a] = x - low[a]
        total = 0.0
        for corner in range(1 << dim):
            weight, i, j, k = 1.0, low[0], low[1], low[2]
            weight *= share[0] if corner & 1 else 1.0 - share[0]
            weight *= share[1] if corner & 2 else 1.0 - share[1]
            i += corner & 1
            j += (corner >> 1) & 1
            if dim == 3:
                weight *= share[2] if corner & 4 else 1.0 - share[2]
                k += corner >> 2
            if weight > 0.0:
                total += weight * field[i, j, k]
        out[n] = total
