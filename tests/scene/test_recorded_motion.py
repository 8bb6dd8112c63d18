"""Motions as runs record them: exact at the recorded poses, a screw between them."""

import numpy as np
import pytest

from glug.scene import load
from glug.scene.motions.recorded import Recorded, with_motions
from glug.scene.motions.scripted import Rotation

TURNING = Rotation(kind="rotation", axis=(1.0, 2.0, 0.5), point=(0.3, -0.2, 0.1), rate=5.0)
TIMES = [0.0, 0.04, 0.08, 0.12]
POINTS = np.random.default_rng(1).normal(size=(20, 3))


def recorded() -> Recorded:
    return Recorded(TIMES, [TURNING.pose(t) for t in TIMES])


def test_recorded_poses_come_back_to_the_bit():
    for t in TIMES:
        for given, back in zip(TURNING.pose(t), recorded().pose(t)):
            np.testing.assert_array_equal(back, given)


@pytest.mark.parametrize("t", [0.01, 0.055, 0.13])
def test_between_and_beyond_the_poses_a_steady_turn_goes_on(t):
    for expected, found in zip(TURNING.pose(t), recorded().pose(t)):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("t", [0.0, 0.04, 0.05, 0.12])
def test_the_velocity_of_a_steady_turn_is_exact(t):
    np.testing.assert_allclose(recorded().velocity(POINTS, t), TURNING.velocity(POINTS, t), atol=1e-10)


def test_a_single_pose_is_held():
    alone = Recorded([0.5], [TURNING.pose(0.5)])
    np.testing.assert_array_equal(alone.pose(2.0)[0], TURNING.pose(0.5)[0])
    assert not alone.velocity(POINTS, 2.0).any()


def test_motions_replace_those_of_the_solids_they_name():
    box = {"kind": "box", "centre": [0.2, 0.2, 0.2], "size": [0.1, 0.1, 0.1]}
    scene = load(
        {
            "domain": {"size": [1.0, 1.0, 1.0]},
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": box}],
            "solids": [{"name": "pushed", "shape": box}, {"name": "left", "shape": box}],
        }
    )
    moved = with_motions(scene, {"pushed": Recorded([0.0, 1.0], [(np.eye(3), np.zeros(3)), (np.eye(3), np.ones(3))])})
    corner = np.array([[0.75, 0.75, 0.75]])  # on the box's corner, half a second later
    assert moved.solids[0].distance(corner, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert moved.solids[0].moving and not moved.solids[1].moving
    np.testing.assert_array_equal(moved.solids[1].distance(POINTS, 0.5), scene.solids[1].distance(POINTS, 0.5))
