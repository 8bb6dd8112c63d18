"""Parts of viscous liquid that touch no solid move rigidly at no cost but their mass.

Coarse grids hold such a motion back: where a wall is nearer than a coarse cell, or a drop smaller than one. So it is
taken out of what a cycle sees and solved for exactly (deflation by projection, Nicolaides 1987):

    M = (I - R E^-1 R' A) C (I - A R E^-1 R') + R E^-1 R'        E = R' A R

with C the cycle and R the six rigid motions of every free part. They strain nothing, so A R is their momentum and E has
a block of 6 x 6 per part.
"""

import numpy as np

from glug.grids.blocks import HEAD, TILE
from glug.physics.viscosity import kernels_parts
from glug.physics.viscosity.levels import ViscosityLevel
from glug.solvers import kernels
from glug.solvers.cg import Vector, zeros_like
from glug.solvers.multigrid import Multigrid

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


class FreeParts:
    """A cycle that leaves the rigid motions of free parts to an exact solution."""

    def __init__(self, level: ViscosityLevel, cycle: Multigrid, labels: np.ndarray, count: int):
        self._level, self._cycle, self._labels = level, cycle, labels
        self._starts = slabs(level.blocks)
        self._out = np.empty((len(self._starts) - 1, count + 1, 6))
        self._right = zeros_like(level)
        self._sums = np.zeros(len(level.blocks) * 3)
        blocks = np.empty((len(self._starts) - 1, count + 1, 6, 6))
        kernels_parts.stiffness_of_motions(level.m, labels, level.blocks, self._starts, blocks)
        self._inverse = np.linalg.pinv(blocks.sum(axis=0), rcond=LEAST, hermitian=True)

    def _motion(self, force: Vector, weighted: bool) -> np.ndarray:
        """E^-1 R' of a vector, or of the momentum of a velocity."""
        level = self._level
        kernels_parts.moments(force, level.m, weighted, self._labels, level.blocks, self._starts, self._out)
        return np.einsum("nij,nj->ni", self._inverse, self._out.sum(axis=0))

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """z = M r; returns r . z."""
        level, right = self._level, self._right
        motion = self._motion(r, False)
        kernels.copy(r, right, level.blocks)
        kernels_parts.add_motions(right, level.m, True, self._labels, level.blocks, -motion)
        self._cycle(right, z, scratch)
        motion = motion - self._motion(z, True)
        kernels_parts.add_motions(z, level.m, False, self._labels, level.blocks, motion)
        kernels.dot(r, z, level.blocks, self._sums)
        return float(self._sums.sum())


def with_free_parts(level: ViscosityLevel, cycle: Multigrid) -> Multigrid | FreeParts:
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
    starts = slabs(level.blocks)
    out = np.empty((len(starts) - 1, count + 1, 6))
    free = np.ones(count + 1, np.bool_)
    free[0] = False
    x, q = zeros_like(level), zeros_like(level)
    for a in range(3):
        motion = np.zeros((count + 1, 6))
        motion[:, a] = 1.0
        kernels_parts.add_motions(x, level.m, False, labels, level.blocks, motion)
        level.apply(x, q)
        kernels_parts.moments(q, level.m, False, labels, level.blocks, starts, out)
        force = out.sum(axis=0)[:, a]
        kernels_parts.moments(x, level.mass, True, labels, level.blocks, starts, out)
        mass = out.sum(axis=0)[:, a]
        free &= np.abs(force - mass) <= HELD * mass
        if not free.any():
            break
        kernels.clear(x, level.blocks)
    return free


def slabs(blocks: np.ndarray) -> np.ndarray:
    """Where blocks of a new i begin; they are in the order of i."""
    return np.concatenate([[0], np.flatnonzero(np.diff(blocks[:, 0])) + 1, [len(blocks)]]).astype(np.int64)
