"""The octree with pointers (Flynn 2018, section 4), the baseline of the linear one: for benches only.

Nodes have eight children or none and a parent; roots know their neighbours. There are no stored links of leaves: every
access to a neighbour climbs to a common ancestor and descends, and the leaf of a particle is found from its root down.

`with_pointers` are the stages of a step on a tree that is asked through such pointers (`SearchedTree`), with the code
of all other steps and the same bits. Making the pointers is not part of it, as they are made of the linear tree here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from glug.grids.octree.linear.build import places
from glug.grids.octree.linear.merged import Leaves
from glug.grids.octree.linear.morton import SIDES, beside, inside, keys_of
from glug.grids.octree.linear.tree import ABSENT, OUTSIDE, LinearTree, TileIndex
from glug.particles.leaves import sort_by_leaf
from glug.simulation.context import StepContext
from glug.simulation.stages import Stages
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
    root_key: np.ndarray  # int64, sorted: of the roots among roots
    root: np.ndarray  # int32: their nodes

    @classmethod
    def of(cls, tree: LinearTree, seed: int | None = None) -> PointerTree:
        """The same tree in a box of whole roots; nodes lie depth first, or scattered where a `seed` is given."""
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
        leaf[child[:, 0] < 0] = ABSENT  # nodes without children that the linear tree does not have
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
        return cls(
            child,
            parent,
            place,
            root_links,
            leaf,
            spot[leaves].astype(np.int32),
            root_key,
            spot[roots].astype(np.int32),
        )

    def links(self) -> np.ndarray:
        """What `LinearTree.links` holds, found by climbing and descending."""
        found = np.empty((len(self.order), SIDES), np.int32)
        kernels.search(self.order, self.child, self.parent, self.place, self.root_links, self.leaf, found)
        return found

    def find(self, keys: np.ndarray, levels: int) -> np.ndarray:
        """What `TileIndex.find` does, from the roots down."""
        top = levels - 1
        start = places(self.root_key, keys >> (3 * top))
        found = np.empty(len(keys), np.int32)
        kernels.descend(keys, top, np.where(start >= 0, self.root[start], -1), self.child, self.leaf, found)
        return found

    @property
    def nbytes(self) -> int:
        return self.child.nbytes + self.parent.nbytes + self.place.nbytes + self.root_links.nbytes


class SearchedTree(LinearTree):
    """A linear tree whose neighbours and leaves are searched by pointers whenever they are asked for."""

    pointers: PointerTree

    @classmethod
    def of(cls, tree: LinearTree, seed: int | None = None) -> SearchedTree:
        found = object.__new__(cls)
        pointers = PointerTree.of(tree, seed)
        own = {name: value for name, value in tree.__dict__.items() if name != "links"}
        index = tree.index
        searched = SearchedIndex(index.key, index.level, index.table, index.slots)
        searched.__dict__["pointers"] = pointers
        found.__dict__.update(own | {"index": searched, "pointers": pointers})
        return found

    @property
    def links(self) -> np.ndarray:  # type: ignore[override]
        return self.pointers.links()


class SearchedIndex(TileIndex):
    """An index in which leaves are found from the roots down."""

    pointers: PointerTree

    def find(self, keys: np.ndarray, levels: int) -> np.ndarray:
        return self.pointers.find(keys, levels)


class SearchedLeaves(Leaves):
    """The leaves of the projection, their neighbours searched whenever they are asked for."""

    pointers: PointerTree

    @classmethod
    def of(cls, tree: LinearTree) -> SearchedLeaves:
        assert isinstance(tree, SearchedTree)
        found = object.__new__(cls)
        found.__dict__.update({"key": tree.key, "level": tree.level, "finest": 0, "pointers": tree.pointers})
        return found

    @property
    def links(self) -> np.ndarray:  # type: ignore[override]
        return self.pointers.links()


def with_pointers(stages: Stages, seconds: list[float], seed: int | None = None) -> Stages:
    """Stages of a step on a searched tree; `seconds` gets what making pointers takes, core-seconds a step."""
    run = {stage.name: stage.run for stage in stages}

    def adapt(context: StepContext) -> None:
        run["adapt"](context)
        begin = time.process_time()
        context.tree.tree = SearchedTree.of(context.tree.tree, seed)
        seconds.append(time.process_time() - begin)
        sort_by_leaf(context.state.particles, context.tree.tree, context.tree.place)

    def free_surface(context: StepContext) -> None:
        run["free_surface"](context)
        assert context.tree.problem is not None
        context.tree.problem.level.leaves = SearchedLeaves.of(context.tree.tree)

    return stages.replaced("adapt", adapt).replaced("free_surface", free_surface)


def _nodes(tree: LinearTree) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the corners and levels of all nodes, depth first; all roots of the box, and whole families."""
    top = tree.levels - 1
    roots = np.indices([n >> top for n in tree.shape]).reshape(3, -1).T
    keys, levels = [keys_of(roots) << (3 * top)], [np.full(len(roots), top)]
    for l in range(1, tree.levels):
        above = np.unique(tree.key[tree.level < l] >> (3 * l)) << (3 * l)
        keys.append((above[:, None] + (np.arange(8) << (3 * (l - 1)))).ravel())
        levels.append(np.full(8 * len(above), l - 1))
    key, level = np.concatenate(keys), np.concatenate(levels)
    order = np.argsort((key << 4) | (15 - level))
    return key[order], level[order]
