"""The grids of a pressure solve with many small bubbles.

On the finest grid a bubble is what it is: cells around it that share a pressure. Coarser grids cannot see it, and would
take its cells for air at p = 0; there it is filled with a fluid that passes pressure on well.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glug.grids.tiles import active_blocks
from glug.physics import kernels_bubbles, kernels_pressure
from glug.physics.pressure_levels import PressureLevel, hierarchy
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Coupled, LowRank

CONDUCTION = 8.0  # of a filled bubble over that of the liquid; without end in truth


class BubbleLevel(Coupled):
    """The finest level: the liquid's cells with the pressures of bubbles eliminated, which every sweep sees to."""

    def __init__(self, fine: PressureLevel, bubbles: LowRank):
        super().__init__(fine, bubbles)
        self.fine, self.colours = fine, fine.colours

    def sweep(self, b: Vector, x: Vector, blocks: np.ndarray, forward: bool) -> None:
        low = self.low_rank
        ((touched, push),) = low.spread(low.times_matrix(low.sums(x)))
        flat = b[0].reshape(-1)
        kept = flat[touched]
        flat[touched] = kept - push
        self.fine.sweep(b, x, blocks, forward)
        flat[touched] = kept

    def restrict(self, r: Vector, coarse: PressureLevel, b: Vector) -> None:
        self.fine.restrict(r, coarse, b)

    def interpolate(self, e: Vector, x: Vector) -> None:
        self.fine.interpolate(e, x)


def bubble_hierarchy(
    fine: PressureLevel, filled: np.ndarray, bubbles: LowRank
) -> Sequence[BubbleLevel | PressureLevel]:
    """Levels for the matrix of `fine` with `bubbles` eliminated; `filled` (uint8) marks their cells."""
    return [BubbleLevel(fine, bubbles), *hierarchy(fill(fine, filled))[1:]]


def fill(fine: PressureLevel, filled: np.ndarray) -> PressureLevel:
    """`fine` with the marked air cells as unknowns."""
    phi, liquid = fine.phi.copy(), fine.liquid.copy()
    x, y, z = (link.copy() for link in fine.links)
    links, diagonal = (x, y, z), np.zeros_like(fine.diagonal)
    kernels_bubbles.fill_cells(filled, phi, liquid)
    for a, link in enumerate(links):
        kernels_bubbles.fill_links(a, filled, fine.liquid, fine.area[a], np.float32(CONDUCTION), link)
    kernels_pressure.sum_links(*links, liquid, diagonal)
    return replace(fine, phi=phi, liquid=liquid, links=links, diagonal=diagonal, blocks=active_blocks(liquid))
