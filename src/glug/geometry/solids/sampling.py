"""Distances of walls and solids: at cell corners, and at half-cell spacing in cells.

Domain walls are half-spaces at their exact positions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from glug.geometry.solids.thin import fine_distance
from glug.grids.regular import NODE, Grid

CLEARANCE = 4.0  # distances are exact this many cells around a solid
SNAP = 1e-6  # of a cell: corners nearer to a solid lie on it, or rounding opens the faces of walls on the lattice
CHUNK = 1 << 18  # points evaluated at a time: bounds the memory of temporaries

Near = tuple[list[slice], np.ndarray]
"""A range of cell corners, and a solid's own distances there [m]."""
Box = tuple[slice, ...]


class Solid(Protocol):
    """What this module asks of a solid of the scene."""

    @property
    def moving(self) -> bool: ...
    def distance(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def velocity(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Walls:
    """The closed sides of the domain: the liquid stays above `lower` and below `upper` [m], or +-inf.

    `slip` are the slip lengths [m] of the lower and upper side of each axis: viscous liquid sticks where it is 0 and
    slides without friction where it is infinite. They hold a liquid that moves away, or let it go where `separating`
    says so.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    slip: tuple[tuple[float, float], ...] = ((0.0, 0.0),) * 3
    separating: tuple[tuple[bool, bool], ...] = ((False, False),) * 3

    def only(self, keep: Callable[[int, float], bool]) -> "Walls":
        """The walls for which `keep(axis, slip length)`."""
        lower = [x if keep(a, self.slip[a][0]) else -np.inf for a, x in enumerate(self.lower)]
        upper = [x if keep(a, self.slip[a][1]) else np.inf for a, x in enumerate(self.upper)]
        return Walls((lower[0], lower[1], lower[2]), (upper[0], upper[1], upper[2]), self.slip)


def far_away(grid: Grid) -> np.ndarray:
    """Distances at cell corners from nothing."""
    return np.full(grid.sample_shape(NODE), np.float32(1e3 * grid.dx), np.float32)


def nearest(nodes: np.ndarray, solids: Iterable[Near]) -> np.ndarray:
    """`nodes`, or the distances of `solids` where they are smaller; in place."""
    for ranges, own in solids:
        region = nodes[tuple(ranges)]
        np.minimum(region, own, out=region)
    return nodes


def fine_walls(grid: Grid, walls: Walls, cells: np.ndarray) -> np.ndarray:
    """Distance to the walls at the 27 points of each cell [m]."""

    def to_walls(points: np.ndarray) -> np.ndarray:
        d = np.full(len(points), np.inf)
        for a in range(grid.dim):
            np.minimum(d, points[:, a] - walls.lower[a], out=d)
            np.minimum(d, walls.upper[a] - points[:, a], out=d)
        return d

    return fine_distance(grid, cells, to_walls)


def add_solids(fine: np.ndarray, grid: Grid, solids: Iterable[Solid], t: float, cells: np.ndarray) -> np.ndarray:
    """`fine`, distances at the 27 points of each cell, or those of solids within reach where they are smaller."""
    for solid in solids:
        mine = np.ones(len(cells), np.bool_)
        for a, r in enumerate(index_range(grid, solid, t)):
            mine &= (cells[:, a] >= r.start) & (cells[:, a] < r.stop)
        if mine.any():
            own = fine_distance(grid, cells[mine], lambda points, solid=solid: solid.distance(points, t))  # type: ignore[misc]
            fine[mine] = np.minimum(fine[mine], own)
    return fine


def wall_distance(grid: Grid, walls: Walls) -> np.ndarray:
    """Distance to the walls at cell corners [m]."""
    nodes = far_away(grid)
    for a, x in zip(grid.axes, grid.coordinates(NODE)):
        d = _snapped(np.minimum(x - walls.lower[a], walls.upper[a] - x).astype(np.float32), grid)
        np.minimum(nodes, np.expand_dims(d, [b for b in range(3) if b != a]), out=nodes)
    return nodes


def index_range(grid: Grid, solid: Solid, t: float) -> list[slice]:
    """Corners within reach of the solid's bounding box."""
    lower, upper = solid.bounds(t)
    ranges = []
    for a, n in enumerate(grid.sample_shape(NODE)):
        if a >= grid.dim:
            ranges.append(slice(0, n))
            continue
        low = (lower[a] - grid.origin[a]) / grid.dx - CLEARANCE
        high = (upper[a] - grid.origin[a]) / grid.dx + CLEARANCE
        first = int(np.clip(np.floor(low) - grid.lo[a], 0, n))
        last = int(np.clip(np.ceil(high) - grid.lo[a], -1, n - 1))
        ranges.append(slice(first, max(last + 1, first)))
    return ranges


def shared(grid: Grid, ranges: Sequence[slice], other: Grid, others: Sequence[slice]) -> tuple[Box, Box]:
    """What `ranges` of samples of one window share with those of another on the same lattice.

    As places within either.
    """
    here, there = [], []
    for a, (r, s) in enumerate(zip(ranges, others)):
        shift = grid.lo[a] - other.lo[a]
        low, high = max(r.start, s.start - shift), min(r.stop, s.stop - shift)
        high = max(low, high)
        here.append(slice(low - r.start, high - r.start))
        there.append(slice(low + shift - s.start, high + shift - s.start))
    return tuple(here), tuple(there)


def solid_distance(grid: Grid, solid: Solid, t: float, before: tuple[Grid, Near] | None = None) -> Near:
    """The solid's own distance on the corners near it; where it was found `before`, in another window, it is taken."""
    ranges = index_range(grid, solid, t)
    x, y, z = (c[r] for c, r in zip(grid.coordinates(NODE), ranges))
    own = np.empty((len(x), len(y), len(z)), np.float32)
    new = np.ones(own.shape, np.bool_)
    if before is not None:
        window, (known, distance) = before
        here, there = shared(grid, ranges, window, known)
        own[here], new[here] = distance[there], False
    rows = max(1, CHUNK // max(1, len(y) * len(z)))
    if grid.dim == 2:
        z = np.full_like(z, grid.corner[2] + 0.5 * grid.dx)
    for i in range(0, len(x), rows):
        part = new[i : i + rows]
        if part.any():
            points = np.stack(np.meshgrid(x[i : i + rows], y, z, indexing="ij"), axis=-1)[part]
            own[i : i + rows][part] = solid.distance(points, t)
    return ranges, _snapped(own, grid)


def _snapped(distance: np.ndarray, grid: Grid) -> np.ndarray:
    """`distance`, zero on what lies on a solid but for rounding; changed in place."""
    distance[np.abs(distance) < SNAP * grid.dx] = 0.0
    return distance
