"""Heat exchange: the temperature of the particles is diffused between the cells that hold liquid."""

import math

import numpy as np

from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import cell_sums, follow_cells
from glug.physics import kernels

# Of a temperature difference that one pass may exchange with each of six neighbours: a mean keeps 1 - 6/10 of what it
# is above the coldest cell then, and particles, by DECAY, less of what they are below the mean: none gets colder.
MOST_SHARE = 1.0 / 10.0
DECAY = math.pi**2  # of differences within a cell, half a wave long, for every D dt / dx^2


def diffuse(particles: Particles, mass: np.ndarray, grid: Grid, diffusivity: float, dt: float) -> None:
    """Exchange heat between neighbouring cells that hold particles of `mass` (n, 1), for `dt` [s]; air takes none.

    With m the mass of a cell and T the mean temperature of its particles by mass, in passes small enough to be
    monotone,

        m_c T_c += D dt / dx^2 sum over neighbours min(m_c, m_n) (T_n - T_c),

    so that the heat sum m_c T_c is kept. Particles follow the mean of their cell, and what they differ from it by
    decays as diffusion would have it. No temperature leaves the range.
    """
    number = diffusivity * dt / grid.dx**2
    if number <= 0.0:
        return
    passes = max(1, math.ceil(number / MOST_SHARE))
    held = cell_sums(mass, particles, grid)
    heat = cell_sums(mass * particles.temperature, particles, grid)
    before = np.divide(heat, held, out=np.zeros_like(heat), where=held > 0.0)
    now, other = before.copy(), before.copy()
    for _ in range(passes):
        kernels.exchange_heat(now, held, np.float32(number / passes), other)
        now, other = other, now
    follow_cells(particles.temperature, particles, before, now, math.exp(-DECAY * number))
