"""Parts of viscous liquid that touch no solid move rigidly at no cost but their mass.

Coarse grids hold such a motion back: where a wall is nearer than a coarse cell, or a drop smaller than one. So it is
taken out of what a cycle sees and solved for exactly (deflation by projection, Nicolaides 1987):

    preconditioner = (I - Q A) cycle (I - A Q) + Q,        Q = R (R' A R)^-1 R'

with R the six rigid motions of every free part. They strain nothing, so A R is their momentum and R' A R = R' M R has a
block of 6 x 6 per part.
"""

from collections.abc import Callable

import numpy as np

from glug.grids.blocks import HEAD, TILE
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.parts import kernels as kernels_parts
from glug.solvers import kernels
from glug.solvers.cg import Vector, zeros_like

Precondition = Callable[[Vector, Vector, Vector], float]

HELD = 1e-3  # what walls add to the force that moves a part, relative, above which it is not free
LEAST = 1e-10  # of the largest eigenvalue of a block: smaller ones are motions that the part does not have


def label_pairs(level: ViscosityLevel, faces: Vector) -> tuple[np.ndarray, int]:
    """Labels from 1 of what is connected, for pairs of cells along every axis, and how many there are.

    Of the `faces` with a positive number.
    """
    from scipy import ndimage

    pairs = np.zeros([(n + 1) // 2 for n in level.shape], np.uint8)
    kernels_parts.mark_pairs(faces, level.blocks, pairs)
    labels, count = ndimage.label(pairs, structure=np.ones((3, 3, 3)), output=np.int32)
    return labels, int(count)


class RigidMotions:
    """R: the six rigid motions of the parts with `labels` from 1 to `count`; forces and motions are by label."""

    def __init__(self, level: ViscosityLevel, labels: np.ndarray, count: int):
        first, none = np.zeros(len(level.blocks), np.int64), np.zeros((0, 5), np.int32)
        kernels_parts.list_runs(labels, level.shape, level.blocks, first, none)
        ends = np.cumsum(first)
        self._runs = np.empty((int(first.sum()), 5), np.int32)
        if len(self._runs):
            kernels_parts.list_runs(labels, level.shape, level.blocks, ends - first, self._runs)
        slabs = np.flatnonzero(np.diff(level.blocks[:, 0], append=-1)) + 1  # blocks are in the order of i
        self._starts = np.concatenate([[0], ends[slabs - 1]])
        self._out = np.empty((len(slabs), count + 1, 6))

    def forces(self, x: Vector, weight: Vector, weighted: bool = True) -> np.ndarray:
        """R' x, or R' of x times `weight`."""
        kernels_parts.moments(x, weight, weighted, self._runs, self._starts, self._out)
        return self._out.sum(axis=0)

    def add(self, motion: np.ndarray, x: Vector, weight: Vector, weighted: bool = True) -> None:
        """x += R motion where `weight` is positive, or times `weight`."""
        kernels_parts.add_motions(x, weight, weighted, self._runs, motion)

    def energy(self, mass: Vector) -> np.ndarray:
        """R' M R, a block of 6 x 6 for each part."""
        out = np.empty((*self._out.shape, 6))
        kernels_parts.stiffness_of_motions(mass, self._runs, self._starts, out)
        return out.sum(axis=0)


class FreeParts:
    """A cycle that leaves the rigid motions of free parts to an exact solution."""

    def __init__(self, level: ViscosityLevel, cycle: Precondition, labels: np.ndarray, count: int):
        self._level, self._cycle, self._motions = level, cycle, RigidMotions(level, labels, count)
        self._right = zeros_like(level)
        self._sums = np.zeros(len(level.blocks) * 3)
        self._inverse = np.linalg.pinv(self._motions.energy(level.m), rcond=LEAST, hermitian=True)

    def _motion(self, force: Vector, weighted: bool) -> np.ndarray:
        """(R' A R)^-1 R' of a vector, or of the momentum of a velocity."""
        return np.einsum("nij,nj->ni", self._inverse, self._motions.forces(force, self._level.m, weighted))

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """z = what the preconditioner makes of r; returns r . z."""
        level, right = self._level, self._right
        motion = self._motion(r, False)
        kernels.copy(r, right, level.blocks)
        self._motions.add(-motion, right, level.m)
        self._cycle(right, z, scratch)
        motion = motion - self._motion(z, True)
        self._motions.add(motion, z, level.m, weighted=False)
        kernels.dot(r, z, level.blocks, self._sums)
        return float(self._sums.sum())


def with_free_parts(level: ViscosityLevel, cycle: Precondition) -> Precondition:
    """`cycle`, and its free parts apart where there are any."""
    if not may_be_free(level):
        return cycle
    labels, count = label_pairs(level, level.m)
    free = free_parts(level, labels, count)
    if not free.any():
        return cycle
    number = np.where(free, np.cumsum(free), 0).astype(np.int32)
    return FreeParts(level, cycle, number[labels], int(free.sum()))


def may_be_free(level: ViscosityLevel) -> bool:
    """Whether walls hold nothing in some part of the liquid, parts being what is connected through tiles."""
    from scipy import ndimage

    held = np.zeros(len(level.blocks), np.int64)
    kernels_parts.find_held(level.m, level.mass, level.c, level.e, level.blocks, held)
    tiles = level.blocks[:, :HEAD] // TILE
    occupied = np.zeros([-(-n // TILE) for n in level.shape], np.uint8)
    for i, j, k0, k1 in tiles:
        occupied[i, j, k0 : max(k1, k0 + 1)] = 1
    parts, count = ndimage.label(occupied, structure=np.ones((3, 3, 3)))
    mine = parts[tiles[:, 0], tiles[:, 1], tiles[:, 2]]
    return bool((np.bincount(mine, held, minlength=count + 1)[1:] == 0).any())


def free_parts(level: ViscosityLevel, labels: np.ndarray, count: int) -> np.ndarray:
    """Whether nothing holds a part, by label; what walls hold needs more force to move than its mass does."""
    motions = RigidMotions(level, labels, count)
    free = np.ones(count + 1, np.bool_)
    free[0] = False
    x, q = zeros_like(level), zeros_like(level)
    for a in range(3):
        motion = np.zeros((count + 1, 6))
        motion[:, a] = 1.0
        motions.add(motion, x, level.m, weighted=False)
        level.apply(x, q)
        force = motions.forces(q, level.m, weighted=False)[:, a]
        mass = motions.forces(x, level.mass)[:, a]
        free &= np.abs(force - mass) <= HELD * mass
        if not free.any():
            break
        kernels.clear(x, level.blocks)
    return free
