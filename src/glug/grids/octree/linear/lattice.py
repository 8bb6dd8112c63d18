"""The lattices that particles see on a sparse tree: faces of the tree, and ghosts that are made of them.

A particle in a leaf of level l interpolates on the regular lattice of that level around it. Lattice faces that the tree
does not have are ghosts: inside coarser leaves they are interpolated linearly from the lattice above (covered), next to
finer ones they are means of four (split), beside walls they hold what is on this side (behind), on walls they are
samples of their own. Linear velocities are met exactly. Values are in one vector: of the faces, of the ghosts, and one
for places in the air, which nobody asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.errors import InputError
from glug.grids.octree.linear import kernels_lattice as kernels
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.morton import cells_of
from glug.grids.octree.linear.tree import LinearTree

COVERED, SPLIT, BEHIND, WALL = (-int(k) for k in (kernels.COVERED, kernels.SPLIT, kernels.BEHIND, kernels.WALL))
FIRST_ROOM = 1 << 14  # ghosts, before there must be more room


def cells_per_level(tree: LinearTree) -> np.ndarray:
    """Cells of the box (levels, 3) at every level, those that it only holds a part of too."""
    return np.array([[-(-n >> l) for n in tree.shape] for l in range(tree.levels)], np.int64)


class _Ghosts:
    """Ghosts while they are found: their codes, kinds and a table to find them in."""

    def __init__(self, faces: TreeFaces, low: np.ndarray):
        tree = faces.tree
        index = tree.index
        self.faces, self.low, self.count = faces, low, 0
        self.limits = cells_per_level(tree)
        self.fixed = self.limits, index.key, index.level, index.slots, index.table
        self.codes, self.kinds = np.empty(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM, np.uint8)
        self.slots = np.full(4 * FIRST_ROOM, -1, np.int32)

    def grow(self) -> None:
        """Twice the room."""
        more = len(self.codes)
        self.codes, self.kinds = (np.concatenate([a, np.empty(more, a.dtype)]) for a in (self.codes, self.kinds))
        self.slots = np.full(4 * len(self.codes), -1, np.int32)
        kernels.rehash(self.codes, self.count, self.slots)

    def number(self, near: np.ndarray, partly: np.ndarray) -> None:
        """Give those around leaves their numbers; places in the air become NOWHERE."""
        tree, faces = self.faces.tree, self.faces.count
        at = 0
        while True:
            at, self.count = kernels.number_ghosts(
                at,
                tree.key,
                tree.level,
                partly,
                faces,
                kernels.NOWHERE,
                self.low,
                near,
                self.count,
                self.codes,
                self.kinds,
                self.slots,
            )
            if at == len(near):
                return
            self.grow()

    def refer(self) -> tuple[np.ndarray, np.ndarray]:
        """What they are made of (ghosts, 8), and with which weights; ghosts that others are made of are added."""
        tree, at = self.faces.tree, 0
        refs, weights = np.empty((0, 8), np.int32), np.empty((0, 8), np.float32)
        while True:
            missing = len(self.codes) - len(refs)
            refs = np.concatenate([refs, np.empty((missing, 8), np.int32)])
            weights = np.concatenate([weights, np.empty((missing, 8), np.float32)])
            at, self.count = kernels.refer(
                at, self.faces.count, 0, self.low, *self.fixed, tree.level, self.faces.first, self.faces.owned,
                self.count, self.codes, self.kinds, self.slots, refs, weights,
            )  # fmt: skip
            if at == self.count:
                return refs[: self.count].copy(), weights[: self.count].copy()
            self.grow()


@dataclass(frozen=True)
class TreeLattice:
    """`near` (leaves, 54): for every axis the lower and the upper lattice faces of a leaf, and 3 x 3 across each."""

    faces: TreeFaces
    near: np.ndarray  # int32
    kind: np.ndarray  # uint8, of ghosts
    place: np.ndarray  # int64 (ghosts, 5): axis, cell and level
    refs: np.ndarray  # int32 (ghosts, 8)
    weights: np.ndarray  # float32

    @classmethod
    def of(cls, faces: TreeFaces) -> TreeLattice:
        tree = faces.tree
        top = tree.levels - 1
        low = (_lowest(tree) >> top) << top
        index = tree.index
        near = np.empty((len(tree), kernels.AROUND), np.int32)
        partly = np.empty(len(tree), np.uint8)
        kernels.faces_around(
            cells_per_level(tree), index.key, index.level, index.slots, index.table, tree.level,
            faces.first, faces.owned, near, partly,
        )  # fmt: skip
        ghosts = _Ghosts(faces, low)
        ghosts.number(near, partly)
        refs, weights = ghosts.refer()
        kernels.number_air(partly, faces.count + ghosts.count, near)
        place = np.empty((ghosts.count, 5), np.int64)
        kernels.decode(ghosts.codes[: ghosts.count], low, place)
        return cls(faces, near, ghosts.kinds[: ghosts.count].copy(), place, refs, weights)

    @property
    def ghosts(self) -> int:
        return len(self.kind)

    def vector(self) -> np.ndarray:
        """Zeros for the faces, the ghosts and the place in the air."""
        return np.zeros(self.faces.count + self.ghosts + 1, np.float32)

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """Ghosts inside the tree, in the order in which they are made of each other."""
        levels, level = self.faces.tree.levels, self.place[:, 4]
        rank = np.where(self.kind == SPLIT, level, 2 * levels - level)
        inner = np.flatnonzero((self.kind == SPLIT) | (self.kind == COVERED))
        return [inner[rank[inner] == r].astype(np.int32) for r in np.unique(rank[inner])]

    @cached_property
    def behind(self) -> np.ndarray:
        """Ghosts behind walls."""
        return np.flatnonzero(self.kind == BEHIND).astype(np.int32)

    def fill(self, values: np.ndarray) -> None:
        """Ghosts inside the tree, in place, from its faces and what is on walls."""
        for group in self.groups:
            kernels.fill_ghosts(group, self.faces.count, self.refs, self.weights, values)

    def fill_behind(self, values: np.ndarray) -> None:
        """Ghosts behind walls, in place."""
        kernels.fill_ghosts(self.behind, self.faces.count, self.refs, self.weights, values)

    def pass_on(self, values: np.ndarray) -> None:
        """The transpose of `fill`, in place: what ghosts have goes to faces, and none of it is lost but on walls."""
        for group in reversed(self.groups):
            kernels.push_ghosts(group, self.faces.count, self.refs, self.weights, values)
        values[-1] = 0.0


def _lowest(tree: LinearTree) -> np.ndarray:
    """The lower corner of the leaves' box."""
    if len(tree) == 0:
        return np.zeros(3, np.int64)
    low, high = np.full(3, np.iinfo(np.int64).max), np.zeros(3, np.int64)
    for begin in range(0, len(tree), 1 << 16):
        corner = cells_of(tree.key[begin : begin + (1 << 16)])
        low, high = np.minimum(low, corner.min(axis=0)), np.maximum(high, corner.max(axis=0))
    if int((high - low).max()) >= (1 << int(kernels.BITS)) - 1024:
        raise InputError(f"the liquid reaches over {int((high - low).max())} cells: more than a tree's lattices number")
    return low
