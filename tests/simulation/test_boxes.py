"""Boxes around tiles: every tile is in one, and their windows hold fewer cells than one window around all."""

import numpy as np
import pytest

from glug.simulation.octree import boxes as module
from glug.simulation.octree.boxes import boxes, window_cells


def block(lower: tuple[int, int, int], upper: tuple[int, int, int]) -> np.ndarray:
    """All tiles from a place to before another."""
    return np.argwhere(np.ones(np.subtract(upper, lower), bool)) + lower


def cells(tiles: np.ndarray, found: list[np.ndarray]) -> int:
    """Of the windows around boxes."""
    return sum(int(window_cells(tiles[some].min(axis=0), tiles[some].max(axis=0) + 1)) for some in found)


def test_a_drop_over_a_pool_has_a_box_of_its_own():
    tiles = np.concatenate([block((0, 0, 0), (24, 2, 24)), block((10, 6, 10), (14, 10, 14))])
    found = boxes(tiles)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(len(tiles)))
    assert [len(some) for some in found] == [24 * 24 * 2, 4**3]
    assert cells(tiles, found) < 0.5 * cells(tiles, [np.arange(len(tiles))])


def test_a_block_stays_whole():
    """The control: nothing is won where a box is full."""
    assert len(boxes(block((3, 4, 5), (11, 9, 12)))) == 1


@pytest.mark.parametrize("seed", range(5))
def test_any_tiles_are_in_boxes_that_do_not_meet(seed, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 6)
    tiles = np.unique(np.random.default_rng(seed).integers(0, 20, (60, 3)), axis=0)
    found = boxes(tiles)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(len(tiles)))
    ends = [(tiles[some].min(axis=0), tiles[some].max(axis=0) + 1) for some in found]
    for n, (low, high) in enumerate(ends):
        assert (high - low).max() <= 6
        assert not any((np.maximum(low, other) < np.minimum(high, end)).all() for other, end in ends[:n])


def test_no_tiles_have_no_box():
    assert boxes(np.zeros((0, 3), np.int64)) == []
