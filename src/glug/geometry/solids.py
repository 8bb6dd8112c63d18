"""Solids on the grid: distance at cell corners, open face areas, velocity at faces.

Domain walls are half-spaces at their exact positions. Near other solids the distance is sampled at half-cell
spacing, because a plate half a cell thick can hide between two corners: a cell that such a plate splits
keeps only its larger part open, so nothing leaks through it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from glug.geometry.fractions import open_area, solid_volume
from glug.grids.regular import CENTRE, FACES, NODE, Grid, Staggered

NEAR = np.sqrt(3.0) / 2.0  # a cell touched by a solid has a corner closer than this many cells
CLEARANCE = 4.0  # distances are exact this many cells around a solid
LEAST_AREA = 1e-3  # faces less open than this are closed: slivers make systems singular in float32
CHUNK = 1 << 18  # points evaluated at a time: bounds the memory of temporaries


class Solid(Protocol):
    """What this module asks of a solid of the scene."""

    @property
    def moving(self) -> bool: ...
    def distance(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def velocity(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Walls:
    """The closed sides of the domain: the liquid stays above `lower` and below `upper` [m], or +-inf."""

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]


@dataclass(frozen=True)
class SolidField:
    """The solids of one moment on one grid."""

    distance: np.ndarray  # at cell corners [m], negative inside
    area: Staggered  # open fraction of every face
    velocity: Staggered | None  # normal velocity of the solid near it [m/s]; None when nothing moves
    openness: np.ndarray  # open fraction of every cell


def sample_solids(grid: Grid, walls: Walls, solids: Sequence[Solid], t: float) -> SolidField:
    """All solids at time t [s]."""
    nodes = _wall_distance(grid, walls)
    own = [_solid_distance(grid, solid, t, nodes) for solid in solids]
    area = open_area(nodes, grid)
    if grid.dim == 2:
        area[2][:] = 0.0
    near = _near_cells(grid, own)
    if len(near):
        _cut_finely(grid, near, _combined(walls, solids, t, grid.dim), area)
    for a in area:
        a[a < LEAST_AREA] = 0.0
    moving = [(s, o) for s, o in zip(solids, own) if s.moving]
    velocity = _face_velocity(grid, moving, t) if moving else None
    return SolidField(nodes, area, velocity, 1.0 - solid_volume(nodes, grid, CENTRE))


def _combined(walls: Walls, solids: Sequence[Solid], t: float, dim: int) -> Callable[[np.ndarray], np.ndarray]:
    def distance(points: np.ndarray) -> np.ndarray:
        d = np.full(len(points), np.inf)
        for a in range(dim):
            np.minimum(d, points[:, a] - walls.lower[a], out=d)
            np.minimum(d, walls.upper[a] - points[:, a], out=d)
        for solid in solids:
            np.minimum(d, solid.distance(points, t), out=d)
        return d

    return distance


def _wall_distance(grid: Grid, walls: Walls) -> np.ndarray:
    nodes = np.full(grid.sample_shape(NODE), np.float32(1e3 * grid.dx), np.float32)
    for a, x in zip(grid.axes, grid.coordinates(NODE)):
        d = np.minimum(x - walls.lower[a], walls.upper[a] - x).astype(np.float32)
        np.minimum(nodes, np.expand_dims(d, [b for b in range(3) if b != a]), out=nodes)
    return nodes


def _index_range(grid: Grid, solid: Solid, t: float) -> list[slice]:
    """Corners within reach of the solid's bounding box."""
    lower, upper = solid.bounds(t)
    ranges = []
    for a, n in enumerate(grid.sample_shape(NODE)):
        if a >= grid.dim:
            ranges.append(slice(0, n))
            continue
        low = (lower[a] - grid.corner[a]) / grid.dx - CLEARANCE
        high = (upper[a] - grid.corner[a]) / grid.dx + CLEARANCE
        first = int(np.clip(np.floor(low), 0, n))
        last = int(np.clip(np.ceil(high), -1, n - 1))
        ranges.append(slice(first, max(last + 1, first)))
    return ranges


def _solid_distance(grid: Grid, solid: Solid, t: float, nodes: np.ndarray) -> tuple[list[slice], np.ndarray]:
    """The solid's own distance on the corners near it; `nodes` takes the minimum."""
    ranges = _index_range(grid, solid, t)
    x, y, z = (c[r] for c, r in zip(grid.coordinates(NODE), ranges))
    own = np.empty((len(x), len(y), len(z)), np.float32)
    rows = max(1, CHUNK // max(1, len(y) * len(z)))
    if grid.dim == 2:
        z = np.full_like(z, grid.corner[2] + 0.5 * grid.dx)
    for i in range(0, len(x), rows):
        points = np.stack(np.meshgrid(x[i : i + rows], y, z, indexing="ij"), axis=-1).reshape(-1, 3)
        own[i : i + rows] = solid.distance(points, t).reshape(-1, len(y), len(z))
    region = nodes[tuple(ranges)]
    np.minimum(region, own, out=region)
    return ranges, own


def _near_cells(grid: Grid, own: list[tuple[list[slice], np.ndarray]]) -> np.ndarray:
    """Cells that a solid (not a wall) may touch, as (n, 3) indices."""
    found = np.zeros(grid.shape, np.bool_)
    limit = NEAR * grid.dx * (1 + 1e-6)
    for ranges, d in own:
        if min(d.shape) < 2:
            continue
        low = high = d
        for a in range(3):
            first, second = [slice(None)] * 3, [slice(None)] * 3
            first[a], second[a] = slice(None, -1), slice(1, None)
            low = np.minimum(low[tuple(first)], low[tuple(second)])
            high = np.maximum(high[tuple(first)], high[tuple(second)])
        cells = tuple(slice(r.start, r.stop - 1) for r in ranges)
        found[cells] |= (low <= limit) & (high >= -limit)
    return np.argwhere(found)


def _cut_finely(grid: Grid, cells: np.ndarray, distance: Callable[[np.ndarray], np.ndarray], area: Staggered) -> None:
    """Replace the areas of the faces of `cells` by those seen at half-cell spacing, thin solids included."""
    open_samples = np.empty((len(cells), 3, 3, 3), np.bool_)
    fine = np.empty((len(cells), 3, 3, 3), np.float32)
    steps = 0.5 * grid.dx * np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    if grid.dim == 2:
        steps[:, 2] = 0.5 * grid.dx
    for i in range(0, len(cells), CHUNK // 27):
        part = cells[i : i + CHUNK // 27]
        points = (grid.corner + grid.dx * part)[:, None, :] + steps
        d = distance(points.reshape(-1, 3)).reshape(-1, 3, 3, 3)
        fine[i : i + len(part)] = d
        open_samples[i : i + len(part)] = _largest_part(d > 0.0)
    number = np.full(grid.shape, -1, np.int32)
    number[tuple(cells.T)] = np.arange(len(cells))
    for a in grid.axes:
        for side in (0, 1):
            take = [slice(None)] * 4
            take[a + 1] = 2 * side  # type: ignore[call-overload]
            shown = open_samples[tuple(take)]
            # The cell across the face must agree that a sample is open: else two parts would join there.
            across = cells.copy()
            across[:, a] += 2 * side - 1
            inside = (across[:, a] >= 0) & (across[:, a] < grid.shape[a])
            across[:, a] = np.clip(across[:, a], 0, grid.shape[a] - 1)
            other = np.where(inside, number[tuple(across.T)], -1)
            take[a + 1] = 2 - 2 * side  # type: ignore[call-overload]
            agreed = np.where((other >= 0)[:, None, None], open_samples[tuple(take)][other], True)
            take[a + 1] = 2 * side  # type: ignore[call-overload]
            values = np.where(shown & agreed, np.abs(fine[tuple(take)]), -np.abs(fine[tuple(take)]))
            face = cells.copy()
            face[:, a] += side
            area[a][tuple(face.T)] = _face_open_fraction(values)


def _largest_part(fluid: np.ndarray) -> np.ndarray:
    """Of the fluid samples (n, 3, 3, 3) of each cell, those in its largest connected part."""
    n = len(fluid)
    label = np.where(fluid, np.arange(1, 28, dtype=np.int8).reshape(3, 3, 3), np.int8(0))
    for _ in range(27):
        before = label.copy()
        for a in (1, 2, 3):
            lower, upper = [slice(None)] * 4, [slice(None)] * 4
            lower[a], upper[a] = slice(None, -1), slice(1, None)
            low, high = label[tuple(lower)], label[tuple(upper)]
            joined = (low > 0) & (high > 0)
            np.maximum(low, high, out=low, where=joined)
            np.maximum(high, low.copy(), out=high, where=joined)
        if np.array_equal(before, label):
            break
    flat = label.reshape(n, 27)
    counts = np.zeros((n, 28), np.int8)
    np.add.at(counts, (np.arange(n)[:, None], flat), 1)
    counts[:, 0] = 0
    return (label > 0) & (label == counts.argmax(axis=1).astype(np.int8)[:, None, None, None])


def _face_open_fraction(values: np.ndarray) -> np.ndarray:
    """Positive fraction of faces from their 3 x 3 samples (n, 3, 3): four squares of four triangles each."""
    a, b = values[:, :-1, :-1], values[:, 1:, :-1]
    c, d = values[:, 1:, 1:], values[:, :-1, 1:]
    m = 0.25 * (a + b + c + d)
    total = sum(_triangle_open(p, q, m) for p, q in ((a, b), (b, c), (c, d), (d, a)))
    return np.asarray(total).mean(axis=(1, 2)) / 4.0


def _triangle_open(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    low, mid, high = np.sort(np.stack([a, b, c]), axis=0).astype(np.float64)
    count = (low > 0).astype(int) + (mid > 0) + (high > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = high * high / ((high - low) * (high - mid))
        two = 1.0 - low * low / ((low - mid) * (low - high))
    return np.select([count == 0, count == 1, count == 2], [0.0 * low, one, two], 1.0)


def _face_velocity(grid: Grid, moving: list[tuple[Solid, tuple[list[slice], np.ndarray]]], t: float) -> Staggered:
    """Normal velocity of the nearest moving solid at the faces within reach of it."""
    velocity = grid.staggered()
    for a in grid.axes:
        nearest = np.full(velocity[a].shape, np.float32(2.0 * grid.dx))
        for solid, (ranges, d) in moving:
            if min(d.shape) < 2:
                continue
            at_face = d
            for b in range(3):
                if b != a:
                    lower, upper = [slice(None)] * 3, [slice(None)] * 3
                    lower[b], upper[b] = slice(None, -1), slice(1, None)
                    at_face = 0.5 * (at_face[tuple(lower)] + at_face[tuple(upper)])
            region = tuple(slice(r.start, r.start + n) for r, n in zip(ranges, at_face.shape))
            closer = at_face < nearest[region]
            index = np.argwhere(closer)
            points = grid.corner + grid.dx * (index + [r.start for r in ranges] + np.array(FACES[a]))
            velocity[a][region][closer] = solid.velocity(points, t)[:, a]
            nearest[region][closer] = at_face[closer]
    return velocity
