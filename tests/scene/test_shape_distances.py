"""Distances of the primitive shapes are exact and negative inside."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from glug.scene.shapes.primitives import Box, HalfSpace, Placed, Slab, Sphere, Torus
from glug.scene.shapes.round import Capsule, Cone, Cylinder

PRIMITIVES: dict[str, Placed] = {
    "box": Box(centre=(0.1, -0.2, 0.3), size=(1.0, 0.6, 0.4)),
    "rounded box": Box(lower=(-0.5, -0.4, -0.3), upper=(0.5, 0.4, 0.3), rounding=0.1),
    "turned box": Box(centre=(0.1, 0.0, 0.2), size=(0.9, 0.5, 0.4), rotate=(20, 40, 60), scale=0.8),
    "sphere": Sphere(centre=(0.2, 0.1, -0.1), radius=0.5),
    "cylinder": Cylinder(start=(-0.3, -0.2, 0.1), end=(0.4, 0.3, -0.1), radius=0.35),
    "capsule": Capsule(start=(-0.3, -0.2, 0.1), end=(0.4, 0.3, -0.1), radius=0.25),
    "cone": Cone(start=(0.0, -0.4, 0.0), end=(0.2, 0.5, 0.1), start_radius=0.5),
    "truncated cone": Cone(start=(0.0, -0.3, 0.1), end=(0.2, 0.4, 0.0), start_radius=0.2, end_radius=0.5),
    "torus": Torus(centre=(0.1, 0.0, 0.0), axis=(1.0, 2.0, 0.5), radius=0.5, tube=0.2),
    "plane": Slab(point=(0.0, 0.1, 0.0), normal=(0.3, 1.0, -0.2), thickness=0.3),
    "half-space": HalfSpace(point=(0.1, 0.1, 0.0), normal=(0.3, 1.0, -0.2)),
}
BOUNDED = [name for name in PRIMITIVES if name not in ("plane", "half-space")]


def _points(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (count, 3))


def _surface_cloud(shape: Placed, count: int) -> np.ndarray:
    """Points on the surface: random points projected by d grad d until |d| vanishes."""
    cloud = _points(count, seed=2)
    for _ in range(40):
        cloud -= shape.distance(cloud)[:, None] * _gradient(shape, cloud)
    return cloud[np.abs(shape.distance(cloud)) < 1e-9]


def _gradient(shape: Placed, points: np.ndarray, h: float = 1e-6) -> np.ndarray:
    columns = [shape.distance(points + h * e) - shape.distance(points - h * e) for e in np.eye(3)]
    return np.stack(columns, axis=1) / (2 * h)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_gradient_has_length_one(name: str) -> None:
    slope = np.linalg.norm(_gradient(PRIMITIVES[name], _points(4000)), axis=1)
    # Creases of the distance (edges' bisectors) are met by a few points in thousands.
    assert np.mean(np.abs(slope - 1.0) < 1e-6) > 0.995


@pytest.mark.parametrize("name", BOUNDED)
def test_distance_is_that_of_the_nearest_surface_point(name: str) -> None:
    shape = PRIMITIVES[name]
    cloud = _surface_cloud(shape, 60000)
    points = _points(500)
    brute, _ = cKDTree(cloud).query(points)
    d = np.abs(shape.distance(points))
    assert len(cloud) > 20000
    assert np.all(d <= brute + 1e-8)
    # The cloud has a point within about 0.03 of every surface point.
    assert np.all(brute <= np.sqrt(d**2 + 0.1 * 0.1))
    assert np.mean(brute - d) < 0.003


VOLUMES = {
    "box": 1.0 * 0.6 * 0.4,
    "turned box": 0.9 * 0.5 * 0.4 * 0.8**3,
    "sphere": 4 / 3 * np.pi * 0.5**3,
    "cylinder": np.pi * 0.35**2 * np.linalg.norm([0.7, 0.5, 0.2]),
    "capsule": np.pi * 0.25**2 * (np.linalg.norm([0.7, 0.5, 0.2]) + 4 / 3 * 0.25),
    "cone": np.pi * 0.5**2 * np.linalg.norm([0.2, 0.9, 0.1]) / 3,
    "truncated cone": np.pi / 3 * np.linalg.norm([0.2, 0.7, 0.1]) * (0.2**2 + 0.2 * 0.5 + 0.5**2),
    "torus": 2 * np.pi**2 * 0.5 * 0.2**2,
}


@pytest.mark.parametrize("name", VOLUMES)
def test_the_negative_side_has_the_volume_of_the_shape(name: str) -> None:
    points = _points(400_000)
    volume = np.mean(PRIMITIVES[name].distance(points) < 0) * 2.4**3
    # Standard deviation of the estimate: 2.4^3 sqrt(p (1 - p) / n), with p = V / 2.4^3.
    deviation = np.sqrt(VOLUMES[name] * 2.4**3 / len(points))
    assert abs(volume - VOLUMES[name]) < 4 * deviation


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_are_tight_around_the_surface(name: str) -> None:
    shape = PRIMITIVES[name]
    cloud = _surface_cloud(shape, 40000)
    lower, upper = shape.bounds()
    assert np.all(cloud >= lower - 1e-8) and np.all(cloud <= upper + 1e-8)
    if name != "turned box":  # a turned shape gets the box around its turned box
        assert np.allclose(cloud.min(axis=0), lower, atol=0.05)
        assert np.allclose(cloud.max(axis=0), upper, atol=0.05)


def test_half_space_is_behind_its_normal_and_bounded_only_there() -> None:
    floor = HalfSpace(point=(0, 0.5, 0), normal=(0, 2, 0))
    assert floor.distance(np.array([[3.0, 0.2, 1.0], [0.0, 0.9, 0.0]])) == pytest.approx([-0.3, 0.4])
    lower, upper = floor.bounds()
    assert upper[1] == 0.5 and np.isinf(lower).all() and np.isinf(upper[[0, 2]]).all()


@pytest.mark.parametrize(
    "shape",
    [
        Box(lower=(0.0, 0.0), upper=(1.0, 0.5)),
        Sphere(centre=(0.5, 0.5), radius=0.2),
        Cylinder(start=(0.0, 0.1), end=(0.5, 0.3), radius=0.1),
        Capsule(start=(0.0, 0.1), end=(0.5, 0.3), radius=0.1),
    ],
    ids=lambda shape: shape.kind,
)
def test_flat_shapes_do_not_depend_on_z(shape: Placed) -> None:
    points = _points(200)
    moved = points + np.array([0.0, 0.0, 7.0])
    assert np.array_equal(shape.distance(points), shape.distance(moved))
    assert shape.bounds()[1][2] == np.inf


def test_rotation_turns_about_the_centre_x_then_y_then_z() -> None:
    # A rod along x at (1, 0, 0): 90 degrees about z makes it stand up where it is.
    rod = Box(centre=(1, 0, 0), size=(1.0, 0.2, 0.2), rotate=(0, 0, 90))
    assert rod.distance(np.array([[1.0, 0.4, 0.0], [1.4, 0.0, 0.0]])) == pytest.approx([-0.1, 0.3])
    # x then z: the rod along z goes to -y by the turn about x, then to +x by the turn about z.
    rod = Box(centre=(0, 0, 0.5), size=(0.2, 0.2, 1.0), rotate=(90, 0, 90), pivot=(0, 0, 0))
    assert rod.centre_point() == pytest.approx([0.5, 0.0, 0.0], abs=1e-12)


def test_translate_and_scale_act_about_the_centre() -> None:
    ball = Sphere(centre=(1, 0, 0), radius=0.5, scale=2.0, translate=(0, 1, 0))
    assert ball.distance(np.array([[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]])) == pytest.approx([-1.0, 1.0])
    assert ball.bounds()[1] == pytest.approx([2.0, 2.0, 1.0])


def test_blocks_do_not_change_the_answer() -> None:
    points = _points(50_000)
    shape = PRIMITIVES["turned box"]
    alone = np.concatenate([shape.distance(part) for part in np.array_split(points, 7)])
    assert np.array_equal(shape.distance(points), alone)


def test_a_pose_moves_the_shape() -> None:
    from glug.scene.shapes.transform import rotation_matrix

    shape, R, x = PRIMITIVES["cone"], rotation_matrix((10, 20, 30)), np.array([0.1, 0.2, 0.3])
    points = _points(1000)
    moved = points @ R.T + x
    assert shape.distance(moved, R, x) == pytest.approx(shape.distance(points), abs=1e-12)
