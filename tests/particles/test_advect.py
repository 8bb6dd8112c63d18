"""Particles move by Ralston's third-order method, in bunches, in 2D and 3D, and never read beyond the grid."""

import numpy as np
import pytest

from glug.grids.regular import FACES, Grid
from glug.particles import kernels_motion as kernels

SHAPES = pytest.mark.parametrize("shape", [(9, 8, 7), (9, 8, 1)])
DX, DT = 0.1, 0.15


def moved(shape, position, velocity, most=8):
    grid = Grid(DX, shape, (0, 0, 0), dim=2 if shape[2] == 1 else 3)
    faces = tuple(velocity(grid.points(FACES[a]))[..., a].astype(np.float32) for a in range(3))
    position = position.astype(np.float32)
    kernels.advect(position, np.zeros(3, np.float32), np.float32(1 / DX), *faces, np.float32(DT), most)
    return position


def stirred(points):
    """A velocity that trilinear interpolation has exactly."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([0.3 + 0.8 * y, 0.2 - 0.5 * x, 0.1 + 0.0 * z], axis=-1)


def inside(shape, count):
    lower, size = np.array([3.0, 3.0, 3.0]), np.array(shape) - 6.0
    points = DX * (lower + np.random.default_rng(5).random((count, 3)) * size)
    points[:, 2] = 0.5 * DX if shape[2] == 1 else points[:, 2]
    return points


@SHAPES
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257])
def test_a_step_is_ralstons(shape, count):
    """In as many parts as a particle crosses cells, whatever others of its bunch do."""
    x = inside(shape, count)
    expected = x.copy()
    parts = 1 + (np.abs(stirred(x)).max(axis=1) * DT / DX).astype(int)
    assert count < 200 or set(parts) == {1, 2}
    for part in range(parts.max(initial=0)):
        h = np.where(part < parts, DT / parts, 0.0)[:, None]
        one = stirred(expected)
        two = stirred(expected + h / 2 * one)
        three = stirred(expected + 0.75 * h * two)
        expected += h / 9 * (2 * one + 3 * two + 4 * three)
    found = moved(shape, x, stirred)
    if shape[2] == 1:
        found, expected = found[:, :2], expected[:, :2]
    assert np.allclose(found, expected, atol=3e-7)


@SHAPES
def test_points_outside_take_the_velocity_at_the_border(shape):
    outside = np.array([[-5.0, 0.3, 0.3], [0.3, 90.0, 0.3], [0.3, 0.3, -7.0], [99.0, -99.0, 99.0]])
    found = moved(shape, outside, lambda points: np.ones_like(points) * [0.1, 0.2, 0.0])
    assert np.allclose(found - outside, [0.1 * DT, 0.2 * DT, 0.0], atol=1e-5)


@SHAPES
def test_what_is_not_a_number_harms_no_other_particle(shape):
    """Kernels have no bounds checks: such a point reads inside the grid, and stays what it is."""
    x = inside(shape, 300)
    x[3] = np.nan
    found = moved(shape, x, stirred)
    assert np.isnan(found[3]).all() and np.isfinite(np.delete(found, 3, axis=0)).all()
