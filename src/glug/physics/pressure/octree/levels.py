"""Multigrid on a sparse tree: the same scheme on trees whose finest leaves are merged, level by level.

P gives every leaf the value of the merged one that it is part of, and the restriction is its transpose. Such a P is a
poor interpolation: its errors grow from level to level, and coarse levels, which cost little, are swept more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.grids.octree.linear.merged import Leaves
from glug.physics.pressure.octree import kernels
from glug.solvers.assembled.rows import EVERY, AssembledSystem, BlockGaussSeidel
from glug.solvers.cg import Vector
from glug.solvers.multigrid import BOTTOM, DirectBottom, Multigrid

SWEEPS, MOST_SWEEPS = 2, 32  # of the tree, and twice as many on every coarser one, before and after the correction


@dataclass
class OctreePressureLevel:
    """The matrix of the liquid leaves of one tree; `number` is the unknown of a leaf, -1 in the air."""

    leaves: Leaves
    phi: np.ndarray  # float32, at the leaves' centres
    liquid: np.ndarray  # uint8
    area: np.ndarray  # float32 (leaves, 6): open fractions of their sides

    def __post_init__(self) -> None:
        self.system = self._assembled()
        loose = self.system.diagonal[0, 0] <= 0.0
        if loose.any():  # nothing holds them, and they hold nothing
            self.liquid = self.liquid.copy()
            self.liquid[np.flatnonzero(self.liquid)[loose]] = 0
            self.system = self._assembled()
        self.mask, self.blocks, self.unknowns = self.system.mask, self.system.blocks, self.system.unknowns
        self.apply, self.residual, self.sweep = self.system.apply, self.system.residual, self.system.sweep
        self.everything, self.hard = self.system.everything, self.system.part(EVERY)
        self.smoother = BlockGaussSeidel(min(SWEEPS << self.leaves.finest, MOST_SWEEPS))

    @property
    def fields(self) -> tuple[np.ndarray, ...]:
        """What kernels ask for."""
        leaves = self.leaves
        return leaves.key, leaves.level, leaves.links, self.area, self.phi, self.liquid

    def _assembled(self) -> AssembledSystem:
        self.number = np.where(self.liquid, np.cumsum(self.liquid, dtype=np.int32) - np.int32(1), np.int32(-1))
        count = int(self.liquid.sum(dtype=np.int64))
        most = np.empty(count, np.uint8)
        kernels.most_entries(self.leaves.level, self.leaves.links, self.number, most)
        ends = np.cumsum(most, dtype=np.int64)
        room = int(ends[-1]) if count else 0
        start, length = (ends - most).astype(np.uint32), np.empty(count, np.uint8)
        rest, column, value = np.empty(count, np.float32), np.empty(room, np.int32), np.empty(room, np.float32)
        kernels.fill_rows(*self.fields, self.number, start, length, rest, column, value)
        return AssembledSystem("octree pressure", start, length, column, value, rest)

    def coarser(self) -> OctreePressureLevel:
        """The same on the tree whose finest leaves are merged; remembers which unknowns each merged one has."""
        leaves, first = self.leaves.merged()
        phi, liquid = np.empty(len(leaves), np.float32), np.empty(len(leaves), np.uint8)
        area = np.empty((len(leaves), 6), np.float32)
        own = self.leaves
        kernels.merge_fields(
            own.key, own.level, first, leaves.finest, self.area, self.phi, self.liquid, area, phi, liquid
        )
        before = np.concatenate([[0], np.cumsum(self.liquid, dtype=np.int32)]).astype(np.int32)
        wet = liquid > 0
        self._begin, self._end = before[first[:-1]][wet], before[first[1:]][wet]
        return OctreePressureLevel(leaves, phi, liquid, area)

    def restrict(self, r: Vector, coarse: OctreePressureLevel, b: Vector) -> None:
        kernels.restrict(r, self._begin, self._end, b)

    def interpolate(self, e: Vector, x: Vector) -> None:
        kernels.interpolate(e, self._begin, self._end, x)


def tree_cycle(finest: OctreePressureLevel) -> Multigrid:
    """One V-cycle over the merged trees."""
    levels = hierarchy(finest)
    return Multigrid(levels, LevelSweeps(), bottom=AssembledBottom(levels[-1]))


def hierarchy(finest: OctreePressureLevel) -> list[OctreePressureLevel]:
    """`finest` and ever coarser levels, down to one that is solved at once or has nothing left."""
    levels = [finest]
    while levels[-1].unknowns > BOTTOM:
        coarse = levels[-1].coarser()
        if coarse.unknowns == 0:
            break
        levels.append(coarse)
    return levels


class AssembledBottom(DirectBottom):
    """The coarsest tree by a dense factorisation of its matrix."""

    def _assemble(self, level: Any) -> np.ndarray:
        return level.system.matrix().toarray()


class LevelSweeps:
    """Every level's own smoother."""

    def start(self, level: OctreePressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        level.smoother.start(level, b, x, scratch)

    def forward(self, level: OctreePressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        level.smoother.forward(level, b, x, scratch)

    def backward(self, level: OctreePressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        level.smoother.backward(level, b, x, scratch)
