"""Which camera a run is seen through."""

import numpy as np
import pytest

import glug.scene
from glug.view.camera import Camera
from glug.view.framing import motion_box, scene_camera

SIZE = (640, 480)
SCENE = {
    "domain": {"size": [2.0, 1.0, 1.0], "resolution": 16},
    "liquids": {"honey": {"material": "honey"}},
    "volumes": [{"shape": {"kind": "sphere", "centre": [1.0, 0.5, 0.5], "radius": 0.3}, "liquid": "honey"}],
}
PADDLE = {
    "name": "paddle",
    "shape": {"kind": "box", "centre": [0.2, 0.2, 0.5], "size": [0.1, 0.1, 0.1]},
    "motion": {"kind": "linear", "velocity": [0.5, 0.0, 0.0]},
}


def cloud(lower, upper) -> np.ndarray:
    return np.random.default_rng(1).uniform(lower, upper, (200, 3))


def seen(camera: Camera, points: np.ndarray) -> np.ndarray:
    return camera.project(points, SIZE)


def test_all_that_moves_is_in_the_picture_and_fills_it():
    scene = glug.scene.load(SCENE)
    frames = [cloud([0.2, 0.1, 0.4], [0.4, 0.3, 0.6]), cloud([0.9, 0.1, 0.4], [1.1, 0.5, 0.6])]
    camera = scene_camera(scene, SIZE, motion_box(scene, frames, [0.0, 1.0]))
    pixels = seen(camera, np.concatenate(frames))
    assert (pixels > 0).all() and (pixels < SIZE).all()
    assert np.ptp(pixels[:, 0]) > 0.6 * SIZE[0]
    whole = seen(scene_camera(scene, SIZE), np.concatenate(frames))
    assert np.ptp(whole[:, 0]) < 0.8 * np.ptp(pixels[:, 0])  # the domain's camera stands farther away


def test_moving_solids_count():
    scene = glug.scene.load({**SCENE, "solids": [PADDLE]})
    frames = [cloud([0.9, 0.1, 0.4], [1.1, 0.3, 0.6])]
    lower, upper = motion_box(scene, frames, [0.0, 2.0])
    assert lower[0] < 0.15 and upper[0] > 1.25  # where the paddle begins, and where it is after two seconds


def test_the_box_stays_in_the_domain():
    scene = glug.scene.load(SCENE)
    lower, upper = motion_box(scene, [cloud([-3, -3, -3], [3, 3, 3])], [])
    np.testing.assert_allclose(lower, scene.domain.lower)
    np.testing.assert_allclose(upper, scene.domain.upper)


def test_without_liquid_and_solids_there_is_no_box():
    assert motion_box(glug.scene.load(SCENE), [np.empty((0, 3))], [0.0]) is None


def test_the_scenes_own_camera_wins():
    scene = glug.scene.load({**SCENE, "camera": {"eye": [1, 2, 3], "target": [1, 0, 0], "fov": 40}})
    camera = scene_camera(scene, SIZE, (np.zeros(3), np.full(3, 0.1)))
    assert (camera.eye, camera.target) == ((1, 2, 3), (1, 0, 0))
    assert camera.fov_degrees == pytest.approx(40)
