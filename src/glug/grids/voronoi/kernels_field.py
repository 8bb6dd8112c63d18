"""Kernels of the velocity between the faces of Voronoi cells: the vectors of vertices, sites and faces."""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.08  # least determinant of the mean of n n', over that of directions spread evenly
RUN = 256  # vertices or cells that share scratch memory


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
def fit_vertices(mesh, u, used, gradient, vector, known):
    """The vector of every vertex that fits the used faces around it best; known where these fix it.

    A face has n . U + n . G (its place - the vertex) = u, with the mean gradient G of the sites that meet there.
    """
    faces_at, normal, position, place, meeting = mesh
    dim, vertices = normal.shape[1], len(faces_at)
    for run in prange((vertices + RUN - 1) // RUN):
        s, r, out, slope = np.empty(6), np.empty(3), np.empty(3), np.empty((3, 3))
        for v in range(run * RUN, min(vertices, (run + 1) * RUN)):
            count = 0
            for k in range(faces_at.shape[1]):
                count += faces_at[v, k] >= 0 and used[faces_at[v, k]]
            known[v] = False
            for a in range(dim):
                vector[v, a] = 0.0
            if count < dim:
                continue
            s[:], r[:], slope[:] = 0.0, 0.0, 0.0
            for k in range(dim + 1):
                for a in range(dim):
                    for b in range(dim):
                        slope[a, b] += gradient[meeting[v, k], a, b]
            for k in range(faces_at.shape[1]):
                f = faces_at[v, k]
                if f < 0 or not used[f]:
                    continue
                along = 0.0
                for a in range(dim):
                    for b in range(dim):
                        along += normal[f, a] * slope[a, b] * (position[f, b] - place[v, b])
                along = u[f] - along / (dim + 1)
                for a in range(dim):
                    r[a] += normal[f, a] * along
                    s[a] += normal[f, a] * normal[f, a]
                    if dim == 3 or a == 0:
                        s[3 + a] += normal[f, a] * normal[f, (a + 1) % dim]
            known[v] = solve_symmetric(s, r, dim, out) > RANK * (count / dim) ** dim
            for a in range(dim):
                vector[v, a] = out[a] if known[v] else 0.0


@kernel(parallel=True)
def fit_sites(start, members, place, at_vertex, known, sites, wet, vector, gradient, found):
    """The linear function that fits the vertices of every cell best: its value at the site, and its gradient G[a, b].

    Cells that are not wet, which have few vertices that are known, have no gradient.
    """
    dim, cells = sites.shape[1], len(start) - 1
    for run in prange((cells + RUN - 1) // RUN):
        s, out, r, mean, middle, e = np.empty(6), np.empty(3), np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
        for c in range(run * RUN, min(cells, (run + 1) * RUN)):
            s[:], r[:], mean[:], middle[:] = 0.0, 0.0, 0.0, 0.0
            count = 0
            for o in range(start[c], start[c + 1]):
                v = members[o]
                if not known[v]:
                    continue
                count += 1
                for a in range(dim):
                    mean[a] += at_vertex[v, a]
                if not wet[c]:
                    continue
                for a in range(dim):
                    e[a] = place[v, a] - sites[c, a]
                    middle[a] += e[a]
                for a in range(dim):
                    s[a] += e[a] * e[a]
                    if dim == 3 or a == 0:
                        s[3 + a] += e[a] * e[(a + 1) % dim]
                    for b in range(dim):
                        r[b, a] += e[a] * at_vertex[v, b]
            found[c] = count > 0
            size = 0.0
            for a in range(dim):
                mean[a] /= max(count, 1)
                middle[a] /= max(count, 1)
            for a in range(dim):
                s[a] -= count * middle[a] * middle[a]
                size += s[a]
                if dim == 3 or a == 0:
                    s[3 + a] -= count * middle[a] * middle[(a + 1) % dim]
            for b in range(dim):
                vector[c, b] = mean[b]
                for a in range(dim):
                    r[b, a] -= count * middle[a] * mean[b]
                steep = count > dim and wet[c]
                steep = steep and solve_symmetric(s, r[b], dim, out) > RANK * (size / dim) ** dim
                for a in range(dim):
                    gradient[c, b, a] = out[a] if steep else 0.0
                    vector[c, b] -= gradient[c, b, a] * middle[a]


@kernel(parallel=True)
def means(start, members, given, trusted, vector, known, now):
    """What is not known yet takes the mean of its members that are."""
    for c in prange(len(start) - 1):
        now[c] = known[c]
        if known[c]:
            continue
        count = 0
        for o in range(start[c], start[c + 1]):
            if trusted[members[o]]:
                count += 1
                for a in range(given.shape[1]):
                    vector[c, a] += given[members[o], a]
        now[c] = count > 0
        for a in range(given.shape[1]):
            vector[c, a] = vector[c, a] / max(count, 1)


@kernel(parallel=True)
def continue_vertices(meeting, place, sites, at_site, gradient, trusted, hidden, vector, known, now):
    """Vertices that are not known yet take the mean of what the linear functions of their sites have there.

    Hidden ones take that of the sites themselves.
    """
    dim = sites.shape[1]
    for v in prange(len(meeting)):
        now[v] = known[v]
        if known[v]:
            continue
        count = 0
        for k in range(dim + 1):
            s = meeting[v, k]
            if trusted[s]:
                count += 1
                for a in range(dim):
                    vector[v, a] += at_site[s, a]
                    for b in range(dim):
                        if not hidden[v]:
                            vector[v, a] += gradient[s, a, b] * (place[v, b] - sites[s, b])
        now[v] = count > 0
        for a in range(dim):
            vector[v, a] /= max(count, 1)


@kernel(parallel=True)
def face_vectors(start, corner, at_vertex, known, normal, u, used, out):
    """The mean of the vertices of every face, with the velocity that the face has along its normal."""
    dim = normal.shape[1]
    for f in prange(len(u)):
        count, along = 0, 0.0
        for a in range(dim):
            out[f, a] = 0.0
        for o in range(start[f], start[f + 1]):
            v = corner[o]
            if v >= 0 and known[v]:
                count += 1
                for a in range(dim):
                    out[f, a] += at_vertex[v, a]
        for a in range(dim):
            out[f, a] /= max(count, 1)
            along += out[f, a] * normal[f, a]
        if used[f]:
            for a in range(dim):
                out[f, a] += (u[f] - along) * normal[f, a]
