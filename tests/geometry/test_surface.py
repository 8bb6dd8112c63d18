"""Meshes of sampled distances: second-order, closed, outward."""

import numpy as np
import pytest
import trimesh

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.surface import extract, surface_mesh

CENTRE = np.array([0.5013, 0.4971, 0.507])
RADIUS = 0.3


def sphere(n: int, centre: np.ndarray = CENTRE) -> SampledDistance:
    x = np.arange(n) / n
    points = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1)
    values = np.linalg.norm(points - centre, axis=-1) - RADIUS
    return SampledDistance(values.astype(np.float32), (0.0, 0.0, 0.0), 1.0 / n)


def closed(vertices: np.ndarray, triangles: np.ndarray) -> bool:
    return trimesh.Trimesh(vertices, triangles, process=False).is_watertight


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    return SurfaceMesh(vertices, triangles, vertices).volume()


def test_sphere_volume_and_area_converge_at_second_order():
    exact = 4.0 / 3.0 * np.pi * RADIUS**3, 4.0 * np.pi * RADIUS**2
    errors = []
    for n in (24, 48, 96):
        vertices, triangles = extract(sphere(n))
        area = trimesh.Trimesh(vertices, triangles, process=False).area
        errors.append((abs(volume(vertices, triangles) / exact[0] - 1), abs(area / exact[1] - 1)))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (orders > 1.8).all(), orders


def test_sphere_normals_point_outward():
    vertices, triangles = extract(sphere(32))
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3 - CENTRE)
    assert (outward > 0).all()


def test_liquid_at_the_border_is_capped_on_the_border():
    vertices, triangles = extract(sphere(32, centre=np.array([0.0, 0.5, 0.5])))
    assert closed(vertices, triangles)
    assert vertices[:, 0].min() == 0.0
    assert volume(vertices, triangles) == pytest.approx(2.0 / 3.0 * np.pi * RADIUS**3, rel=0.01)


def test_samples_full_of_liquid_give_their_box():
    full = SampledDistance(np.full((5, 4, 3), -0.1, np.float32), (1.0, 2.0, 3.0), 0.1)
    vertices, triangles = extract(full)
    assert closed(vertices, triangles)
    np.testing.assert_allclose(vertices.max(0) - vertices.min(0), [0.4, 0.3, 0.2], rtol=1e-5)


def test_random_values_with_exact_zeros_give_closed_meshes():
    generator = np.random.default_rng(3)
    for _ in range(10):
        values = generator.integers(-2, 3, size=(9, 8, 7)).astype(np.float32)
        assert closed(*extract(SampledDistance(values, (0.0, 0.0, 0.0), 1.0)))


def test_no_liquid_gives_an_empty_mesh():
    mesh = surface_mesh(SampledDistance(np.ones((4, 4, 4), np.float32), (0.0, 0.0, 0.0), 1.0), lambda p: p)
    assert mesh.vertices.shape == (0, 3)
    assert mesh.triangles.shape == (0, 3)
    assert mesh.velocities.shape == (0, 3)
    assert mesh.volume() == 0.0


def test_one_layer_of_samples_becomes_a_slab():
    x = np.arange(64) / 64
    values = np.hypot(x[:, None] - 0.5, x[None, :] - 0.5) - RADIUS
    layer = SampledDistance(values[:, :, None].astype(np.float32), (0.0, 0.0, 0.05), 1 / 64)
    vertices, triangles = extract(layer, depth=0.1)
    assert closed(vertices, triangles)
    assert vertices[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert vertices[:, 2].max() == pytest.approx(0.1)
    assert volume(vertices, triangles) == pytest.approx(np.pi * RADIUS**2 * 0.1, rel=0.005)


def test_vertices_carry_the_velocity_at_their_place():
    mesh = surface_mesh(sphere(16), lambda points: 2.0 * points)
    np.testing.assert_array_equal(mesh.velocities, 2.0 * mesh.vertices)
    assert mesh.velocities.dtype == mesh.vertices.dtype == np.float32
    assert mesh.triangles.dtype == np.int32
