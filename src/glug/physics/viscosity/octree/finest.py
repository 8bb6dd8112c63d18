"""Stress weights of the regular problem where a tree has finest leaves: in tiles, as the window is mostly air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    def of(cls, tree: LinearTree, shift: int, cell: np.ndarray, edges: Staggered, coupling: Staggered) -> FinestWeights:
        """From fields of the window, in which the tree's corner is at `shift`."""
        found = np.zeros([n // int(kernels.SIDE) + 1 for n in cell.shape], np.bool_)
        kernels.mark_tiles(tree.key, tree.level, shift, found)
        place, packed = np.argwhere(found), _packed(found, (cell, *edges))
        other = np.zeros(len(place), np.bool_)
        for field, edge in zip(coupling, packed[1:]):
            kernels.mark_other(field, place, edge[1:], other)
        cut = np.zeros_like(found)
        cut[tuple(place[other].T)] = True
        return cls(_numbers(found), packed, _numbers(cut), _packed(cut, coupling))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What kernels take."""
        return self.number, self.packed, self.at_solids, self.coupled


def _numbers(found: np.ndarray) -> np.ndarray:
    number = np.zeros(found.shape, np.int32)
    number[found] = np.arange(1, np.count_nonzero(found) + 1)
    return number


def _packed(found: np.ndarray, fields: Sequence[np.ndarray]) -> np.ndarray:
    """The samples of fields in the tiles that are found, behind an empty one."""
    place = np.argwhere(found)
    packed = np.zeros((len(fields), len(place) + 1, int(kernels.SIDE) ** 3), np.float32)
    for field, out in zip(fields, packed):
        kernels.pack(field, place, out[1:])
    return packed
