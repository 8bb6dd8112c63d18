"""Multigrid on an octree: the tree, then regular grids of twice the finest cells and coarser.

The second level is the whole liquid on cells of level 1, matrix-free, and below it is the regular hierarchy. Where the
tree has finest leaves it is their usual coarse grid; where the tree is coarser it has more samples than the tree, and
velocities go to the tree by restriction, residuals back by its transpose: an auxiliary space (Xu 1996). A regular
level costs a fraction of one in compressed rows, so the extra samples are cheap.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.coarsen import gather, weights_at
from glug.grids.octree import kernels_transfer as kernels
from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.viscosity import kernels_contact_line
from glug.physics.viscosity.levels import ViscosityLevel, hierarchy
from glug.physics.viscosity.octree.slip import SlippingRows
from glug.physics.viscosity.octree.tree import AdaptedProblem
from glug.solvers.assembled.rows import AssembledSystem, BlockGaussSeidel
from glug.solvers.cg import Vector
from glug.solvers.multigrid import Level
from glug.solvers.smoothers import GaussSeidel

EMPTY = 1  # layers around a coarse level of the regular hierarchy
# Sweeps of the tree and of the grids below it, visits of the first two of these, and how many times more contact lines
# of the tree are swept on either side. Fewer of any of them cost more iterations: at 256 cells 13 instead of 12.
TREE_SWEEPS, GRID_SWEEPS, REPEATS, CONTACT_SWEEPS = 2, 3, 2, 4
REACH = 2.0  # cells from a wall within which a contact line is
BESIDE = 2  # cells from one, or from a jump of the viscosity, within which faces are swept more often
FULL = 0.999  # liquid fraction from which a face is not at the surface


class OctreeLevel:
    """The finest level of a hierarchy: the octree's matrix, and transfers to the regular grid of level 1."""

    def __init__(self, below: "BelowTree", system: AssembledSystem | SlippingRows):
        self.place, self.system = below.place, system
        self._shift = below.shift  # of the tree's corner in the regular grid, and in that of level 1
        self._shift_1 = below.shift // 2 + EMPTY
        self.everything, self.hard = system.everything, system.part(below.hard)
        self.mask, self.unknowns, self.blocks = system.mask, system.unknowns, system.blocks
        self.apply, self.residual, self.sweep = system.apply, system.residual, system.sweep
        self._shapes = below.shapes
        self._finest = np.zeros(max(int(np.prod(s)) for s in self._shapes), np.float32)
        self._fields = {l: level_fields(below.box, l) for l in range(2, below.levels)}

    def restrict(self, r: Vector, coarse: ViscosityLevel, b: Vector) -> None:
        place, values, one, none = self.place, r[0][0, 0], np.float32(1.0), np.float32(0.0)
        for a, offset in enumerate(FACES):
            shape = self._shapes[a]
            finest = self._finest[: int(np.prod(shape))].reshape(shape)
            kernels.put_finest(place, a, values, one, self._shift, finest)
            gather(finest, weights_at(offset), b[a], coarse.blocks, coarse.m[a])
            kernels.put_finest(place, a, values, none, self._shift, finest)
        kernels.add_to_level(place, 1, values, b, self._shift_1)
        for l, fields in self._fields.items():
            for field in fields:
                field.fill(0.0)
            kernels.put_level(place, l, 1, values, one, fields)
        for l in reversed(self._fields):
            for a in range(3):
                finer, shift = (self._fields[l - 1][a], 0) if l > 2 else (b[a], self._shift_1)
                kernels.spread_faces(self._fields[l][a], a, shift, finer)

    def interpolate(self, e: Vector, x: Vector) -> None:
        place, values = self.place, x[0][0, 0]
        kernels.add_between(place, e, self._shift_1, values)
        kernels.add_level(place, 1, e, self._shift_1, values)
        for l, fields in self._fields.items():
            for a in range(3):
                finer, shift = (self._fields[l - 1][a], 0) if l > 2 else (e[a], self._shift_1)
                kernels.restrict_faces(finer, a, 1, shift, fields[a])
            kernels.add_level(place, l, fields, 0, values)


def contact_cells(level: ViscosityLevel) -> np.ndarray:
    """1 at the cells of the finest level where liquid meets walls and air at once."""
    marked = np.empty(level.shape, np.uint8)
    reach = np.float32(REACH * level.dx)
    kernels_contact_line.mark_contact(level.mass, level.stopping, np.float32(FULL), reach, marked)
    return marked


def hard_cells(level: ViscosityLevel, jumps: np.ndarray | None) -> np.ndarray:
    """1 at contact lines and at `jumps` of the viscosity."""
    marked = contact_cells(level)
    if jumps is not None:
        inside = jumps & (level.c[0] > 0)
        marked |= inside
    return marked


def level_fields(shape: tuple[int, int, int], l: int) -> Staggered:
    """Zero fields of level l over a box of so many finest cells."""
    return Grid(1.0, (shape[0] >> l, shape[1] >> l, shape[2] >> l)).staggered()


def beside(marked: np.ndarray, place: np.ndarray, shift: int) -> np.ndarray:
    """The faces of the finest level at cells that are marked, or at most BESIDE from one along every axis."""
    found = np.zeros_like(marked)
    kernels_contact_line.spread_marks(marked, BESIDE, found)
    finest = np.flatnonzero(place[:, 1] == 0)
    i, j, k = (place[finest, a] + np.int16(shift) for a in (2, 3, 4))
    return finest[found[i, j, k] > 0]


class OctreeSmoother:
    """Gauss-Seidel on all levels: within blocks of rows on the tree, over coloured blocks of cells below it.

    Beside a line where liquid meets walls and air at once, liquid hangs over the wall with a gap that grows from
    nothing, of which coarse grids see little. Its motions alone would decide how many iterations a solve takes: the
    tree's finest faces there are swept more often.
    """

    def __init__(self) -> None:
        self._tree, self._grid = BlockGaussSeidel(TREE_SWEEPS, CONTACT_SWEEPS), GaussSeidel(GRID_SWEEPS)

    def _of(self, level: OctreeLevel | ViscosityLevel) -> BlockGaussSeidel | GaussSeidel:
        return self._tree if isinstance(level, OctreeLevel) else self._grid

    def start(self, level, b: Vector, x: Vector, scratch: Vector) -> None:  # type: ignore[no-untyped-def]
        self._of(level).start(level, b, x, scratch)

    def forward(self, level, b: Vector, x: Vector, scratch: Vector) -> None:  # type: ignore[no-untyped-def]
        self._of(level).forward(level, b, x, scratch)

    def backward(self, level, b: Vector, x: Vector, scratch: Vector) -> None:  # type: ignore[no-untyped-def]
        self._of(level).backward(level, b, x, scratch)


@dataclass(frozen=True)
class BelowTree:
    """What multigrid on a tree needs besides its matrix: the regular grids below it, its hard faces."""

    place: np.ndarray  # of the tree's faces
    box: tuple[int, int, int]  # of the tree, in finest cells
    levels: int  # that its leaves have
    shift: int  # of the tree's corner in the regular grid
    shapes: list[tuple[int, ...]]  # of the regular fields
    hard: np.ndarray
    grids: list[ViscosityLevel]

    @classmethod
    def of(cls, adapted: AdaptedProblem) -> "BelowTree":
        """From the regular problem, which `adapted` has no more then."""
        place, tree, shift = adapted.faces.place, adapted.tree, adapted.shift
        shapes = [m.shape for m in adapted.regular.m]
        hard = beside(hard_cells(adapted.regular, adapted.jumps), place, shift)
        grids = hierarchy(adapted.coarser())
        for grid in grids:
            grid.forget_walls()
        return cls(place, tree.shape, int(tree.level.max(initial=0)) + 1, shift, shapes, hard, grids)

    def above(self, system: AssembledSystem | SlippingRows) -> list[Level]:
        """All levels, with the tree's matrix."""
        return [OctreeLevel(self, system), *self.grids]
