"""The connected parts of the air, and which of them are open to the outside.

Air is every cell that is not liquid and has an open face; two air cells belong together when the face between them is
open. The volume decides, not the surface: a drop inside a bubble leaves one region with two surfaces.
"""

from dataclasses import dataclass

import numpy as np

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


def label_regions(member: np.ndarray, area: Staggered) -> tuple[np.ndarray, int]:
    """Number the parts of `member` cells (uint8) that are connected through open faces; how many there are.

    -1 marks other cells. Parts are numbered in the order of their first cells, whatever the number of threads.
    """
    parent, label = np.empty(member.size, np.int32), np.empty(member.shape, np.int32)
    kernels.join_slabs(member, *area, parent)
    kernels.join_between(member, area[0], parent)
    found = np.zeros(-(-member.shape[0] // int(kernels.SLAB)), np.int64)
    kernels.count_roots(member, parent, found)
    kernels.number_roots(member, parent, np.cumsum(found) - found, label)
    kernels.number_members(member, parent, label)
    return label, int(found.sum())


def find_air_regions(liquid: np.ndarray, area: Staggered) -> AirRegions:
    """From the liquid cells and the open fraction of faces; the window must hold all the air there is."""
    air = np.empty_like(liquid)
    kernels.air_cells(liquid, *area, air)
    label, count = label_regions(air, area)
    cells, leaks = np.zeros(count, np.int64), np.zeros(count, np.uint8)
    kernels.region_sums(label, *area, cells, leaks)
    return AirRegions(label, cells, leaks.astype(bool))
