"""A linear octree: a forest of cubes, cut in halves along every axis where detail is wanted (a quadtree in 2D).

The tree is one array, the level of the leaf that covers each finest cell, so that a leaf or a neighbour is found in
constant time and there are no pointers (Flynn 2018). Beside it are compact lists: the leaves, and the faces that carry
velocities, in Morton order within every root. Roots fill any rectangular box.

Leaves that share a face differ by at most one level; leaves that only share an edge or a corner may differ by two.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from glug.grids.octree import kernels
from glug.grids.regular import Staggered

MOST_LEVELS = 6
NOTHING = np.zeros((0, 0, 0), np.float32)


@dataclass(frozen=True)
class Faces:
    """The faces that carry a velocity: between two leaves, as large as the smaller one's."""

    numbers: np.ndarray  # int32 (axis, i, j, k): the face whose lower corner is here; -1 where there is none
    place: np.ndarray  # (n, 5) int16: axis, level, and lower corner in finest cells
    transitions: tuple[np.ndarray, np.ndarray]  # lower corners and levels of leaves with such a face, next to others

    @property
    def count(self) -> int:
        return len(self.place)

    @property
    def axis(self) -> np.ndarray:
        return self.place[:, 0]

    @property
    def level(self) -> np.ndarray:
        return self.place[:, 1]

    @property
    def corner(self) -> np.ndarray:
        return self.place[:, 2:]


@dataclass(frozen=True)
class Octree:
    """`level` (uint8) of every finest cell; sides are whole numbers of roots, 2^(levels - 1) cells each."""

    level: np.ndarray
    levels: int
    dim: int = 3

    @classmethod
    def refined(cls, finest: np.ndarray, levels: int, dim: int = 3) -> "Octree":
        """The coarsest graded tree whose leaves are finest cells where `finest` says so."""
        if not 1 <= levels <= MOST_LEVELS:
            raise ValueError(f"an octree has 1 to {MOST_LEVELS} levels, not {levels}")
        deep = dim - 2
        root = 1 << (levels - 1)
        if any(n % (root if a < dim else 1) for a, n in enumerate(finest.shape)):
            raise ValueError(f"the sides {finest.shape} are not whole numbers of roots of {root} cells")
        divided = [finest.astype(np.bool_)]
        for l in range(levels - 1):
            nx, ny, nz = divided[-1].shape
            parents = np.empty((nx // 2, ny // 2, nz >> deep), np.bool_)
            kernels.divide_parents(divided[-1], deep, l > 0, parents)
            divided.append(parents)
        level = np.zeros(finest.shape, np.uint8)
        for l in range(levels - 1, 0, -1):
            kernels.merge_levels(divided[l], deep, l, level)
        return cls(level, levels, dim)

    @property
    def deep(self) -> int:
        """1 where z is cut too, 0 in 2D."""
        return self.dim - 2

    @property
    def shape(self) -> tuple[int, int, int]:
        nx, ny, nz = self.level.shape
        return nx, ny, nz

    def shape_at(self, l: int) -> tuple[int, int, int]:
        """Cells along each axis if all were of level l."""
        nx, ny, nz = self.level.shape
        return nx >> l, ny >> l, nz >> (l * self.deep)

    def labels(self, l: int) -> np.ndarray:
        """For the cells of level l: 0 a leaf, positive inside a coarser leaf, negative divided."""
        step = 1 << l
        return self.level[::step, ::step, :: 1 << (l * self.deep)].astype(np.int8) - np.int8(l)

    @cached_property
    def leaves(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower corners (n, 3) in finest cells and levels (n,) of all leaves, in Morton order within every root."""
        return self._walk(None, everything=True).transitions

    def faces(self, keep: Staggered | None = None) -> Faces:
        """All faces inside the forest, or those at whose lower corner `keep` (float32) is positive.

        With them come the leaves that touch one of another level.
        """
        return self._walk(keep, everything=False)

    def _walk(self, keep: Staggered | None, everything: bool) -> Faces:
        top = self.levels - 1
        masked = keep is not None
        mask = keep if keep is not None else (NOTHING,) * 3
        nx, ny, _ = self.shape_at(top)
        leaves, faces = np.zeros(nx * ny, np.int64), np.zeros(nx * ny, np.int64)
        fixed = self.level, self.deep, top, morton_curve(top, self.deep), mask, masked, everything
        empty = np.zeros((0, 3), np.int16), np.zeros(0, np.uint8), np.zeros((0, 5), np.int16)
        kernels.walk_roots(*fixed, leaves, faces, *empty, np.zeros((0, 0, 0, 0), np.int32))
        corner, level = np.empty((int(leaves.sum()), 3), np.int16), np.empty(int(leaves.sum()), np.uint8)
        place = np.empty((int(faces.sum()), 5), np.int16)
        first_leaf, first_face = np.cumsum(leaves) - leaves, np.cumsum(faces) - faces
        numbers = np.full((3, *(n + 1 for n in self.shape)), -1, np.int32)
        kernels.walk_roots(*fixed, first_leaf, first_face, corner, level, place, numbers)
        return Faces(numbers, place, (corner, level))


@cache
def morton_curve(top: int, deep: int) -> np.ndarray:
    """The cells (n, 3) of a root of 2^top finest cells a side, in Morton order."""
    dim = 2 + deep
    code = np.arange(1 << (dim * top))
    curve = np.zeros((len(code), 3), np.int64)
    for bit in range(top):
        for a in range(dim):
            curve[:, a] |= ((code >> (dim * bit + a)) & 1) << bit
    return curve
