"""Trees of the octree studies: a deep pool with waves, in a domain that may be much larger; sparse from dense ones."""

from __future__ import annotations

import numpy as np

from glug.grids.octree.linear.morton import keys_of
from glug.grids.octree.linear.sizing import Distance, liquid_tree
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.octree.tree import Octree

DEEP = 0.6  # of the width: where the surface is
LEVELS, BAND, AIR = 6, 4, 4


def waves(n: int) -> Distance:
    """The distance, a lower bound of it, to the surface of a pool of n cells a side, with waves of some cells."""

    def distance(points: np.ndarray) -> np.ndarray:
        x, y, z = points.T
        height = DEEP * n + 2.0 * np.sin(0.05 * x) * np.cos(0.07 * z) + 1.0
        inside = np.maximum(x - n, z - n)  # beyond the pool, where the domain is larger, is air
        return np.maximum(0.98 * (y - height), inside)

    return distance


def pool(n: int, domain: int | None = None, levels: int = LEVELS) -> LinearTree:
    """A pool of n^2 cells in a domain of `domain`^3 (its own size: the walls of the domain are those of the pool)."""
    size = domain or n
    return liquid_tree(waves(n), (size, size, size), levels, BAND, AIR)


def linear(tree: Octree) -> LinearTree:
    """The same leaves as a sparse tree."""
    corner, level = (a.astype(np.int64) for a in tree.leaves)
    asked = [keys_of(corner[level == l] >> l) for l in range(tree.levels)]
    return LinearTree.grown(asked, tree.shape)
