"""The measure of a coiling jet, on jets made of points whose swings are known."""

import numpy as np
import pytest

from glug.studies.coiling import JetPath, jet_axis, reversals

DX = 0.01


def pour(frame: int, swing: float, random: np.random.Generator) -> np.ndarray:
    """A jet of points from 0.5 m down to a heap 0.08 m high, its foot on a circle of radius `swing`.

    The foot goes round once in 12 frames.
    """
    height = random.uniform(0.08, 0.5, 8000)
    near = np.exp(-(height - 0.08) / 0.05)  # the sideways motion dies out upwards
    angle = 2 * np.pi * frame / 12
    disc = random.normal(0.0, 0.005, (8000, 2))
    jet = np.column_stack(
        [
            0.5 + swing * near * np.cos(angle) + disc[:, 0],
            height,
            0.5 + swing * near * np.sin(angle) + disc[:, 1],
        ]
    )
    heap = random.uniform((0.4, 0.0, 0.4), (0.6, 0.08, 0.6), (30000, 3))
    return np.concatenate([jet, heap]).astype(np.float32)


def follow(swing: float) -> JetPath:
    random = np.random.default_rng(1)
    axes = [jet_axis(pour(frame, swing, random), DX, floor=0.0) for frame in range(37)]
    assert all(axis is not None for axis in axes)
    return JetPath(np.arange(37), np.array(axes), DX)


def test_three_turns_of_a_coil_reverse_about_six_times():
    path = follow(swing=0.03)
    assert path.direction_changes in (5, 6)
    assert path.span == pytest.approx(2 * 0.03, rel=0.35)


def test_a_straight_jet_never_reverses():
    path = follow(swing=0.0)
    assert path.direction_changes == 0
    assert path.span < 0.5 * DX


def test_a_jet_in_the_air_has_no_axis():
    falling = pour(0, 0.0, np.random.default_rng(2))
    falling = falling[falling[:, 1] > 0.2]
    assert jet_axis(falling, DX, floor=0.0) is None


def test_a_puddle_has_no_axis():
    heap = pour(0, 0.0, np.random.default_rng(3))
    assert jet_axis(heap[heap[:, 1] < 0.08], DX, floor=0.0) is None


@pytest.mark.parametrize(
    ("values", "turns"),
    [([], 0), ([1.0], 0), ([0, 1, 2, 3], 0), ([0, 3, 0], 1), ([0, 3, 0, 3], 2), ([0, 0.4, 0, 0.4, 0], 0)],
)
def test_reversals_ignore_what_is_below_the_threshold(values, turns):
    assert reversals(np.array(values, dtype=float), threshold=0.5) == turns
