"""The octree with pointers (Flynn 2018, section 4), the baseline of the linear one: for benches only.

Nodes have eight children or none and a parent; roots know their neighbours. There are no stored links of leaves: every
access to a neighbour climbs to a common ancestor and descends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.octree.linear.build import places
from glug.grids.octree.linear.morton import SIDES, beside, inside
from glug.grids.octree.linear.tree import OUTSIDE, LinearTree
from glug.studies.problems import kernels_pointer_tree as kernels


@dataclass(frozen=True)
class PointerTree:
    """Nodes in the order in which they lie in memory."""

    child: np.ndarray  # int32 (nodes, 8), -1 where there is none
    parent: np.ndarray  # int32, -1 for roots
    place: np.ndarray  # uint8: which child of its parent a node is
    root_links: np.ndarray  # int32 (nodes, 6): of roots, the neighbours
    leaf: np.ndarray  # int32: the number of a leaf, -1 for others
    order: np.ndarray  # int32: the nodes of the leaves, depth first

    @classmethod
    def of(cls, tree: LinearTree, seed: int | None = None) -> PointerTree:
        """The same tree, which must fill its box; nodes lie depth first, or scattered where a `seed` is given."""
        key, level = _nodes(tree)
        count = len(key)
        spot = np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count)
        child, parent = np.full((count, 8), -1, np.int32), np.full(count, -1, np.int32)
        place, leaf = np.zeros(count, np.uint8), np.full(count, -1, np.int32)
        code = (key << 4) | (15 - level)  # depth first: a node comes before its children
        at = {l: np.flatnonzero(level == l) for l in range(tree.levels)}
        for l in range(tree.levels - 1):
            mine = at[l]
            own = (key[mine] >> (3 * l)) & 7
            above = places(code, ((key[mine] >> (3 * l + 3) << (3 * l + 3)) << 4) | (15 - l - 1))
            parent[spot[mine]], place[spot[mine]] = spot[above], own
            child[spot[above], own] = spot[mine]
        leaves = places(code, (tree.key << 4) | (15 - tree.level.astype(np.int64)))
        leaf[spot[leaves]] = np.arange(len(tree))
        top = tree.levels - 1
        roots = at[top]
        root_key = key[roots] >> (3 * top)
        root_links = np.full((count, SIDES), -1, np.int32)
        nx, ny, nz = (n >> top for n in tree.shape)
        for side in range(SIDES):
            other = beside(root_key, side)
            found = np.where(inside(other, (nx, ny, nz)), spot[roots][places(root_key, other)], OUTSIDE)
            root_links[spot[roots], side] = found
        return cls(child, parent, place, root_links, leaf, spot[leaves].astype(np.int32))

    def links(self) -> np.ndarray:
        """What `LinearTree.links` holds, found by climbing and descending."""
        found = np.empty((len(self.order), SIDES), np.int32)
        kernels.search(self.order, self.child, self.parent, self.place, self.root_links, self.leaf, found)
        return found

    @property
    def nbytes(self) -> int:
        return self.child.nbytes + self.parent.nbytes + self.place.nbytes + self.root_links.nbytes


def _nodes(tree: LinearTree) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the corners and levels of all nodes, depth first."""
    keys, levels = [tree.key], [tree.level.astype(np.int64)]
    for l in range(1, tree.levels):
        above = np.unique(tree.key[tree.level < l] >> (3 * l)) << (3 * l)
        keys.append(above)
        levels.append(np.full(len(above), l))
    key, level = np.concatenate(keys), np.concatenate(levels)
    order = np.argsort((key << 4) | (15 - level))
    return key[order], level[order]
