"""Surfaces turned back into distances."""

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.surface import extract
from glug.view.trace.voxels import mesh_distance, slab_distance

H = 0.02  # spacing of the samples [m]


def mesh(values, h=H, depth=None) -> SurfaceMesh:
    vertices, triangles = extract(SampledDistance(values.astype(np.float32), (-0.5, -0.5, -0.5), h), depth)
    return SurfaceMesh(vertices, triangles, np.zeros_like(vertices))


def lattice(n=51):
    axis = -0.5 + H * np.arange(n)
    return np.meshgrid(axis, axis, axis, indexing="ij")


def positions(distance: SampledDistance) -> np.ndarray:
    index = np.indices(distance.values.shape).reshape(3, -1).T
    return np.asarray(distance.corner) + distance.spacing * index


def test_the_distance_to_a_sphere_comes_back():
    x, y, z = lattice()
    distance = mesh_distance(mesh(np.sqrt(x**2 + y**2 + z**2) - 0.3), H)
    true = np.linalg.norm(positions(distance), axis=1) - 0.3
    found = distance.values.ravel()
    near = np.abs(true) < H
    # Marching cubes cuts h^2 / 8r = 0.008 h off the curve; a tenth of a sample is far below a pixel.
    assert np.abs(found - true)[near].max() < 0.1 * H
    far = np.abs(true) > 0.5 * H
    np.testing.assert_array_equal(np.sign(found[far]), np.sign(true[far]))


def test_two_sheets_near_each_other_stay_apart():
    x, y, z = lattice()
    sheets = np.abs(np.abs(y) - 0.06) - 0.04  # four centimetres of air between two sheets, two samples
    values = np.maximum(sheets, np.maximum(np.abs(x), np.abs(z)) - 0.3)
    distance = mesh_distance(mesh(values), H)
    where = positions(distance)
    middle = (np.abs(where[:, 1]) < 0.25 * H) & (np.abs(where[:, [0, 2]]).max(axis=1) < 0.2)
    inside = (np.abs(np.abs(where[:, 1]) - 0.06) < 0.25 * H) & (np.abs(where[:, [0, 2]]).max(axis=1) < 0.2)
    assert middle.any() and inside.any()
    assert (distance.values.ravel()[middle] > 0).all()
    assert (distance.values.ravel()[inside] < 0).all()


def test_no_surface_is_no_liquid():
    empty = SurfaceMesh(np.empty((0, 3), np.float32), np.empty((0, 3), np.int32), np.empty((0, 3), np.float32))
    assert (mesh_distance(empty, H).values > 0).all()
    assert (slab_distance(empty, H, np.zeros(3), np.ones(3)).values > 0).all()


def test_the_distance_to_a_flat_disc_comes_back():
    axis = -0.5 + H * np.arange(51)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    disc = mesh((np.hypot(x, y) - 0.3)[:, :, None], depth=H)
    distance = slab_distance(disc, H, np.full(3, -0.5), np.full(3, 0.5))
    where = positions(distance)
    true = np.hypot(where[:, 0], where[:, 1]) - 0.3
    assert distance.spacing == H
    near = np.abs(true) < 2 * H
    # Drawn with pixels of h / 4, whose borders belong to the disc.
    assert np.abs(distance.values.ravel() - true)[near].max() < 0.25 * H
