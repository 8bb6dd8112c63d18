"""Which cells of a sparse tree are divided: tiles of marks, level by level (Flynn 2018; Goldade 2021, section 5.4.5).

With the wanted cells W_l of level l, those that must be leaves or divided, the divided cells of the level above are
their parents,

    D_(l+1) = parents(W_l),        W_l = what is asked for at level l, D_l and the face neighbours of D_l (l > 0),

so that leaves that share a face differ by one level at most. The leaves of level l are the children of D_(l+1) that are
not in D_l; those of the coarsest level are the wanted roots that are not divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from glug.grids.octree.linear import kernels, kernels_marks
from glug.grids.octree.linear.morton import SIDES, beside, inside, spread

Shape = tuple[int, int, int]


class Tiles(NamedTuple):
    """Marks of the cells of one level: sorted keys of the tiles that have some, and 512 cells (uint8) of each."""

    key: np.ndarray
    cells: np.ndarray


def cells_at(shape: Shape, l: int) -> Shape:
    """Cells of level l over a box, those that are only partly in it too."""
    nx, ny, nz = (-(-n >> l) for n in shape)
    return nx, ny, nz


def limits_of(shape: Shape) -> np.ndarray:
    """The bits of the number of cells along every axis."""
    return spread(np.array(shape)) << np.arange(3)


def places(keys: np.ndarray, wished: np.ndarray) -> np.ndarray:
    """Where `wished` are in sorted keys; -1 where they are not."""
    if len(keys) == 0:
        return np.full(wished.shape, -1, np.int32)
    at = np.minimum(np.searchsorted(keys, wished), len(keys) - 1)
    return np.where(keys[at] == wished, at, -1).astype(np.int32)


def around(keys: np.ndarray, wished: np.ndarray) -> np.ndarray:
    """The places (n, 6) of the tiles beside the `wished` ones."""
    return np.stack([places(keys, beside(wished, side)) for side in range(SIDES)], axis=1)


def marked(keys: np.ndarray | Tiles) -> Tiles:
    """Tiles of cells by their keys at one level."""
    if isinstance(keys, Tiles):
        return keys
    keys = np.sort(keys)
    tile = keys >> 9
    new = np.ones(len(tile), bool)
    new[1:] = tile[1:] != tile[:-1]
    found = tile[new]
    cells = np.zeros((len(found), int(kernels.TILE)), np.uint8)
    cells[np.cumsum(new) - 1, keys & kernels.PLACE] = 1
    return Tiles(found, cells)


def wanted(asked: np.ndarray | Tiles, divided: Tiles, shape: Shape) -> Tiles:
    """W of a level from what is asked for (keys) and D."""
    marks = marked(asked)
    if len(divided.key) == 0:
        return marks
    sides = [beside(divided.key, side) for side in range(SIDES)]
    tiles = tuple(-(-n // 8) for n in shape)
    key = np.concatenate([divided.key, *sides])
    key = np.unique(np.concatenate([marks.key, key[inside(key, tiles)]]))  # type: ignore[arg-type]
    cells = np.zeros((len(key), int(kernels.TILE)), np.uint8)
    cells[places(key, marks.key)] = marks.cells
    kernels.widen(divided.cells, places(divided.key, key), around(divided.key, key), key, limits_of(shape), cells)
    return Tiles(key, cells)


def dilated(tiles: Tiles, reach: int, shape: Shape) -> Tiles:
    """The cells of a box within `reach` (8 at most) of marked ones along every axis: cubes around them."""
    room = cells_at(shape, 3)
    for axis in range(3):
        lower, upper = (beside(tiles.key, 2 * axis + side) for side in range(2))
        key = np.concatenate([tiles.key, lower, upper])
        key = np.unique(key[inside(key, room)])
        cells = np.empty((len(key), int(kernels.TILE)), np.uint8)
        own = [places(tiles.key, k) for k in (key, beside(key, 2 * axis), beside(key, 2 * axis + 1))]
        kernels_marks.dilate(tiles.cells, *own, axis, reach, cells)
        tiles = Tiles(key, cells)
    kernels_marks.clip(tiles.key, limits_of(shape), tiles.cells)
    some = tiles.cells.view(np.int64).any(axis=1)
    return Tiles(tiles.key[some], tiles.cells[some])


def parents(tiles: Tiles) -> Tiles:
    """The cells above those that are marked."""
    key = np.unique(tiles.key >> 3)
    cells = np.empty((len(key), int(kernels.TILE)), np.uint8)
    kernels.divide_parents(tiles.cells, children_of(tiles.key, key), cells)
    some = cells.view(np.int64).any(axis=1)
    return Tiles(key[some], cells[some])


def children_of(keys: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The places (n, 8) of the tiles below those of the level above."""
    return places(keys, (above[:, None] << 3) + np.arange(8))


def divisions(asked: Sequence[np.ndarray | Tiles], shape: Shape) -> tuple[list[Tiles], Tiles]:
    """D of every level, and the roots, from the keys of the cells that are asked for, level by level."""
    none = Tiles(np.zeros(0, np.int64), np.zeros((0, int(kernels.TILE)), np.uint8))
    found = [none]
    for l, keys in enumerate(asked[:-1]):
        found.append(parents(wanted(keys, found[-1], cells_at(shape, l))))
    top = found[-1]
    roots = marked(asked[-1])
    key = np.unique(np.concatenate([roots.key, top.key]))
    cells = np.zeros((len(key), int(kernels.TILE)), np.uint8)
    cells[places(key, roots.key)] = roots.cells
    cells[places(key, top.key)] |= top.cells
    return found, Tiles(key, cells)
