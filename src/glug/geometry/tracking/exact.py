"""Whether a triangle mesh intersects itself, decided exactly: in whole numbers wherever rounding could decide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from glug.geometry.tracking import kernels_pairs
from glug.geometry.tracking.collisions import Lattice

Point = tuple[Fraction, Fraction, Fraction]


def intersections(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Edges that meet triangles they have no vertex in common with: (k, 3) int64, two vertices and a triangle.

    Triangles that share one vertex intersect when an edge of one meets the other; those that share an edge, only
    when they lie on each other.
    """
    if len(triangles) == 0:
        return np.empty((0, 3), np.int64)
    lattice = Lattice.around(x, np.zeros_like(x), triangles, 0.0)
    found = np.empty((1024, 3), np.int64)
    while True:
        count = kernels_pairs.crossing_pairs(x, triangles, lattice.arrays, lattice.size, found)
        if count <= len(found):
            break
        found = np.empty((count, 3), np.int64)
    pairs = np.unique(found[:count], axis=0)
    meets = [segment_meets_triangle(x[p], x[q], *x[triangles[t]]) for p, q, t in pairs]
    return pairs[np.array(meets, np.bool_)]


def segment_meets_triangle(p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    """Whether they have a point in common."""
    xp, xq, xa, xb, xc = (_exact(v) for v in (p, q, a, b, c))
    above, below = _volume(xa, xb, xc, xp), _volume(xa, xb, xc, xq)
    if above * below > 0:
        return False
    if above == below == 0:
        return _meet_in_plane(xp, xq, (xa, xb, xc))
    signs = _volume(xp, xq, xa, xb), _volume(xp, xq, xb, xc), _volume(xp, xq, xc, xa)
    return not (min(signs) < 0 < max(signs))


def _meet_in_plane(p: Point, q: Point, corners: tuple[Point, Point, Point]) -> bool:
    """The same for a segment in the triangle's plane, seen along an axis along which the triangle has an area."""
    for axis in range(3):
        a, b, c = ([x for k, x in enumerate(corner) if k != axis] for corner in corners)
        u, v = ([x for k, x in enumerate(end) if k != axis] for end in (p, q))
        if _area(a, b, c) != 0:
            break
    inside = any(len({_sign(_area(s, t, end)) for s, t in ((a, b), (b, c), (c, a))} - {0}) == 1 for end in (u, v))
    return inside or any(
        _sign(_area(s, t, u)) * _sign(_area(s, t, v)) <= 0 and _sign(_area(u, v, s)) * _sign(_area(u, v, t)) <= 0
        for s, t in ((a, b), (b, c), (c, a))
        if _area(s, t, u) != 0 or _area(s, t, v) != 0
    )


def _area(a: list[Fraction], b: list[Fraction], c: list[Fraction]) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _exact(v: np.ndarray) -> Point:
    x, y, z = (Fraction(float(s)) for s in v)
    return x, y, z


def _volume(a: Point, b: Point, c: Point, d: Point) -> Fraction:
    """Six times the signed volume of a tetrahedron."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = ([p - r for p, r in zip(v, d)] for v in (a, b, c))
    return ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by)
