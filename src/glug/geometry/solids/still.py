"""How solids cut cells and faces, and what of it stays while some of them move.

Walls and solids at rest are sampled once; a window that has grown or moved asks for what is new in it. A moving solid
changes distances within reach of its bounding box only: cells and faces are cut anew there, from distances that are
known where nothing moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glug.geometry.fractions import open_area, solid_volume
from glug.geometry.solids.sampling import (
    Near,
    Solid,
    Walls,
    add_solids,
    fine_walls,
    nearest,
    shared,
    solid_distance,
    wall_distance,
)
from glug.geometry.solids.thin import cut_finely, near_cells, open_fraction
from glug.grids.regular import CENTRE, Grid, Staggered, copied, lower_upper

LEAST_AREA = 1e-3  # faces less open than this are closed: slivers make systems singular in float32


@dataclass(frozen=True)
class Cut:
    """What solids leave of faces and cells."""

    area: Staggered  # open fraction of every face
    openness: np.ndarray  # open fraction of every cell
    hides: np.ndarray  # bool: cells with a solid inside that their corners do not see

    @classmethod
    def of(cls, grid: Grid, nodes: np.ndarray, near: np.ndarray, fine: np.ndarray) -> "Cut":
        """By solids with the distance `nodes` at cell corners and `fine` at the 27 points of the cells `near`."""
        area = open_area(nodes, grid)
        if grid.dim == 2:
            area[2][:] = 0.0
        openness = 1.0 - solid_volume(nodes, grid, CENTRE)
        hides = np.zeros(grid.shape, np.bool_)
        if len(near):
            mine = cut_finely(grid, near, fine, area)
            hidden = tuple(near[mine].T)
            hides[hidden] = True
            openness[hidden] = open_fraction(fine[mine], grid.dx)
        shut = np.ones(grid.shape, np.bool_)  # by faces: corners that all lie on solids say nothing of what is between
        for a, open_part in enumerate(area):
            open_part[open_part < LEAST_AREA] = 0.0
            shut &= np.maximum(*lower_upper(open_part, a)) == 0.0
        openness[shut] = 0.0
        return cls(area, openness, hides)

    def copy(self) -> "Cut":
        return Cut(copied(self.area), self.openness.copy(), self.hides.copy())


class StillSolids:
    """The walls and the solids at rest, on one grid; `before` are the same solids in another window of its lattice."""

    def __init__(self, grid: Grid, walls: Walls, solids: Sequence[Solid], before: "StillSolids | None" = None):
        self.grid, self.walls = grid, walls
        self.solids = [solid for solid in solids if not solid.moving]
        if before is not None and before.lattice != self.lattice:
            before = None
        known = [None] * len(self.solids) if before is None else [(before.grid, own) for own in before.own]
        self.own: list[Near] = [solid_distance(grid, solid, 0.0, k) for solid, k in zip(self.solids, known)]
        self.nodes = nearest(wall_distance(grid, walls), self.own)  # at cell corners [m]
        self._row = np.full(grid.shape, -1, np.int32)  # where the distances in a cell are in `_fine`
        self._fine = np.empty((0, 3, 3, 3), np.float32)
        if before is not None:
            here, there = shared(grid, whole(grid), before.grid, whole(before.grid))
            self._row[here], self._fine = before._row[there], before._fine

    @property
    def lattice(self) -> tuple:
        """What all windows of a run share."""
        return self.grid.dx, self.grid.origin, self.grid.dim

    @cached_property
    def near(self) -> np.ndarray:
        """bool: cells that a solid at rest may touch."""
        return near_cells(self.grid, self.own)

    @cached_property
    def cut(self) -> Cut:
        """What they leave."""
        cells = np.argwhere(self.near)
        return Cut.of(self.grid, self.nodes, cells, self.fine(cells))

    @cached_property
    def coarse_area(self) -> Staggered:
        """Open fraction of every face as the cell corners see it."""
        return open_area(self.nodes, self.grid)

    def fine(self, cells: np.ndarray) -> np.ndarray:
        """Distances at the 27 points of cells, (n, 3, 3, 3) [m]; computed when a cell is first asked for."""
        new = cells[self._row[tuple(cells.T)] < 0]
        if len(new):
            self._row[tuple(new.T)] = np.arange(len(self._fine), len(self._fine) + len(new))
            made = add_solids(fine_walls(self.grid, self.walls, new), self.grid, self.solids, 0.0, new)
            self._fine = np.concatenate([self._fine, made])
        return self._fine[self._row[tuple(cells.T)]]

    def cut_with(self, moving: list[tuple[Solid, Near]], nodes: np.ndarray, t: float) -> Cut:
        """What they and moving solids leave at time t [s].

        nodes  distance to all of them at cell corners
        """
        cut = self.cut.copy()
        near = self.near | near_cells(self.grid, [own for _, own in moving])
        for _, (ranges, _) in moving:
            self._cut_again(cut, widened(ranges, 1, self.grid), [solid for solid, _ in moving], near, nodes, t)
        return cut

    def _cut_again(
        self, cut: Cut, box: tuple[slice, ...], moving: list[Solid], near: np.ndarray, nodes: np.ndarray, t: float
    ) -> None:
        """Cut the cells in `box` and their faces anew: a face depends on the cells on both sides of it."""
        around = widened(box, 1, self.grid)
        low = np.array([r.start for r in around])
        shape = tuple(r.stop - r.start for r in around)
        if min(shape) == 0:
            return
        i, j, k = (int(n) for n in np.array(self.grid.lo) + low)
        part = replace(self.grid, shape=shape, lo=(i, j, k))
        corners = np.ascontiguousarray(nodes[tuple(slice(r.start, r.stop + 1) for r in around)])
        cells = np.argwhere(near[around])
        fine = add_solids(self.fine(cells + low), self.grid, moving, t, cells + low)
        new = Cut.of(part, corners, cells, fine)
        inner = tuple(slice(b.start - r.start, b.stop - r.start) for b, r in zip(box, around))
        cut.openness[box], cut.hides[box] = new.openness[inner], new.hides[inner]
        for a in range(3):
            cut.area[a][faces(box, a)] = new.area[a][faces(inner, a)]


def whole(grid: Grid) -> list[slice]:
    """All cells of a window."""
    return [slice(0, n) for n in grid.shape]


def faces(box: Sequence[slice], axis: int) -> tuple[slice, ...]:
    """The faces across `axis` of a box of cells."""
    return tuple(slice(r.start, r.stop + (a == axis and r.stop > r.start)) for a, r in enumerate(box))


def widened(box: Sequence[slice], by: int, grid: Grid) -> tuple[slice, ...]:
    """A box of cells with more cells around it, as far as the grid has them."""
    return tuple(slice(max(r.start - by, 0), min(r.stop + by, n)) for r, n in zip(box, grid.shape))
