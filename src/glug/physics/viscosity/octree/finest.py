"""Stress weights of the regular problem where a tree has finest leaves: in tiles, as the window is mostly air."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import Staggered
from glug.physics.viscosity.octree import kernels_finest as kernels


@dataclass(frozen=True)
class FinestWeights:
    """Cells and edges of the tiles with finest leaves or beside one, and what couples the two components of a shear.

    That is the weight of the edge but for tiles at solids, which are the only ones to have both.
    """

    number: np.ndarray  # int32: the place of every tile of the window in `packed`; 0, which is empty, for most
    packed: np.ndarray  # (4, tiles, 64) float32
    at_solids: np.ndarray  # int32: the same in `coupled`; 0 for tiles where edges say it
    coupled: np.ndarray  # (3, tiles, 64) float32

    @classmethod
    def of(
        cls, tree: LinearTree, shift: int, cell: np.ndarray, edges: Staggered, coupling: Iterable[np.ndarray]
    ) -> FinestWeights:
        """From fields of the window, in which the tree's corner is at `shift`; couplings are taken axis by axis."""
        found = np.zeros([n // int(kernels.SIDE) + 1 for n in cell.shape], np.bool_)
        kernels.mark_tiles(tree.key, tree.level, shift, found)
        place = np.argwhere(found)
        packed, coupled = (np.zeros((n, len(place) + 1, int(kernels.SIDE) ** 3), np.float32) for n in (4, 3))
        for field, out in zip(chain((cell, *edges), coupling), chain(packed, coupled)):
            kernels.pack(field, place, out[1:])
        other = np.flatnonzero((packed[1:] != coupled).any(axis=(0, 2)))
        number, at_solids = np.zeros(found.shape, np.int32), np.zeros(found.shape, np.int32)
        number[found] = np.arange(1, len(place) + 1)
        at_solids[tuple(place[other - 1].T)] = np.arange(1, len(other) + 1)
        return cls(number, packed, at_solids, coupled[:, np.append(0, other)])

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What kernels take."""
        return self.number, self.packed, self.at_solids, self.coupled
