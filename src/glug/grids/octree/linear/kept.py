"""The faces of a sparse tree that are unknowns of a solve, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.grids.octree.linear import kernels_kept as kernels
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import Staggered

Look = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class KeptFaces:
    """Some of a tree's faces: `number` (int32) of every face among them, or -1."""

    faces: TreeFaces
    number: np.ndarray
    place: np.ndarray  # (n, 5) int16: axis, level, and lower corner in finest cells

    @classmethod
    def of(cls, faces: TreeFaces, keep: Staggered | None = None, shift: int = 0) -> KeptFaces:
        """All faces, or those of coarse leaves and the finest ones where `keep` (float32) is positive.

        `shift` is the place of the tree's corner in the fields `keep`.
        """
        tree, number = faces.tree, np.ones(faces.count, np.int32)
        if keep is not None:
            kernels.mark_kept(tree.key, tree.level, faces.first, faces.owned, keep, shift, number)
        ends = np.cumsum(number, dtype=np.int32)
        np.copyto(number, ends - 1, where=number > 0)
        number[np.diff(ends, prepend=0) == 0] = -1
        place = np.empty((int(ends[-1]) if len(ends) else 0, 5), np.int16)
        kernels.list_places(tree.key, tree.level, faces.first, faces.owned, number, place)
        return cls(faces, number, place)

    @property
    def tree(self) -> LinearTree:
        return self.faces.tree

    @property
    def count(self) -> int:
        return len(self.place)

    @property
    def look(self) -> Look:
        """What kernels look things up in (`kernels_look`)."""
        tree, index, six = self.tree, self.tree.index, np.empty((len(self.tree), 6), np.int32)
        kernels.faces_around(tree.level, tree.links, self.faces.first, self.faces.owned, self.number, six)
        return index.key, index.level, index.slots, index.table, six, np.array(tree.shape, np.int64)

    @cached_property
    def volume(self) -> np.ndarray:
        """Control volumes, in finest cells: half the distance to the opposite faces on either side (float32)."""
        tree, volume = self.tree, np.empty(self.count, np.float32)
        kernels.face_volumes(tree.level, tree.links, self.faces.first, self.faces.owned, self.number, volume)
        return volume

    @cached_property
    def transitions(self) -> np.ndarray:
        """The leaves (int32) that touch one of another level."""
        found = np.empty(len(self.tree), np.bool_)
        kernels.touches_another_level(self.tree.level, self.tree.links, found)
        return np.flatnonzero(found).astype(np.int32)
