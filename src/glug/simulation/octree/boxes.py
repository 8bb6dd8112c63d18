"""Boxes around tiles of cells, so that windows around the boxes hold few cells that nobody asks for.

A box is cut in two wherever the windows of both parts are smaller together, where it is too long for one, and in its
middle where it is mostly hollow.
"""

from __future__ import annotations

import numpy as np

TILE = 8  # cells along the side of a tile
HALO = 8  # cells around a box: distances look two cells far and are spread by seven; level ways end here
LONGEST = 32  # tiles along the side of a box, at most
# Boxes with a smaller share of tiles are cut in the middle, where they are longer: one cut of a shell wins nothing yet.
HOLLOW, SHORT = 0.6, 6
WORTH = 0.9  # windows of both parts over that of a box, below which it is cut: every window has a price of its own


def boxes(tiles: np.ndarray) -> list[np.ndarray]:
    """Numbers of the tiles (n, 3) of every box; each tile is in one."""
    todo, found = [np.arange(len(tiles))] if len(tiles) else [], []
    while todo:
        some = todo.pop()
        place = tiles[some]
        low, high = place.min(axis=0), place.max(axis=0) + 1
        cells, axis, at = min(cheapest_cut(place - low, a) for a in range(3))
        longest = int(np.argmax(high - low))
        hollow = (high - low)[longest] > SHORT and len(some) < HOLLOW * np.prod(high - low)
        worth = cells < WORTH * window_cells(low, high)
        if (high - low)[longest] > LONGEST or (hollow and not worth):
            axis, at = longest, (high - low)[longest] // 2
        elif not worth:
            found.append(some)
            continue
        below = place[:, axis] - low[axis] < at
        todo += [some[~below], some[below]]
    return found


def window_cells(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Cells of the windows around boxes (..., 3)."""
    return np.prod(TILE * (high - low) + 2 * HALO, axis=-1)


def cheapest_cut(place: np.ndarray, axis: int) -> tuple[float, int, int]:
    """Cells of both windows, axis and place of the best cut across an axis, of tiles in a box that begins at 0."""
    room = int(place[:, axis].max()) + 1
    if room == 1:
        return np.inf, axis, 0
    low, high = np.full((room, 3), np.iinfo(np.int64).max), np.zeros((room, 3), np.int64)  # of every slab of tiles
    np.minimum.at(low, place[:, axis], place)
    np.maximum.at(high, place[:, axis], place + 1)
    below = window_cells(np.minimum.accumulate(low)[:-1], np.maximum.accumulate(high)[:-1])
    above = window_cells(np.minimum.accumulate(low[::-1])[-2::-1], np.maximum.accumulate(high[::-1])[-2::-1])
    at = int(np.argmin(below + above))
    return float((below + above)[at]), axis, at + 1
