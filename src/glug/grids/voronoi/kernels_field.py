"""Kernels of the velocity between the faces of Voronoi cells: the vectors of vertices, sites and faces.

Both fits, of vertices to faces and of sites to vertices, are linear in the velocities; what they take from the shape of
the cells and from which faces count is made once.
"""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.08  # least determinant of the mean of n n', over that of directions spread evenly
RUN = 256  # vertices or cells that share scratch memory


@kernel(inline=True)
def invert_symmetric(s, dim, least):
    """The inverse of a symmetric matrix (xx, yy, zz, xy, yz, zx) in place, 0 if its determinant is not above `least`;
    whether it is."""
    if dim == 2:
        det = s[0] * s[1] - s[3] * s[3]
        scale = 1.0 / det if det > least else 0.0
        s[0], s[1], s[3] = s[1] * scale, s[0] * scale, -s[3] * scale
        s[2] = s[4] = s[5] = 0.0
        return det > least
    c0, c1, c2 = s[1] * s[2] - s[4] * s[4], s[4] * s[5] - s[3] * s[2], s[3] * s[4] - s[1] * s[5]
    c3, c4, c5 = s[0] * s[2] - s[5] * s[5], s[3] * s[5] - s[0] * s[4], s[0] * s[1] - s[3] * s[3]
    det = s[0] * c0 + s[3] * c1 + s[5] * c2
    scale = 1.0 / det if det > least else 0.0
    s[0], s[1], s[2], s[3], s[4], s[5] = c0 * scale, c3 * scale, c5 * scale, c1 * scale, c4 * scale, c2 * scale
    return det > least


@kernel(inline=True)
def product(s, x, y, z):
    """A symmetric matrix (xx, yy, zz, xy, yz, zx) times a vector."""
    return s[0] * x + s[3] * y + s[5] * z, s[3] * x + s[1] * y + s[4] * z, s[5] * x + s[4] * y + s[2] * z


@kernel(inline=True)
def add_square(s, x, y, z, times):
    """Add a vector's product with itself to a symmetric matrix."""
    s[0] += times * x * x
    s[1] += times * y * y
    s[2] += times * z * z
    s[3] += times * x * y
    s[4] += times * y * z
    s[5] += times * z * x


@kernel(parallel=True)
def count_used(faces_at, used, count):
    """How many used faces are at every vertex."""
    for v in prange(len(count)):
        count[v] = 0
        for k in range(faces_at.shape[1]):
            count[v] += faces_at[v, k] >= 0 and used[faces_at[v, k]]


@kernel(parallel=True)
def prepare_vertices(some, mesh, used, inverse, moment, known):
    """What the fit of some vertices takes from the mesh; known where the used faces fix them.

    A face has n . U + n . G e = u, with the mean gradient G of the sites that meet at the vertex and e the way from
    there to the face, so U = inverse (sum n u - sum n (n . G e)). `moment` is the sum of n n' e_c.
    """
    faces_at, normal, position, place = mesh
    dim = normal.shape[1]
    for run in prange((len(some) + RUN - 1) // RUN):
        for m in range(run * RUN, min(len(some), (run + 1) * RUN)):
            v, s, count = some[m], inverse[m], 0
            s[:], moment[m] = 0.0, 0.0
            for k in range(faces_at.shape[1]):
                f = faces_at[v, k]
                if f < 0 or not used[f]:
                    continue
                count += 1
                x, y, z = normal[f, 0], normal[f, 1], normal[f, 2] if dim == 3 else 0.0
                add_square(s, x, y, z, 1.0)
                for c in range(dim):
                    add_square(moment[m, c], x, y, z, position[f, c] - place[v, c])
            known[v] = invert_symmetric(s, dim, RANK * (count / dim) ** dim)


@kernel(parallel=True)
def fit_faces(some, faces_at, normal, used, u, inverse, vector):
    """inverse (sum n u) of some vertices."""
    dim = normal.shape[1]
    for m in prange(len(some)):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(faces_at.shape[1]):
            f = faces_at[some[m], k]
            if f >= 0 and used[f]:
                x += normal[f, 0] * u[f]
                y += normal[f, 1] * u[f]
                z += normal[f, 2] * u[f] if dim == 3 else 0.0
        x, y, z = product(inverse[m], x, y, z)
        vector[m, 0], vector[m, 1] = x, y
        if dim == 3:
            vector[m, 2] = z


@kernel(parallel=True)
def fit_vertices(some, meeting, inverse, moment, gradient, first, vector):
    """The vectors of some vertices: `first`, what the faces have, less what the gradients of their sites have there."""
    dim = first.shape[1]
    for m in prange(len(some)):
        v = some[m]
        p, q, r = 0.0, 0.0, 0.0
        for c in range(dim):
            x, y, z = 0.0, 0.0, 0.0
            for k in range(dim + 1):
                x += gradient[meeting[v, k], 0, c]
                y += gradient[meeting[v, k], 1, c]
                z += gradient[meeting[v, k], 2, c] if dim == 3 else 0.0
            x, y, z = product(moment[m, c], x, y, z)
            p, q, r = p + x, q + y, r + z
        p, q, r = product(inverse[m], p, q, r)
        vector[v, 0] = first[m, 0] - p / (dim + 1)
        vector[v, 1] = first[m, 1] - q / (dim + 1)
        if dim == 3:
            vector[v, 2] = first[m, 2] - r / (dim + 1)


@kernel(parallel=True)
def prepare_sites(some, at, vertices_of, place, known, sites, weight, found):
    """What the fit of linear functions to the known vertices of some cells takes from the mesh.

    weight[at[m]:] are those of the vertices of a cell in the value at the site, and in the gradient; cells whose
    vertices do not fix a gradient have none.
    """
    start, members = vertices_of
    dim = sites.shape[1]
    for run in prange((len(some) + RUN - 1) // RUN):
        s = np.empty(6)
        for m in range(run * RUN, min(len(some), (run + 1) * RUN)):
            c, count = some[m], 0
            x, y, z = 0.0, 0.0, 0.0
            s[:] = 0.0
            for o in range(start[c], start[c + 1]):
                v = members[o]
                if known[v]:
                    e, f = place[v, 0] - sites[c, 0], place[v, 1] - sites[c, 1]
                    g = place[v, 2] - sites[c, 2] if dim == 3 else 0.0
                    add_square(s, e, f, g, 1.0)
                    x, y, z = x + e, y + f, z + g
                    count += 1
            found[c] = count > 0
            x, y, z = x / max(count, 1), y / max(count, 1), z / max(count, 1)
            add_square(s, x, y, z, -float(count))
            if count <= dim or not invert_symmetric(s, dim, RANK * ((s[0] + s[1] + s[2]) / dim) ** dim):
                s[:] = 0.0
            for o in range(start[c], start[c + 1]):
                v, w = members[o], weight[at[m] + o - start[c]]
                e, f = place[v, 0] - sites[c, 0] - x, place[v, 1] - sites[c, 1] - y
                g = place[v, 2] - sites[c, 2] - z if dim == 3 else 0.0
                e, f, g = product(s, e, f, g)
                w[0] = 1.0 / count - e * x - f * y - g * z if known[v] else 0.0
                w[1], w[2] = e if known[v] else 0.0, f if known[v] else 0.0
                if dim == 3:
                    w[3] = g if known[v] else 0.0


@kernel(parallel=True)
def fit_sites(some, at, vertices_of, weight, at_vertex, vector, gradient):
    """The linear functions that fit the vertices of some cells best: their values at the sites, and their gradients."""
    start, members = vertices_of
    dim = vector.shape[1]
    for m in prange(len(some)):
        c = some[m]
        for a in range(dim):
            value, x, y, z = 0.0, 0.0, 0.0, 0.0
            for o in range(start[c], start[c + 1]):
                w, u = at[m] + o - start[c], at_vertex[members[o], a]
                value += weight[w, 0] * u
                x += weight[w, 1] * u
                y += weight[w, 2] * u
                z += weight[w, 3] * u if dim == 3 else 0.0
            vector[c, a], gradient[c, a, 0], gradient[c, a, 1] = value, x, y
            if dim == 3:
                gradient[c, a, 2] = z


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
