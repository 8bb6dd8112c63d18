"""The connected parts of the liquid: which are closed, how full of particles they are."""

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import Grid, Staggered
from glug.particles.storage import Particles
from glug.physics import kernels

LEAST_INTERIOR = 32  # cells surrounded by occupied cells that a component needs before its volume is corrected
MOST_EXPANSION = 0.02  # relative change of volume that a correction may ask of one step


@dataclass(frozen=True)
class Components:
    """`label` numbers the component of every liquid cell (-1 elsewhere)."""

    label: np.ndarray
    cells: np.ndarray  # cells of each component
    free: np.ndarray  # whether it touches air anywhere

    def compatibility(self, rhs: np.ndarray, liquid: np.ndarray, links: Staggered) -> np.ndarray:
        """What to add per cell so that the sum over every closed component is zero."""
        if self.free.all():
            return np.zeros(len(self.cells))
        cells, opening, total = _sums(self.label, liquid, rhs, links, len(self.cells))
        return np.where(self.free, 0.0, -total / np.maximum(cells, 1))

    def expansion(self, particles: Particles, band: np.ndarray, grid: Grid, gain: float, dt: float) -> np.ndarray:
        """Divergence [1/s] that brings each component's interior back to one cell of particles per cell.

        Particles carry their volume. Where cells surrounded by liquid hold more volume than their own, the
        liquid has been compressed and must expand. Measured inside only, this has no bias at the surface.
        """
        cells = np.zeros(len(self.cells), np.int64)
        total = np.zeros(len(self.cells))
        kernels.component_fill(self.label, band, particles.start, particles.volume, cells, total)
        excess = total / (np.maximum(cells, 1) * grid.dx**3) - 1.0
        change = np.clip(gain * excess, -MOST_EXPANSION, MOST_EXPANSION)
        return np.where(cells >= LEAST_INTERIOR, change / dt, 0.0)


def find_components(liquid: np.ndarray, area: Staggered, links: Staggered) -> Components:
    """Connected through open faces; touching air through an open face makes a component free."""
    label = np.empty(liquid.shape, np.int32)
    count = kernels.label_components(liquid, *area, label)
    cells, opening, _ = _sums(label, liquid, np.zeros_like(label, np.float32), links, count)
    return Components(label, cells, opening > 0.0)


def _sums(
    label: np.ndarray, liquid: np.ndarray, rhs: np.ndarray, links: Staggered, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells, opening, total = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    kernels.component_sums(label, liquid, rhs, *links, cells, opening, total)
    return cells, opening, total
