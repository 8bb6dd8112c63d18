"""Moving particles through the velocity field, and keeping them out of solids."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from glug.geometry.solids import Solid, SolidField, Walls
from glug.grids.regular import Grid, Staggered
from glug.particles import kernels
from glug.particles.seeding import gradient
from glug.particles.storage import Particles

MARGIN = 0.01  # cells between a particle and a solid, at least


def advect(particles: Particles, grid: Grid, velocity: Staggered, dt: float, max_speed: float) -> None:
    """Third-order Runge-Kutta, in as many parts as the fastest particle crosses cells."""
    parts = max(1, math.ceil(max_speed * dt / grid.dx))
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.advect(particles.position, corner, inverse, *velocity, np.float32(dt), parts)


def leave_solids(
    particles: Particles, grid: Grid, field: SolidField, walls: Walls, solids: Sequence[Solid], t: float
) -> None:
    """Afterwards no particle is inside a solid or behind a wall.

    The sampled distance moves most of them; near solids other than walls the exact distance has the last
    word, so that edges and plates thinner than a cell hold.
    """
    p = particles.position
    margin = MARGIN * grid.dx
    lower = (np.asarray(walls.lower) + margin).astype(np.float32)
    upper = (np.asarray(walls.upper) - margin).astype(np.float32)
    near = np.empty(len(p), np.bool_)
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.leave_solids(p, corner, inverse, field.distance, np.float32(margin), lower, upper, near)
    if not solids or not near.any():
        return
    index = np.flatnonzero(near)
    points = p[index].astype(np.float64)
    for _ in range(4):
        moved = np.zeros(len(points), np.bool_)
        for solid in solids:
            d = solid.distance(points, t)
            inside = np.flatnonzero(d < 0.5 * margin)
            if len(inside):
                away = gradient(partial(solid.distance, t=t), points[inside], 1e-3 * grid.dx, grid.dim)
                points[inside] += (margin - d[inside])[:, None] * away
                moved[inside] = True
        np.clip(points, walls.lower + np.full(3, margin), walls.upper - np.full(3, margin), out=points)
        if not moved.any():
            break
    p[index] = points
