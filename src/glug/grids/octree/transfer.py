"""Velocities between the regular grid of finest cells and an octree.

Faces of the finest level are copied. Coarser ones take restrictions of the regular field, level by level; on the way
back the regular faces inside coarse leaves are interpolated, level by level, from the faces of the tree and, next to
finer leaves, from means of theirs. Both ways are exact for linear velocities. `place` is that of `Faces`.
"""

from collections.abc import Iterator, Sequence

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


def to_regular(
    tree: Octree,
    place: np.ndarray,
    values: np.ndarray,
    velocity: Staggered,
    border: Sequence[Staggered] | None = None,
) -> list[Staggered]:
    """Write the tree's velocity to the regular grid, in place; faces that are neither kept nor covered stay.

    `border` has, for every level, the faces of the forest's border, where they have a velocity. Returns the fields of
    all levels, in which no face is missing.
    """
    one = np.float32(1.0)
    pyramid = [velocity]
    kernels.put_level(place, 0, tree.deep, values, one, velocity)
    if border is not None:
        _set_border(tree, 0, velocity, border[0])
    for l in range(1, tree.levels):
        coarse = fields_of(tree, l)
        kernels.put_level(place, l, tree.deep, values, one, coarse)
        for a in range(tree.dim):
            kernels.fill_divided(tree.level, tree.deep, l, a, pyramid[-1][a], coarse[a])
        if border is not None:
            _set_border(tree, l, coarse, border[l])
        pyramid.append(coarse)
    for l in range(tree.levels - 2, -1, -1):
        for a in range(tree.dim):
            kernels.fill_covered(tree.level, tree.deep, l, a, pyramid[l + 1][a], pyramid[l][a])
        if border is not None:
            _continue_border(tree, l, pyramid[l + 1], pyramid[l])
    return pyramid


def _ends(tree: Octree, l: int, axis: int, *fields: Staggered) -> Iterator[tuple[np.ndarray, ...]]:
    """At both ends along an axis: the labels of the cells of level l there, and the faces of fields on the border."""
    for end in (0, -1):
        yield np.take(tree.labels(l), end, axis), *(np.moveaxis(field[axis], axis, 0)[end] for field in fields)


def _set_border(tree: Octree, l: int, velocity: Staggered, border: Staggered) -> None:
    """Faces of leaves of level l on the border of the forest."""
    for axis in range(3):
        for label, here, given in _ends(tree, l, axis, velocity, border):
            here[label == 0] = given[label == 0]


def _continue_border(tree: Octree, l: int, coarse: Staggered, fine: Staggered) -> None:
    """Faces of level l on the border, of leaves that are coarser, take what those have."""
    for axis in range(3):
        for label, here, above in _ends(tree, l, axis, fine, coarse):
            here[label > 0] = above.repeat(2, axis=0).repeat(2, axis=1)[label > 0]
