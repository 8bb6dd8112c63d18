"""Windows of finest cells along a tree's finest leaves: what other scenes do on one window is done here on many.

A brick is a box of finest leaves (`boxes`), and a window around it that reaches as far as what is computed there looks.
It takes values from leaves and faces, and gives them back where they are its own. All stages of a step have the same
windows: what is found of the tree and of solids at rest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from weakref import proxy

import numpy as np

from glug.geometry.solids.field import SolidField, sample_solids
from glug.geometry.solids.full import nodes_around
from glug.grids.octree.linear import kernels_lattice as kernels
from glug.grids.octree.linear.lattice import cells_per_level
from glug.grids.regular import Grid, Staggered, mapped
from glug.particles.kernels_leaves import particles_in_window
from glug.particles.storage import Particles
from glug.simulation.octree.boxes import HALO
from glug.simulation.octree.tree import StepTree
from glug.simulation.setting import Setting


@dataclass(frozen=True)
class Brick:
    """Finest leaves `mine` (int64), at `cells` (n, 3) of the window `grid`."""

    step: StepTree
    grid: Grid
    mine: np.ndarray
    cells: np.ndarray
    at_rest: list[SolidField] = field(default_factory=list)  # the solids, once they are known; none where some move

    @cached_property
    def leaf(self) -> np.ndarray:
        """The leaf over every cell (int32), or a negative number."""
        tree = self.step.tree
        index = tree.index
        found = np.empty(self.grid.shape, np.int32)
        low = np.asarray(self.grid.lo) - self.step.lo
        kernels.leaves_in_window(low, cells_per_level(tree), index.key, index.level, index.slots, index.table, found)
        return found

    @cached_property
    def full(self) -> np.ndarray:
        """1 in the cells of coarse leaves (uint8)."""
        found = np.empty(self.grid.shape, np.uint8)
        kernels.full_leaves(self.leaf, self.step.tree.level, found)
        return found

    @cached_property
    def numbers(self) -> Staggered:
        """The tree's faces (int32) on the window's, or negative numbers."""
        faces = self.step.faces
        found = self.grid.staggered(np.int32)
        for a in range(3):
            kernels.faces_in_window(self.leaf, a, faces.tree.level, faces.first, faces.owned, found[a])
        return found

    def solid(self, setting: Setting, t: float) -> SolidField:
        """The solids at time t."""
        if setting.moving:
            return sample_solids(self.grid, setting.walls, setting.solids, t)
        if not self.at_rest:
            self.at_rest.append(sample_solids(self.grid, setting.walls, setting.solids, t))
        return self.at_rest[0]

    def held(self, setting: Setting, t: float) -> SolidField:
        """The solids as solves see them: with the sources that are open."""
        return sample_solids(self.grid, setting.walls, setting.holding(t), t)

    def closed(self, setting: Setting, t: float) -> np.ndarray:
        """The solids' distance at cell corners at time t, with coarse leaves as solids."""
        distance = self.solid(setting, t).distance
        return nodes_around(distance, self.full, self.grid.dx) if setting.moving else self._closed_at_rest

    @cached_property
    def _closed_at_rest(self) -> np.ndarray:
        return nodes_around(self.at_rest[0].distance, self.full, self.grid.dx)

    def particles(self, p: Particles) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions and volumes of the particles in finest leaves, by cell, and the first of every cell."""
        first = np.empty(self.grid.cells + 2, np.int32)
        level = self.step.tree.level
        count = particles_in_window(self.leaf, level, p.start, first, np.empty(0, np.int32))
        order = np.empty(count, np.int32)
        particles_in_window(self.leaf, level, p.start, first, order)
        return p.position[order], p.volume[order], first

    def rows(self, p: Particles) -> np.ndarray:
        """The particles in the brick's own leaves."""
        begin, count = p.start[self.mine], p.start[self.mine + 1] - p.start[self.mine]
        return np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum())

    def taken(self, values: np.ndarray, outside: float) -> np.ndarray:
        """A field of leaves on the window's cells."""
        out = np.empty(self.grid.shape, values.dtype)
        kernels.take(self.leaf, values, values.dtype.type(outside), out)
        return out

    def give(self, window: np.ndarray, values: np.ndarray) -> None:
        """A field of cells to the brick's own leaves."""
        values[self.mine] = window[tuple(self.cells.T)]

    def taken_faces(self, values: np.ndarray) -> Staggered:
        """A field of faces and ghosts on the window's faces, zero elsewhere; ghosts on and behind walls too."""
        out = mapped(lambda number: _taken(number, values), self.numbers)
        for a, (at, number) in enumerate(self._ghosts(None)):
            out[a][tuple(at.T)] = values[number]
        return out

    def give_faces(self, window: Staggered, values: np.ndarray) -> None:
        """A field of faces to the brick's own faces and ghosts."""
        low, high = self.cells.min(axis=0), self.cells.max(axis=0) + 1
        for a, (at, number) in enumerate(self._ghosts((low, high))):
            own = tuple(slice(low[b], high[b] + (a == b)) for b in range(3))
            face = self.numbers[a][own]
            values[face[face >= 0]] = window[a][own][face >= 0]
            values[number] = window[a][tuple(at.T)]

    def _ghosts(self, box: tuple[np.ndarray, np.ndarray] | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For every axis, finest ghosts on and behind walls: faces of the window, and numbers; those beside a box."""
        shift = self.step.lo - np.asarray(self.grid.lo)
        for a, (cell, number) in enumerate(self.step.wall_ghosts):
            size = np.array(self.grid.shape) + (np.arange(3) == a)
            low, high = (np.zeros(3, int), size) if box is None else (box[0] - 1, np.minimum(box[1] + 1, size))
            fits = np.ones(len(number), np.bool_)
            for x, least, end in zip(cell, low - shift, high - shift):
                fits &= (x >= least) & (x < end)
            yield cell[:, fits].T + shift, number[fits]


def _taken(number: np.ndarray, values: np.ndarray) -> np.ndarray:
    out = np.empty(number.shape, values.dtype)
    kernels.take(number, values, values.dtype.type(0), out)
    return out


def bricks(step: StepTree, halo: int = HALO) -> list[Brick]:
    """Of all finest leaves, with so many cells around them at least."""
    halo = max(halo, HALO)
    if halo not in step.bricks:
        step.bricks[halo] = [_brick(step, halo, *box) for box in step.boxes]
    return step.bricks[halo]


def _brick(step: StepTree, halo: int, mine: np.ndarray, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> Brick:
    i, j, k = (int(n) for n in low - halo + step.lo)
    nx, ny, nz = (int(n) for n in high - low + 2 * halo)
    weak = proxy(step)  # which holds the brick: in a circle the arrays of a step would outlive it
    return Brick(weak, Grid(step.place.dx, (nx, ny, nz), (i, j, k), step.origin, 3), mine, cells + np.int32(halo))
