"""Heat exchange: the temperature of the particles is diffused between the cells that hold liquid."""

import math

import numpy as np

from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import add_per_cell, cell_means
from glug.physics import kernels

MOST_SHARE = 1.0 / 8.0  # of a temperature difference that one pass may exchange with each of six neighbours


def diffuse(particles: Particles, grid: Grid, diffusivity: float, dt: float) -> None:
    """Exchange heat between neighbouring occupied cells for `dt` [s]; air takes none.

    T_c += D dt / dx^2 sum over occupied neighbours (T_n - T_c), in passes small enough to be monotone. All particles
    of a cell take its change, so no temperature leaves the range and the sum over the cells is kept.
    """
    number = diffusivity * dt / grid.dx**2
    if number <= 0.0:
        return
    passes = max(1, math.ceil(number / MOST_SHARE))
    occupied = particles.occupied(grid)
    before = cell_means(particles.temperature, particles, grid, 0.0)
    now, other = before.copy(), before.copy()
    for _ in range(passes):
        kernels.exchange_heat(now, occupied, np.float32(number / passes), other)
        now, other = other, now
    add_per_cell(particles.temperature, particles, now - before)
