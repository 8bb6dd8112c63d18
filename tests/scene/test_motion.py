"""Velocities are the rates of change of the poses, for every motion and for what it moves."""

import numpy as np
import pytest

from glug.scene.bodies import Solid, Source, Volume
from glug.scene.motions.scripted import Keyframes, Linear, Moving, Oscillation, Rotation, Static
from glug.scene.shapes.primitives import Box, Sphere

KEYS = (
    {"time": 0.5, "position": (0.0, 0.0, 0.0), "rotation": (0, 0, 0)},
    {"time": 1.0, "position": (0.2, 0.5, -0.1), "rotation": (30, 90, -40)},
    {"time": 2.5, "position": (0.2, 0.9, 0.4), "rotation": (30, 720, 10)},
)
MOTIONS: dict[str, Moving] = {
    "static": Static(),
    "linear": Linear(velocity=(1.0, -2.0, 0.5)),
    "timed": Linear(velocity=(1.0, -2.0, 0.5), start=0.6, stop=1.1),
    "rotation": Rotation(axis=(1, 2, -0.5), point=(0.3, 0.1, 0.2), rate=4.0),
    "oscillation": Oscillation(amplitude=(0.1, 0.0, 0.3), frequency=1.5, phase=0.4),
    "smooth keys": Keyframes(keys=KEYS, pivot=(0.1, 0.2, 0.3)),
    "linear keys": Keyframes(keys=KEYS, pivot=(0.1, 0.2, 0.3), interpolation="linear"),
}
TIMES = [0.1, 0.55, 0.83, 1.37, 2.2, 3.0]


def _at(motion: Moving, rest: np.ndarray, t: float) -> np.ndarray:
    R, x = motion.pose(t)
    return rest @ R.T + x


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("name", MOTIONS)
def test_velocity_is_the_derivative_of_the_pose(name: str, t: float) -> None:
    motion, h = MOTIONS[name], 1e-6
    rest = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    expected = (_at(motion, rest, t + h) - _at(motion, rest, t - h)) / (2 * h)
    assert motion.velocity(_at(motion, rest, t), t) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", MOTIONS)
def test_pose_is_a_rotation(name: str) -> None:
    for t in TIMES:
        R, _ = MOTIONS[name].pose(t)
        assert np.allclose(R @ R.T, np.eye(3), atol=1e-12) and np.linalg.det(R) == pytest.approx(1.0)


def test_keyframes_meet_their_keys_hold_and_do_not_overshoot() -> None:
    motion = MOTIONS["smooth keys"]
    pivot = np.array([[0.1, 0.2, 0.3]])
    for key in KEYS:
        assert _at(motion, pivot, key["time"])[0] == pytest.approx(pivot[0] + key["position"], abs=1e-12)
    assert _at(motion, pivot, 9.0)[0] == pytest.approx(pivot[0] + KEYS[-1]["position"])
    path = np.array([_at(motion, pivot, t)[0] for t in np.linspace(0, 3, 200)]) - pivot
    assert path[:, 0].max() <= 0.2 + 1e-12 and np.all(np.diff(path[:, 1]) >= -1e-12)


def test_rotation_of_720_degrees_is_two_turns() -> None:
    motion = Keyframes(keys=({"time": 0}, {"time": 2, "rotation": (0, 720, 0)}), interpolation="linear")
    R, _ = motion.pose(0.25)  # a quarter turn after an eighth of two turns
    assert R[:, 0] == pytest.approx([0, 0, -1])


def test_rotation_is_right_handed_about_its_point() -> None:
    motion = Rotation(axis=(0, 0, 2), point=(1, 0, 0), rate=np.pi / 2)
    assert _at(motion, np.array([[2.0, 0, 0]]), 1.0)[0] == pytest.approx([1, 1, 0])


def test_keys_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must be later than 1"):
        Keyframes(keys=({"time": 1}, {"time": 1}))


def test_moving_solid_carries_its_distance_and_bounds() -> None:
    solid = Solid(name="ball", shape=Sphere(centre=(1, 0, 0), radius=0.25), motion=MOTIONS["rotation"])
    R, x = MOTIONS["rotation"].pose(0.7)
    centre = R @ [1, 0, 0] + x
    assert solid.moving and solid.distance(centre[None], 0.7)[0] == pytest.approx(-0.25)
    lower, upper = solid.bounds(0.7)
    assert np.all(lower <= centre - 0.25 + 1e-12) and np.all(upper >= centre + 0.25 - 1e-12)
    assert not Solid(name="rock", shape=Sphere(centre=(1, 0, 0), radius=0.25)).moving


def test_source_adds_its_own_velocity_turned_with_it() -> None:
    nozzle = Source(
        shape=Sphere(centre=(1, 0, 0), radius=0.1),
        liquid="water",
        velocity=(0, -1, 0),
        stop=2.0,
        motion=Rotation(axis=(0, 0, 1), point=(0, 0, 0), rate=np.pi / 2),
    )
    # After a quarter turn it is at (0, 1, 0), moves to -x at pi/2, and pours to +x.
    assert nozzle.velocity_at(np.array([[0.0, 1, 0]]), 1.0)[0] == pytest.approx([1 - np.pi / 2, 0, 0])
    assert nozzle.active(0.0) and not nozzle.active(2.0)


def test_volume_spins_about_the_centre_of_its_shape() -> None:
    volume = Volume(shape=Box(lower=(0, 0, 0), upper=(2, 2, 2)), liquid="water", velocity=(0, 0, 1), spin=(0, 0, 3))
    where = np.array([[1.0, 1, 1], [2.0, 1, 1]])
    assert volume.velocity_at(where) == pytest.approx(np.array([[0, 0, 1], [0, 3, 1]]))
