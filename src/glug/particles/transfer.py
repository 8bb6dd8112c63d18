"""Between particles and faces: APIC (Jiang et al. 2015) and FLIP blended with PIC (Zhu and Bridson 2005)."""

import numpy as np

from glug.grids.regular import Grid, Staggered
from glug.particles import kernels
from glug.particles.storage import Particles

LEAST_WEIGHT = 1e-3  # of a nominal particle: below it a face counts as not reached
ROUNDS_OF_SLOPES = 2  # a third one damps waves by a hundredth of their energy a period


def _corner_and_inverse(grid: Grid) -> tuple[np.ndarray, np.float32]:
    return grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)


def to_grid(
    particles: Particles,
    grid: Grid,
    nominal_volume: float,
    mass: np.ndarray | None = None,
    near: np.ndarray | None = None,
) -> tuple[Staggered, Staggered]:
    """Face velocities, and 1 where particles reach a face, else 0.

    `mass` (n, 1) weighs the particles where their densities differ; their volume does where it is None. `near` (uint8)
    are the cells beside a surface, where `add_slopes` mends what faces see.
    """
    velocity, weight = grid.staggered(), grid.staggered()
    corner, inverse = _corner_and_inverse(grid)
    p, least = particles, np.float32(LEAST_WEIGHT * nominal_volume)
    kernels.to_grid(
        p.position,
        p.velocity,
        p.affine_or_none,
        p.volume if mass is None else mass,
        p.start,
        grid.shape,
        corner,
        inverse,
        *velocity,
        *weight,
    )
    for u, m in zip(velocity, weight):
        kernels.normalise(u, m, least)
    if near is not None:
        given = p.position, p.volume if mass is None else mass, p.start
        velocity = add_slopes(velocity, weight, least, grid, near, given)
    reached = tuple((m > least).view(np.uint8) for m in weight)  # a quarter of the memory, kept all step
    return velocity, (reached[0], reached[1], reached[2])


def add_slopes(
    velocity: Staggered,
    weight: Staggered,
    least: np.float32,
    grid: Grid,
    near: np.ndarray,
    given: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Staggered:
    """Velocities of faces beside a surface, from particles that lie on one side of them only.

    `given` are their positions, their masses, whose sums on the faces are `weight`, and the first of every cell. The
    mean over such particles is the velocity of their own mean place, farther inside. With the gradient at the particles
    of cells `near`, taken from the faces, it is carried to the face; the next round knows it better. `near` is 0 in the
    outermost cells of the grid, whose particles reach beyond it.
    """
    changed = velocity
    for _ in range(ROUNDS_OF_SLOPES):
        slopes = grid.staggered()
        kernels.slopes_to_grid(*given, near, *_corner_and_inverse(grid), *changed, *slopes)
        for u, m, slope in zip(velocity, weight, slopes):
            kernels.add_weighed(u, m, least, slope)
        changed = slopes
    return changed


def to_particles_flip(particles: Particles, grid: Grid, velocity: Staggered, before: Staggered, ratio: float) -> None:
    """Add the change of the grid velocity, blended with 1 - ratio of the velocity itself."""
    corner, inverse = _corner_and_inverse(grid)
    p = particles
    kernels.to_particles_flip(p.position, p.velocity, corner, inverse, *velocity, *before, np.float32(ratio))


def to_particles_apic(particles: Particles, grid: Grid, velocity: Staggered) -> None:
    """Take velocity and velocity gradient from the grid."""
    corner, inverse = _corner_and_inverse(grid)
    kernels.to_particles_apic(particles.position, particles.velocity, particles.affine, corner, inverse, *velocity)


def to_cells(values: np.ndarray, particles: Particles, grid: Grid) -> np.ndarray:
    """A particle attribute on the cells, shared linearly between the nearest centres.

    Particles in rows of half a cell, or of any whole part of one, give every cell the same, wherever the rows are.
    """
    out, p = grid.scalar(), particles
    kernels.to_cells(p.position, values, p.start, grid.shape, *_corner_and_inverse(grid), out)
    return out


def cell_sums(values: np.ndarray, particles: Particles, grid: Grid, scale: float = 1.0) -> np.ndarray:
    """Sum of a particle attribute over each cell, times `scale`."""
    out = grid.scalar()
    kernels.cell_sums(values, particles.start, np.float32(scale), out)
    return out


def cell_means(values: np.ndarray, particles: Particles, grid: Grid, missing: float) -> np.ndarray:
    """Mean of a particle attribute over each cell; `missing` in cells without particles."""
    out = cell_sums(values, particles, grid)
    count = np.diff(particles.start[: grid.cells + 1]).reshape(grid.shape)
    out /= np.maximum(count, 1).astype(np.float32)
    out[count == 0] = missing
    return out


def follow_cells(values: np.ndarray, particles: Particles, before: np.ndarray, after: np.ndarray, keep: float) -> None:
    """An attribute follows the means of the cells, and keeps a share of what it differs from them by; in place."""
    kernels.follow_cells(particles.start, before, after, np.float32(keep), values)
