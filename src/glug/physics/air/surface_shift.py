"""Bubbles get back what a step has lost by moving their surfaces.

What a step loses is known when it is over: the air between surfaces that meet is lost as soon as it is thinner than
the kernels of particles, at once, however short the step. A velocity gives it back a step later, when as much has been
lost again. So the particles around a bubble are moved, by a small part of a cell, before its volume counts; what then
is still missing is asked of the projection. The surface is measured anew.
"""

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.physics.air import kernels_tracking as kernels
from glug.physics.air.regions import AirRegions

LEAST = 0.004  # of all bubbles' volume, that is worth it
DEPTH = 3.0  # cells below the surface where particles stay
MOST = 0.15  # cells that a surface may move
YIELD = 1.0  # cells that a surface is to move, over what is missing per face: most of that comes back
CLEAR = 0.6  # cells from solids within which nothing moves: plates may be thinner than a cell


def shift_surfaces(
    particles: Particles,
    grid: Grid,
    phi: np.ndarray,
    solid: SolidField,
    regions: AirRegions,
    faces: np.ndarray,
    missing: np.ndarray,
) -> None:
    """Move the particles around every region so that it grows by `missing` [m3]; it has `faces` towards liquid."""
    cells = YIELD * missing / (grid.dx**3 * np.maximum(faces, 1))
    amount = np.append(np.clip(cells, -MOST, MOST), 0.0).astype(np.float32)
    shift, known = amount[regions.label], (regions.label >= 0).view(np.uint8)
    extrapolate(shift, known, int(DEPTH) + 1)
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    reach = np.float32(DEPTH * grid.dx), np.float32(CLEAR * grid.dx)
    kernels.shift_particles(particles.position, corner, inverse, phi, shift, solid.distance, *reach)
