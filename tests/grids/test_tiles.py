"""Blocks cover exactly the tiles with an active cell, once, in an order that is always the same."""

import numpy as np
import pytest

from glug.grids.blocks import HEAD, TILE, active_blocks
from glug.jit import threads

SHAPES = [(24, 16, 32), (13, 9, 21), (8, 8, 8), (30, 17, 1), (5, 3, 2)]


def some_active(shape: tuple[int, int, int], share: float, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).uniform(size=shape) < share).astype(np.uint8)


def times_covered(blocks: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """How many blocks contain each cell."""
    count = np.zeros(shape, int)
    for i, j, k0, k1 in blocks[:, :HEAD]:
        count[i : i + TILE, j : j + TILE, k0:k1] += 1
    return count


def tiles_with_a_cell(active: np.ndarray) -> np.ndarray:
    """1 in every cell of a tile that has an active cell."""
    out = np.zeros(active.shape, int)
    for tile in np.ndindex(*[-(-n // TILE) for n in active.shape]):
        where = tuple(slice(TILE * t, TILE * (t + 1)) for t in tile)
        out[where] = active[where].any()
    return out


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0005, 0.003, 0.5])
def test_blocks_cover_the_tiles_with_active_cells_once(shape, share):
    active = some_active(shape, share)
    assert np.array_equal(times_covered(active_blocks(active), shape), tiles_with_a_cell(active))


def times_in_rows(blocks: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """How many rows of blocks contain each cell."""
    count = np.zeros(shape, int)
    for block in blocks:
        i0, j0 = block[:2]
        for (i, j), (k0, k1) in zip(np.ndindex(TILE, TILE), block[HEAD:].reshape(-1, 2)):
            if k1 > k0:
                count[i0 + i, j0 + j, k0:k1] += 1
    return count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0005, 0.003, 0.5])
def test_rows_cover_active_cells_and_no_cell_twice(shape, share):
    active = some_active(shape, share)
    count = times_in_rows(active_blocks(active), shape)
    assert count.max(initial=0) <= 1
    assert (count[active > 0] == 1).all()


def test_rows_are_as_long_as_their_cells_and_whole_lanes():
    active = np.zeros((8, 8, 64), np.uint8)
    active[3, 4, 10:21] = active[3, 5, 62] = 1
    first, second = active_blocks(active)[:, HEAD:].reshape(2, TILE, TILE, 2)
    assert first[3, 4].tolist() == [10, 26]
    assert first[3, 5].tolist() == [0, 0]
    assert second[3, 5].tolist() == [56, 63]  # within its block and the window's inner cells


@pytest.mark.parametrize("shape", SHAPES)
def test_a_full_window_is_covered_once(shape):
    assert (times_covered(active_blocks(np.ones(shape, np.uint8)), shape) == 1).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_cell_alone_is_covered(shape):
    for cell in [(0, 0, 0), tuple(n - 1 for n in shape), tuple(n // 2 for n in shape)]:
        active = np.zeros(shape, np.uint8)
        active[cell] = 1
        blocks = active_blocks(active)
        assert len(blocks) == 1
        assert times_covered(blocks, shape)[cell] == 1


def test_nothing_active_gives_no_blocks():
    assert len(active_blocks(np.zeros((16, 16, 16), np.uint8))) == 0


def test_blocks_stay_within_the_window_along_z():
    blocks = active_blocks(np.ones((9, 9, 21), np.uint8))
    assert blocks[:, 2].min() == 0
    assert blocks[:, 3].max() == 21


def test_a_run_of_tiles_along_z_is_one_block_and_a_gap_parts_it():
    active = np.zeros((8, 8, 40), np.uint8)
    active[0, 0, :16] = active[0, 0, 24:] = 1
    assert active_blocks(active)[:, :HEAD].tolist() == [[0, 0, 0, 16], [0, 0, 24, 40]]


def test_the_order_does_not_depend_on_the_number_of_threads():
    active = some_active((40, 24, 32), 0.001)
    answers = []
    for count in (1, 2):
        with threads(count):
            answers.append(active_blocks(active))
    assert np.array_equal(*answers)
