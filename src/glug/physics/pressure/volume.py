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
from glug.physics.pressure import kernels

HALF_REACH = 1  # cells: volumes are compared over those within twice as many of a cell
DEAD_AROUND = 0.05  # relative difference around a cell that may be noise
DEAD_NOISE = 0.005  # relative difference of a component that may be noise
DEAD_SURFACE = {2: 0.1, 3: 0.05}  # cells: by so much the surface of liquid at rest may be off what particles carry
DEAD_CURVED = 0.015  # relative difference that a surface may explain, at most: the curvature of a ball of 6 cells
LEAST_HELD = 0.16  # of all there that is liquid, at least: less is spray, whose volume the fractions do not resolve
MOST = 0.02  # relative change of volume that a correction may ask of one step


def around(values: np.ndarray) -> np.ndarray:
    """Sums around every cell, weighing 1 2 3 2 1 along every axis; overwrites `values`.

    A sum over a box has the wrong sign for waves shorter than it: a correction by it makes crowds more crowded, every
    three cells. The box twice has the square of its spectrum, which has no sign.
    """
    return box_sum(box_sum(values, HALF_REACH), HALF_REACH)


def as_spread(fraction: np.ndarray, dim: int) -> np.ndarray:
    """Fractions of cells, as wide as what particles share between centres, in place.

    Particles that fill a cell have an eighth of it beyond either side: the mean of their hats along an axis is
    1/8, 3/4, 1/8. Narrower fractions make particles at walls seem to be missing, and liquid in corners would contract.
    """
    for a in range(dim):
        along = np.moveaxis(fraction, a, 0)
        beyond = along * np.float32(1 / 8)
        along *= np.float32(3 / 4)
        along[1:] += beyond[:-1]
        along[:-1] += beyond[1:]
    return fraction


def dead_band(surface: np.ndarray, cells: np.ndarray, dim: int) -> np.ndarray:
    """Relative difference of components that is left alone, by their volume and their surface, both in cells."""
    return np.clip(DEAD_SURFACE[dim] * surface / np.maximum(cells, 1.0), DEAD_NOISE, DEAD_CURVED)


@dataclass(frozen=True)
class VolumeCorrection:
    """Carried and held volume around every cell, in cells."""

    carried: np.ndarray
    held: np.ndarray
    gain: float  # share of the error that one step corrects
    dt: float  # [s]

    @classmethod
    def measure(
        cls, carried: np.ndarray, fraction: np.ndarray, grid: Grid, gain: float, dt: float
    ) -> "VolumeCorrection":
        """`carried` is what particles share with the cells, in cells, `fraction` the open liquid one (overwritten)."""
        return cls(around(carried.copy()), around(as_spread(fraction, grid.dim)), gain, dt)

    def add_to(self, rhs: np.ndarray, label: np.ndarray, count: int, openness: np.ndarray, grid: Grid) -> None:
        """Add the wanted divergence times dx [m/s] to the right-hand side of a projection.

        `label` numbers the `count` components of the liquid; `openness` is the open fraction of the cells, because
        what is inside a solid cannot grow.
        """
        carried, held, cells, surface = np.zeros((4, count))
        least = np.float32(LEAST_HELD * (2 * HALF_REACH + 1) ** (2 * grid.dim))
        kernels.component_volumes(label, self.carried, self.held, least, carried, held)
        kernels.component_surfaces(label, openness, cells, surface)
        whole = np.where(held > 0, carried / np.maximum(held, 1e-30) - 1.0, 0.0)
        dead = dead_band(surface, cells, grid.dim)
        whole = np.sign(whole) * np.maximum(np.abs(whole) - dead, 0.0)
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
