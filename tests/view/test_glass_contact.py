"""A liquid's surface against clear solids: what touches becomes as smooth as the solid, what does not stays."""

import numpy as np

import glug.scene
from glug.view.mitsuba.glass_contact import APART, DEEP, TOUCHING, pressed

DX = 0.1
BALL = {"name": "ball", "clarity": 1.0, "shape": {"kind": "sphere", "centre": [0.0, 0.0, 0.0], "radius": 1.0}}
SCENE = {
    "domain": {"size": [4.0, 4.0, 4.0], "origin": [-2.0, -2.0, -2.0], "resolution": 40},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [-1, 1.2, -1], "upper": [1, 1.5, 1]}}],
    "solids": [BALL],
}


def around(distances: np.ndarray) -> np.ndarray:
    """Points at these distances [cells] from the ball, in scattered directions."""
    ways = np.random.default_rng(1).normal(size=(len(distances), 3))
    return (1.0 + distances[:, None] * DX) * ways / np.linalg.norm(ways, axis=1, keepdims=True)


def press(distances):
    points = around(np.asarray(distances)).astype(np.float32)
    return points, *pressed(points, glug.scene.load(SCENE).solids, 0.0, DX)


def test_a_rough_film_becomes_smooth_and_faces_the_solid():
    rough = np.random.default_rng(2).uniform(-0.3, TOUCHING, 200)
    points, moved, touching, normals = press(rough)
    assert np.abs(np.linalg.norm(moved, axis=1) - (1.0 - DEEP * DX)).max() < 1e-4 * DX + 1e-6
    assert list(touching) == list(range(200))
    np.testing.assert_allclose(normals, -points / np.linalg.norm(points, axis=1, keepdims=True), atol=1e-3)


def test_what_is_apart_stays_and_between_nothing_folds():
    points, moved, touching, _ = press([APART + 0.01, 5.0])
    np.testing.assert_array_equal(moved, points)
    assert len(touching) == 0
    radii = np.linalg.norm(press(np.linspace(TOUCHING, APART, 50))[1], axis=1)
    assert np.all(np.diff(radii) > 0)


def test_without_solids_nothing_moves():
    points = around(np.zeros(5)).astype(np.float32)
    moved, touching, normals = pressed(points, [], 0.0, DX)
    np.testing.assert_array_equal(moved, points)
    assert (len(touching), len(normals)) == (0, 0)
