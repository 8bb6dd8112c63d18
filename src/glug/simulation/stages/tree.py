"""The tree of a step: found from its particles, and what is on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from glug.geometry.box import box_sum
from glug.geometry.solids.field import SolidField
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.morton import cells_of, keys_of
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.octree.tree import Octree
from glug.grids.regular import Grid, Staggered, copied
from glug.particles.levels import level_of
from glug.particles.storage import Particles
from glug.physics.pressure.octree.problem import OctreePressure
from glug.simulation.setting import Setting

AIR = 3  # finest cells above the surface, besides those that it may cross in a step
CALM = 2  # cells by which liquid must be deeper than the band before its particles are merged: nothing flickers


@dataclass
class StepTree:
    """A tree over a box of the lattice that begins and ends at roots."""

    grid: Grid  # the box, in finest cells
    octree: Octree  # the level of the leaf over every cell of the box
    calm: np.ndarray  # the same of a tree with a wider band
    tree: LinearTree  # the leaves with liquid or along its surface
    faces: TreeFaces
    place: np.ndarray  # (faces, 5) int16: axis, level and corner, as transfers take them
    u: np.ndarray  # velocities of the faces, float32
    problem: OctreePressure | None = None

    def window(self, grid: Grid) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Where the box and a window overlap: the cells in the box, and in the window."""
        low = np.maximum(self.grid.lo, grid.lo)
        high = np.minimum(np.add(self.grid.lo, self.grid.shape), np.add(grid.lo, grid.shape))
        return tuple(
            tuple(slice(int(a - c), int(b - c)) for a, b, c in zip(low, high, lo)) for lo in (self.grid.lo, grid.lo)
        )  # type: ignore[return-value]

    def taken(self, field: np.ndarray, grid: Grid, outside: float) -> np.ndarray:
        """A field of cells of a window, in the box."""
        mine, theirs = self.window(grid)
        out = np.full(self.grid.shape, outside, field.dtype)
        out[mine] = field[theirs]
        return out

    def taken_faces(self, field: Staggered, grid: Grid, outside: float) -> Staggered:
        """The same of a staggered field."""
        mine, theirs = self.window(grid)
        found = []
        for a, values in enumerate(field):
            out = np.full([n + (a == b) for b, n in enumerate(self.grid.shape)], outside, values.dtype)
            out[_longer(mine, a)] = values[_longer(theirs, a)]
            found.append(out)
        return found[0], found[1], found[2]

    def given_faces(self, field: Staggered, grid: Grid, beyond: Staggered | None = None) -> Staggered:
        """A staggered field of the box, in a window; `beyond` it that, or zero."""
        mine, theirs = self.window(grid)
        out = grid.staggered(field[0].dtype.type) if beyond is None else copied(beyond)
        for a in range(3):
            out[a][_longer(theirs, a)] = field[a][_longer(mine, a)]
        return out

    def boxes(self) -> np.ndarray:
        """The coarse leaves (n, 4) int32: lower corner on the lattice, and side."""
        coarse = self.tree.level > 0
        corner = self.tree.corner[coarse] + np.asarray(self.grid.lo)
        return np.column_stack([corner, self.tree.size[coarse]]).astype(np.int32)


def _longer(slices: tuple[slice, ...], axis: int) -> tuple[slice, ...]:
    return tuple(slice(s.start, s.stop + (a == axis)) for a, s in enumerate(slices))


def box_of(setting: Setting, window: Grid) -> Grid:
    """The part of the domain that a window covers, in whole roots; a root more beyond open sides."""
    root = 1 << (setting.scene.refine.levels - 1)
    lo, shape = [], []
    for a in range(3):
        cells = setting.scene.domain.shape[a]
        low, high = setting.walls.lower[a], setting.walls.upper[a]
        first = max(window.lo[a], 0) // root * root - (0 if math.isfinite(low) else root)
        last = min(window.lo[a] + window.shape[a], cells)
        last = -(-last // root) * root + (0 if math.isfinite(high) else root)
        lo.append(first)
        shape.append(last - first)
    return Grid(window.dx, (shape[0], shape[1], shape[2]), (lo[0], lo[1], lo[2]), window.origin, 3)


def occupied(p: Particles, box: Grid, levels: int, nominal: float) -> np.ndarray:
    """Cells of the box with liquid (bool): those of particles, each as large as its level says.

    Coarse ones are also those that five of six neighbours surround: eight particles leave a cell by chance.
    """
    level = np.minimum(level_of(p.volume, nominal), levels - 1)
    cell = np.floor((p.position - box.corner) / box.dx).astype(np.int64)
    inside = ((cell >= 0) & (cell < box.shape)).all(axis=1)
    found = None
    for l in range(levels - 1, -1, -1):
        shape = tuple(n >> l for n in box.shape)
        here = np.zeros(shape, bool)
        mine = inside & (level == l)
        here[tuple((cell[mine] >> l).T)] = True
        if found is not None:
            here |= found.repeat(2, axis=0).repeat(2, axis=1).repeat(2, axis=2)
        if l > 0:
            padded = np.pad(here, 1, mode="edge").astype(np.uint8)
            around = sum(np.roll(padded, s, axis=a)[1:-1, 1:-1, 1:-1] for a in range(3) for s in (-1, 1))
            here |= around >= 5
        found = here
    assert found is not None
    return found


def surface_cells(wet: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Liquid cells with an empty neighbour, and cells that solids cut; sides of the box are none."""
    found = cut.copy()
    for a in range(3):
        w, f = np.moveaxis(wet, a, 0), np.moveaxis(found, a, 0)
        f[1:] |= w[1:] & ~w[:-1]
        f[:-1] |= w[:-1] & ~w[1:]
    return found


def widened(cells: np.ndarray, reach: int) -> np.ndarray:
    return box_sum(cells.astype(np.float32), reach) > 0.5


def grow(setting: Setting, p: Particles, window: Grid, solid: SolidField) -> StepTree:
    """The tree for the particles as they are."""
    refine = setting.scene.refine
    box = box_of(setting, window)
    wet = occupied(p, box, refine.levels, setting.particle_volume)
    step = StepTree(box, None, None, None, None, None, None)  # type: ignore[arg-type]
    opened = step.taken(solid.openness, window, 1.0)
    cut = (opened < 1.0) & (opened > 0.0)
    walls = opened <= 0.0
    surface = surface_cells(wet | walls, cut) & ~walls
    reach = max(refine.band, math.ceil(setting.scene.time.cfl) + AIR)
    marks = widened(surface, reach)
    step.octree = Octree.refined(marks, refine.levels)
    step.calm = Octree.refined(widened(marks, CALM), refine.levels).level
    top = refine.levels - 1
    roots = keys_of(np.argwhere(np.ones([n >> top for n in box.shape], bool)))
    asked = [keys_of(np.argwhere(marks)), *[np.zeros(0, np.int64)] * (refine.levels - 2), roots]

    def keep(key: np.ndarray, level: np.ndarray) -> np.ndarray:
        return (level == 0) | wet[tuple(cells_of(key).T)]

    step.tree = LinearTree.grown(asked if refine.levels > 1 else [roots], box.shape, keep)
    step.faces = TreeFaces.of(step.tree)
    step.place = np.column_stack([step.faces.axis, step.faces.level, step.faces.corner]).astype(np.int16)
    return step


def leaf_values(step: StepTree, field: np.ndarray, coarse: float) -> np.ndarray:
    """A field of the box's cells at the leaves; `coarse` in those that are not finest."""
    out = np.full(len(step.tree), coarse, np.float32)
    finest = step.tree.level == 0
    out[finest] = field[tuple(step.tree.corner[finest].T)]
    return out


def open_sides(step: StepTree, area: Staggered) -> np.ndarray:
    """Open fractions (leaves, 6) from those of the box's faces; coarse leaves are open."""
    out = np.ones((len(step.tree), 6), np.float32)
    finest = np.flatnonzero(step.tree.level == 0)
    corner = step.tree.corner[finest]
    for side in range(6):
        at = corner.copy()
        at[:, side >> 1] += side & 1
        out[finest, side] = area[side >> 1][tuple(at.T)]
    return out
