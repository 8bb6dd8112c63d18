"""A sparse linear octree: leaves sorted by Morton keys, an index of tiles, six links per leaf.

Nothing of it is as large as the domain: space without leaves is absent. Leaves that share a face differ by at most one
level, those that only share an edge or a corner by two. Lengths are in finest cells; level 0 is finest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.errors import InputError
from glug.grids.octree.linear import kernels, kernels_kept
from glug.grids.octree.linear.build import (
    Shape,
    Tiles,
    around,
    cells_at,
    children_of,
    divisions,
    limits_of,
    places,
)
from glug.grids.octree.linear.morton import MOST_CELLS, SIDES, cells_of, keys_of

MOST_LEVELS = 10
ABSENT, OUTSIDE = int(kernels.ABSENT), int(kernels.OUTSIDE)  # links to no leaf: empty space, and beyond the domain


@dataclass(frozen=True)
class TileIndex:
    """What every cell in tiles of 8^3 is: the number of a leaf, ABOVE (a coarser leaf, or nothing), DIVIDED, ABSENT.

    Tiles come level by level, the coarsest last, sorted by key within a level.
    """

    key: np.ndarray  # int64, of the tile among those of its level
    level: np.ndarray  # uint8
    table: np.ndarray  # int32 (tiles, 512)
    slots: np.ndarray  # int32: tiles by hash, -1 where there is none

    @property
    def nbytes(self) -> int:
        return self.key.nbytes + self.level.nbytes + self.table.nbytes + self.slots.nbytes

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.key, self.level, self.slots, self.table

    def find(self, keys: np.ndarray, levels: int) -> np.ndarray:
        """The leaves (int32) that cover finest cells by their keys; ABSENT where there is none."""
        leaf = np.empty(len(keys), np.int32)
        kernels.find_leaves(keys, levels, *self._arrays, leaf)
        return leaf


@dataclass(frozen=True)
class LinearTree:
    """The leaves of a sparse tree in a box of `shape` finest cells, whole roots of 2^(levels - 1) a side.

    `links` (n, 6) lead across the sides -x, +x, -y, +y, -z, +z: to a leaf as large or larger, to the first (lowest in
    key) of the four smaller ones, or to none: ABSENT or OUTSIDE. The other three are reached by links of that one.
    """

    shape: Shape
    levels: int
    key: np.ndarray  # int64: the Morton key of the lower corner
    level: np.ndarray  # uint8
    links: np.ndarray  # int32 (n, 6)
    index: TileIndex

    @classmethod
    def grown(
        cls,
        asked: Sequence[np.ndarray | Tiles],
        shape: Shape,
        keep: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> LinearTree:
        """The coarsest graded tree in which every cell that is asked for is a leaf or divided.

        `asked` has the keys of cells for every level, counted in cells of that level, or tiles of them; the last are
        roots. `keep(key, level)` says which leaves are to stay: the others are absent. A box need not be whole roots,
        if what is asked for divides those that its sides cut, and what is outside is not kept.
        """
        levels = len(asked)
        check_levels(shape, levels)
        divided, roots = divisions(asked, shape)
        tiles = _tiles(divided, roots)
        counts = _counts(divided, roots, tiles)
        leaves = int(counts[tiles.first[-2] :].sum(dtype=np.int64))
        number = _numbers(counts, tiles)
        table = np.empty_like(counts)
        key, level = np.empty(leaves, np.int64), np.empty(leaves, np.uint8)
        kernels.list_leaves(counts, number, tiles.key, tiles.level, table, key, level)
        del counts, number
        if keep is not None:
            key, level = _kept(table, key, level, keep(key, level))
        limits = np.stack([limits_of(cells_at(shape, l)) for l in range(levels)])
        links = np.empty((len(key), SIDES), np.int32)
        kernels.link(table, tiles.key, tiles.level, levels, tiles.beside, tiles.below, tiles.above, limits, links)
        slots = np.full(1 << int(2 * len(tiles.key)).bit_length(), -1, np.int32)
        kernels.fill_slots(tiles.key, tiles.level, slots)
        return cls(shape, levels, key, level, links, TileIndex(tiles.key, tiles.level, table, slots))

    @classmethod
    def refined(cls, finest: np.ndarray, levels: int) -> LinearTree:
        """The tree that fills the box of `finest`, with finest leaves where that says so: `Octree.refined`, sparse."""
        nx, ny, nz = finest.shape
        check_tree((nx, ny, nz), levels)
        roots = keys_of(np.argwhere(np.ones([n >> (levels - 1) for n in finest.shape], bool)))
        asked = [keys_of(np.argwhere(finest)), *[np.zeros(0, np.int64)] * (levels - 2), roots]
        return cls.grown(asked[:levels] if levels > 1 else [roots], (nx, ny, nz))

    def __len__(self) -> int:
        return len(self.key)

    def cropped(self) -> tuple[LinearTree, np.ndarray]:
        """The same leaves in a smaller box, and its lower corner (3,) in finest cells.

        Bits that all keys have in common are dropped, axis by axis, so that leaves keep their numbers and links.
        """
        if len(self) == 0:
            return self, np.zeros(3, np.int64)
        top, tile = self.levels - 1, 3
        low, high = self.corner.min(axis=0), self.corner.max(axis=0)
        bits = np.array([max(int(a ^ b).bit_length(), top + tile) for a, b in zip(low, high)])
        base = (low >> bits) << bits
        room = (((high >> top) + 2) << top) - base  # a root more: what ends inside the old box does not end at a side
        nx, ny, nz = (int(n) for n in np.minimum(room, np.array(self.shape) - base))
        index, size = self.index, tile + self.index.level.astype(np.int64)[:, None]
        tiles = keys_of(cells_of(index.key) - (base >> size))
        slots = np.full_like(index.slots, -1)
        kernels.fill_slots(tiles, index.level, slots)
        key = keys_of(self.corner - base)
        index = TileIndex(tiles, index.level, index.table, slots)
        return LinearTree((nx, ny, nz), self.levels, key, self.level, self.links, index), base

    def unlinked(self) -> LinearTree:
        """Its leaves without links and index: where they are, but not what is beside them."""
        none = TileIndex(self.key[:0], self.level[:0], np.empty((0, 0), np.int32), np.empty(0, np.int32))
        return LinearTree(self.shape, self.levels, self.key, self.level, self.links[:0].copy(), none)

    @cached_property
    def corner(self) -> np.ndarray:
        """Lower corners (n, 3) int64."""
        return cells_of(self.key)

    @property
    def size(self) -> np.ndarray:
        """Sides of the leaves (n,) float64."""
        return np.ldexp(1.0, self.level.astype(np.int32))

    @property
    def centre(self) -> np.ndarray:
        """Centres (n, 3)."""
        return self.corner + 0.5 * self.size[:, None]

    def leaf_of(self, cells: np.ndarray) -> np.ndarray:
        """The leaves that cover finest cells (n, 3); ABSENT where there is none."""
        return self.index.find(keys_of(cells), self.levels)

    def painted(self) -> np.ndarray:
        """The level of the leaf over every cell of the box (uint8), 0 where there is none."""
        level = np.zeros(self.shape, np.uint8)
        kernels_kept.paint_values(self.key, self.level, self.level, level)
        return level

    @property
    def nbytes(self) -> int:
        """Of keys, levels, links and index."""
        return self.key.nbytes + self.level.nbytes + self.links.nbytes + self.index.nbytes


def check_levels(shape: Shape, levels: int) -> None:
    """Refuse what no tree can be."""
    if not 1 <= levels <= MOST_LEVELS:
        raise InputError(f"an octree has 1 to {MOST_LEVELS} levels, not {levels}")
    if max(shape) >= MOST_CELLS:
        raise InputError(f"an octree has fewer than {MOST_CELLS} cells along an axis, not {max(shape)}")


def check_tree(shape: Shape, levels: int) -> None:
    """Refuse what no tree of whole roots can be."""
    check_levels(shape, levels)
    root = 1 << (levels - 1)
    if any(n % root for n in shape):
        sides = " x ".join(str(n) for n in shape)
        raise InputError(f"{levels} levels do not fit: {sides} cells are not whole numbers of roots of {root}")


@dataclass(frozen=True)
class _TileLinks:
    """The tiles of all levels while a tree is built, and how they lie to each other (-1: no tile)."""

    key: np.ndarray
    level: np.ndarray
    first: np.ndarray  # of every level, and the end
    beside: np.ndarray  # (tiles, 6)
    below: np.ndarray  # (tiles, 8)
    above: np.ndarray


def _tiles(divided: list[Tiles], roots: Tiles) -> _TileLinks:
    """Those that hold a root or a child of a divided cell."""
    keys = []
    for above in divided[1:]:
        used = np.empty((len(above.key), 8), np.bool_)
        kernels.used_octants(above.cells, used)
        keys.append(((above.key[:, None] << 3) + np.arange(8))[used])
    keys.append(roots.key)
    count = [len(k) for k in keys]
    first = np.cumsum([0, *count])
    beside, below, above_of = [], [], []
    for l, key in enumerate(keys):
        beside.append(_from(around(key, key), first[l]))
        empty = np.full((len(key), 8), -1, np.int32)
        below.append(_from(children_of(keys[l - 1], key), first[l - 1]) if l else empty)
        above_of.append(
            _from(places(keys[l + 1], key >> 3), first[l + 1]) if l + 1 < len(keys) else np.full(len(key), -1, np.int32)
        )
    level = np.repeat(np.arange(len(keys), dtype=np.uint8), count)
    joined = [np.concatenate(parts) for parts in (keys, beside, below, above_of)]
    return _TileLinks(joined[0], level, first, *joined[1:])


def _from(place: np.ndarray, first: int) -> np.ndarray:
    """Places of a level among all tiles."""
    return np.where(place >= 0, place + np.int32(first), np.int32(-1)).astype(np.int32)


def _counts(divided: list[Tiles], roots: Tiles, tiles: _TileLinks) -> np.ndarray:
    """Leaves of every cell (tiles, 512), from the finest level up."""
    counts = np.empty((len(tiles.key), int(kernels.TILE)), np.int32)
    top = len(divided) - 1
    for l, own in enumerate(divided):
        first, end = int(tiles.first[l]), int(tiles.first[l + 1])
        key = tiles.key[first:end]
        octant = np.empty((len(key), 3), np.int32)  # tile, first cell and bits of the parent's marks
        if l < top:
            parent = divided[l + 1]
            octant[:, 0], octant[:, 1], octant[:, 2] = places(parent.key, key >> 3), (key & 7) << 6, 3
        else:
            parent = roots
            octant[:, 0], octant[:, 1], octant[:, 2] = np.arange(len(key)), 0, 0
        kernels.count_leaves(
            parent.cells, octant, own.cells, places(own.key, key), tiles.below, counts, first, end - first
        )
    return counts


def _numbers(counts: np.ndarray, tiles: _TileLinks) -> np.ndarray:
    """The number of the first leaf of every cell (tiles, 512), from the roots down."""
    number = np.empty_like(counts)
    top = len(tiles.first) - 2
    first, end = int(tiles.first[top]), int(tiles.first[top + 1])
    held = counts[first:end].sum(axis=1, dtype=np.int64)
    kernels.number_roots(counts, first, end - first, (np.cumsum(held) - held).astype(np.int32), number)
    for l in range(top - 1, -1, -1):
        first, end = int(tiles.first[l]), int(tiles.first[l + 1])
        octant = (tiles.key[first:end] & 7).astype(np.int32)
        kernels.number_children(counts, tiles.above, octant, first, end - first, number)
    return number


def _kept(table: np.ndarray, key: np.ndarray, level: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The leaves that stay; `table` gets their new numbers."""
    numbers = np.where(keep, np.cumsum(keep) - 1, ABSENT).astype(np.int32)
    kernels.renumber(table, numbers)
    return key[keep], level[keep]
