"""Pairs of triangles that are near each other, or meet on their way: boxes in a hashed lattice.

Every vertex and edge belongs to one triangle, so that what several triangles share is tested once. Each triangle finds
its own earliest meeting, whatever the number of threads.
"""

import numpy as np

from glug.geometry.tracking.kernels_nearness import (
    NEVER,
    between_segments,
    dot,
    point,
    point_triangle_time,
    segments_time,
    sub,
    to_triangle,
)
from glug.jit import kernel, prange


@kernel(inline=True)
def _bucket(i, j, k, mask):
    return (i * 73856093 ^ j * 19349663 ^ k * 83492791) & mask


@kernel(parallel=True)
def boxes(x, d, tri, grow, box):
    """Lower and upper corners (m, 6) of what every triangle passes, and `grow` around it."""
    for t in prange(len(tri)):
        for a in range(3):
            lower, upper = np.inf, -np.inf
            for k in range(3):
                at, to = x[tri[t, k], a], x[tri[t, k], a] + d[tri[t, k], a]
                lower, upper = min(lower, at, to), max(upper, at, to)
            box[t, a], box[t, 3 + a] = lower - grow, upper + grow


@kernel
def sort_boxes(box, size, mask, start, order, sorted_box):
    """Boxes sorted by the bucket of their centres, in lattice cells of `size`: `start` is the first of each."""
    where = np.empty(len(box), np.int64)
    start[:] = 0
    for t in range(len(box)):
        i = int(np.floor(0.5 * (box[t, 0] + box[t, 3]) / size))
        j = int(np.floor(0.5 * (box[t, 1] + box[t, 4]) / size))
        k = int(np.floor(0.5 * (box[t, 2] + box[t, 5]) / size))
        where[t] = _bucket(i, j, k, mask)
        start[where[t] + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    fill = start[:-1].copy()
    for t in range(len(box)):
        order[fill[where[t]]] = t
        sorted_box[fill[where[t]]] = box[t]
        fill[where[t]] += 1


@kernel
def own(tri, first):
    """Which corners a triangle owns, as bits: those that no earlier one has. It owns the edges that ascend in it."""
    seen = np.zeros(tri.max() + 1, np.uint8)
    for t in range(len(tri)):
        bits = 0
        for k in range(3):
            if seen[tri[t, k]] == 0:
                seen[tri[t, k]] = 1
                bits |= 1 << k
        first[t] = bits


@kernel(inline=True)
def _overlap(box, s, t, other):
    return (
        box[t, 0] <= other[s, 3]
        and other[s, 0] <= box[t, 3]
        and box[t, 1] <= other[s, 4]
        and other[s, 1] <= box[t, 4]
        and box[t, 2] <= other[s, 5]
        and other[s, 2] <= box[t, 5]
    )


@kernel(inline=True)
def _corners_meet(x, d, tri, bits, pair, near, time, who):
    """The earliest meeting of the vertices that one triangle owns with another, or the time given."""
    t, s = pair
    a, b, c = tri[s, 0], tri[s, 1], tri[s, 2]
    for k in range(3):
        v = tri[t, k]
        if bits[t] >> k & 1 and v != a and v != b and v != c:
            found = point_triangle_time(x, d, v, a, b, c, near)
            if found < time:
                time = found
                who[0], who[1], who[2], who[3] = v, a, b, c
    return time


@kernel(inline=True)
def _share_end(p, q, u, v):
    return p in (u, v) or q in (u, v)


@kernel
def awake_buckets(active, start, order):
    """Which buckets hold an active triangle."""
    awake = np.zeros(len(start) - 1, np.bool_)
    for b in range(len(awake)):
        for n in range(start[b], start[b + 1]):
            awake[b] = awake[b] or active[order[n]]
    return awake


@kernel(parallel=True)
def meetings(x, d, tri, bits, active, awake, lattice, size, near, time, who):
    """The earliest time at which a triangle meets a later one, where either is active, and the four vertices in it."""
    start, order, box, mine = lattice
    mask = len(start) - 2
    for t in prange(len(tri)):
        earliest = NEVER
        ci = int(np.floor(0.5 * (mine[t, 0] + mine[t, 3]) / size))
        cj = int(np.floor(0.5 * (mine[t, 1] + mine[t, 4]) / size))
        ck = int(np.floor(0.5 * (mine[t, 2] + mine[t, 5]) / size))
        for cell in range(27):
            b = _bucket(ci + cell // 9 - 1, cj + cell // 3 % 3 - 1, ck + cell % 3 - 1, mask)
            if not (active[t] or awake[b]):
                continue
            for n in range(start[b], start[b + 1]):
                s = order[n]
                if s <= t or not (active[t] or active[s]) or not _overlap(mine, n, t, box):
                    continue
                earliest = _corners_meet(x, d, tri, bits, (t, s), near, earliest, who[t])
                earliest = _corners_meet(x, d, tri, bits, (s, t), near, earliest, who[t])
                for k in range(3):
                    p, q = tri[t, k], tri[t, (k + 1) % 3]
                    if p > q:
                        continue
                    for m in range(3):
                        u, v = tri[s, m], tri[s, (m + 1) % 3]
                        if u > v or _share_end(p, q, u, v):
                            continue
                        found = segments_time(x, d, p, q, u, v, near)
                        if found < earliest:
                            earliest = found
                            who[t, 0], who[t, 1], who[t, 2], who[t, 3] = p, q, u, v
        time[t] = earliest


@kernel
def together(time, who, kept, d, moved):
    """Every vertex of a meeting keeps its part in their common way, and goes with the rest until they meet.

    moved   whether a vertex takes part in a meeting. Where it does in several, it has their mean.
    """
    total, count = np.zeros_like(d), np.zeros(len(d), np.int64)
    for t in range(len(time)):
        if time[t] < 1.0:
            for a in range(3):
                mean = 0.25 * (d[who[t, 0], a] + d[who[t, 1], a] + d[who[t, 2], a] + d[who[t, 3], a])
                for k in range(4):
                    total[who[t, k], a] += mean + kept * time[t] * (d[who[t, k], a] - mean)
            for k in range(4):
                count[who[t, k]] += 1
    for v in range(len(d)):
        moved[v] = count[v] > 0
        for a in range(3):
            d[v, a] = total[v, a] / count[v] if count[v] > 0 else d[v, a]


@kernel
def shorten(time, who, scale):
    """Every vertex of a meeting goes as far as the earliest that it takes part in."""
    for t in range(len(time)):
        if time[t] < 1.0:
            for k in range(4):
                scale[who[t, k]] = min(scale[who[t, k]], time[t])


@kernel(inline=True)
def nearest_vector(x, ta, tb):
    """The shortest vector from one triangle to another that it does not cross."""
    a0, a1, a2 = point(x, ta[0]), point(x, ta[1]), point(x, ta[2])
    b0, b1, b2 = point(x, tb[0]), point(x, tb[1]), point(x, tb[2])
    best = to_triangle(a0, b0, b1, b2)
    for k in range(1, 3):
        other = to_triangle(a1 if k == 1 else a2, b0, b1, b2)
        if dot(other, other) < dot(best, best):
            best = other
    for k in range(3):
        back = to_triangle(b0 if k == 0 else (b1 if k == 1 else b2), a0, a1, a2)
        if dot(back, back) < dot(best, best):
            best = (-back[0], -back[1], -back[2])
    for k in range(3):
        p, q = point(x, ta[k]), point(x, ta[(k + 1) % 3])
        for m in range(3):
            other = between_segments(p, q, point(x, tb[m]), point(x, tb[(m + 1) % 3]))
            if dot(other, other) < dot(best, best):
                best = other
    return best


@kernel(inline=True)
def opposite(x, t, s):
    """How to turn a triangle so that its corners are opposite to those of one that faces it, and the squared distances.

    Corner i of t belongs to corner (turn - i) % 3 of s.
    """
    best, turn = np.inf, 0
    for k in range(3):
        cost = 0.0
        for i in range(3):
            e = sub(point(x, t[i]), point(x, s[(k - i + 3) % 3]))
            cost += dot(e, e)
        if cost < best:
            best, turn = cost, k
    return turn, best


@kernel(inline=True)
def _before(x, normal, tri, t, s):
    """Whether a corner of s is on the outer side of the plane of t."""
    n, a = point(normal, t), point(x, tri[t, 0])
    found = False
    for k in range(3):
        found = found or dot(sub(point(x, tri[s, k]), a), n) > 0.0
    return found


@kernel(parallel=True)
def facing(x, tri, normal, lattice, size, gap, partner, cost):
    """The later triangle, of those within `gap` that a triangle faces through the outside, whose corners are nearest.

    partner   -1 where there is none;   cost   the sum of the squares of the corners' distances
    """
    start, order, box, mine = lattice
    mask = len(start) - 2
    for t in prange(len(tri)):
        best, who = np.inf, -1
        ci = int(np.floor(0.5 * (mine[t, 0] + mine[t, 3]) / size))
        cj = int(np.floor(0.5 * (mine[t, 1] + mine[t, 4]) / size))
        ck = int(np.floor(0.5 * (mine[t, 2] + mine[t, 5]) / size))
        for cell in range(27):
            b = _bucket(ci + cell // 9 - 1, cj + cell // 3 % 3 - 1, ck + cell % 3 - 1, mask)
            for n in range(start[b], start[b + 1]):
                s = order[n]
                if s <= t or not _overlap(mine, n, t, box) or dot(point(normal, t), point(normal, s)) > 0.0:
                    continue
                if share(tri[t], tri[s]) > 0 or not (_before(x, normal, tri, t, s) and _before(x, normal, tri, s, t)):
                    continue
                v = nearest_vector(x, tri[t], tri[s])
                if dot(v, v) > gap * gap or dot(v, point(normal, t)) <= 0.0 or dot(v, point(normal, s)) >= 0.0:
                    continue
                _, apart = opposite(x, tri[t], tri[s])
                if apart < best:
                    best, who = apart, s
        partner[t], cost[t] = who, best


@kernel(inline=True)
def share(a, b):
    """How many vertices two triangles have in common."""
    n = 0
    for k in range(3):
        for m in range(3):
            if a[k] == b[m]:
                n += 1
    return n


@kernel
def crossing_pairs(x, tri, lattice, size, found):
    """Edges that may go through triangles, as (vertex, vertex, triangle): all that rounding cannot exclude.

    Fills `found` (n, 3) as far as it goes; returns their number.
    """
    start, order, box, mine = lattice
    mask = len(start) - 2
    count = 0
    for t in range(len(tri)):
        ci = int(np.floor(0.5 * (mine[t, 0] + mine[t, 3]) / size))
        cj = int(np.floor(0.5 * (mine[t, 1] + mine[t, 4]) / size))
        ck = int(np.floor(0.5 * (mine[t, 2] + mine[t, 5]) / size))
        a, b, c = point(x, tri[t, 0]), point(x, tri[t, 1]), point(x, tri[t, 2])
        for cell in range(27):
            bucket = _bucket(ci + cell // 9 - 1, cj + cell // 3 % 3 - 1, ck + cell % 3 - 1, mask)
            for n in range(start[bucket], start[bucket + 1]):
                s = order[n]
                if s == t or not _overlap(mine, n, t, box):
                    continue
                for k in range(3):
                    p, q = tri[s, k], tri[s, (k + 1) % 3]
                    if p > q or share_vertex(tri[t], p, q):
                        continue
                    if certainly_apart(point(x, p), point(x, q), a, b, c):
                        continue
                    if count < len(found):
                        found[count, 0], found[count, 1], found[count, 2] = p, q, t
                    count += 1
    return count


@kernel(inline=True)
def share_vertex(t, p, q):
    """Whether p or q is a corner of the triangle."""
    return p == t[0] or p == t[1] or p == t[2] or q == t[0] or q == t[1] or q == t[2]


@kernel(inline=True)
def certainly_apart(p, q, a, b, c):
    """Whether a segment misses a triangle, by signs of volumes that rounding cannot have changed."""
    sp, ep = volume_and_error(a, b, c, p)
    sq, eq = volume_and_error(a, b, c, q)
    if (sp > ep and sq > eq) or (sp < -ep and sq < -eq):
        return True
    u, eu = volume_and_error(p, q, a, b)
    v, ev = volume_and_error(p, q, b, c)
    w, ew = volume_and_error(p, q, c, a)
    some_above = u > eu or v > ev or w > ew
    some_below = u < -eu or v < -ev or w < -ew
    return some_above and some_below


@kernel(inline=True)
def volume_and_error(a, b, c, d):
    """Six times the volume of a tetrahedron, and a bound on its error (Shewchuk 1997, the filter of orient3d)."""
    ax, ay, az = a[0] - d[0], a[1] - d[1], a[2] - d[2]
    bx, by, bz = b[0] - d[0], b[1] - d[1], b[2] - d[2]
    cx, cy, cz = c[0] - d[0], c[1] - d[1], c[2] - d[2]
    value = ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by)
    size = (
        abs(ax) * (abs(by * cz) + abs(bz * cy))
        + abs(bx) * (abs(cy * az) + abs(cz * ay))
        + abs(cx) * (abs(ay * bz) + abs(az * by))
    )
    return value, 1e-15 * size
