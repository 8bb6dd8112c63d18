"""Correction of volume drift: a wanted divergence from how full of particles the liquid is.

Particles carry their volume. Where the cells inside the liquid hold more than their own volume the liquid has
been compressed and must expand, where they hold less it must contract. The fill is measured around every cell,
in cells that occupied cells surround, so the surface adds no bias; what a component lacks as a whole is the sum
of what its cells lack.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.box import box_sum
from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.physics import kernels

REACH = 2  # cells around a cell over which its fill is measured: 125 cells of 8 particles vary by a percent
LEAST_CELLS = 8  # of those that must be inside the liquid for a measurement
MOST = 0.02  # relative change of volume that a correction may ask of one step


@dataclass(frozen=True)
class VolumeCorrection:
    """Particle volume and number of inner cells around every cell."""

    total: np.ndarray
    cells: np.ndarray
    gain: float  # share of the error that one step corrects
    dt: float  # [s]

    @classmethod
    def measure(
        cls, particles: Particles, inside: np.ndarray, grid: Grid, gain: float, dt: float
    ) -> "VolumeCorrection":
        """`inside` is 2 in the cells that occupied cells surround."""
        total, cells = grid.scalar(), grid.scalar()
        kernels.inner_fill(inside, particles.start, particles.volume, total, cells)
        return cls(box_sum(total, REACH), box_sum(cells, REACH), gain, dt)

    def add_to(self, rhs: np.ndarray, liquid: np.ndarray, openness: np.ndarray, grid: Grid) -> None:
        """Add the wanted divergence times dx [m/s] to the right-hand side of a projection.

        `openness` is the open fraction of the cells: what is inside a solid cannot grow.
        """
        kernels.add_expansion(
            liquid,
            openness,
            self.total,
            self.cells,
            np.float32(grid.dx**3),
            np.float32(LEAST_CELLS),
            np.float32(self.gain),
            np.float32(MOST),
            np.float32(grid.dx / self.dt),
            rhs,
        )
