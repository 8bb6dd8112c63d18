"""Kernels of the velocity between the faces: vectors of cells and vertices, and what is in between.

A vector field has three columns; in 2D the last is zero.
"""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.02  # least determinant of the mean of n n', over that of directions spread evenly
INSIDE = -1e-9
MOST_STEPS = 4000  # of a walk


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
def fit_cells(start, face, normal, u, used, vector, known):
    """The vector of every cell that fits n . U = u best over its used faces; known where these fix it."""
    dim = normal.shape[1]
    for c in prange(len(start) - 1):
        s, r, out = np.zeros(6), np.zeros(3), np.zeros(3)
        count = 0
        for o in range(start[c], start[c + 1]):
            f = face[o]
            if not used[f]:
                continue
            count += 1
            for a in range(dim):
                r[a] += normal[f, a] * u[f]
                s[a] += normal[f, a] * normal[f, a]
                if dim == 3 or a == 0:
                    s[3 + a] += normal[f, a] * normal[f, (a + 1) % dim]
        spread = (count / dim) ** dim if count > 0 else 1.0
        known[c] = solve_symmetric(s, r, dim, out) > RANK * spread
        for a in range(3):
            vector[c, a] = out[a] if known[c] else 0.0


@kernel(parallel=True)
def vertex_means(start, around, cell_of, volume, vector, known, at_vertex, found):
    """The mean of the known cells around every vertex, weighted by the volumes of simplices."""
    for v in prange(len(start) - 1):
        total, x, y, z = 0.0, 0.0, 0.0, 0.0
        for o in range(start[v], start[v + 1]):
            t = around[o]
            c = cell_of[t]
            if known[c]:
                total += volume[t]
                x += volume[t] * vector[c, 0]
                y += volume[t] * vector[c, 1]
                z += volume[t] * vector[c, 2]
        found[v] = total > 0.0
        if found[v]:
            at_vertex[v, 0], at_vertex[v, 1], at_vertex[v, 2] = x / total, y / total, z / total


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
    dim = points.shape[1]
    e, d = np.empty((3, 3)), np.empty(3)
    for k in range(dim):
        d[k] = p[k] - points[corners[0], k]
        for a in range(dim):
            e[k, a] = points[corners[k + 1], a] - points[corners[0], a]
    if dim == 2:
        det = e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0]
        part[1] = (d[0] * e[1, 1] - d[1] * e[1, 0]) / det
        part[2] = (e[0, 0] * d[1] - e[0, 1] * d[0]) / det
        part[0] = 1.0 - part[1] - part[2]
        return
    det = 0.0
    part[1] = part[2] = part[3] = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        cross = e[1, b] * e[2, c] - e[1, c] * e[2, b]
        det += e[0, a] * cross
        part[1] += d[a] * cross
        part[2] += d[a] * (e[2, b] * e[0, c] - e[2, c] * e[0, b])
        part[3] += d[a] * (e[0, b] * e[1, c] - e[0, c] * e[1, b])
    for k in range(1, 4):
        part[k] /= det
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
def between(corners, t, part, face_of, at_vertex, at_face, vector, cell, out):
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
    add_to(out, k * part[low], vector[cell])
    f = face_of[t, low]
    if f >= 0:
        add_to(out, (k - 1) * (part[second] - part[low]), at_face[f])
    else:
        add_to(out, (k - 1) * (part[second] - part[low]), vector[cell])
    for i in range(k):
        if i != low and i != second:
            add_to(out, part[i] - part[second], at_vertex[corners[t, i]])


@kernel(parallel=True)
def face_vectors(beside, normal, u, used, vector, out):
    """The mean of the two cells of a face, with the face's own velocity along its normal where it is used."""
    dim = normal.shape[1]
    for f in prange(beside.shape[1]):
        along = 0.0
        for a in range(3):
            out[f, a] = 0.5 * (vector[beside[0, f], a] + vector[beside[1, f], a])
        if used[f]:
            for a in range(dim):
                along += normal[f, a] * out[f, a]
            for a in range(dim):
                out[f, a] += (u[f] - along) * normal[f, a]


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
    at_vertex,
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
        p, part, value = np.zeros(3), np.empty(4), np.empty(3)
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
                between(corners, last, part, face_of, at_vertex, at_face, vector, cell_of[last], value)
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
