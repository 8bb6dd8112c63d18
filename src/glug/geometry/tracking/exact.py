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
    """Whether they have a point in common; segments in the triangle's plane count as meeting it if their boxes do."""
    xp, xq, xa, xb, xc = (_exact(v) for v in (p, q, a, b, c))
    above, below = _volume(xa, xb, xc, xp), _volume(xa, xb, xc, xq)
    if above * below > 0:
        return False
    if above == below == 0:
        corners = np.array([a, b, c])
        return bool((np.minimum(p, q) <= corners.max(axis=0)).all() and (np.maximum(p, q) >= corners.min(axis=0)).all())
    signs = _volume(xp, xq, xa, xb), _volume(xp, xq, xb, xc), _volume(xp, xq, xc, xa)
    return not (min(signs) < 0 < max(signs))


def _exact(v: np.ndarray) -> Point:
    x, y, z = (Fraction(float(s)) for s in v)
    return x, y, z


def _volume(a: Point, b: Point, c: Point, d: Point) -> Fraction:
    """Six times the signed volume of a tetrahedron."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = ([p - r for p, r in zip(v, d)] for v in (a, b, c))
    return ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by)
