"""Fractions of control volumes inside discs, balls and functions: exact, or as fine as is asked for.

The reference studies need weights without a discretisation error of their own. Cubes that a surface does not
cut get exactly 0 or 1, so `fraction > 0` means what it says.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from glug.grids.boxes import Boxes, side_fraction
from glug.grids.mesh import Distance
from glug.grids.regular import FACES, Grid, Offset

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def ball_fraction(grid: Grid, offset: Offset, radius: float, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Fraction inside a disc (2D) or ball of the cubes of side dx around the samples at `offset`, flat."""
    points = grid.points(offset).reshape(-1, 3)[:, : grid.dim] - np.asarray(centre)[: grid.dim]
    low, high = points - 0.5 * grid.dx, points + 0.5 * grid.dx
    nearest = np.linalg.norm(np.clip(0.0, low, high), axis=1)
    farthest = np.linalg.norm(np.maximum(np.abs(low), np.abs(high)), axis=1)
    fraction = (farthest <= radius).astype(float)
    cut = (farthest > radius) & (nearest < radius)
    measure = _disc_square if grid.dim == 2 else _ball_cube
    fraction[cut] = np.minimum(measure(low[cut], high[cut], np.full(cut.sum(), radius)) / grid.dx**grid.dim, 1.0)
    return fraction


def face_fraction(grid: Grid, axis: int, phi: Distance) -> np.ndarray:
    """Fraction with phi < 0 of every face across `axis`, flat, from phi at the corners of the face."""
    points = grid.points(FACES[axis]).reshape(-1, 3)[:, : grid.dim]
    return side_fraction(points, np.full(points.shape, grid.dx), axis, phi)


def function_fraction(grid: Grid, offset: Offset, phi: Distance, parts: int = 8) -> np.ndarray:
    """Fraction of the cubes around the samples at `offset` where phi(points) < 0, flat; phi is about a distance."""
    points = grid.points(offset).reshape(-1, 3)[:, : grid.dim]
    return Boxes(points, np.full(points.shape, grid.dx)).fraction(phi, parts)


def _disc_square(low: np.ndarray, high: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Area of the disc of `radius` inside the squares from `low` to `high` (n, 2).

    The height of the overlap is integrated over x = R sin t, between the values of t where its formula changes;
    there it is analytic, and Gauss' rule exact to rounding.
    """

    def angle(x: np.ndarray) -> np.ndarray:
        return np.arcsin(np.clip(x / radius, -1.0, 1.0))

    ends = [angle(low[:, 0]), angle(high[:, 0])]
    breaks = [sign * np.sqrt(np.maximum(radius**2 - y**2, 0.0)) for y in (low[:, 1], high[:, 1]) for sign in (-1, 1)]
    cuts = np.sort(np.stack([*ends, *(np.clip(angle(b), *ends) for b in breaks)]), axis=0)
    area = np.zeros(len(low))
    for begin, end in pairwise(cuts):
        for node, weight in zip(NODES, WEIGHTS):
            t = 0.5 * (begin + end) + 0.5 * (end - begin) * node
            s = radius * np.cos(t)
            height = np.maximum(np.minimum(high[:, 1], s) - np.maximum(low[:, 1], -s), 0.0)
            area += 0.5 * (end - begin) * weight * height * s
    return area


def _ball_cube(low: np.ndarray, high: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Volume of the ball inside the cubes: areas of its slices, by Gauss' rule between the heights where a slice
    begins to touch a side or a corner."""
    ends = low[:, 2], high[:, 2]
    xs, ys = (np.stack([low[:, a], high[:, a], np.zeros(len(low))]) for a in (0, 1))
    squares = np.stack([x**2 + y**2 for x in xs for y in ys])
    heights = np.sqrt(np.maximum(radius**2 - squares, 0.0))
    cuts = np.sort(np.clip(np.concatenate([[ends[0], ends[1]], heights, -heights]), *ends), axis=0)
    volume = np.zeros(len(low))
    for begin, end in pairwise(cuts):
        some = end - begin > 1e-12 * radius
        if not some.any():
            continue
        b, e, r, lo, hi = begin[some], end[some], radius[some], low[some, :2], high[some, :2]
        for node, weight in zip(NODES, WEIGHTS):
            z = 0.5 * (b + e) + 0.5 * (e - b) * node
            slice_radius = np.sqrt(np.maximum(r**2 - z**2, 1e-300))
            volume[some] += 0.5 * (e - b) * weight * _disc_square(lo, hi, slice_radius)
    return volume
