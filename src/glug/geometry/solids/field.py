"""Solids on the grid: distance at cell corners, open face areas, velocity at faces.

Domain walls are half-spaces at their exact positions. Solids thinner than a cell are seen to by
`geometry.solids.thin`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from glug.geometry.fractions import open_area, solid_volume
from glug.geometry.solids.slip import SlipWalls, Surface, at_centres, sides_across, slips
from glug.geometry.solids.thin import cut_finely, fine_distance, hides_solid, near_cells, open_fraction
from glug.grids.regular import CENTRE, FACES, NODE, Grid, Staggered, lower_upper, mapped, midway

CLEARANCE = 4.0  # distances are exact this many cells around a solid
LEAST_AREA = 1e-3  # faces less open than this are closed: slivers make systems singular in float32
SNAP = 1e-6  # of a cell: corners nearer to a solid lie on it, or rounding opens the faces of walls on the lattice
CHUNK = 1 << 18  # points evaluated at a time: bounds the memory of temporaries


class Solid(Protocol):
    """What this module asks of a solid of the scene."""

    @property
    def moving(self) -> bool: ...
    def distance(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def velocity(self, points: np.ndarray, t: float) -> np.ndarray: ...
    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]: ...


Sampled = list[tuple[Solid, tuple[list[slice], np.ndarray]]]
"""Solids with their own distances at the cell corners near them."""


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


@dataclass(frozen=True)
class SolidField:
    """The solids of one moment on one grid."""

    distance: np.ndarray  # at cell corners [m], negative inside
    area: Staggered  # open fraction of every face
    velocity: Staggered | None  # normal velocity of the solid near it [m/s]; None when nothing moves
    openness: np.ndarray  # open fraction of every cell
    hidden: np.ndarray  # (n, 3) cells with a solid inside that their corners do not see
    clear: Staggered | None = None  # fraction of every face that moving solids leave; None when nothing moves
    slip: SlipWalls | None = None  # walls to which a viscous liquid does not stick
    owner: Staggered | None = None  # int16: number of the moving solid whose velocity is on a face, or -1
    separating: np.ndarray | None = None  # uint8: cells that touch solids which let go; None when no solid does

    @property
    def sticking(self) -> np.ndarray:
        """Distance at cell corners [m] to what a viscous liquid sticks to."""
        return self.distance if self.slip is None else self.slip.sticking

    @property
    def stopping(self) -> Staggered:
        """The same to what stops the velocity along each axis."""
        return (self.distance,) * 3 if self.slip is None else self.slip.stopping

    def holding_area(self, axis: int) -> np.ndarray:
        """`area`, but 1 behind the walls along which the velocity of `axis` slides."""
        if self.slip is None:
            return self.area[axis]
        area = self.area[axis].copy()
        for b in range(3):
            if b != axis:
                np.moveaxis(area, b, 0)[self.slip.cells[b] == 0.0] = 1.0
        if self.slip.closes is not None:
            area[self.slip.closes[axis]] = 1.0
        return area


def sample_solids(grid: Grid, walls: Walls, solids: Sequence[Solid], t: float) -> SolidField:
    """All solids at time t [s]."""
    nodes = _wall_distance(grid, walls)
    resting = [solid for solid in solids if not solid.moving]
    still = [_solid_distance(grid, solid, t, nodes) for solid in resting]
    at_rest = nodes.copy() if len(still) < len(solids) else nodes
    moving = [(n, s, _solid_distance(grid, s, t, nodes)) for n, s in enumerate(solids) if s.moving]
    area = open_area(nodes, grid)
    if grid.dim == 2:
        area[2][:] = 0.0
    openness = 1.0 - solid_volume(nodes, grid, CENTRE)
    near = near_cells(grid, still + [d for _, _, d in moving])
    hidden = np.zeros((0, 3), np.int64)
    if len(near):
        fine = _fine_distance(grid, near, walls, solids, t)
        cut_finely(grid, near, fine, area)
        hides = hides_solid(fine)
        hidden = near[hides]
        openness[tuple(hidden.T)] = open_fraction(fine[hides], grid.dx)
    for a in area:
        a[a < LEAST_AREA] = 0.0
    velocity = clear = owner = None
    own = [*zip(resting, still), *((solid, d) for _, solid, d in moving)]
    sliding = any(slips(b, grid.dx) for pair in walls.slip for b in pair) or any(slides(s, grid) for s in solids)
    if moving:
        sides = walls.only(lambda a, length: not slips(length, grid.dx))
        held = _nearest(_wall_distance(grid, sides), still) if sliding else at_rest
        velocity, owner = _face_velocity(grid, held, moving, t)
        clear = mapped(lambda a, b: np.float32(1.0) - np.maximum(b - a, 0.0), area, open_area(at_rest, grid))
    slip = _slip_walls(grid, walls, own, nodes, {id(s): n for n, s in enumerate(solids)}) if sliding else None
    separating = None
    if np.any(walls.separating) or any(lets_go(solid) for solid in solids):
        separating = _separating_cells(grid, walls, own, area)
    return SolidField(nodes, area, velocity, openness, hidden, clear, slip, owner, separating)


def lets_go(solid: Solid) -> bool:
    """Whether a solid's walls are separating."""
    return getattr(solid, "walls", "sticking") == "separating"


def slip_length(solid: Solid) -> float:
    """The slip length of a solid's surface [m]."""
    return float(getattr(solid, "slip_length", 0.0))


def slides(solid: Solid, grid: Grid) -> bool:
    """Whether liquid slips along a solid."""
    return slips(slip_length(solid), grid.dx)


def _separating_cells(grid: Grid, walls: Walls, solids: Sampled, area: Staggered) -> np.ndarray:
    """1 at the cells with faces that are not open whose nearest solid is separating."""
    distances = []
    for separating in (True, False):
        lower, upper = (
            [x if flags[side] == separating else far for x, flags in zip(ends, walls.separating)]
            for side, (ends, far) in enumerate(((walls.lower, -np.inf), (walls.upper, np.inf)))
        )
        nodes = _wall_distance(grid, Walls((lower[0], lower[1], lower[2]), (upper[0], upper[1], upper[2])))
        distances.append(at_centres(_nearest(nodes, (d for solid, d in solids if lets_go(solid) == separating))))
    cut = np.zeros(grid.shape, np.bool_)
    for a in grid.axes:
        cut |= np.logical_or(*lower_upper(area[a] < 1.0 - LEAST_AREA, a))
    return (cut & (distances[0] <= distances[1] + np.float32(1e-3 * grid.dx))).view(np.uint8)


def _nearest(nodes: np.ndarray, solids: Iterable[tuple[list[slice], np.ndarray]]) -> np.ndarray:
    """`nodes`, or the distances of `solids` where they are smaller; in place."""
    for ranges, own in solids:
        region = nodes[tuple(ranges)]
        np.minimum(region, own, out=region)
    return nodes


def _sticking(grid: Grid, walls: Walls, solids: Sampled) -> np.ndarray:
    """Distance at cell corners to the walls and `solids` along which nothing slips."""
    nodes = _wall_distance(grid, walls.only(lambda a, length: not slips(length, grid.dx)))
    return _nearest(nodes, (d for solid, d in solids if not slides(solid, grid)))


def _slip_walls(grid: Grid, walls: Walls, solids: Sampled, distance: np.ndarray, number: dict[int, int]) -> SlipWalls:
    """`number` is that of every solid, by its identity."""
    sticking = _sticking(grid, walls, solids)
    stopping, rows = [], []
    for axis in range(3):
        mine = walls.only(lambda a, length, axis=axis: slips(length, grid.dx) and a == axis)  # type: ignore[misc]
        ends = mine.lower[axis], mine.upper[axis]
        stopping.append(np.minimum(sticking, _wall_distance(grid, mine)) if np.isfinite(ends).any() else sticking)
        rows.append(sides_across(grid.coordinates(NODE)[axis], ends, walls.slip[axis], grid.dx))
    cells, nodes, rubbing = zip(*rows)
    sliding = surface = closes = None
    slippery = [(solid, d) for solid, d in solids if slides(solid, grid)]
    if slippery:
        pieces = [
            Surface.of(grid, _nearest(_far(grid), [d]), slip_length(s), s.moving, number[id(s)]) for s, d in slippery
        ]
        surface = Surface.joined(pieces).outside(distance / np.float32(grid.dx))
        sliding = _nearest(_far(grid), (d for _, d in slippery))
        closes = tuple(area == 0.0 for area in open_area(sliding, grid))
    friction = rubbing if any(row.any() for row in rubbing) else None
    return SlipWalls(
        sticking, (stopping[0], stopping[1], stopping[2]), cells, nodes, friction, sliding, closes, surface
    )


def _far(grid: Grid) -> np.ndarray:
    """Distances at cell corners from nothing."""
    return np.full(grid.sample_shape(NODE), np.float32(1e3 * grid.dx), np.float32)


def _fine_distance(grid: Grid, cells: np.ndarray, walls: Walls, solids: Sequence[Solid], t: float) -> np.ndarray:
    """Distance to walls and solids at the 27 points of each cell; a solid counts within reach of its bounds."""

    def to_walls(points: np.ndarray) -> np.ndarray:
        d = np.full(len(points), np.inf)
        for a in range(grid.dim):
            np.minimum(d, points[:, a] - walls.lower[a], out=d)
            np.minimum(d, walls.upper[a] - points[:, a], out=d)
        return d

    fine = fine_distance(grid, cells, to_walls)
    for solid in solids:
        mine = np.ones(len(cells), np.bool_)
        for a, r in enumerate(_index_range(grid, solid, t)):
            mine &= (cells[:, a] >= r.start) & (cells[:, a] < r.stop)
        if mine.any():
            own = fine_distance(grid, cells[mine], lambda points, solid=solid: solid.distance(points, t))  # type: ignore[misc]
            fine[mine] = np.minimum(fine[mine], own)
    return fine


def _wall_distance(grid: Grid, walls: Walls) -> np.ndarray:
    nodes = _far(grid)
    for a, x in zip(grid.axes, grid.coordinates(NODE)):
        d = _snapped(np.minimum(x - walls.lower[a], walls.upper[a] - x).astype(np.float32), grid)
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
        own[i : i + rows] = solid.distance(points, t).reshape(own[i : i + rows].shape)
    _snapped(own, grid)
    region = nodes[tuple(ranges)]
    np.minimum(region, own, out=region)
    return ranges, own


def _snapped(distance: np.ndarray, grid: Grid) -> np.ndarray:
    """`distance`, zero on what lies on a solid but for rounding; changed in place."""
    distance[np.abs(distance) < SNAP * grid.dx] = 0.0
    return distance


def at_faces(nodes: np.ndarray, axis: int) -> np.ndarray:
    """Values at the centres of faces: the mean of their corners."""
    return midway(nodes, *(b for b in range(3) if b != axis))


def _face_velocity(
    grid: Grid, at_rest: np.ndarray, moving: list[tuple[int, Solid, tuple[list[slice], np.ndarray]]], t: float
) -> tuple[Staggered, Staggered]:
    """Normal velocity of the nearest solid at the faces within reach of a moving one, and that solid's number.

    Zero and -1 next to those at rest: `at_rest` is the distance at cell corners of the walls and static solids to
    which liquid sticks.
    """
    velocity = grid.staggered()
    owner = grid.staggered(np.int16)
    for a in range(3):
        owner[a][:] = -1
    for a in grid.axes:
        nearest = np.minimum(at_faces(at_rest, a), np.float32(2.0 * grid.dx))
        for number, solid, (ranges, d) in moving:
            if min(d.shape) < 2:
                continue
            at_face = at_faces(d, a)
            region = tuple(slice(r.start, r.start + n) for r, n in zip(ranges, at_face.shape))
            closer = at_face < nearest[region]
            index = np.argwhere(closer)
            points = grid.corner + grid.dx * (index + [r.start for r in ranges] + np.array(FACES[a]))
            velocity[a][region][closer] = solid.velocity(points, t)[:, a]
            owner[a][region][closer] = number
            nearest[region][closer] = at_face[closer]
    return velocity, owner
