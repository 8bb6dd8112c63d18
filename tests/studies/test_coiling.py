"""The measure of a coiling jet, on jets made of points whose swings are known."""

from dataclasses import replace

import numpy as np
import pytest

from glug.studies.validate.coiling import JetPath, Rotation, Thread, find_jet, jet_path, longest_stretch, reversals

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
    jets = {frame: find_jet(pour(frame, swing, random), DX, floor=0.0) for frame in range(37)}
    assert all(jets.values())
    return jet_path({frame: jet for frame, jet in jets.items() if jet is not None}, DX)


def test_three_turns_of_a_coil_reverse_about_six_times():
    path = follow(swing=0.03)
    assert path.direction_changes in (5, 6)
    assert path.span == pytest.approx(2 * 0.03, rel=0.35)


def test_three_turns_go_round_one_way_at_their_rate_and_radius():
    rotation = Rotation.of(follow(swing=0.03), fps=24)
    assert -rotation.turns == pytest.approx(3.0, abs=0.3)  # from x towards z: against the y axis
    assert rotation.frequency == pytest.approx(24 / 12, rel=0.1)
    assert rotation.radius == pytest.approx(0.03, rel=0.35)  # two cells above the heap
    assert rotation.frames_per_turn == pytest.approx(12, rel=0.1)


def test_rates_of_coiling_scale_as_their_balances_do():
    thread = Thread(flow=1e-5, radius=0.003, fall=0.1, viscosity=0.03, gravity=9.81)
    finer = replace(thread, radius=0.0015)
    ratio = {name: finer.rates[name] / rate for name, rate in thread.rates.items()}
    assert ratio == pytest.approx({"viscous": 2.0**2, "gravitational": 2.0**2, "inertial": 2.0 ** (10 / 3)})
    assert thread.rates["viscous"] == pytest.approx(1e-5 / (0.1 * 9e-6) / (2.0 * np.pi))


def test_a_fold_does_not_go_round():
    along = 0.03 * np.sin(2.0 * np.pi * np.arange(60) / 12)
    wobble = 1e-4 * np.random.default_rng(0).normal(size=60)
    path = JetPath(np.arange(60), np.column_stack([along, wobble]), DX)
    assert path.direction_changes >= 8
    assert abs(Rotation.of(path, fps=24).turns) < 3.0


def test_the_longest_stretch_ends_where_the_signal_goes_back():
    up, down = np.linspace(0.0, 4.0, 41), np.linspace(4.0, 1.0, 31)
    assert longest_stretch(np.concatenate([up, down]), 0.5) == (0, 40)
    assert longest_stretch(np.concatenate([down, up]), 0.5) == (31, 71)


def test_a_straight_jet_never_reverses():
    path = follow(swing=0.0)
    assert path.direction_changes == 0
    assert path.span < 0.5 * DX


def test_a_leaning_jet_on_a_heap_that_rises_and_sinks_never_reverses():
    random = np.random.default_rng(4)
    jets = {}
    for frame in range(20):
        points = pour(frame, 0.0, random)
        points[:, 0] += points[:, 1]  # leans by 45 degrees, but stays
        high = 0.08 + 0.06 * (frame % 2)
        more = random.uniform((0.4, 0.0, 0.4), (0.6, high, 0.6), (60000, 3))
        jet = find_jet(np.concatenate([points, more]), DX, floor=0.0)
        assert jet is not None
        jets[frame] = jet
    assert len({jet.above_pile for jet in jets.values()}) > 1
    assert jet_path(jets, DX).direction_changes == 0


def test_a_torn_jet_is_not_followed():
    points = pour(0, 0.0, np.random.default_rng(5))
    gap = (points[:, 1] > 0.3) & (points[:, 1] < 0.33)
    assert find_jet(points, DX, floor=0.0) is not None
    assert find_jet(points[~gap], DX, floor=0.0) is None


def test_a_jet_in_the_air_is_not_followed():
    points = pour(0, 0.0, np.random.default_rng(2))
    assert find_jet(points[points[:, 1] > 0.2], DX, floor=0.0) is None


def test_a_puddle_is_no_jet():
    points = pour(0, 0.0, np.random.default_rng(3))
    assert find_jet(points[points[:, 1] < 0.08], DX, floor=0.0) is None


@pytest.mark.parametrize(
    ("values", "turns"),
    [([], 0), ([1.0], 0), ([0, 1, 2, 3], 0), ([0, 3, 0], 1), ([0, 3, 0, 3], 2), ([0, 0.4, 0, 0.4, 0], 0)],
)
def test_reversals_ignore_what_is_below_the_threshold(values, turns):
    assert reversals(np.array(values, dtype=float), threshold=0.5) == turns
