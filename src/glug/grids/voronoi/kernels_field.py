"""Kernels of the velocity between the faces of Voronoi cells: vectors of vertices, sites and faces, and in between."""

import numpy as np

from glug.jit import kernel, prange

RANK = 0.08  # least determinant of the mean of n n', over that of directions spread evenly
RUN = 256  # vertices or points that share scratch memory
REFINED, BARYCENTRIC, GENERALISED = 0, 1, 2
LEAST_HEIGHT = 1e-9  # over a face, of the distance between its sites


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
            s[:], r[:], out[:], slope[:] = 0.0, 0.0, 0.0, 0.0
            for k in range(dim + 1):
                for a in range(dim):
                    for b in range(dim):
                        slope[a, b] += gradient[meeting[v, k], a, b] / (dim + 1)
            count = 0
            for k in range(faces_at.shape[1]):
                f = faces_at[v, k]
                if f < 0 or not used[f]:
                    continue
                count += 1
                along = u[f]
                for a in range(dim):
                    for b in range(dim):
                        along -= normal[f, a] * slope[a, b] * (position[f, b] - place[v, b])
                for a in range(dim):
                    r[a] += normal[f, a] * along
                    s[a] += normal[f, a] * normal[f, a]
                    if dim == 3 or a == 0:
                        s[3 + a] += normal[f, a] * normal[f, (a + 1) % dim]
            spread = (count / dim) ** dim if count > 0 else 1.0
            known[v] = solve_symmetric(s, r, dim, out) > RANK * spread
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
            s[:], r[:], mean[:], middle[:], e[:] = 0.0, 0.0, 0.0, 0.0, 0.0
            count, size = 0, 0.0
            for o in range(start[c], start[c + 1]):
                if known[members[o]]:
                    count += 1
                    for a in range(dim):
                        mean[a] += at_vertex[members[o], a]
                        middle[a] += place[members[o], a]
            found[c] = count > 0
            for a in range(dim):
                mean[a] /= max(count, 1)
                middle[a] /= max(count, 1)
            for o in range(start[c], start[c + 1]):
                if known[members[o]]:
                    for a in range(dim):
                        e[a] = place[members[o], a] - middle[a]
                        size += e[a] * e[a]
                    for a in range(dim):
                        s[a] += e[a] * e[a]
                        if dim == 3 or a == 0:
                            s[3 + a] += e[a] * e[(a + 1) % dim]
                        for b in range(dim):
                            r[b, a] += e[a] * (at_vertex[members[o], b] - mean[b])
            for b in range(dim):
                vector[c, b] = mean[b]
                steep = solve_symmetric(s, r[b], dim, out) > RANK * (size / dim) ** dim and count > dim and wet[c]
                for a in range(dim):
                    gradient[c, b, a] = out[a] if steep else 0.0
                    vector[c, b] += gradient[c, b, a] * (sites[c, a] - middle[a])


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


@kernel(inline=True)
def nearest(p, sites, start, order, corner, shape, width):
    """The site that is nearest to a point."""
    dim = sites.shape[1]
    middle = np.zeros(3, np.int64)
    outside = 0.0
    for a in range(dim):
        middle[a] = min(max(int(np.floor((p[a] - corner[a]) / width)), 0), shape[a] - 1)
        outside = max(outside, corner[a] - p[a], p[a] - corner[a] - shape[a] * width)
    best, least = -1, np.inf
    for shell in range(max(shape[0], shape[1], shape[2])):
        if best >= 0 and max((shell - 1) * width, outside) ** 2 > least:
            break
        for i in range(max(middle[0] - shell, 0), min(middle[0] + shell, shape[0] - 1) + 1):
            for j in range(max(middle[1] - shell, 0), min(middle[1] + shell, shape[1] - 1) + 1):
                inner = abs(i - middle[0]) < shell and abs(j - middle[1]) < shell
                for k in range(max(middle[2] - shell, 0), min(middle[2] + shell, shape[2] - 1) + 1):
                    if inner and abs(k - middle[2]) < shell:
                        continue
                    b = (i * shape[1] + j) * shape[2] + k
                    for o in range(start[b], start[b + 1]):
                        s, size = order[o], 0.0
                        for a in range(dim):
                            size += (sites[s, a] - p[a]) ** 2
                        if size < least:
                            best, least = s, size
    return best


@kernel(inline=True)
def on_face(hit, m, p, q, n, part):
    """part = what the corners p and q of a fan around m contribute at a point of the face."""
    if hit.shape[0] == 2:
        size = (p[0] - m[0]) ** 2 + (p[1] - m[1]) ** 2
        part[0] = ((hit[0] - m[0]) * (p[0] - m[0]) + (hit[1] - m[1]) * (p[1] - m[1])) / max(size, 1e-300)
        part[1] = 0.0
        return part[0]
    x, y, z = p[0] - m[0], p[1] - m[1], p[2] - m[2]
    u, v, w = q[0] - m[0], q[1] - m[1], q[2] - m[2]
    r, s, t = hit[0] - m[0], hit[1] - m[1], hit[2] - m[2]
    size = (y * w - z * v) * n[0] + (z * u - x * w) * n[1] + (x * v - y * u) * n[2]
    if abs(size) < 1e-300:
        return -1e300
    part[0] = ((s * w - t * v) * n[0] + (t * u - r * w) * n[1] + (r * v - s * u) * n[2]) / size
    part[1] = ((y * t - z * s) * n[0] + (z * r - x * t) * n[1] + (x * s - y * r) * n[2]) / size
    return min(part[0], part[1])


@kernel(inline=True)
def refined(p, s, mesh, field, scratch, out):
    """Linear between the site, the middle of the face that the ray from it through p meets, and corners of that."""
    sites, beside, normal, distance, middle, start, corner, place, of_start, of_face = mesh[:10]
    at_site, at_vertex, at_face = field[:3]
    hit, part, best = scratch[0], scratch[1], scratch[2]
    dim, lam, face = sites.shape[1], 0.0, -1
    for o in range(of_start[s], of_start[s + 1]):
        f = of_face[o]
        along = 0.0
        for a in range(dim):
            along += normal[f, a] * (p[a] - sites[s, a])
        along = (along if beside[0, f] == s else -along) / (0.5 * distance[f])
        if along > lam:
            lam, face = along, f
    for a in range(dim):
        out[a] = at_site[s, a]
    if lam < 1e-12:
        return
    for a in range(dim):
        hit[a] = sites[s, a] + (p[a] - sites[s, a]) / lam
    lam = min(lam, 1.0)
    last, first, second, score = -1, -1, -1, -1e300
    for o in range(start[face], start[face + 1]):
        last = corner[o] if corner[o] >= 0 else last
    for o in range(start[face], start[face + 1]):
        v = corner[o]
        if v < 0:
            continue
        found = on_face(hit[:dim], middle[face], place[v], place[last], normal[face], part)
        if found > score:
            score, first, second = found, v, last
            best[0], best[1] = part[0], part[1]
        last = v
    b0, b1 = min(max(best[0], 0.0), 1.0), min(max(best[1], 0.0), 1.0)
    size = max(b0 + b1, 1.0)
    b0, b1 = b0 / size, b1 / size
    for a in range(dim):
        on = (1.0 - b0 - b1) * at_face[face, a] + b0 * at_vertex[first, a] + b1 * at_vertex[second, a]
        out[a] += lam * (on - at_site[s, a])


@kernel(inline=True)
def barycentric(p, s, mesh, field, scratch, out):
    """Linear between the sites of the simplex around p: of those that meet at a vertex of the cell of s."""
    sites, meeting, at_start, at_vertices = mesh[0], mesh[10], mesh[11], mesh[12]
    at_site, r, w, best = field[0], scratch[0], scratch[1], scratch[2]
    dim, chosen, score = sites.shape[1], -1, -1e300
    e = np.zeros((3, 3))
    for o in range(at_start[s], at_start[s + 1]):
        v = at_vertices[o]
        for a in range(dim):
            r[a] = p[a] - sites[meeting[v, 0], a]
            for k in range(dim):
                e[k, a] = sites[meeting[v, k + 1], a] - sites[meeting[v, 0], a]
        if dim == 2:
            det = e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0]
            w[1], w[2] = (r[0] * e[1, 1] - r[1] * e[1, 0]) / det, (e[0, 0] * r[1] - e[0, 1] * r[0]) / det
            w[0] = 1.0 - w[1] - w[2]
            least = min(w[0], w[1], w[2])
        else:
            det = volume(e[0], e[1], e[2])
            w[1], w[2] = volume(r, e[1], e[2]) / det, volume(e[0], r, e[2]) / det
            w[3] = volume(e[0], e[1], r) / det
            w[0] = 1.0 - w[1] - w[2] - w[3]
            least = min(w[0], w[1], w[2], w[3])
        if least > score:
            score, chosen = least, v
            best[:] = w
    for a in range(dim):
        out[a] = at_site[s, a] if chosen < 0 else 0.0
    if chosen < 0:
        return
    total = 0.0
    for k in range(dim + 1):
        best[k] = max(best[k], 0.0)
        total += best[k]
    for k in range(dim + 1):
        for a in range(dim):
            out[a] += best[k] / total * at_site[meeting[chosen, k], a]


@kernel(inline=True)
def volume(a, b, c):
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


@kernel(inline=True)
def generalised(p, s, mesh, field, scratch, out):
    """Warren's (1996) coordinates of p in the cell of s: of every vertex, over its heights above the faces there."""
    sites, meeting, at_start, at_vertices = mesh[0], mesh[10], mesh[11], mesh[12]
    at_vertex, known = field[1], field[3]
    dim, total = sites.shape[1], 0.0
    e = np.zeros((3, 3))
    for a in range(dim):
        out[a] = 0.0
    for o in range(at_start[s], at_start[s + 1]):
        v, k, weight = at_vertices[o], 0, 1.0
        for m in range(dim + 1):
            other = meeting[v, m]
            if other == s:
                continue
            size, along = 0.0, 0.0
            for a in range(dim):
                e[k, a] = sites[other, a] - sites[s, a]
                size += e[k, a] ** 2
                along += e[k, a] * (p[a] - sites[s, a])
            size = np.sqrt(size)
            weight /= max(0.5 - along / size**2, LEAST_HEIGHT) * size
            for a in range(dim):
                e[k, a] /= size
            k += 1
        weight *= abs(e[0, 0] * e[1, 1] - e[0, 1] * e[1, 0] if dim == 2 else volume(e[0], e[1], e[2]))
        if known[v]:
            total += weight
            for a in range(dim):
                out[a] += weight * at_vertex[v, a]
    for a in range(dim):
        out[a] = out[a] / total if total > 0.0 else field[0][s, a]


@kernel(parallel=True)
def sample(points, bins, mesh, field, kind, out):
    """The velocity at points, by one of the three ways to go from faces to points."""
    start, order, corner, shape, width = bins
    count = len(points)
    for run in prange((count + RUN - 1) // RUN):
        scratch = np.zeros((3, 4))
        for i in range(run * RUN, min(count, (run + 1) * RUN)):
            s = nearest(points[i], mesh[0], start, order, corner, shape, width)
            if kind == REFINED:
                refined(points[i], s, mesh, field, scratch, out[i])
            elif kind == BARYCENTRIC:
                barycentric(points[i], s, mesh, field, scratch, out[i])
            else:
                generalised(points[i], s, mesh, field, scratch, out[i])


@kernel(parallel=True)
def bounds(points, bins, mesh, field, low, high):
    """The least and the largest of every component that the cell around a point has: its site, faces and vertices."""
    start, order, corner, shape, width = bins
    sites, of_start, of_face, at_start, at_vertices = mesh[0], mesh[8], mesh[9], mesh[11], mesh[12]
    at_site, at_vertex, at_face, known = field
    for n in prange(len(points)):
        s = nearest(points[n], sites, start, order, corner, shape, width)
        for a in range(points.shape[1]):
            least = most = at_site[s, a]
            for o in range(of_start[s], of_start[s + 1]):
                least, most = min(least, at_face[of_face[o], a]), max(most, at_face[of_face[o], a])
            for o in range(at_start[s], at_start[s + 1]):
                v = at_vertices[o]
                if known[v]:
                    least, most = min(least, at_vertex[v, a]), max(most, at_vertex[v, a])
            low[n, a], high[n, a] = least, most
