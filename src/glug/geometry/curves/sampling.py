"""The distance of tracked curves on a grid of one layer, and the curves of a distance."""

from collections.abc import Callable

import numpy as np

from glug.geometry.curves import kernels
from glug.geometry.curves.curve import TrackedCurve, closed
from glug.geometry.embedded.elements import Elements
from glug.geometry.liquid import REACH
from glug.geometry.sampled import sample_box
from glug.grids.regular import Grid

FINER = 4  # samples per cell in which curves begin
FEWEST = 6  # vertices of a curve


def curve_distance(vertices: np.ndarray, segments: np.ndarray, grid: Grid, refine: int = 1) -> np.ndarray:
    """Signed distance [m] of closed curves at the centres of cells cut `refine` times, clamped at `REACH` of those."""
    spacing = grid.dx / refine
    phi = np.full((grid.shape[0] * refine, grid.shape[1] * refine), np.float32(REACH * spacing), np.float32)
    corner = np.asarray(grid.corner, np.float64)[:2] + 0.5 * spacing
    if len(segments):
        kernels.distance_near(vertices, segments, corner, spacing, REACH * spacing, phi)
        x, y = (c + spacing * np.arange(n) for c, n in zip(corner, phi.shape))
        points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        phi[Elements(vertices, segments, grid.dx).inside(points).reshape(phi.shape)] *= np.float32(-1.0)
    return phi[:, :, None]


def curves_around(
    distance: Callable[[np.ndarray], np.ndarray], lower: np.ndarray, upper: np.ndarray, dx: float
) -> TrackedCurve:
    """The curves, of segments about dx [m] long, around what of a shape is in a box; points have z = dx / 2."""
    from skimage.measure import find_contours

    sampled = sample_box(distance, lower, upper, dx / FINER, 1, plane=0.5 * dx)
    values = np.pad(sampled.values[:, :, 0].astype(np.float64), 1, constant_values=dx)
    tiny = 1e-5 * dx
    values[np.abs(values) < tiny] = tiny
    corner = np.asarray(sampled.corner)[:2] - sampled.spacing
    loops = [_even(corner + sampled.spacing * loop, dx) for loop in find_contours(values, 0.0)]
    enclosed = sum(0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) for x, y in (p.T for p in loops))
    if enclosed < 0.0:  # counter-clockwise around the liquid
        loops = [loop[::-1] for loop in loops]
    count = np.cumsum([0, *(len(loop) for loop in loops)])
    segments = [closed(len(loop)) + first for loop, first in zip(loops, count)]
    none = np.zeros((0, 2))
    return TrackedCurve(np.concatenate([none, *loops]), np.concatenate([none.astype(np.int32), *segments]), dx)


def _even(loop: np.ndarray, dx: float) -> np.ndarray:
    """Points about dx apart along a closed line, whose last point is its first."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(loop, axis=0).T))])
    count = max(FEWEST, round(length[-1] / dx))
    at = length[-1] * np.arange(count) / count
    return np.stack([np.interp(at, length, loop[:, a]) for a in range(2)], axis=1)
