"""Split, flip and collapse: edges between the shortest and the longest length, triangles near to equilateral."""

import numpy as np

from glug.geometry.tracking.kernels_links import (
    MOST_FAN,
    add_fan,
    around,
    back,
    beside,
    clear,
    common_neighbour,
    good,
    half_edge,
    link,
    onward,
    origin,
    remember,
    remove,
    rename,
    take_out,
    write,
)
from glug.geometry.tracking.kernels_nearness import area_vector, cross, dot, length, point, sub
from glug.geometry.tracking.kernels_quadric import rank
from glug.geometry.tracking.kernels_topology import cut
from glug.jit import kernel

SMOOTH = 0.8  # cosine between two triangles beside an edge that may be flipped
COLLAPSED, REFUSED = -1, -2
MOST_SHIFT = 0.3  # dx: of a collapsed edge's new vertex from its middle, to keep volume


@kernel(inline=True)
def _edge(m, h):
    return sub(point(m.x, origin(m, onward(h))), point(m.x, origin(m, h)))


@kernel(inline=True)
def _rank_at(m, v):
    """The rank of the quadric of a vertex."""
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    h = m.out[v]
    g = h
    while True:
        t = g // 3
        n = area_vector(point(m.x, m.tri[t, 0]), point(m.x, m.tri[t, 1]), point(m.x, m.tri[t, 2]))
        area = length(n)
        if area > 0.0:
            xx, yy, zz = xx + n[0] * n[0] / area, yy + n[1] * n[1] / area, zz + n[2] * n[2] / area
            xy, xz, yz = xy + n[0] * n[1] / area, xz + n[0] * n[2] / area, yz + n[1] * n[2] / area
        g = around(m, g)
        if g == h:
            break
    return rank((xx, yy, zz, xy, xz, yz))


@kernel(inline=True)
def _edges_by_length(m, lower, upper):
    """Half-edges, one per edge, whose length is between bounds, shortest first."""
    nt = m.count[1]
    found, size = np.empty(3 * nt, np.int64), np.empty(3 * nt)
    n = 0
    for h in range(3 * nt):
        if m.tri[h // 3, 0] < 0 or origin(m, h) > origin(m, onward(h)):
            continue
        e = length(_edge(m, h))
        if lower <= e <= upper:
            found[n], size[n] = h, e
            n += 1
    return found[:n][np.argsort(size[:n], kind="mergesort")]


@kernel
def split_long(m, longest, near):
    """Split edges that are longer, the longest first; the number of splits, or -1 when arrays have become too short."""
    fan = np.empty((4, 4), np.int64)
    todo = _edges_by_length(m, longest, np.inf)
    done = 0
    for n in range(len(todo) - 1, -1, -1):
        if m.count[0] + 1 > len(m.x) or m.count[1] + 2 > len(m.tri):
            return -1
        h = todo[n]
        if length(_edge(m, h)) > longest:  # a half-edge that a split has made shorter keeps its number
            split(m, h, fan, near)
            done += 1
    return done


@kernel(inline=True)
def split(m, h0, fan, near):
    """Put a vertex into an edge: on a smooth surface by the butterfly rule, where that is clear, or its middle."""
    h1 = m.twin[h0]
    a, b, c, d = origin(m, h0), origin(m, h1), origin(m, back(h0)), origin(m, back(h1))
    v, t0, t1 = m.count[0], h0 // 3, h1 // 3
    t2, t3 = m.count[1], m.count[1] + 1
    smooth = _rank_at(m, a) == 1 and _rank_at(m, b) == 1
    for i in range(3):
        m.x[v, i] = 0.5 * (m.x[a, i] + m.x[b, i])
    if smooth:
        for i in range(3):
            wings = m.x[origin(m, back(m.twin[onward(h0)])), i] + m.x[origin(m, back(m.twin[back(h0)])), i]
            wings += m.x[origin(m, back(m.twin[onward(h1)])), i] + m.x[origin(m, back(m.twin[back(h1)])), i]
            m.x[v, i] += 0.125 * (m.x[c, i] + m.x[d, i]) - 0.0625 * wings
        m.count[2] += 1
        m.mark[t0] = m.mark[t1] = m.count[2]
        fan[0, 0], fan[0, 1], fan[0, 2] = a, v, c
        fan[1, 0], fan[1, 1], fan[1, 2] = v, b, c
        fan[2, 0], fan[2, 1], fan[2, 2] = b, v, d
        fan[3, 0], fan[3, 1], fan[3, 2] = v, a, d
        far = length(sub(point(m.x, v), point(m.x, a))) > length(_edge(m, h0))
        if far or not clear(m, fan, 4, near):
            for i in range(3):
                m.x[v, i] = 0.5 * (m.x[a, i] + m.x[b, i])
    g0, f0, g1, f1 = m.twin[onward(h0)], m.twin[back(h0)], m.twin[onward(h1)], m.twin[back(h1)]
    take_out(m, t0)
    take_out(m, t1)
    m.count[0] += 1
    m.count[1] += 2
    write(m, t0, a, v, c)
    write(m, t2, v, b, c)
    write(m, t1, b, v, d)
    write(m, t3, v, a, d)
    link(m, 3 * t0, 3 * t3)
    link(m, 3 * t0 + 1, 3 * t2 + 2)
    link(m, 3 * t0 + 2, f0)
    link(m, 3 * t2, 3 * t1)
    link(m, 3 * t2 + 1, g0)
    link(m, 3 * t1 + 1, 3 * t3 + 2)
    link(m, 3 * t1 + 2, f1)
    link(m, 3 * t3 + 1, g1)


@kernel(inline=True)
def _cotangent(m, h):
    """Of the angle opposite to a half-edge."""
    c = point(m.x, origin(m, back(h)))
    u, v = sub(point(m.x, origin(m, h)), c), sub(point(m.x, origin(m, onward(h))), c)
    return dot(u, v) / max(length(cross(u, v)), 1e-300)


@kernel
def flip_edges(m, longest, most_volume, near):
    """Flip edges that are not Delaunay, off ridges; the number of flips."""
    fan = np.empty((2, 4), np.int64)
    done = 0
    for h in range(3 * m.count[1]):
        if m.tri[h // 3, 0] < 0 or origin(m, h) > origin(m, onward(h)):
            continue
        if _cotangent(m, h) + _cotangent(m, m.twin[h]) < -1e-9 and _flip(m, h, (longest, most_volume), fan, near):
            done += 1
    return done


@kernel(inline=True)
def _flip(m, h0, limits, fan, near):
    h1, a, b, c, d = beside(m, h0)
    longest, most_volume = limits
    t0, t1 = h0 // 3, h1 // 3
    if c == d or half_edge(m, c, d) >= 0:
        return False
    xa, xb, xc, xd = point(m.x, a), point(m.x, b), point(m.x, c), point(m.x, d)
    across = length(sub(xc, xd))
    if across > longest and across > length(sub(xa, xb)):
        return False
    n0, n1 = area_vector(xa, xb, xc), area_vector(xb, xa, xd)
    m0, m1 = area_vector(xa, xd, xc), area_vector(xd, xb, xc)
    before, after = length(n0) + length(n1), length(m0) + length(m1)
    flat = dot(n0, n1) > SMOOTH * length(n0) * length(n1) or min(length(n0), length(n1)) < 0.02 * max(
        length(n0), length(n1)
    )
    if not flat or dot(m0, m1) < SMOOTH * length(m0) * length(m1) or abs(after - before) > 0.1 * before:
        return False
    if abs(dot(sub(xd, xa), n0)) / 3.0 > most_volume or min(length(m0), length(m1)) < min(length(n0), length(n1)):
        return False
    m.count[2] += 1
    m.mark[t0] = m.mark[t1] = m.count[2]
    fan[0, 0], fan[0, 1], fan[0, 2] = a, d, c
    fan[1, 0], fan[1, 1], fan[1, 2] = d, b, c
    if not clear(m, fan, 2, near):
        return False
    g0, f0, g1, f1 = m.twin[onward(h0)], m.twin[back(h0)], m.twin[onward(h1)], m.twin[back(h1)]
    take_out(m, t0)
    take_out(m, t1)
    write(m, t0, a, d, c)
    write(m, t1, d, b, c)
    link(m, 3 * t0, g1)
    link(m, 3 * t0 + 1, 3 * t1 + 2)
    link(m, 3 * t0 + 2, f0)
    link(m, 3 * t1, f1)
    link(m, 3 * t1 + 1, g0)
    return True


@kernel
def collapse_short(m, shortest, longest, most_cuts, near):
    """Collapse edges that are shorter, the shortest first; cut necks of three edges that are in the way.

    Returns the number of collapses, -1 when arrays have become too short; the cuts are counted in `m.count`.
    """
    fan, before = np.empty((MOST_FAN, 4), np.int64), np.empty((MOST_FAN, 5))
    done = 0
    for h in _edges_by_length(m, 0.0, shortest):
        if m.tri[h // 3, 0] < 0 or length(_edge(m, h)) > shortest:
            continue
        third = _collapse(m, h, longest, (fan, before), near)
        if third == COLLAPSED:
            done += 1
        elif third >= 0 and m.count[3] < most_cuts:
            if m.count[0] + 3 > len(m.x) or m.count[1] + 2 > len(m.tri):
                return -1
            if cut(m, h, third, fan, near):
                m.count[3] += 1
    return done


@kernel(inline=True)
def _collapse(m, h0, longest, rows, near):
    """COLLAPSED, REFUSED, or the third vertex of a neck that the edge is part of."""
    fan, before = rows
    h1, a, b, c, d = beside(m, h0)
    third = common_neighbour(m, a, b, c, d)
    if third >= 0:
        return third
    t0, t1 = h0 // 3, h1 // 3
    m.count[2] += 1
    m.mark[t0] = m.mark[t1] = m.count[2]
    n = add_fan(m, b, (b,), (a,), fan, add_fan(m, a, (b,), (a,), fan, 0))
    if n < 3:
        return REFUSED
    remember(m, fan, n, before)
    was = point(m.x, a)
    m.x[a, 0], m.x[a, 1], m.x[a, 2] = _place(m, (a, b, c, d), fan, n)
    if not (good(m, fan, n, before, longest) and clear(m, fan, n, near)):
        m.x[a, 0], m.x[a, 1], m.x[a, 2] = was
        return REFUSED
    g0, f0, g1, f1 = m.twin[onward(h0)], m.twin[back(h0)], m.twin[onward(h1)], m.twin[back(h1)]
    remove(m, t0)
    remove(m, t1)
    rename(m, fan, n)
    m.out[b] = -1
    link(m, g0, f0)
    link(m, g1, f1)
    return COLLAPSED


@kernel(inline=True)
def _place(m, edge, fan, n):
    """Where the vertex of a collapsed edge goes: onto the feature, or where the volume stays the same."""
    a, b, c, d = edge
    ra, rb = _rank_at(m, a), _rank_at(m, b)
    if ra > rb:
        return point(m.x, a)
    if rb > ra:
        return point(m.x, b)
    xa, xb = point(m.x, a), point(m.x, b)
    middle = (0.5 * (xa[0] + xb[0]), 0.5 * (xa[1] + xb[1]), 0.5 * (xa[2] + xb[2]))
    # With the origin in the middle the volume under the new fan is p . G, that under the old one V.
    gx, gy, gz = 0.0, 0.0, 0.0
    volume = dot(cross(sub(xa, middle), sub(xb, middle)), sub(point(m.x, c), middle))
    volume += dot(cross(sub(xb, middle), sub(xa, middle)), sub(point(m.x, d), middle))
    for f in range(n):
        k = 0 if fan[f, 0] == a else (1 if fan[f, 1] == a else 2)
        p, q = sub(point(m.x, fan[f, (k + 1) % 3]), middle), sub(point(m.x, fan[f, (k + 2) % 3]), middle)
        w = cross(p, q)
        gx, gy, gz = gx + w[0], gy + w[1], gz + w[2]
        volume += dot(w, sub(point(m.x, m.tri[fan[f, 3], k]), middle))
    size = gx * gx + gy * gy + gz * gz
    if size <= 0.0:
        return middle
    s = volume / size
    shift = abs(s) * np.sqrt(size)
    s *= min(1.0, MOST_SHIFT * m.size[3] / shift) if shift > 0.0 else 0.0
    return middle[0] + s * gx, middle[1] + s * gy, middle[2] + s * gz
