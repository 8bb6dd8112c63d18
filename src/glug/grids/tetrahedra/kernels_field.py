"""Kernels of the velocity between the faces: vectors of cells and vertices, and what is in between.

A vector field has three columns; in 2D the last is zero.
"""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.02  # least determinant of the mean of n n', over that of directions spread evenly
INSIDE = -1e-9
MOST_STEPS = 4000  # of a walk
RUN = 1024  # cells, vertices or faces that share scratch memory


@kernel(inline=True)
def solve_symmetric(s, r, dim, out):
    """out = s^-1 r for a symmetric s given as (xx, yy, zz, xy, yz, zx); its determinant."""
    if dim == 2:
        det = s[0] * s[1] - s[3] * s[3]
        if det > 0.0:
            out[0] = (s[1] * r[0] - s[3] * r[1]) / det
            out[1] = (s[0] * r[1] - s[3] * r[0]) / det
        return det
    c0, c1, c2 = s[1] * s[2] - s[4] * s[4], s[4] * s[5] - s[3] * s[2], s[3] * s[4] - s[1] * s[5]
    det = s[0] * c0 + s[3] * c1 + s[5] * c2
    if det > 0.0:
        c3, c4, c5 = s[0] * s[2] - s[5] * s[5], s[3] * s[5] - s[0] * s[4], s[0] * s[1] - s[3] * s[3]
        out[0] = (c0 * r[0] + c1 * r[1] + c2 * r[2]) / det
        out[1] = (c1 * r[0] + c3 * r[1] + c4 * r[2]) / det
        out[2] = (c2 * r[0] + c4 * r[1] + c5 * r[2]) / det
    return det


@kernel(parallel=True)
def fit_cells(start, face, beside, normal, u, bend, used, vector, known):
    """The vector of every cell that fits n . U = u - bend best over its used faces; known where these fix it.

    `bend` (2, faces) is by how much the velocity along n differs at the face from that at the pressures of its cells.
    """
    dim = normal.shape[1]
    cells = len(start) - 1
    for run in prange((cells + RUN - 1) // RUN):
        s, r, out = np.empty(6), np.empty(3), np.empty(3)
        for c in range(run * RUN, min(cells, (run + 1) * RUN)):
            s[:], r[:], out[:] = 0.0, 0.0, 0.0
            count = 0
            for o in range(start[c], start[c + 1]):
                f = face[o]
                if not used[f]:
                    continue
                count += 1
                along = u[f] - (bend[0, f] if beside[0, f] == c else bend[1, f])
                for a in range(dim):
                    r[a] += normal[f, a] * along
                    s[a] += normal[f, a] * normal[f, a]
                    if dim == 3 or a == 0:
                        s[3 + a] += normal[f, a] * normal[f, (a + 1) % dim]
            spread = (count / dim) ** dim if count > 0 else 1.0
            known[c] = solve_symmetric(s, r, dim, out) > RANK * spread
            for a in range(3):
                vector[c, a] = out[a] if known[c] else 0.0


@kernel(inline=True)
def regress(points, v, around, first, last, cell_of, position, vector, mean, middle, scratch, out):
    """out = what the linear function that fits the cells around vertex v best has there; false if they are flat."""
    dim = points.shape[1]
    s, r, w, e = scratch[0], scratch[1:4], scratch[4], scratch[5]
    scratch[:] = 0.0
    size = 0.0
    for o in range(first, last):
        c = cell_of[around[o]]
        for a in range(dim):
            e[a] = position[c, a] - middle[a]
            size += e[a] * e[a]
        for a in range(dim):
            s[a] += e[a] * e[a]
            if dim == 3 or a == 0:
                s[3 + a] += e[a] * e[(a + 1) % dim]
            for b in range(dim):
                r[a, b] += e[a] * (vector[c, b] - mean[b])
    for a in range(dim):
        e[a] = points[v, a] - middle[a]
    if not solve_symmetric(s, e, dim, w) > RANK * (size / dim) ** dim:
        return False
    for b in range(3):
        out[b] = mean[b] + w[0] * r[0, b] + w[1] * r[1, b] + w[2] * r[2, b]
    return True


@kernel(parallel=True)
def vertex_means(points, start, around, cell_of, position, vector, known, fresh, at_vertex, found):
    """The vector of every vertex: of the linear function between the cells around it, or their mean at the border.

    The vector of a cell is at its pressure: there it is exact for rotations, whatever the cell's shape. What vertices
    have already stays unless all are to be `fresh`.
    """
    dim, vertices = points.shape[1], len(start) - 1
    for run in prange((vertices + RUN - 1) // RUN):
        mean, middle, out, scratch = np.empty(3), np.empty(3), np.empty(3), np.empty((6, 6))
        for v in range(run * RUN, min(vertices, (run + 1) * RUN)):
            if found[v] and not fresh:
                continue
            first, last, count = start[v], start[v + 1], 0
            mean[:], middle[:], out[:] = 0.0, 0.0, 0.0
            for o in range(first, last):
                c = cell_of[around[o]]
                if known[c]:
                    count += 1
                    for a in range(dim):
                        mean[a] += vector[c, a]
                        middle[a] += position[c, a]
            found[v] = count > 0
            if count == 0:
                continue
            for a in range(3):
                mean[a] /= count
                middle[a] /= count
                at_vertex[v, a] = mean[a]
            if count == last - first and regress(
                points, v, around, first, last, cell_of, position, vector, mean, middle, scratch, out
            ):
                for a in range(3):
                    at_vertex[v, a] = out[a]


@kernel(parallel=True)
def cell_means(start, members, corners, at_vertex, found, vector, known, now):
    """Cells that are not known take the mean of the vertices that are, of all their simplices."""
    for c in prange(len(start) - 1):
        now[c] = known[c]
        if known[c]:
            continue
        count, x, y, z = 0, 0.0, 0.0, 0.0
        for o in range(start[c], start[c + 1]):
            for k in range(corners.shape[1]):
                v = corners[members[o], k]
                if found[v]:
                    count += 1
                    x += at_vertex[v, 0]
                    y += at_vertex[v, 1]
                    z += at_vertex[v, 2]
        if count > 0:
            now[c] = True
            vector[c, 0], vector[c, 1], vector[c, 2] = x / count, y / count, z / count


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
    az, bz, pz = points[corners[1], 2] - points[o, 2], points[corners[2], 2] - points[o, 2], p[2] - points[o, 2]
    cx, cy = points[corners[3], 0] - points[o, 0], points[corners[3], 1] - points[o, 1]
    cz = points[corners[3], 2] - points[o, 2]
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    det = ax * ux + ay * uy + az * uz
    part[1] = (px * ux + py * uy + pz * uz) / det
    part[2] = (px * (cy * az - cz * ay) + py * (cz * ax - cx * az) + pz * (cx * ay - cy * ax)) / det
    part[3] = (px * (ay * bz - az * by) + py * (az * bx - ax * bz) + pz * (ax * by - ay * bx)) / det
    part[0] = 1.0 - part[1] - part[2] - part[3]


@kernel(parallel=True)
def centre_parts(points, corners, cell_of, position, out):
    """The barycentric coordinates of its cell's pressure in every simplex."""
    for t in prange(corners.shape[0]):
        parts_of(points, corners[t], position[cell_of[t]], out[t])


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
def shift_to(corners, t, centre, at_vertex, found, part, sign, out):
    """Add to out what the linear function of a simplex's vertices changes by from its pressure to `part`, times `sign`.

    `centre` has the coordinates of the pressure. Nothing where a vertex has no vector.
    """
    k = corners.shape[1]
    for i in range(k):
        if not found[corners[t, i]]:
            return
    for i in range(k):
        add_to(out, sign * (part[i] - centre[t, i]), at_vertex[corners[t, i]])


@kernel(inline=True)
def between(corners, t, part, face_of, centre, at_vertex, found, at_face, vector, cell, middle, out):
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
    f = face_of[t, low]
    inner = k * part[low]
    if f >= 0:
        add_to(out, (k - 1) * (part[second] - part[low]), at_face[f])
    else:  # inside a cell: both from its own vector
        weight = (k - 1) * (part[second] - part[low])
        add_to(out, weight, vector[cell])
        for i in range(k):
            middle[i] = 0.0 if i == low else 1.0 / (k - 1)
        shift_to(corners, t, centre, at_vertex, found, middle, weight, out)
    add_to(out, inner, vector[cell])
    for i in range(k):
        middle[i] = 1.0 / k
    shift_to(corners, t, centre, at_vertex, found, middle, inner, out)
    for i in range(k):
        if i != low and i != second:
            add_to(out, part[i] - part[second], at_vertex[corners[t, i]])


@kernel(parallel=True)
def bend_of_faces(points, corners, across, side, cell_of, centre, face_position, normal, at_vertex, found, bend):
    """bend = n . (what the linear function of the vertices changes by from the pressure to the face), on both sides."""
    dim = normal.shape[1]
    faces = side.shape[1]
    for run in prange((faces + RUN - 1) // RUN):
        part, out = np.empty(4), np.empty(3)
        for f in range(run * RUN, min(faces, (run + 1) * RUN)):
            for which in range(2):
                t = side[0, f] if which == 0 else across[side[0, f], side[1, f]]
                out[0] = out[1] = out[2] = 0.0
                parts_of(points, corners[t], face_position[f], part)
                shift_to(corners, t, centre, at_vertex, found, part, 1.0, out)
                along = 0.0
                for a in range(dim):
                    along += normal[f, a] * out[a]
                bend[which, f] = along


@kernel(parallel=True)
def face_vectors(
    points, corners, across, side, cell_of, centre, face_position, normal, u, used, at_vertex, found, vector, out
):
    """The vector in the middle of every face: the mean of what its two cells have there.

    Where the face is used, with its own velocity along its normal, at the place of the velocity.
    """
    dim = normal.shape[1]
    faces = side.shape[1]
    for run in prange((faces + RUN - 1) // RUN):
        part, there = np.empty(4), np.empty(3)
        for f in range(run * RUN, min(faces, (run + 1) * RUN)):
            there[:] = 0.0
            out[f, 0] = out[f, 1] = out[f, 2] = 0.0
            for which in range(2):
                t = side[0, f] if which == 0 else across[side[0, f], side[1, f]]
                cell = cell_of[t]
                add_to(there, 0.5, vector[cell])
                add_to(out[f], 0.5, vector[cell])
                parts_of(points, corners[t], face_position[f], part)
                shift_to(corners, t, centre, at_vertex, found, part, 0.5, there)
                for k in range(dim + 1):
                    opposite = k == side[1, f] if which == 0 else across[t, k] == side[0, f]
                    part[k] = 0.0 if opposite else 1.0 / dim
                shift_to(corners, t, centre, at_vertex, found, part, 0.5, out[f])
            if used[f]:
                along = u[f]
                for a in range(dim):
                    along -= normal[f, a] * there[a]
                for a in range(dim):
                    out[f, a] += along * normal[f, a]


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
    centre,
    at_vertex,
    found,
    at_face,
    vector,
    trusted,
    origin,
    dx,
    axis,
    mask,
    out,
):
    """out = a component of the field at the samples of a lattice from `origin` on, where `mask` is set."""
    dim = points.shape[1]
    for i in prange(out.shape[0]):
        p, part, middle, value = np.zeros(3), np.empty(4), np.empty(4), np.empty(3)
        last = -1
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                if not mask[i, j, k]:
                    continue
                p[0], p[1], p[2] = origin[0] + dx * i, origin[1] + dx * j, origin[2] + dx * k
                if last < 0:
                    last = seed_of(seeds, corner, width, p, dim)
                last = walk(points, corners, across, last, p, part)
                if not trusted[cell_of[last]]:
                    continue
                cell = cell_of[last]
                between(corners, last, part, face_of, centre, at_vertex, found, at_face, vector, cell, middle, value)
                out[i, j, k] = value[axis]


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
