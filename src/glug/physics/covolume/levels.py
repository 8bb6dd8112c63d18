"""Multigrid on covolume meshes: unknowns in a cube move together, in cubes of twice the size on the next level.

Coarse rows are sums of fine ones (Galerkin), so they know surfaces and walls as the finest do. Pressures that jump from
cube to cube cost about twice what smooth ones do, and corrections are too small by as much: they are scaled
(Braess 1995).
"""

from __future__ import annotations

import numpy as np

from glug.physics.covolume import kernels
from glug.solvers.assembled.rows import AssembledSystem, BlockGaussSeidel, Part
from glug.solvers.cg import Vector
from glug.solvers.multigrid import BOTTOM, Multigrid

SMALLEST = 1.6  # of a cell's width: the first cubes
SCALE = 1.8  # of corrections
SWEEPS, REPEATS = 2, 2
MOST_LEVELS = 12


class GroupedLevel:
    """A matrix in rows, and the groups that its unknowns form on the next level."""

    far = True

    def __init__(self, system: AssembledSystem, group: np.ndarray, groups: int):
        self.system, self.group = system, group
        self.mask, self.unknowns, self.blocks = system.mask, system.unknowns, system.blocks
        self.apply, self.residual, self.sweep = system.apply, system.residual, system.sweep
        self.everything, self.hard = system.everything, Part(system.swept[:0], np.zeros(0, np.int32))
        self.members = np.argsort(group, kind="stable").astype(np.int32)
        self.first = np.zeros(groups + 1, np.int32)
        np.cumsum(np.bincount(group, minlength=groups), out=self.first[1:])

    def restrict(self, r: Vector, coarse: GroupedLevel, b: Vector) -> None:
        kernels.sum_groups(self.first, self.members, r[0][0, 0], b[0][0, 0])

    def interpolate(self, e: Vector, x: Vector) -> None:
        kernels.add_groups(self.group, e[0][0, 0], np.float32(SCALE), x[0][0, 0])

    def coarse(self) -> AssembledSystem:
        s, groups = self.system, len(self.first) - 1
        room = np.bincount(self.group, s.length, groups).astype(np.int64)
        begin = np.zeros(groups + 1, np.int64)
        np.cumsum(room, out=begin[1:])
        length, rest = np.empty(groups, np.int32), np.empty(groups, np.float32)
        column, value = np.empty(int(begin[-1]), np.int32), np.empty(int(begin[-1]), np.float32)
        rows = s.start, s.length, s.column, s.value, s.rest
        kernels.coarse_rows(self.first, self.members, self.group, *rows, begin, length, column, value, rest)
        return AssembledSystem(s.name, begin[:-1].astype(np.uint32), length.astype(np.uint16), column, value, rest)


def cubes(position: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """The cube of that width that every point is in, numbered, and the cubes' own middles."""
    place = np.floor((position - position.min(axis=0)) / width).astype(np.int64)
    size = place.max(axis=0) + 1
    key = np.ravel_multi_index(tuple(place.T), tuple(size))
    taken = np.zeros(int(np.prod(size)), np.bool_)
    taken[key] = True
    number = np.cumsum(taken, dtype=np.int32) - np.int32(1)
    middles = np.stack(np.unravel_index(np.flatnonzero(taken), tuple(size)), axis=1)
    return number[key], position.min(axis=0) + width * (middles + 0.5)


def multigrid(system: AssembledSystem, position: np.ndarray, width: float) -> Multigrid:
    """A cycle for the rows of pressures at `position`, whose cells are about `width` [m] wide."""
    levels: list[GroupedLevel] = []
    size = SMALLEST * width
    while True:
        small = system.unknowns <= BOTTOM or len(levels) == MOST_LEVELS
        group, middles = (np.zeros(system.unknowns, np.int32), position[:1]) if small else cubes(position, size)
        level = GroupedLevel(system, group, len(middles))
        levels.append(level)
        if small:
            return Multigrid(levels, BlockGaussSeidel(SWEEPS), repeats=REPEATS)
        system, position, size = level.coarse(), middles, 2.0 * size
