"""Kernels of the velocity between the faces of Voronoi cells: which cell points are in, and the velocity there."""

import numpy as np

from glug.jit import kernel, prange

NONE = -1
RUN = 256  # points that share scratch memory, and are looked for from one to the next
BEYOND = 1e-12  # of the way to a face: points that are farther out than that are in the next cell
LONGEST_WAY = 1000  # cells, after which the nearest site is looked for
BARYCENTRIC, GENERALISED = 0, 1
LEAST_HEIGHT = 1e-9  # over a face, of the distance between its sites


@kernel(parallel=True)
def outwards(sites, beside, start, face, other, way):
    """The sites beside every cell, and the vectors to them by which a point on the face between has the product 1."""
    dim = sites.shape[1]
    for s in prange(len(sites)):
        for o in range(start[s], start[s + 1]):
            f, size = face[o], 0.0
            other[o] = beside[1, f] if beside[0, f] == s else beside[0, f]
            for a in range(dim):
                way[o, a] = sites[other[o], a] - sites[s, a]
                size += way[o, a] ** 2
            for a in range(dim):
                way[o, a] *= 2.0 / size


@kernel(inline=True)
def leaves(x, y, z, way, first, end):
    """Through which face (its place among those of cells) the ray from a site to a point (x, y, z) from it leaves its
    cell, NONE if the point is the site; and the part of the way there that the point is at."""
    lam, place = 0.0, NONE
    if way.shape[1] == 2:
        for o in range(first, end):
            along = way[o, 0] * x + way[o, 1] * y
            if along > lam:
                lam, place = along, o
        return lam, place
    for o in range(first, end):
        along = way[o, 0] * x + way[o, 1] * y + way[o, 2] * z
        if along > lam:
            lam, place = along, o
    return lam, place


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


@kernel(parallel=True)
def locate(points, bins, cells, site, place):
    """The cells that points are in, and the faces that the rays from their sites through them meet first.

    From the cell that `site` has, or where that is negative the cell of the point before, the way leads through the
    faces that the point is beyond. Cells at the end of the mesh lack some: there, the nearest site is looked for, and
    where the way is long: between two sites that are all but one it may go to and fro.
    """
    begin, order, corner, shape, width = bins
    sites, start, way, other, corners = cells
    n, dim = points.shape
    for run in prange((n + RUN - 1) // RUN):
        s = NONE
        for i in range(run * RUN, min(n, (run + 1) * RUN)):
            lam, at, sure, left = 2.0, NONE, False, LONGEST_WAY
            s = site[i] if site[i] >= 0 else s
            if s < 0:
                s, sure = nearest(points[i], sites, begin, order, corner, shape, width), True
            x, y, z = points[i, 0], points[i, 1], points[i, 2] if dim == 3 else 0.0
            while lam > 1.0 + BEYOND:
                faces, left = start[s + 1] - start[s], left - 1
                whole = corners[s + 1] - corners[s] == (faces if dim == 2 else 2 * faces - 4)  # Euler
                if not sure and (not whole or left == 0):
                    s, sure = nearest(points[i], sites, begin, order, corner, shape, width), True
                zs = sites[s, 2] if dim == 3 else 0.0
                lam, at = leaves(x - sites[s, 0], y - sites[s, 1], z - zs, way, start[s], start[s + 1])
                if sure:
                    break
                s = other[at] if lam > 1.0 + BEYOND else s
            site[i], place[i] = s, at


@kernel(inline=True)
def on_segment(x, y, u, v):
    """Which part of the way (u, v) a point is at."""
    return (x * u + y * v) / max(u * u + v * v, 1e-300)


@kernel(inline=True)
def on_triangle(r, s, t, a, b, c, u, v, w, i, j, k):
    """What the corners (a, b, c) and (u, v, w) of a triangle with (0, 0, 0) and the normal (i, j, k) contribute at a
    point (r, s, t) of its plane."""
    size = (b * w - c * v) * i + (c * u - a * w) * j + (a * v - b * u) * k
    if abs(size) < 1e-300:
        return -1e300, -1e300
    one = (s * w - t * v) * i + (t * u - r * w) * j + (r * v - s * u) * k
    two = (b * t - c * s) * i + (c * r - a * t) * j + (a * s - b * r) * k
    return one / size, two / size


@kernel(parallel=True)
def refined(points, site, place, mesh, field, out):
    """Linear between the site, the middle of the face that the ray from it through p meets, and corners of that."""
    sites, way, of_face, normal, middle, start, corner, vertices = mesh[:8]
    at_site, at_vertex, at_face = field[:3]
    space = sites.shape[1] == 3
    for p in prange(len(points)):
        s, at = site[p], place[p]
        out[p, 0], out[p, 1] = at_site[s, 0], at_site[s, 1]
        if space:
            out[p, 2] = at_site[s, 2]
        if at < 0:
            continue
        x, y = points[p, 0] - sites[s, 0], points[p, 1] - sites[s, 1]
        z = points[p, 2] - sites[s, 2] if space else 0.0
        lam = way[at, 0] * x + way[at, 1] * y + (way[at, 2] * z if space else 0.0)
        if lam < 1e-12:
            continue
        f = of_face[at]
        i, j, k = middle[f, 0], middle[f, 1], middle[f, 2] if space else 0.0
        x, y = sites[s, 0] - i + x / lam, sites[s, 1] - j + y / lam
        z = sites[s, 2] - k + z / lam if space else 0.0
        last, first, second, score = start[f + 1] - 1, -1, -1, -1e300
        while corner[last] < 0:
            last -= 1
        last = corner[last]
        b0, b1 = 0.0, 0.0
        for o in range(start[f], start[f + 1]):
            v = corner[o]
            if v < 0:
                continue
            if space:
                one, two = on_triangle(
                    x, y, z,
                    vertices[v, 0] - i, vertices[v, 1] - j, vertices[v, 2] - k,
                    vertices[last, 0] - i, vertices[last, 1] - j, vertices[last, 2] - k,
                    normal[f, 0], normal[f, 1], normal[f, 2],
                )  # fmt: skip
                found = min(one, two)
            else:
                one, two = on_segment(x, y, vertices[v, 0] - i, vertices[v, 1] - j), 0.0
                found = one
            if found > score:
                score, first, second, b0, b1 = found, v, last, one, two
                if score >= 0.0:  # between the two
                    break
            last = v
        b0, b1 = min(max(b0, 0.0), 1.0), min(max(b1, 0.0), 1.0)
        size, lam = max(b0 + b1, 1.0), min(lam, 1.0)
        b0, b1 = lam * b0 / size, lam * b1 / size
        c0, c1 = 1.0 - lam, lam - b0 - b1
        out[p, 0] = c0 * out[p, 0] + c1 * at_face[f, 0] + b0 * at_vertex[first, 0] + b1 * at_vertex[second, 0]
        out[p, 1] = c0 * out[p, 1] + c1 * at_face[f, 1] + b0 * at_vertex[first, 1] + b1 * at_vertex[second, 1]
        if space:
            out[p, 2] = c0 * out[p, 2] + c1 * at_face[f, 2] + b0 * at_vertex[first, 2] + b1 * at_vertex[second, 2]


@kernel(inline=True)
def barycentric(p, s, mesh, field, scratch, out):
    """Linear between the sites of the simplex around p: of those that meet at a vertex of the cell of s."""
    sites, meeting, at_start, at_vertices = mesh[0], mesh[8], mesh[9], mesh[10]
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
    sites, meeting, at_start, at_vertices = mesh[0], mesh[8], mesh[9], mesh[10]
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
def baseline(points, site, mesh, field, kind, out):
    """The velocity at points in cells by one of the baselines."""
    count = len(points)
    for run in prange((count + RUN - 1) // RUN):
        scratch = np.zeros((3, 4))
        for i in range(run * RUN, min(count, (run + 1) * RUN)):
            if kind == BARYCENTRIC:
                barycentric(points[i], site[i], mesh, field, scratch, out[i])
            else:
                generalised(points[i], site[i], mesh, field, scratch, out[i])


@kernel(parallel=True)
def bounds(of_start, of_face, at_start, at_vertices, field, low, high):
    """The least and the largest of every component that a cell has: its site, faces and vertices."""
    at_site, at_vertex, at_face, known = field
    for s in prange(len(at_site)):
        for a in range(at_site.shape[1]):
            least = most = at_site[s, a]
            for o in range(of_start[s], of_start[s + 1]):
                least, most = min(least, at_face[of_face[o], a]), max(most, at_face[of_face[o], a])
            for o in range(at_start[s], at_start[s + 1]):
                v = at_vertices[o]
                if known[v]:
                    least, most = min(least, at_vertex[v, a]), max(most, at_vertex[v, a])
            low[s, a], high[s, a] = least, most
