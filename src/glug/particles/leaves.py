"""Particles on a sparse tree: sorted by leaf, and their velocities on its faces and back.

A particle interpolates on the lattice of its leaf's level (`TreeLattice`). With the momenta and masses (P, m) that
particles leave on lattice faces, the interpolation I from the tree's faces to those, and M = I' m, a first velocity is
u = M^-1 I' P. Where I mixes faces, at jumps, it is that of other places: rounds of u += step M^-1 I' (P - m I u) mend
it. Linear motions are their fixed point, and as M u sums to the same in every round, momentum stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glug.grids.octree.linear.lattice import TreeLattice, cells_per_level
from glug.grids.octree.linear.tree import LinearTree
from glug.particles import kernels_leaves as kernels
from glug.particles.storage import Particles
from glug.particles.transfer import LEAST_WEIGHT

# Steps of the rounds in which velocities at jumps are made to meet the particles': one over the roots of the Chebyshev
# polynomial on [1/3, 1], where the eigenvalues of M^-1 I' m I are but for faces that hardly any particle is near.
ROUNDS = (1.0260, 1.2591, 1.8549, 2.7878)


@dataclass(frozen=True)
class Place:
    """Where a tree's box is in the world: its lower corner [m], and the side of a finest cell [m]."""

    corner: np.ndarray
    dx: float

    @property
    def numbers(self) -> tuple[np.ndarray, np.float32]:
        """As kernels take them."""
        return self.corner.astype(np.float32), np.float32(1.0 / self.dx)

    def keys(self, position: np.ndarray) -> np.ndarray:
        """Of the finest cells at positions (n, 3) float32; -1 below the box."""
        found = np.empty(len(position), np.int64)
        kernels.cells_of_particles(position, *self.numbers, found)
        return found

    def leaves(self, tree: LinearTree, position: np.ndarray) -> np.ndarray:
        """The leaves (int32) at positions, or ABSENT."""
        return tree.index.find(self.keys(position), tree.levels)


def sort_by_leaf(p: Particles, tree: LinearTree, place: Place) -> None:
    """Order the particles by leaf, `start` is the first of each; those in no leaf, or without volume, are dropped."""
    leaf = place.leaves(tree, p.position)
    leaf[(leaf < 0) | (p.volume[:, 0] <= 0.0)] = len(tree)
    p.sort_by(leaf, len(tree))


@dataclass(frozen=True)
class LeafTransfer:
    """Between particles, sorted by leaf, and the vectors of a lattice."""

    lattice: TreeLattice
    place: Place

    @property
    def _leaves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tree = self.lattice.faces.tree
        return tree.key, tree.level, self.lattice.near

    @property
    def _index(self) -> tuple[np.ndarray, ...]:
        tree = self.lattice.faces.tree
        index = tree.index
        return cells_per_level(tree), tree.key, tree.level, index.key, index.level, index.slots, index.table

    def scattered(self, p: Particles) -> tuple[np.ndarray, np.ndarray]:
        """Momentum and mass (as volume) that particles leave on the lattice faces around them."""
        momentum, mass = self.lattice.vector(), self.lattice.vector()
        given = p.position, p.velocity, p.affine_or_none, p.volume, p.start
        kernels.to_faces(*given, *self.place.numbers, *self._leaves, momentum, mass)
        momentum[-1] = mass[-1] = 0.0
        return momentum, mass

    def velocities(
        self, p: Particles, nominal: float, rounds: Sequence[float] = ROUNDS
    ) -> tuple[np.ndarray, np.ndarray]:
        """The particles' velocity on faces and ghosts, and 1 (uint8) where they reach one; zero where they do not."""
        lattice, least = self.lattice, np.float32(LEAST_WEIGHT * nominal)
        momentum, mass = self.scattered(p)
        whole, reaching = momentum.copy(), mass.copy()
        lattice.pass_on(whole)
        lattice.pass_on(reaching)
        u, reached = lattice.vector(), np.empty(len(mass), np.uint8)
        kernels.first_velocities(whole, reaching, least, u, reached)
        lattice.fill(u)
        missed = whole
        for step in rounds if lattice.groups else ():
            kernels.missed_momenta(momentum, mass, u, missed)
            lattice.pass_on(missed)
            kernels.mend_velocities(np.float32(step), missed, reaching, lattice.faces.count, reached, u)
            lattice.fill(u)
        return u, reached

    def flip(self, p: Particles, new: np.ndarray, old: np.ndarray, ratio: float) -> None:
        """Give particles the change from `old` to `new`, and 1 - ratio of `new` itself."""
        kernels.to_particles_flip(
            p.position, p.velocity, p.start, *self.place.numbers, *self._leaves, new, old, np.float32(ratio)
        )

    def apic(self, p: Particles, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocity (n, 3) at the particles, and its gradient (n, 9) times the side of a finest cell."""
        velocity, affine = np.empty_like(p.position), np.empty((len(p), 9), np.float32)
        kernels.to_particles_apic(p.position, velocity, affine, p.start, *self.place.numbers, *self._leaves, values)
        return velocity, affine

    def advect(self, p: Particles, values: np.ndarray, dt: float, most: int) -> None:
        """Move the particles, in at most so many parts of the step."""
        kernels.advect(
            p.position, p.start, *self.place.numbers, *self._index, self.lattice.near, values, np.float32(dt), most
        )

    def sample(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Velocities (n, 3) at points of the world, zero where no leaf is."""
        points = points.astype(np.float32)
        leaf, out = self.place.leaves(self.lattice.faces.tree, points), np.empty((len(points), 3), np.float32)
        kernels.sample(points, leaf, *self.place.numbers, *self._leaves, values, out)
        return out
