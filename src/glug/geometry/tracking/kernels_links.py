"""Triangles with their neighbours, in place: half-edges, lists by lattice cell, and what is near a new triangle.

A half-edge 3 t + k goes from corner k of triangle t to the next; its twin goes back, in the neighbour. Operations
are local, one after the other.

    x (n, 3), tri (m, 3)   vertices and triangles; a removed triangle has corners -1
    twin (3 m)             of every half-edge         out (n)   a half-edge that leaves the vertex, -1 if it is removed
    lead, after, before    lists of the triangles whose centroids are in a bucket      bucket (m)
    mark (m)               the stamp of the last operation that took the triangle for its own
    count                  vertices, triangles, stamp, cuts so far
    size                   cell of the lattice, reach of the largest triangle from its centroid, clearance, dx
"""

from typing import NamedTuple

import numpy as np

from glug.geometry.tracking.kernels_nearness import (
    area_vector,
    between_segments,
    cross,
    crosses,
    dot,
    length,
    point,
    sub,
    to_triangle,
)
from glug.geometry.tracking.kernels_pairs import nearest_vector, share, share_vertex
from glug.jit import kernel

FOLDED = 0.999995  # cosine of the least angle between two triangles at an edge, 0.2 degrees
LEAST_ALTITUDE = 0.02  # dx: of new triangles
TURNED = 0.2  # cosine between the normals of a triangle before and after
MOST_FAN = 96  # triangles around an operation that are its own
MOST_NEAR = 4096  # triangles around an operation


class Links(NamedTuple):
    """See above."""

    x: np.ndarray
    tri: np.ndarray
    twin: np.ndarray
    out: np.ndarray
    lead: np.ndarray
    after: np.ndarray
    before: np.ndarray
    bucket: np.ndarray
    mark: np.ndarray
    count: np.ndarray
    size: np.ndarray


@kernel(inline=True)
def onward(h):
    """The next half-edge of the same triangle."""
    return h + 1 if h % 3 < 2 else h - 2


@kernel(inline=True)
def back(h):
    """The one before."""
    return h - 1 if h % 3 > 0 else h + 2


@kernel(inline=True)
def origin(m, h):
    """The vertex where a half-edge begins."""
    return m.tri[h // 3, h % 3]


@kernel(inline=True)
def around(m, h):
    """The next half-edge that leaves the same vertex, counter-clockwise."""
    return m.twin[back(h)]


@kernel(inline=True)
def beside(m, h):
    """The twin of a half-edge, the two vertices of the edge and those opposite to it."""
    g = m.twin[h]
    return g, origin(m, h), origin(m, g), origin(m, back(h)), origin(m, back(g))


@kernel(inline=True)
def link(m, h, g):
    """Make two half-edges twins."""
    m.twin[h] = g
    m.twin[g] = h


@kernel(inline=True)
def _bucket_of(m, x, y, z):
    cell = m.size[0]
    i, j, k = int(np.floor(x / cell)), int(np.floor(y / cell)), int(np.floor(z / cell))
    return (i * 73856093 ^ j * 19349663 ^ k * 83492791) & (len(m.lead) - 1)


@kernel(inline=True)
def take_out(m, t):
    """Take a triangle out of its list."""
    if m.before[t] >= 0:
        m.after[m.before[t]] = m.after[t]
    else:
        m.lead[m.bucket[t]] = m.after[t]
    if m.after[t] >= 0:
        m.before[m.after[t]] = m.before[t]


@kernel(inline=True)
def put_in(m, t):
    """Put a triangle into the list of its centroid."""
    a, b, c = point(m.x, m.tri[t, 0]), point(m.x, m.tri[t, 1]), point(m.x, m.tri[t, 2])
    centre = ((a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0, (a[2] + b[2] + c[2]) / 3.0)
    for i in range(3):
        far = max(abs(a[i] - centre[i]), abs(b[i] - centre[i]), abs(c[i] - centre[i]))
        m.size[1] = max(m.size[1], far)
    where = _bucket_of(m, centre[0], centre[1], centre[2])
    m.bucket[t], m.before[t], m.after[t] = where, -1, m.lead[where]
    if m.lead[where] >= 0:
        m.before[m.lead[where]] = t
    m.lead[where] = t


@kernel(inline=True)
def remove(m, t):
    """Remove a triangle; its neighbours are linked by the caller."""
    take_out(m, t)
    m.tri[t, 0] = m.tri[t, 1] = m.tri[t, 2] = -1


@kernel(inline=True)
def write(m, t, a, b, c):
    """The corners of a triangle that is in no list; half-edges out of them."""
    m.tri[t, 0], m.tri[t, 1], m.tri[t, 2] = a, b, c
    m.out[a], m.out[b], m.out[c] = 3 * t, 3 * t + 1, 3 * t + 2
    put_in(m, t)


@kernel
def build(m):
    """Twins, outgoing half-edges and lists of the triangles; False where an edge does not have two triangles."""
    nv, nt = m.count[0], m.count[1]
    m.out[:nv] = -1
    m.lead[:] = -1
    head, chain = np.full(nv, -1, np.int64), np.full(3 * nt, -1, np.int64)
    whole = True
    for h in range(3 * nt):
        v = origin(m, h)
        m.out[v] = h
        chain[h] = head[v]
        head[v] = h
        m.twin[h] = -1
    for h in range(3 * nt):
        v, w = origin(m, h), origin(m, onward(h))
        g = head[w]
        while g >= 0:
            if origin(m, onward(g)) == v:
                whole = whole and m.twin[h] < 0
                m.twin[h] = g
            g = chain[g]
        whole = whole and m.twin[h] >= 0
    for t in range(nt):
        put_in(m, t)
    return whole


@kernel(inline=True)
def gather(m, box, near):
    """Triangles whose boxes reach into `box` and that are not marked; returns their number, -1 if too many."""
    cell, reach = m.size[0], m.size[1]
    n = 0
    lo = (
        int(np.floor((box[0] - reach) / cell)),
        int(np.floor((box[1] - reach) / cell)),
        int(np.floor((box[2] - reach) / cell)),
    )
    hi = (
        int(np.floor((box[3] + reach) / cell)),
        int(np.floor((box[4] + reach) / cell)),
        int(np.floor((box[5] + reach) / cell)),
    )
    for i in range(lo[0], hi[0] + 1):
        for j in range(lo[1], hi[1] + 1):
            for k in range(lo[2], hi[2] + 1):
                t = m.lead[(i * 73856093 ^ j * 19349663 ^ k * 83492791) & (len(m.lead) - 1)]
                while t >= 0:
                    if m.mark[t] != m.count[2] and _reaches(m, t, box):
                        if n == len(near):
                            return -1
                        near[n] = t
                        n += 1
                    t = m.after[t]
    return n


@kernel(inline=True)
def _reaches(m, t, box):
    a, b, c = point(m.x, m.tri[t, 0]), point(m.x, m.tri[t, 1]), point(m.x, m.tri[t, 2])
    meets = True
    for i in range(3):
        meets = meets and max(a[i], b[i], c[i]) >= box[i] and min(a[i], b[i], c[i]) <= box[3 + i]
    return meets


@kernel(inline=True)
def touching(x, a, b, clearance):
    """Whether two triangles intersect, or are nearer than `clearance` and share no vertex."""
    common = share(a, b)
    if common == 3:
        return True
    if common == 0:
        v = nearest_vector(x, a, b)
        if dot(v, v) < clearance * clearance:
            return True
    if common == 2:
        return _folded(x, a, b)
    for k in range(3):
        p, q = a[k], a[(k + 1) % 3]
        if not share_vertex(b, p, q) and _pierces(x, p, q, b, clearance):
            return True
        p, q = b[k], b[(k + 1) % 3]
        if not share_vertex(a, p, q) and _pierces(x, p, q, a, clearance):
            return True
    return False


@kernel(inline=True)
def _pierces(x, p, q, t, clearance):
    """Whether an edge goes through a triangle, or nearly meets one of its edges or its inside."""
    xp, xq = point(x, p), point(x, q)
    a, b, c = point(x, t[0]), point(x, t[1]), point(x, t[2])
    return (
        crosses(xp, xq, a, b, c)
        or _shorter(to_triangle(xp, a, b, c), clearance)
        or _shorter(to_triangle(xq, a, b, c), clearance)
        or _shorter(between_segments(xp, xq, a, b), clearance)
        or _shorter(between_segments(xp, xq, b, c), clearance)
        or _shorter(between_segments(xp, xq, c, a), clearance)
    )


@kernel(inline=True)
def _shorter(v, than):
    return dot(v, v) < than * than


@kernel(inline=True)
def _folded(x, a, b):
    """Whether two triangles with a common edge lie on each other."""
    p, q, u, w = -1, -1, -1, -1
    for k in range(3):
        mine = a[k] == b[0] or a[k] == b[1] or a[k] == b[2]
        if not mine:
            u = a[k]
        elif p < 0:
            p = a[k]
        else:
            q = a[k]
    for k in range(3):
        if b[k] != p and b[k] != q:
            w = b[k]
    e, at = sub(point(x, q), point(x, p)), point(x, p)
    m, n = cross(e, sub(point(x, u), at)), cross(e, sub(point(x, w), at))
    return dot(m, n) >= FOLDED * length(m) * length(n)


@kernel(inline=True)
def clear(m, fan, n, near):
    """Whether n new triangles touch neither each other nor any that is not marked."""
    box = np.empty(6)
    box[:3], box[3:] = np.inf, -np.inf
    clearance = m.size[2]
    for f in range(n):
        for k in range(3):
            p = point(m.x, fan[f, k])
            for i in range(3):
                box[i], box[3 + i] = min(box[i], p[i] - clearance), max(box[3 + i], p[i] + clearance)
        for g in range(f):
            if touching(m.x, fan[f], fan[g], clearance):
                return False
    found = gather(m, box, near)
    if found < 0:
        return False
    for s in range(found):
        other = m.tri[near[s]]
        for f in range(n):
            if _boxes_meet(m.x, fan[f], other, clearance) and touching(m.x, fan[f], other, clearance):
                return False
    return True


@kernel(inline=True)
def _boxes_meet(x, a, b, clearance):
    for i in range(3):
        if min(x[a[0], i], x[a[1], i], x[a[2], i]) > max(x[b[0], i], x[b[1], i], x[b[2], i]) + clearance:
            return False
        if min(x[b[0], i], x[b[1], i], x[b[2], i]) > max(x[a[0], i], x[a[1], i], x[a[2], i]) + clearance:
            return False
    return True


@kernel(inline=True)
def add_fan(m, v, old, new, fan, n):
    """Add the triangles around v that are not marked yet to a fan, with vertices replaced; mark them.

    fan   corners after the operation, and the number of the triangle. Returns how many there are, -1 if too many.
    """
    h = m.out[v]
    g = h
    while True:
        t = g // 3
        if m.mark[t] != m.count[2]:
            if n < 0 or n == len(fan):
                return -1
            m.mark[t] = m.count[2]
            for k in range(3):
                fan[n, k] = m.tri[t, k]
                for i in range(len(old)):
                    if m.tri[t, k] == old[i]:
                        fan[n, k] = new[i]
            fan[n, 3] = t
            n += 1
        g = around(m, g)
        if g == h:
            return n


@kernel(inline=True)
def shape(x, t):
    """The area vector of a triangle, its least altitude and its longest edge."""
    a, b, c = point(x, t[0]), point(x, t[1]), point(x, t[2])
    n = area_vector(a, b, c)
    side = max(length(sub(b, a)), length(sub(c, b)), length(sub(a, c)))
    return n, (2.0 * length(n) / side if side > 0.0 else 0.0), side


@kernel(inline=True)
def remember(m, fan, n, before):
    """Area vectors, least altitudes and longest edges of the triangles of a fan as they are."""
    for f in range(n):
        normal, altitude, side = shape(m.x, m.tri[fan[f, 3]])
        before[f, 0], before[f, 1], before[f, 2], before[f, 3], before[f, 4] = *normal, altitude, side


@kernel(inline=True)
def good(m, fan, n, before, longest):
    """Whether no triangle of a fan has turned over, become flat or got an edge that is too long."""
    flat = LEAST_ALTITUDE * m.size[3]
    for f in range(n):
        normal, altitude, side = shape(m.x, fan[f])
        if side > max(longest, before[f, 4]) or altitude < min(flat, before[f, 3]):
            return False
        was = point(before, f)
        if before[f, 3] > flat and dot(was, normal) < TURNED * length(was) * length(normal):
            return False
    return True


@kernel(inline=True)
def rename(m, fan, n):
    """Give the triangles of a fan their new corners, and their places in the lists."""
    for f in range(n):
        t = fan[f, 3]
        take_out(m, t)
        for k in range(3):
            m.tri[t, k] = fan[f, k]
            m.out[fan[f, k]] = 3 * t + k
        put_in(m, t)


@kernel(inline=True)
def half_edge(m, v, w):
    """From v to w, or -1."""
    h = m.out[v]
    g = h
    while True:
        if origin(m, onward(g)) == w:
            return g
        g = around(m, g)
        if g == h:
            return -1


@kernel(inline=True)
def common_neighbour(m, a, b, c, d):
    """A vertex next to a and b besides c and d, or -1."""
    h = m.out[a]
    g = h
    while True:
        w = origin(m, onward(g))
        if w != c and w != d and w != b and half_edge(m, b, w) >= 0:
            return w
        g = around(m, g)
        if g == h:
            return -1
