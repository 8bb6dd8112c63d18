"""Extrapolation keeps what is known and carries it outwards, one layer of neighbours at a time."""

import numpy as np
import pytest

from glug.grids.extrapolate import extrapolate
from glug.jit import threads

SHAPE = (9, 8, 10)


def start(*known_at: tuple[int, int, int], value: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    """A field of rubbish (-7) but for the known samples."""
    field, known = np.full(SHAPE, -7.0, np.float32), np.zeros(SHAPE, np.uint8)
    for place in known_at:
        field[place], known[place] = value, 1
    return field, known


def steps_from(place: tuple[int, int, int]) -> np.ndarray:
    """Number of neighbours to cross from every sample to `place`."""
    return sum(np.abs(i - p) for i, p in zip(np.indices(SHAPE), place))


@pytest.mark.parametrize("layers", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("place", [(4, 4, 5), (0, 0, 0), (8, 7, 9)])
def test_a_value_reaches_as_many_samples_as_there_are_layers(layers, place):
    field, known = start(place)
    extrapolate(field, known, layers)
    assert np.array_equal(known > 0, steps_from(place) <= layers)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_constant_is_continued_exactly(layers):
    field, known = start((4, 4, 5), (1, 2, 3))
    extrapolate(field, known, layers)
    assert (field[known > 0] == 5.0).all()


@pytest.mark.parametrize("layers", [1, 2])
def test_samples_beyond_the_layers_are_left_alone(layers):
    field, known = start((4, 4, 5))
    extrapolate(field, known, layers)
    assert (field[known == 0] == -7.0).all()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_known_samples_keep_their_value(layers):
    rng = np.random.default_rng(0)
    field = rng.normal(size=SHAPE).astype(np.float32)
    known = (rng.uniform(size=SHAPE) < 0.3).astype(np.uint8)
    before, fixed = field.copy(), known > 0
    extrapolate(field, known, layers)
    assert np.array_equal(field[fixed], before[fixed])
    assert not np.array_equal(field, before)


def test_a_sample_takes_the_mean_of_its_known_neighbours():
    field, known = start((3, 4, 5), value=1.0)
    for place, value in {(5, 4, 5): 2.0, (4, 4, 6): 6.0, (5, 5, 5): 100.0}.items():
        field[place], known[place] = value, 1
    extrapolate(field, known, 1)
    assert field[4, 4, 5] == 3.0  # (1 + 2 + 6) / 3; the diagonal neighbour is none


def test_values_lie_between_those_known():
    rng = np.random.default_rng(1)
    field = np.full(SHAPE, 1e6, np.float32)
    known = (rng.uniform(size=SHAPE) < 0.05).astype(np.uint8)
    field[known > 0] = rng.uniform(-1, 2, (known > 0).sum())
    lowest, highest = field[known > 0].min(), field[known > 0].max()
    extrapolate(field, known, 4)
    reached = field[known > 0]
    assert lowest <= reached.min() and reached.max() <= highest


def test_nothing_known_changes_nothing():
    field, known = start()
    extrapolate(field, known, 3)
    assert (field == -7.0).all()
    assert not known.any()


def test_a_flat_field_has_no_neighbours_along_z():
    field, known = np.full((6, 6, 1), -7.0, np.float32), np.zeros((6, 6, 1), np.uint8)
    field[2, 2], known[2, 2] = 5.0, 1
    extrapolate(field, known, 1)
    assert known.sum() == 5


def test_the_result_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(30, 20, 25)).astype(np.float32)
    seeds = (rng.uniform(size=values.shape) < 0.02).astype(np.uint8)
    answers = []
    for count in (1, 2):
        field, known = values.copy(), seeds.copy()
        with threads(count):
            extrapolate(field, known, 4)
        answers.append(field)
    assert np.array_equal(*answers)
