"""Trees whose finest leaves are replaced by their parents: the coarse grids of multigrid.

Above the level of the roots cubes are merged on, eight and eight. Leaves stay sorted, so the leaves of a merged one are
a run of numbers, and links follow from links: no search, no index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.octree.linear import kernels_faces as kernels
from glug.grids.octree.linear.tree import LinearTree


@dataclass(frozen=True)
class Leaves:
    """Leaves sorted by key, and their links, as in a `LinearTree`; no leaf is finer than level `finest`."""

    key: np.ndarray
    level: np.ndarray
    links: np.ndarray
    finest: int = 0

    @classmethod
    def of(cls, tree: LinearTree) -> Leaves:
        return cls(tree.key, tree.level, tree.links)

    def __len__(self) -> int:
        return len(self.key)

    def merged(self) -> tuple[Leaves, np.ndarray]:
        """With the leaves of level `finest` merged; and the first of the leaves that each is made of, and the end."""
        l = self.finest + 1
        code = self.key >> (3 * l)
        begin = np.ones(len(code), bool)
        begin[1:] = code[1:] != code[:-1]
        first = np.append(np.flatnonzero(begin), len(code)).astype(np.int32)
        parent = np.cumsum(begin, dtype=np.int32) - np.int32(1)
        level = np.maximum(self.level[first[:-1]], np.uint8(l))
        links = np.empty((len(level), 6), np.int32)
        kernels.merge_links(self.key, self.level, self.links, first, parent, l, links)
        return Leaves(code[first[:-1]] << (3 * l), level, links, l), first
