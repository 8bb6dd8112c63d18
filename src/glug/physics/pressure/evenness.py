"""Particles that stay evenly spread: they move from crowded cells to thin ones, inside the liquid.

A cell that neither air nor a cut cell is near holds what it has room for. Where its particles carry more they are
crowded, where they carry less they are thin: both are evened out before they become voids (after the density projection
of Kugelstadt et al. 2019). Elsewhere, and in thick liquids, only crowds beyond doubt are. Some sweeps over a potential
that nothing leaves the liquid by reach the cells around; what is spread wider is left to the volume correction. The
surface stays where it is, and with it the potential energy.
"""

from dataclasses import dataclass

import numpy as np

from glug.geometry.box import box_sum
from glug.grids.regular import Grid, Staggered
from glug.physics.pressure import kernels

SHARE = 0.5  # of what a cell carries too much that one step moves out of it, at most
PACE = 0.2  # the same for every cell that the liquid could cross in the step: a share of every step damps waves
GAP = 0.1  # of a cell: of what is beyond it, every step moves SHARE
MOST = 0.1  # of a cell, at most
UNSURE = 0.5  # of a cell: beside air and in cut cells they may carry so much too much, and crowds are what is beyond
DEPTH = 1  # cells: nearer to air what particles share with a centre comes from beyond the surface
SWEEPS = 8  # reach about as many cells as their square root


@dataclass(frozen=True)
class Evenness:
    """What particles carry, shared between the nearest cell centres, in cells."""

    carried: np.ndarray
    gain: float  # 1 is usual
    dt: float  # [s]
    crossed: float  # cells that the liquid could cross in the step
    all_of_it: bool = True  # False: crowds alone

    @property
    def share(self) -> float:
        """Of what a cell carries too much that the step moves out of it: as much in a second whatever the steps."""
        return self.gain * min(SHARE, PACE * self.crossed)

    def target(self, liquid: np.ndarray, openness: np.ndarray, grid: Grid) -> np.ndarray:
        """The wanted divergence times dx [m/s]; near air and cells that a solid cuts, that of crowds alone."""
        cut = (openness > 0.0) & (openness < 1.0)  # how much of it particles can fill is not known well enough
        unsure = (((liquid == 0) & (openness > 0.0)) | cut).astype(np.float32)
        target, scale = grid.scalar(), np.float32(grid.dx / self.dt)
        shares = np.float32(self.share), np.float32(GAP), np.float32(SHARE * self.gain), np.float32(UNSURE)
        near = box_sum(unsure, DEPTH) if self.all_of_it else np.ones_like(unsure)
        kernels.evenness_target(near, liquid, openness, self.carried, *shares, np.float32(MOST), scale, target)
        return target

    def add_to(self, w: Staggered, liquid: np.ndarray, openness: np.ndarray, area: Staggered, grid: Grid) -> None:
        """Add the velocity that evens particles out to a displacement: between `liquid` cells alone."""
        target = self.target(liquid, openness, grid)
        if not target.any():
            return
        q, other = grid.scalar(), grid.scalar()
        for _ in range(SWEEPS):
            kernels.even_sweep(target, liquid, *area, q, other)
            q, other = other, q
        kernels.subtract_inner_gradient(q, liquid, *area, *w)
