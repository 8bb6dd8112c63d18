"""The body-centred cubic lattice, uniform or graded by an octree, and its simplices.

Vertices are the corners and the centres of the leaves. Between two leaves of one size there is a tetrahedron for every
edge of their common side, with both centres; two, where the edge has a vertex in its middle. A leaf beside a larger one
has a pyramid over its side, cut in two by the diagonal through the middle of the larger side; the larger leaf has two
tetrahedra over it as well. Leaves that touch along a side or an edge differ by one level at most, so that nothing else
occurs. (Batty, Xenos and Houston 2010.) The lattice ends at the centres of the outermost leaves.

In the plane the leaves are sqrt(3) times as high as wide: a uniform lattice is then one of equilateral triangles, where
squares would have their pressures coincide in pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glug.grids.mesh import Distance
from glug.grids.tetrahedra import kernels_lattice as kernels

STRETCH = {2: np.array([1.0, np.sqrt(3.0)]), 3: np.ones(3)}  # of a leaf along every axis


@dataclass(frozen=True)
class Leaves:
    """The leaves of a balanced tree over a box of finest cells."""

    level: np.ndarray  # uint8, of the leaf over every finest cell; three axes, in 2D one cell along the last
    dim: int

    @classmethod
    def balanced(cls, wanted: np.ndarray) -> Leaves:
        """The coarsest leaves nowhere coarser than `wanted` (levels of the finest cells, 2 or 3 axes).

        A block of level l is a leaf's if all of it wants to be, and if all blocks of level l - 1 in it, or touching it
        along a side or an edge, could be leaves.
        """
        from scipy.ndimage import binary_erosion, generate_binary_structure

        dim = wanted.ndim
        level = np.zeros(wanted.shape, np.uint8)
        allowed, touching = np.ones(wanted.shape, bool), generate_binary_structure(dim, 2)
        for fine in range(int(wanted.max(initial=0))):
            size = 2 ** (fine + 1)
            kept = binary_erosion(allowed, touching, border_value=1)
            allowed = _blocks(kept, 2).all(axis=-1) & (_blocks(wanted, size).min(axis=-1) > fine)
            whole = tuple(n * size for n in allowed.shape)
            fits = tuple(slice(0, n) for n in whole)
            larger = allowed
            for axis in range(dim):
                larger = np.repeat(larger, size, axis=axis)
            level[fits][larger] = fine + 1
        return cls(level.reshape(level.shape + (1,) * (3 - dim)), dim)


@dataclass(frozen=True)
class Grading:
    """How fast leaves grow away from a surface."""

    levels: int = 3  # sizes of leaves
    band: float = 3.0  # finest leaves between a surface and larger ones


@dataclass(frozen=True)
class Box:
    """Finest leaves, `spacing` [m] wide, that cover a box from `corner` [m] on."""

    corner: np.ndarray
    shape: tuple[int, ...]
    spacing: float

    @classmethod
    def covering(cls, lower: np.ndarray, upper: np.ndarray, spacing: float, levels: int = 1) -> Box:
        """The centres of the outermost leaves, of any level, are outside of the box from `lower` to `upper` [m]."""
        largest = spacing * STRETCH[len(lower)] * 2 ** (levels - 1)
        count = np.ceil((np.asarray(upper) - lower) / largest + 1e-9).astype(int) + 1
        corner = 0.5 * (np.asarray(lower, float) + upper) - 0.5 * count * largest
        return cls(corner, tuple(int(n) * 2 ** (levels - 1) for n in count), spacing)

    def centres(self) -> np.ndarray:
        """Of the finest cells (..., dim) [m]."""
        dim = len(self.shape)
        step = self.spacing * STRETCH[dim]
        lines = [self.corner[a] + step[a] * (np.arange(n) + 0.5) for a, n in enumerate(self.shape)]
        return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)

    def leaves(self, surfaces: Sequence[Distance] = (), grading: Grading | None = None) -> Leaves:
        """Uniform ones, or with a grading finest ones around surfaces and larger ones away from them."""
        wanted = np.zeros(self.shape, np.uint8)
        if grading is not None:
            points = self.centres().reshape(-1, len(self.shape))
            near = np.zeros(len(points), bool)
            for distance in surfaces:
                near |= np.abs(distance(points)) < grading.band * self.spacing
            wanted[:] = np.where(near, 0, grading.levels - 1).reshape(self.shape)
        return Leaves.balanced(wanted)


def _blocks(field: np.ndarray, size: int) -> np.ndarray:
    """The values in every whole block of `size` cells per axis, along a last axis."""
    dim = field.ndim
    counts = [n // size for n in field.shape]
    cut = field[tuple(slice(0, n * size) for n in counts)]
    split = cut.reshape([m for n in counts for m in (n, size)])
    order = [*range(0, 2 * dim, 2), *range(1, 2 * dim, 2)]
    return split.transpose(order).reshape(*counts, size**dim)


def lattice(leaves: Leaves, spacing: float, corner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, dim) [m] and simplices (m, dim + 1) of leaves; the finest are `spacing` wide, from `corner` on."""
    level, dim = leaves.level, leaves.dim
    origin, size = _origins(leaves)
    leaf = np.empty(level.shape, np.int32)
    node = np.full([n + (a < dim) for a, n in enumerate(level.shape)], -1, np.int32)
    kernels.number_leaves(origin, size, leaf)
    kernels.mark_corners(origin, size, node)
    corners = np.flatnonzero(node.ravel() == 0)
    node.ravel()[corners] = len(origin) + np.arange(len(corners), dtype=np.int32)
    places = np.stack(np.unravel_index(corners, node.shape), axis=1)
    centres = origin + 0.5 * size[:, None]
    position = corner + spacing * STRETCH[dim] * np.concatenate([centres[:, :dim], places[:, :dim]])
    if dim == 2:
        triangles = np.empty((8 * len(origin), 3), np.int32)
        return position, triangles[: kernels.make_triangles(origin, size, level, leaf, node, triangles)].copy()
    count = np.empty(len(origin), np.int32)
    kernels.count_tetrahedra(origin, size, level, node, count)
    start = np.zeros(len(origin) + 1, np.int32)
    np.cumsum(count, out=start[1:])
    tets = np.empty((int(start[-1]), 4), np.int32)
    kernels.make_tetrahedra(origin, size, level, leaf, node, start, tets)
    return position, tets


def _origins(leaves: Leaves) -> tuple[np.ndarray, np.ndarray]:
    """The first finest cell (n, 3) of every leaf and its size in finest cells, int32, in C order."""
    level = leaves.level
    size = np.int32(1) << level.astype(np.int32)
    first = np.ones(level.shape, bool)
    for axis in range(leaves.dim):
        index = np.arange(level.shape[axis]).reshape([-1 if a == axis else 1 for a in range(3)])
        first &= (index & (size - 1)) == 0
    return np.argwhere(first).astype(np.int32), size[first]
