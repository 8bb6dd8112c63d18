"""Extrapolation keeps what is known and carries it outwards, one layer of neighbours at a time."""

import numpy as np
import pytest

from glug.grids.extrapolate import extrapolate, extrapolate_linearly
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


# Linearly


def box_known() -> np.ndarray:
    """Four samples along every axis are known, none at the border."""
    known = np.zeros(SHAPE, np.uint8)
    known[2:6, 2:6, 3:7] = 1
    return known


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_linear_field_is_continued_exactly(layers):
    i, j, k = np.indices(SHAPE)
    exact = (1.0 + 2.0 * i - 3.0 * j + 0.5 * k).astype(np.float32)
    known = box_known()
    field = np.where(known, exact, np.float32(-7.0))
    extrapolate_linearly(field, known, layers)
    assert known.sum() > 64
    assert np.abs(field - exact)[known > 0].max() < 1e-5


def test_constants_do_not_continue_a_linear_field():
    """Negative control."""
    known = box_known()
    exact = np.indices(SHAPE)[0].astype(np.float32)
    field = exact * known
    extrapolate(field, known, 1)
    assert np.abs(field - exact)[known > 0].max() == 1.0


def test_linear_extrapolation_reaches_as_many_samples_as_the_other():
    one, other = box_known(), box_known()
    extrapolate(np.zeros(SHAPE, np.float32), one, 2)
    extrapolate_linearly(np.zeros(SHAPE, np.float32), other, 2)
    assert np.array_equal(one, other)


def test_linear_extrapolation_keeps_what_is_known():
    known = box_known()
    before = np.random.default_rng(3).normal(size=SHAPE).astype(np.float32)
    field, fixed = before.copy(), known > 0
    extrapolate_linearly(field, known, 3)
    assert np.array_equal(field[fixed], before[fixed])


def test_a_thin_row_is_continued_as_a_constant():
    field, known = start((4, 4, 4), (4, 4, 5), value=1.0)
    field[4, 4, 5] = 3.0
    extrapolate_linearly(field, known, 1)
    assert (field[4, 4, 3], field[4, 4, 6]) == (1.0, 3.0)


@pytest.mark.parametrize("place", [3, 4, 5])
def test_a_jump_is_not_overshot(place):
    field, known = np.zeros(SHAPE, np.float32), box_known()
    field[place:] = 1.0
    extrapolate_linearly(field, known, 3)
    reached = field[known > 0]
    assert reached.min() == 0.0 and reached.max() == 1.0


def test_alternating_noise_does_not_grow():
    known = box_known()
    field = (np.random.default_rng(4).uniform(0.5, 1.0, SHAPE) * (-1.0) ** np.indices(SHAPE).sum(axis=0)).astype("f4")
    extrapolate_linearly(field, known, 4)
    assert np.abs(field[known > 0]).max() <= 1.0


def test_random_noise_grows_by_no_more_than_its_slopes():
    """By every layer no more than the largest step between neighbours that are known, and on average not at all."""
    rng = np.random.default_rng(5)
    field, known = rng.uniform(-1, 1, (40, 30, 30)).astype(np.float32), np.zeros((40, 30, 30), np.uint8)
    known[5:35, 5:25, 5:25] = 1
    inside, size = known > 0, field[5:35, 5:25, 5:25].std()
    extrapolate_linearly(field, known, 2)
    new = (known > 0) & ~inside
    assert np.abs(field[new]).max() <= 1.0 + 2 * 2.0
    assert field[new].std() < 1.5 * size


def test_linear_extrapolation_does_not_depend_on_the_number_of_threads():
    values = np.random.default_rng(6).normal(size=SHAPE).astype(np.float32)
    answers = []
    for count in (1, 2):
        field, known = values.copy(), box_known()
        with threads(count):
            extrapolate_linearly(field, known, 3)
        answers.append(field)
    assert np.array_equal(*answers)
