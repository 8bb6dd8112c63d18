"""Mass, momentum, angular momentum and kinetic energy of particles, in all or by groups.

A particle with an affine velocity spreads over the samples around it: its gradient is counted with the variance of its
shares, so that angular momentum is what transfers to the grid and back keep (Jiang et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import Grid, Staggered
from glug.particles import kernels, kernels_momenta
from glug.particles.storage import Particles

LEAST_INERTIA = 0.1  # mass dx^2 times it: what is thinner about an axis is not turned about it


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of (n, 3): NumPy's own takes ten times as long for the few groups of a step."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


@dataclass(frozen=True)
class Momenta:
    """Of groups of particles. Masses are those of the particles: volumes where all densities are the same."""

    mass: np.ndarray  # (groups,)
    centre: np.ndarray  # (groups, 3) of mass [m]
    momentum: np.ndarray  # (groups, 3)
    angular: np.ndarray  # (groups, 3) angular momentum about the centre
    energy: np.ndarray  # (groups,) kinetic

    def angular_about(self, point: np.ndarray) -> np.ndarray:
        """Angular momentum (groups, 3) about a point [m]."""
        return self.angular + crossed(self.centre - point, self.momentum)


@dataclass(frozen=True)
class Groups:
    """Which group every particle belongs to (-1: none)."""

    number: np.ndarray  # int32 (n,)
    count: int

    @classmethod
    def one(cls, particles: Particles) -> Groups:
        """All particles in one."""
        return cls(np.zeros(len(particles), np.int32), 1)


def momenta_of(particles: Particles, mass: np.ndarray, grid: Grid, groups: Groups) -> Momenta:
    """What the particles carry; `mass` is (n, 1)."""
    return _momenta(particles.position, particles.velocity, particles.affine_or_none, mass, grid, groups)


def momenta_of_flow(particles: Particles, mass: np.ndarray, grid: Grid, groups: Groups, velocity: Staggered) -> Momenta:
    """The same of the velocity on the faces, each face with the mass that particles bring there."""
    position = particles.position
    u, affine = np.empty_like(position), np.empty((len(position), 9), np.float32)
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.to_particles_apic(position, u, affine, corner, inverse, *velocity)
    return _momenta(position, u, affine, mass, grid, groups)


def _momenta(
    position: np.ndarray, velocity: np.ndarray, affine: np.ndarray, mass: np.ndarray, grid: Grid, groups: Groups
) -> Momenta:
    origin = grid.corner + 0.5 * grid.dx * np.array(grid.shape)
    parts = np.zeros((kernels_momenta.BLOCKS, groups.count, 11))
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    flat = grid.dim == 2
    kernels_momenta.momenta(position, velocity, affine, mass, groups.number, origin, corner, inverse, flat, parts)
    sums = parts.sum(axis=0)
    m = sums[:, 0]
    offset = sums[:, 1:4] / np.maximum(m, 1e-300)[:, None]
    momentum = sums[:, 4:7]
    return Momenta(m, origin + offset, momentum, sums[:, 7:10] - crossed(offset, momentum), 0.5 * sums[:, 10])


def set_momenta(particles: Particles, mass: np.ndarray, grid: Grid, groups: Groups, wanted: Momenta) -> None:
    """Move and turn every group as a rigid body, so that it has its wanted centre, momentum and angular momentum."""
    now = momenta_of(particles, mass, grid, groups)
    push = (wanted.momentum - now.momentum) / np.maximum(now.mass, 1e-300)[:, None]
    spin = _turned(particles, mass, grid, groups, now, wanted.angular - now.angular)
    shift = wanted.centre - now.centre
    p = particles
    kernels_momenta.move_rigidly(
        *(p.position, p.velocity, p.affine_or_none, groups.number, now.centre, shift, push, spin, grid.dx),
        grid.dim == 2,
    )


def _turned(
    particles: Particles, mass: np.ndarray, grid: Grid, groups: Groups, now: Momenta, missing: np.ndarray
) -> np.ndarray:
    """The spin (groups, 3) [rad/s] that adds `missing` angular momentum."""
    parts = np.zeros((kernels_momenta.BLOCKS, groups.count, 6))
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    wide = float(particles.has("affine"))
    kernels_momenta.inertia(particles.position, mass, groups.number, now.centre, corner, inverse, wide, parts)
    xx, yy, zz, xy, yz, zx = parts.sum(axis=0).T
    if grid.dim == 2:
        spin = np.zeros_like(missing)
        least = LEAST_INERTIA * grid.dx**2 * now.mass
        spin[:, 2] = np.where(xx + yy > least, missing[:, 2] / np.maximum(xx + yy, 1e-300), 0.0)
        return spin
    tensor = np.array([[yy + zz, -xy, -zx], [-xy, zz + xx, -yz], [-zx, -yz, xx + yy]]).transpose(2, 0, 1)
    size, axes = np.linalg.eigh(tensor)
    along = np.einsum("gia,gi->ga", axes, missing)
    least = LEAST_INERTIA * grid.dx**2 * now.mass[:, None]
    along = np.where(size > least, along / np.maximum(size, 1e-300), 0.0)
    return np.einsum("gia,ga->gi", axes, along)
