"""Solids on the grid: distance at cell corners, open face areas, velocity at faces.

Domain walls are half-spaces at their exact positions. Solids thinner than a cell are seen to by
`geometry.solids.thin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glug.geometry.fractions import open_area
from glug.geometry.solids.kernels import held_faces
from glug.geometry.solids.sampling import Near, Solid, Walls, far_away, nearest, solid_distance, wall_distance
from glug.geometry.solids.slip import SlipWalls, Surface, at_centres, sides_across, slips
from glug.geometry.solids.still import LEAST_AREA, StillSolids
from glug.grids.regular import FACES, NODE, Grid, Staggered, lower_upper, mapped, midway

UNSEEN = -1.0  # in place of a fraction

Sampled = list[tuple[Solid, Near]]
"""Solids with their own distances at the cell corners near them."""


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
    keeps: bool = True  # whether what a solve finds out of it (`taken`) is kept for the next one

    def uncut(self) -> SolidField:
        """Without what the solids leave of faces and cells: what a viscous solve needs once it has its weights."""
        nothing = np.empty((0, 0, 0), np.float32)
        return replace(self, area=(nothing,) * 3, openness=nothing, clear=None, separating=None)

    @property
    def sticking(self) -> np.ndarray:
        """Distance at cell corners [m] to what a viscous liquid sticks to."""
        return self.distance if self.slip is None else self.slip.sticking

    @property
    def stopping(self) -> Staggered:
        """The same to what stops the velocity along each axis."""
        return (self.distance,) * 3 if self.slip is None else self.slip.stopping

    @cached_property
    def holding_faces(self) -> tuple[np.ndarray, ...]:
        """Per axis: flat indices of the faces that take the solid's velocity where a viscous liquid sticks.

        Those are closed, or have their centre inside what stops the velocity along the axis.
        """
        found = []
        for a, area in enumerate(self.area):
            inside = np.empty(area.shape, np.uint8)
            held_faces(a, self.holding_area(a), self.stopping[a], inside)
            found.append(np.flatnonzero(inside))
        return tuple(found)

    @cached_property
    def moving_box(self) -> np.ndarray | None:
        """Samples with a moving solid's velocity next to them: (3, 2), the first and one past the last along each axis.

        None where all may have one.
        """
        if self.owner is None:
            return None
        box = np.array([(n, 0) for n in self.distance.shape])
        for number in self.owner:
            found = number >= 0
            for a in range(3) if found.any() else ():
                at = np.flatnonzero(found.any(axis=tuple(b for b in range(3) if b != a)))
                box[a] = min(box[a, 0], at[0] - 1), max(box[a, 1], at[-1] + 2)
        return box

    @cached_property
    def taken(self) -> tuple[np.ndarray, Staggered]:
        """Solid fractions of cells and edges by what a viscous liquid sticks to, UNSEEN until a solve asks for them.

        Where nothing moves, a solve finds what the one before it has asked for. Empty where nothing is kept.
        """
        if not self.keeps:
            nothing = np.empty((0, 0, 0), np.float32)
            return nothing, (nothing,) * 3
        i, j, k = self.distance.shape
        shapes = (i - 1, j - 1, k - 1), (i - 1, j, k), (i, j - 1, k), (i, j, k - 1)
        cell, *edges = (np.full(shape, UNSEEN, np.float32) for shape in shapes)
        return cell, (edges[0], edges[1], edges[2])

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


def sample_solids(
    grid: Grid, walls: Walls, solids: Sequence[Solid], t: float, still: StillSolids | None = None
) -> SolidField:
    """All solids at time t [s]; `still` is what was sampled of those at rest on the same grid."""
    still = StillSolids(grid, walls, solids) if still is None else still
    moving = [(n, s, solid_distance(grid, s, t)) for n, s in enumerate(solids) if s.moving]
    own = [*zip(still.solids, still.own), *((solid, d) for _, solid, d in moving)]
    sliding = any(slips(b, grid.dx) for pair in walls.slip for b in pair) or any(slides(s, grid) for s in solids)
    nodes, cut = still.nodes, still.cut
    velocity = clear = owner = None
    if moving:
        nodes = nearest(nodes.copy(), (d for _, _, d in moving))
        cut = still.cut_with([(solid, d) for _, solid, d in moving], nodes, t)
        sides = walls.only(lambda a, length: not slips(length, grid.dx))
        held = nearest(wall_distance(grid, sides), still.own) if sliding else still.nodes
        velocity, owner = _face_velocity(grid, held, moving, t)
        clear = mapped(lambda a, b: np.float32(1.0) - np.maximum(b - a, 0.0), cut.area, still.coarse_area)
    slip = _slip_walls(grid, walls, own, nodes, {id(s): n for n, s in enumerate(solids)}) if sliding else None
    separating = None
    if np.any(walls.separating) or any(lets_go(solid) for solid in solids):
        separating = _separating_cells(grid, walls, own, cut.area)
    hidden = np.argwhere(cut.hides)
    return SolidField(nodes, cut.area, velocity, cut.openness, hidden, clear, slip, owner, separating)


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
        nodes = wall_distance(grid, Walls((lower[0], lower[1], lower[2]), (upper[0], upper[1], upper[2])))
        distances.append(at_centres(nearest(nodes, (d for solid, d in solids if lets_go(solid) == separating))))
    cut = np.zeros(grid.shape, np.bool_)
    for a in grid.axes:
        cut |= np.logical_or(*lower_upper(area[a] < 1.0 - LEAST_AREA, a))
    return (cut & (distances[0] <= distances[1] + np.float32(1e-3 * grid.dx))).view(np.uint8)


def _sticking(grid: Grid, walls: Walls, solids: Sampled) -> np.ndarray:
    """Distance at cell corners to the walls and `solids` along which nothing slips."""
    nodes = wall_distance(grid, walls.only(lambda a, length: not slips(length, grid.dx)))
    return nearest(nodes, (d for solid, d in solids if not slides(solid, grid)))


def _slip_walls(grid: Grid, walls: Walls, solids: Sampled, distance: np.ndarray, number: dict[int, int]) -> SlipWalls:
    """`number` is that of every solid, by its identity."""
    sticking = _sticking(grid, walls, solids)
    stopping, rows = [], []
    for axis in range(3):
        mine = walls.only(lambda a, length, axis=axis: slips(length, grid.dx) and a == axis)  # type: ignore[misc]
        ends = mine.lower[axis], mine.upper[axis]
        stopping.append(np.minimum(sticking, wall_distance(grid, mine)) if np.isfinite(ends).any() else sticking)
        rows.append(sides_across(grid.coordinates(NODE)[axis], ends, walls.slip[axis], grid.dx))
    cells, nodes, rubbing = zip(*rows)
    sliding = surface = closes = None
    slippery = [(solid, d) for solid, d in solids if slides(solid, grid)]
    if slippery:
        pieces = [
            Surface.of(grid, nearest(far_away(grid), [d]), slip_length(s), s.moving, number[id(s)]) for s, d in slippery
        ]
        surface = Surface.joined(pieces).outside(distance / np.float32(grid.dx))
        sliding = nearest(far_away(grid), (d for _, d in slippery))
        closes = tuple(area == 0.0 for area in open_area(sliding, grid))
    friction = rubbing if any(row.any() for row in rubbing) else None
    return SlipWalls(
        sticking, (stopping[0], stopping[1], stopping[2]), cells, nodes, friction, sliding, closes, surface
    )


def at_faces(nodes: np.ndarray, axis: int) -> np.ndarray:
    """Values at the centres of faces: the mean of their corners."""
    return midway(nodes, *(b for b in range(3) if b != axis))


def _face_velocity(
    grid: Grid, at_rest: np.ndarray, moving: list[tuple[int, Solid, Near]], t: float
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
        closest = np.minimum(at_faces(at_rest, a), np.float32(2.0 * grid.dx))
        for number, solid, (ranges, d) in moving:
            if min(d.shape) < 2:
                continue
            at_face = at_faces(d, a)
            region = tuple(slice(r.start, r.start + n) for r, n in zip(ranges, at_face.shape))
            closer = at_face < closest[region]
            index = np.argwhere(closer)
            points = grid.corner + grid.dx * (index + [r.start for r in ranges] + np.array(FACES[a]))
            velocity[a][region][closer] = solid.velocity(points, t)[:, a]
            owner[a][region][closer] = number
            closest[region][closer] = at_face[closer]
    return velocity, owner
