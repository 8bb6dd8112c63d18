"""The faces of a sparse tree: between two leaves, as large as the smaller one's, and to absent space.

A face belongs to the finer of its leaves, between equals to the upper one. Faces are numbered leaf by leaf and, within
a leaf, side by side, so that the number of one is a count of bits. Sides of the domain have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.grids.octree.linear import kernels_faces as kernels
from glug.grids.octree.linear.tree import LinearTree


@dataclass(frozen=True)
class TreeFaces:
    """`owned` has a bit for each side of a leaf whose face is its own, `first` the number of the first of them."""

    tree: LinearTree
    first: np.ndarray  # int32
    owned: np.ndarray  # uint8

    @classmethod
    def of(cls, tree: LinearTree) -> TreeFaces:
        owned, count = np.empty(len(tree), np.uint8), np.empty(len(tree), np.int32)
        kernels.own_sides(tree.links, tree.level, owned, count)
        return cls(tree, np.cumsum(count, dtype=np.int32) - count, owned)

    @cached_property
    def count(self) -> int:
        return int(self.first[-1]) + int(self.owned[-1]).bit_count() if len(self.first) else 0

    @cached_property
    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """The leaf (int32) and the side (uint8) of every face."""
        leaf, side = np.empty(self.count, np.int32), np.empty(self.count, np.uint8)
        kernels.list_faces(self.first, self.owned, leaf, side)
        return leaf, side

    @property
    def axis(self) -> np.ndarray:
        return self.place[1] >> 1

    @property
    def level(self) -> np.ndarray:
        return self.tree.level[self.place[0]]

    @property
    def corner(self) -> np.ndarray:
        """Lower corners (faces, 3) in finest cells."""
        leaf, side = self.place
        corner = self.tree.corner[leaf]
        upper = np.flatnonzero(side & 1)
        corner[upper, side[upper] >> 1] += self.tree.size[leaf[upper]].astype(np.int64)
        return corner

    @property
    def position(self) -> np.ndarray:
        """Middles (faces, 3) in finest cells."""
        middle = self.corner + 0.5 * self.tree.size[self.place[0]][:, None]
        each = np.arange(self.count), self.axis
        middle[each] = self.corner[each]
        return middle

    def sampled(self, field) -> np.ndarray:  # type: ignore[no-untyped-def]
        """What the faces see of a velocity field(points) -> (n, 3), float32; points are in finest cells."""
        return field(self.position)[np.arange(self.count), self.axis].astype(np.float32)
