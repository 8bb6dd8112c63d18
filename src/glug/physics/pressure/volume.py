"""Correction of volume drift: a wanted divergence from how much volume the particles carry.

Particles carry their volume; the solver holds the sum of the liquid fractions. A component of the liquid whose
particles carry more than it holds has been compressed and must expand, one that carries less must contract. The
same is asked around every cell where the two differ by more than sampling explains: a stretched thread contracts,
a pile that was pressed together expands.
"""

from dataclasses import dataclass

import numpy as np

from glug.geometry.box import box_sum
from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import cell_sums
from glug.physics.pressure import kernels

REACH = 2  # cells around a cell over which volumes are compared: 125 cells of 8 particles vary by a percent
DEAD_AROUND = 0.05  # relative difference around a cell that may be noise
DEAD_WHOLE = 0.015  # relative difference of a component that may be the curvature of its surface
LEAST_HELD = 20.0  # cells of liquid there, at least: less is spray, whose volume the fractions do not resolve
MOST = 0.02  # relative change of volume that a correction may ask of one step


@dataclass(frozen=True)
class VolumeCorrection:
    """Carried and held volume around every cell, in cells."""

    carried: np.ndarray
    held: np.ndarray
    gain: float  # share of the error that one step corrects
    dt: float  # [s]

    @classmethod
    def measure(
        cls, particles: Particles, fraction: np.ndarray, grid: Grid, gain: float, dt: float
    ) -> "VolumeCorrection":
        """`fraction` is the open liquid fraction of every cell (overwritten)."""
        carried = cell_sums(particles.volume, particles, grid, grid.dx**-3)
        return cls(box_sum(carried, REACH), box_sum(fraction, REACH), gain, dt)

    def add_to(self, rhs: np.ndarray, label: np.ndarray, count: int, openness: np.ndarray, grid: Grid) -> None:
        """Add the wanted divergence times dx [m/s] to the right-hand side of a projection.

        `label` numbers the `count` components of the liquid; `openness` is the open fraction of the cells, because
        what is inside a solid cannot grow.
        """
        carried, held = np.zeros(count), np.zeros(count)
        least = np.float32(LEAST_HELD)
        kernels.component_volumes(label, self.carried, self.held, least, carried, held)
        whole = np.where(held > 0, carried / np.maximum(held, 1e-30) - 1.0, 0.0)
        whole = np.sign(whole) * np.maximum(np.abs(whole) - DEAD_WHOLE, 0.0)
        kernels.add_expansion(
            label,
            openness,
            self.carried,
            self.held,
            whole.astype(np.float32),
            least,
            np.float32(DEAD_AROUND),
            np.float32(self.gain),
            np.float32(MOST),
            np.float32(grid.dx / self.dt),
            rhs,
        )
