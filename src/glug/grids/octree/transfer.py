"""Velocities between the regular grid of finest cells and an octree.

Faces of the finest level are copied. Coarser ones take restrictions of the regular field, level by level; on the way
back the regular faces inside coarse leaves are interpolated, level by level, from the faces of the tree and, next to
finer leaves, from means of theirs. Both ways are exact for linear velocities. `place` is that of `Faces`.
"""

import numpy as np

from glug.grids.octree import kernels_transfer as kernels
from glug.grids.octree.tree import Octree
from glug.grids.regular import Staggered


def fields_of(tree: Octree, l: int, dtype: type = np.float32) -> Staggered:
    """Zero fields of level l: one sample per face of a regular grid of that level."""
    nx, ny, nz = tree.shape_at(l)
    return np.zeros((nx + 1, ny, nz), dtype), np.zeros((nx, ny + 1, nz), dtype), np.zeros((nx, ny, nz + 1), dtype)


def to_octree(tree: Octree, place: np.ndarray, velocity: Staggered) -> np.ndarray:
    """Values (n,) at the tree's faces."""
    values = np.empty(len(place), np.float32)
    kernels.take_level(place, 0, tree.deep, velocity, values)
    fields = velocity
    for l in range(1, tree.levels):
        coarse = fields_of(tree, l)
        for a in range(tree.dim):
            kernels.restrict_faces(fields[a], a, tree.deep, 0, coarse[a])
        kernels.take_level(place, l, tree.deep, coarse, values)
        fields = coarse
    return values


def to_regular(tree: Octree, place: np.ndarray, values: np.ndarray, velocity: Staggered) -> None:
    """Write the tree's velocity to the regular grid, in place; faces that are neither kept nor covered stay."""
    one = np.float32(1.0)
    pyramid = [velocity]
    kernels.put_level(place, 0, tree.deep, values, one, velocity)
    for l in range(1, tree.levels):
        coarse = fields_of(tree, l)
        kernels.put_level(place, l, tree.deep, values, one, coarse)
        for a in range(tree.dim):
            kernels.fill_divided(tree.level, tree.deep, l, a, pyramid[-1][a], coarse[a])
        pyramid.append(coarse)
    for l in range(tree.levels - 2, -1, -1):
        for a in range(tree.dim):
            kernels.fill_covered(tree.level, tree.deep, l, a, pyramid[l + 1][a], pyramid[l][a])
