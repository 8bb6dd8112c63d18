"""Heat exchange: the temperature of the particles is diffused on the grid."""

import math

import numpy as np

from glug.geometry import kernels
from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import add_to_particles, cell_means

# One pass of `geometry.kernels.smooth` mixes half of a sample with the mean of its neighbours: it diffuses by
# dx^2 / 12 (the second moment of its weights along an axis, halved).
SPREAD_PER_PASS = 1.0 / 12.0


def diffuse(particles: Particles, grid: Grid, diffusivity: float, dt: float) -> None:
    """Blur the cells' mean temperature over sqrt(2 diffusivity dt) and hand the change to the particles."""
    number = diffusivity * dt / grid.dx**2 / SPREAD_PER_PASS
    if number <= 0.0:
        return
    temperature = cell_means(particles.temperature, particles, grid, math.nan)
    known = np.isfinite(temperature).astype(np.uint8)
    temperature[known == 0] = 0.0
    extrapolate(temperature, known, 2)
    passes = max(1, math.ceil(number))
    share = np.float32(number / passes)
    blurred, other = temperature.copy(), np.empty_like(temperature)
    for _ in range(passes):
        kernels.smooth(blurred, other)
        blurred += share * (other - blurred)
    add_to_particles(particles.temperature, particles, grid, blurred - temperature)
