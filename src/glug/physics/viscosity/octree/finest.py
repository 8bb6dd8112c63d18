"""Stress weights of the regular problem where a tree has finest leaves: in tiles, as the window is mostly air."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import Staggered
from glug.physics.viscosity.octree import kernels_finest as kernels


@dataclass(frozen=True)
class FinestWeights:
    """Cells, edges, and what couples the two components of a shear, of the tiles with finest leaves or beside one."""

    number: np.ndarray  # int32: the place of every tile of the window in `packed`; 0, which is empty, for most
    packed: np.ndarray  # (7, tiles, 64) float32

    @classmethod
    def of(cls, tree: LinearTree, shift: int, cell: np.ndarray, edges: Staggered, coupling: Staggered) -> FinestWeights:
        """From fields of the window, in which the tree's corner is at `shift`."""
        side = int(kernels.SIDE)
        found = np.zeros([n // side + 1 for n in cell.shape], np.bool_)
        kernels.mark_tiles(tree.key, tree.level, shift, found)
        place = np.argwhere(found)
        number = np.zeros(found.shape, np.int32)
        number[found] = np.arange(1, len(place) + 1)
        packed = np.zeros((7, len(place) + 1, side**3), np.float32)
        for field, out in zip((cell, *edges, *coupling), packed):
            kernels.pack(field, place, out[1:])
        return cls(number, packed)
