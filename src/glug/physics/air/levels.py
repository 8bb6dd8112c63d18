"""The grids of a pressure solve with bubbles.

On the finest grid a bubble is what it is: cells around it that share a pressure. Coarser grids would take its cells for
air at p = 0; there it is filled with a fluid that passes pressure on well. Sweeps know the pressures
of bubbles at their beginning, as they know the velocities of bodies.
"""

from dataclasses import replace

import numpy as np

from glug.grids.blocks import active_blocks
from glug.grids.kernels import sum_faces
from glug.grids.regular import copied
from glug.physics.air import kernels
from glug.physics.pressure.levels import PressureLevel

CONDUCTION = 30.0  # of a filled bubble over that of the liquid; without end in truth (8 is less, 100 no better)


def fill(fine: PressureLevel, filled: np.ndarray) -> PressureLevel:
    """`fine` with the marked air cells as unknowns."""
    phi, liquid = fine.phi.copy(), fine.liquid.copy()
    links, diagonal = copied(fine.links), np.zeros_like(fine.diagonal)
    kernels.fill_cells(filled, phi, liquid)
    for a, link in enumerate(links):
        kernels.fill_links(a, filled, fine.liquid, fine.area[a], np.float32(CONDUCTION), link)
    sum_faces(*links, liquid, diagonal)
    return replace(fine, phi=phi, liquid=liquid, links=links, diagonal=diagonal, blocks=active_blocks(liquid))
