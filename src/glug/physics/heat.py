"""Heat exchange: the temperature of the particles is diffused between the cells that hold liquid."""

import math

import numpy as np

from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import cell_sums, follow_cells
from glug.physics import kernels

MOST_SHARE = 1.0 / 16.0  # of a temperature difference that one pass may exchange with a neighbour as heavy
HEAVIER = 2.0  # times the lighter one of two cells, that their exchange counts with at most


def kept(share: float, passes: int) -> float:
    """What particles keep of their difference from their cell: no more than its mean keeps of that from the coldest.

    Particles as cold as that stay so then, while their cell cools.
    """
    return (1.0 - 6.0 * HEAVIER * share) ** passes


def diffuse(particles: Particles, mass: np.ndarray, grid: Grid, diffusivity: float, dt: float) -> None:
    """Exchange heat between neighbouring cells that hold particles of `mass` (n, 1), for `dt` [s]; air takes none.

    With m the mass of a cell and T the mean temperature of its particles by mass, in passes small enough to be
    monotone,

        m_c T_c += D dt / dx^2 sum over neighbours min((m_c + m_n) / 2, 2 m_c, 2 m_n) (T_n - T_c),

    so that the heat sum m_c T_c is kept. Particles follow the mean of their cell, and what they differ from it by
    decays (`kept`), so that no temperature leaves the range.
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
        kernels.exchange_heat(now, held, np.float32(number / passes), np.float32(HEAVIER), other)
        now, other = other, now
    follow_cells(particles.temperature, particles, before, now, kept(number / passes, passes))
