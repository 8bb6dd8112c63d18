"""Parts of a window that lie far apart, moved together into a smaller one.

What a sample costs depends on the memory around it: rows that are few and far between are neither fetched ahead nor
kept in the cache, and fields that are mostly empty still take their pages. At 128 cells a sample of two balls in
opposite corners of a window costs 2 to 3 times as much there as side by side.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.blocks import HEAD, TILE

WORTH = 0.5  # of the window's cells, above which parts stay where they are


@dataclass(frozen=True)
class Packing:
    """Boxes of `size` cells at `source` in a window and at `target` in one of `shape`; rows of integers, one a box."""

    shape: tuple[int, int, int]
    window: tuple[int, int, int]
    source: np.ndarray
    target: np.ndarray
    size: np.ndarray

    def pack(self, field: np.ndarray, empty: float = 0.0) -> np.ndarray:
        """A field over the window (of cells, faces, edges or corners) in the boxes, `empty` between them."""
        more = np.array(field.shape) - self.window
        packed = np.full(np.add(self.shape, more), empty, field.dtype)
        for here, there in self._boxes(more):
            packed[there] = field[here]
        return packed

    def unpack(self, packed: np.ndarray, field: np.ndarray) -> None:
        """Write what is in the boxes back into the window."""
        for here, there in self._boxes(np.array(field.shape) - self.window):
            field[here] = packed[there]

    def _boxes(self, more: np.ndarray):  # type: ignore[no-untyped-def]
        for source, target, size in zip(self.source, self.target, self.size + more):
            yield tuple(map(slice, source, source + size)), tuple(map(slice, target, target + size))


def pack_parts(blocks: np.ndarray, window: tuple[int, int, int]) -> Packing | None:
    """How to move together what `blocks` cover in parts; None where that saves little."""
    low, high = separate(*part_boxes(blocks, window))
    if len(low) < 2:
        return None
    source, size = low * TILE, np.minimum(high * TILE, window) - low * TILE
    target, shape = place(high - low)
    if np.prod(shape) > WORTH * np.prod(window):
        return None
    return Packing(shape, window, source, target, size)


def part_boxes(blocks: np.ndarray, window: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners, in tiles, of boxes around what is connected, with a tile more on every side."""
    from scipy import ndimage

    tiles = np.array([-(-n // TILE) for n in window])
    occupied = np.zeros(tiles, np.uint8)
    for i, j, k0, k1 in blocks[:, :HEAD] // TILE:
        occupied[i, j, k0 : k1 + 1] = 1  # rows may reach into the next tile
    found = ndimage.find_objects(ndimage.label(occupied, structure=np.ones((3, 3, 3)))[0])
    boxes = np.array([[(s.start, s.stop) for s in box] for box in found]).reshape(-1, 3, 2)
    return np.maximum(boxes[:, :, 0] - 1, 0), np.minimum(boxes[:, :, 1] + 1, tiles)


def separate(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The boxes, with those that overlap replaced by the box around them."""
    n = 0
    while n < len(low):
        meet = ((low < high[n]) & (high > low[n])).all(axis=1)
        if meet.sum() == 1:
            n += 1
            continue
        around = low[meet].min(axis=0), high[meet].max(axis=0)
        low, high = np.vstack([low[~meet], around[0]]), np.vstack([high[~meet], around[1]])
        n = 0  # what was alone may meet the box around others
    return low, high


def place(size: np.ndarray) -> tuple[np.ndarray, tuple[int, int, int]]:
    """Where boxes of `size` tiles go [cells], a tile apart, and the shape of the window around them.

    Boxes stand side by side along z, rows of them along y and layers of rows along x; the largest come first, so that
    those of a row and of a layer are about equally thick.
    """
    size = size + 1
    most = np.maximum(size.max(axis=0), np.ceil(np.prod(size, axis=1).sum() ** (1.0 / 3.0)).astype(int))
    target = np.zeros_like(size)
    at, row, layer = np.zeros(3, int), 0, 0
    for n in np.lexsort((-size[:, 2], -size[:, 1], -size[:, 0])):
        if at[2] + size[n, 2] > most[2]:
            at[1], at[2], row = at[1] + row, 0, 0
        if at[1] + size[n, 1] > most[1]:
            at[0], at[1], at[2], row, layer = at[0] + layer, 0, 0, 0, 0
        target[n] = at
        at[2] += size[n, 2]
        row, layer = max(row, size[n, 1]), max(layer, size[n, 0])
    i, j, k = (target + size).max(axis=0) * TILE + 1  # an odd number of cells: powers of two share their cache lines
    return target * TILE, (int(i), int(j), int(k))
