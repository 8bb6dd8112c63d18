"""The connected parts of the air, and which of them are open to the outside.

Air is every cell that is not liquid and has an open face; two air cells belong together when the face between them is
open. The volume decides, not the surface: a drop inside a bubble leaves one region with two surfaces.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.connected import label_parts, open_cells
from glug.grids.regular import Grid, Staggered
from glug.physics.air import kernels


@dataclass(frozen=True)
class AirRegions:
    """`label` numbers the region of every air cell (-1 elsewhere)."""

    label: np.ndarray
    cells: np.ndarray  # cells of each region
    open: np.ndarray  # whether it leaves the window through an open face

    def __len__(self) -> int:
        return len(self.cells)

    def volume(self, grid: Grid, openness: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        """Volume [m3] of each region, from the open and the liquid fraction of every cell."""
        found = np.zeros(len(self))
        kernels.region_volumes(self.label, openness, fraction, found)
        return found * grid.dx**3

    def room(self, grid: Grid, openness: np.ndarray) -> np.ndarray:
        """What solids leave of the cells of each region [m3]."""
        found = np.bincount(self.label.reshape(-1) + 1, openness.reshape(-1), len(self) + 1)
        return found[1:] * grid.dx**3


def find_air_regions(liquid: np.ndarray, area: Staggered) -> AirRegions:
    """From the liquid cells and the open fraction of faces; the window must hold all the air there is."""
    label, count = label_parts(open_cells((liquid == 0).view(np.uint8), area), area)
    cells, leaks = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    kernels.count_cells(label, cells)
    for a in range(3):
        for border, opening in zip(np.moveaxis(label, a, 0)[[0, -1]], np.moveaxis(area[a], a, 0)[[0, -1]]):
            leaks[border[(border >= 0) & (opening > 0)]] = True
    return AirRegions(label, cells, leaks)
