"""Velocities of particles of several sizes on the faces of an octree.

A particle sees the regular lattice of its own level. What it leaves there on faces that the tree does not have, inside
coarser leaves or next to finer ones, goes on to those that it has by the transpose of the interpolation, mass and
momentum alike: both are kept, and where all particles move with one velocity the faces do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glug.grids.extrapolate import extrapolate
from glug.grids.octree import kernels_push, kernels_transfer
from glug.grids.octree.transfer import fields_of, to_regular
from glug.grids.octree.tree import Octree
from glug.grids.regular import Grid, Staggered, copied, mapped
from glug.particles import kernels
from glug.particles.leaves import ROUNDS
from glug.particles.levels import level_of
from glug.particles.storage import Particles
from glug.particles.transfer import LEAST_WEIGHT


def lattice_of(grid: Grid, l: int) -> Grid:
    """Cells of level l over a grid of finest ones that begins at a root, and one more on every side.

    Beside a wall, particles share with faces behind it, which no liquid has.
    """
    lo, shape = [(n >> l) - 1 for n in grid.lo], [(n >> l) + 2 for n in grid.shape]
    return Grid(grid.dx * (1 << l), (shape[0], shape[1], shape[2]), (lo[0], lo[1], lo[2]), grid.origin, 3)


Pair = tuple[Staggered, Staggered]  # momentum and mass (as volume)


def left(particles: Particles, finest: Pair, grid: Grid, levels: int, nominal: float) -> list[Pair]:
    """Momentum and mass that particles leave on the lattices of all levels; `finest` are those of level 0."""
    found = [finest]
    for l in range(1, levels):
        u, m = scattered(particles, lattice_of(grid, l), nominal, l)
        found.append((mapped(_inner, u), mapped(_inner, m)))
    return found


def pass_on(tree: Octree, fields: Sequence[Staggered]) -> None:
    """Give what is on faces that the tree does not have to those that it has, in place: nothing is lost."""
    for a in range(3):
        for l in range(tree.levels - 1):
            kernels_push.push_covered(tree.level, l, a, fields[l][a], fields[l + 1][a])
        for l in range(tree.levels - 1, 0, -1):
            kernels_push.push_divided(tree.level, l, a, fields[l][a], fields[l - 1][a])


def at_faces(place: np.ndarray, fields: Sequence[Staggered]) -> np.ndarray:
    """Values of the tree's faces from the fields of all levels."""
    values = np.zeros(len(place), np.float32)
    for l, field in enumerate(fields):
        kernels_transfer.take_level(place, l, 1, field, values)
    return values


class OctreeTransfer:
    """Velocities of a tree's faces from particles.

    With the momenta and masses (P, m) that particles leave on all lattices, the interpolation I from the tree's faces
    to those lattices, and M = I' m, a first velocity is u = M^-1 I' P. Where I mixes faces, at jumps, it is that of
    other places: rounds of u += step M^-1 I' (P - m I u) mend it. Linear motions are their fixed point, and as M u sums
    to the same in every round, momentum stays.
    """

    def __init__(self, tree: Octree, place: np.ndarray, pairs: list[Pair], nominal: float):
        self.tree, self.place, self.pairs, self.nominal = tree, place, pairs, nominal
        mass = [copied(m) for _, m in pairs]
        pass_on(tree, mass)
        momentum = [copied(p) for p, _ in pairs]
        pass_on(tree, momentum)
        self.mass = at_faces(place, mass)
        self.reached = mapped(lambda m: (m > np.float32(LEAST_WEIGHT * nominal)).view(np.uint8), mass[0])
        for u, m in zip(momentum, mass):
            velocities(u, m, nominal)
        self.fields = momentum
        self.u = at_faces(place, momentum)

    def meet(self, rounds: Sequence[float] = ROUNDS) -> None:
        """Let the velocity meet the particles' at jumps."""
        heavy = self.mass > LEAST_WEIGHT * self.nominal
        for step in rounds if self.tree.levels > 1 else ():
            seen = to_regular(self.tree, self.place, self.u, fields_of(self.tree, 0), self.fields)
            missed = [mapped(lambda p, m, u: p - m * u, *pair, s) for pair, s in zip(self.pairs, seen)]
            pass_on(self.tree, missed)
            self.u[heavy] += np.float32(step) * at_faces(self.place, missed)[heavy] / self.mass[heavy]


def scattered(particles: Particles, lattice: Grid, nominal: float, l: int) -> Pair:
    """What the particles of level l leave on a lattice of that level."""
    u, m = lattice.staggered(), lattice.staggered()
    mine = np.flatnonzero(level_of(particles.volume, nominal) == l)
    if len(mine) == 0:
        return u, m
    names = [n for n in ("position", "velocity", "volume", "affine") if particles.has(n)]
    some = Particles({name: particles.attributes[name][mine] for name in names})
    if some.has("affine"):
        some.affine[:] *= np.float32(1 << l)  # a gradient times the lattice's own cells
    some.sort(lattice)
    corner, inverse = lattice.corner.astype(np.float32), np.float32(1.0 / lattice.dx)
    given = some.position, some.velocity, some.affine_or_none, some.volume, some.start
    kernels.to_grid(*given, lattice.shape, corner, inverse, *u, *m)
    return u, m


def _inner(field: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(field[1:-1, 1:-1, 1:-1])


def velocities(u: Staggered, m: Staggered, nominal: float) -> tuple[Staggered, Staggered]:
    """Velocities from momentum and mass, in place: 1 where particles reach a face, and 1 where it has a velocity.

    Faces that none reaches take that of their neighbours, two samples far.
    """
    reached, known = [], []
    for a in range(3):
        kernels.normalise(u[a], m[a], np.float32(LEAST_WEIGHT * nominal))
        reached.append((m[a] > 0).view(np.uint8))
        known.append(reached[a].copy())
        extrapolate(u[a], known[a], 2)
    return (reached[0], reached[1], reached[2]), (known[0], known[1], known[2])
