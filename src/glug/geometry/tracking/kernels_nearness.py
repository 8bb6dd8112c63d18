"""How near points, segments and triangles are, now and along straight paths. Points are tuples of three floats."""

import math

from glug.jit import kernel

NEVER = 2.0  # a time beyond the step's end
SLACK = 1.25  # times the distance to be kept, from where on a pair has met
MOST_ADVANCES = 100  # of a pair's time; stopping early is safe


@kernel(inline=True)
def point(x, v):
    """Row v of an array."""
    return x[v, 0], x[v, 1], x[v, 2]


@kernel(inline=True)
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel(inline=True)
def along(a, t, d):
    """a + t d."""
    return a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]


@kernel(inline=True)
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(inline=True)
def length(a):
    """|a|."""
    return math.sqrt(dot(a, a))


@kernel(inline=True)
def area_vector(a, b, c):
    """Half (b - a) x (c - a): the area of a triangle along its normal."""
    n = cross(sub(b, a), sub(c, a))
    return 0.5 * n[0], 0.5 * n[1], 0.5 * n[2]


@kernel(inline=True)
def to_segment(p, a, b):
    """From p to the nearest point of a segment."""
    ab = sub(b, a)
    s = dot(sub(p, a), ab)
    size = dot(ab, ab)
    s = 0.0 if s <= 0.0 else (1.0 if s >= size else s / size)
    return sub(along(a, s, ab), p)


@kernel(inline=True)
def to_triangle(p, a, b, c):
    """From p to the nearest point of a triangle."""
    ab, ac, bc = sub(b, a), sub(c, a), sub(c, b)
    n = cross(ab, ac)
    ap, bp, cp = sub(p, a), sub(p, b), sub(p, c)
    size = dot(n, n)
    inside = (
        size > 0.0 and dot(cross(ab, ap), n) >= 0.0 and dot(cross(bc, bp), n) >= 0.0 and dot(cross(ac, cp), n) <= 0.0
    )
    if inside:
        t = -dot(ap, n) / size
        return t * n[0], t * n[1], t * n[2]
    best = to_segment(p, a, b)
    other = to_segment(p, b, c)
    if dot(other, other) < dot(best, best):
        best = other
    other = to_segment(p, c, a)
    if dot(other, other) < dot(best, best):
        best = other
    return best


@kernel(inline=True)
def between_segments(a, b, c, d):
    """The shortest vector from segment ab to segment cd."""
    u, v, r = sub(b, a), sub(d, c), sub(a, c)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ur, vr = dot(u, r), dot(v, r)
    det = uu * vv - uv * uv
    s = 0.0
    if det > 1e-14 * uu * vv:
        s = (uv * vr - ur * vv) / det
        s = min(max(s, 0.0), 1.0)
    t = (uv * s + vr) / vv if vv > 0.0 else 0.0
    if t < 0.0 or t > 1.0:
        t = 0.0 if t < 0.0 else 1.0
        s = (uv * t - ur) / uu if uu > 0.0 else 0.0
        s = min(max(s, 0.0), 1.0)
    return sub(along(c, t, v), along(a, s, u))


@kernel(inline=True)
def crosses(p, q, a, b, c):
    """Whether the segment pq goes through the triangle abc (rounding decides where it just touches)."""
    n = cross(sub(b, a), sub(c, a))
    sp, sq = dot(sub(p, a), n), dot(sub(q, a), n)
    if sp * sq > 0.0 or sp == sq:
        return False
    d = sub(q, p)
    u = dot(d, cross(sub(a, p), sub(b, p)))
    v = dot(d, cross(sub(b, p), sub(c, p)))
    w = dot(d, cross(sub(c, p), sub(a, p)))
    return (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0)


@kernel(inline=True)
def _farthest(a, b, c):
    return math.sqrt(max(dot(a, a), dot(b, b), dot(c, c)))


@kernel(inline=True)
def _relative(d, a, b, c, e):
    """The displacements of four vertices without their mean."""
    da, db, dc, de = point(d, a), point(d, b), point(d, c), point(d, e)
    mean = (
        0.25 * (da[0] + db[0] + dc[0] + de[0]),
        0.25 * (da[1] + db[1] + dc[1] + de[1]),
        0.25 * (da[2] + db[2] + dc[2] + de[2]),
    )
    return sub(da, mean), sub(db, mean), sub(dc, mean), sub(de, mean)


@kernel(inline=True)
def _gap(edges, a, b, c, e):
    """The distance of the edges ab and ce, or of the vertex a and the triangle bce."""
    return length(between_segments(a, b, c, e) if edges else to_triangle(a, b, c, e))


@kernel(inline=True)
def _meeting(edges, places, moves, speed, near):
    """A time of the step until which two edges, or a vertex and a triangle, stay apart; NEVER if they do not meet.

    Additive conservative advancement (Li et al. 2021): whatever the motion, nothing gets nearer faster than `speed`.
    They have met when half their distance is left, or `near`.
    """
    (a, b, c, e), (da, db, dc, de) = places, moves
    gap = _gap(edges, a, b, c, e)
    keep = min(0.5 * gap, near)
    if gap - keep >= speed:
        return NEVER
    t = 0.0
    for _ in range(MOST_ADVANCES):
        t += (gap - keep) / speed
        if t >= 1.0:
            return NEVER
        gap = _gap(edges, along(a, t, da), along(b, t, db), along(c, t, dc), along(e, t, de))
        if gap <= SLACK * keep:
            break
    return t


@kernel(inline=True)
def point_triangle_time(x, d, v, a, b, c, near):
    """`_meeting` of the vertex v and the triangle abc, moving along d."""
    moves = _relative(d, v, a, b, c)
    speed = length(moves[0]) + _farthest(moves[1], moves[2], moves[3])
    return _meeting(False, (point(x, v), point(x, a), point(x, b), point(x, c)), moves, speed, near)


@kernel(inline=True)
def segments_time(x, d, a, b, p, q, near):
    """`_meeting` of the edges ab and pq, moving along d."""
    moves = _relative(d, a, b, p, q)
    speed = _farthest(moves[0], moves[1], moves[1]) + _farthest(moves[2], moves[3], moves[3])
    return _meeting(True, (point(x, a), point(x, b), point(x, p), point(x, q)), moves, speed, near)
