"""Trees from a distance: finest leaves along a surface, and coarser ones only where there is nothing but liquid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glug.grids.octree.linear.build import Shape
from glug.grids.octree.linear.morton import cells_of, keys_of
from glug.grids.octree.linear.tree import LinearTree, check_tree

CORNER = 0.5 * 3.0**0.5  # from the centre of a cube of side 1 to its corner

Distance = Callable[[np.ndarray], np.ndarray]  # of points (n, 3), negative in the liquid, all in finest cells


def liquid_tree(distance: Distance, shape: Shape, levels: int, band: int, air: int) -> LinearTree:
    """Finest leaves from `band` cells under the surface to `air` cells above it, coarser ones in the liquid below.

    Cells are looked at from the roots down, and only those near the surface closer: nothing is as large as the box.
    The distance must be one, or less than one, that is change by no more than the way.
    """
    check_tree(shape, levels)
    top = levels - 1
    roots = keys_of(np.argwhere(np.ones([n >> top for n in shape], bool)))
    far = distance(_centres(roots, top))
    near = roots[(far < air + CORNER * (1 << top)) & (far > -band - CORNER * (1 << top))]
    wet = roots[far < CORNER * (1 << top)]
    for l in range(top - 1, -1, -1):
        near = ((near[:, None] << 3) + np.arange(8)).ravel()
        far = distance(_centres(near, l))
        reach = CORNER * (1 << l) if l else 0.0
        near = near[(far < air + reach) & (far > -band - reach)]
    none = np.zeros(0, np.int64)
    asked = [near, *[none] * (levels - 2), wet] if levels > 1 else [near]
    return LinearTree.grown(asked, shape, lambda key, level: (level == 0) | (distance(_centres(key, level, 0)) < 0.0))


def _centres(key: np.ndarray, level: np.ndarray | int, shift: int | None = None) -> np.ndarray:
    """Centres of cells of a level by their keys there, or (`shift` 0) by those of their corners."""
    size = np.ldexp(1.0, np.broadcast_to(np.asarray(level, np.int32), key.shape))
    corner = cells_of(key).astype(np.float64)
    return (corner if shift == 0 else corner * size[:, None]) + 0.5 * size[:, None]
