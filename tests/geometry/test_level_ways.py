"""The way out of solids on which the liquid beside them is read: level where there is room, else along normals."""

import math

import numpy as np
import pytest

from glug.geometry.kernels_liquid import leave_wall
from glug.geometry.liquid import NOWHERE, IntoSolids, liquid_distance
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, NODE, Grid
from glug.jit import kernel
from glug.particles.storage import Particles

UP = np.array([0.0, 1.0, 0.0], np.float32)
REACH = 1.5
GRID = Grid(1.0, (24, 16, 12))


@kernel
def left(nodes, up, x, y, z):
    return leave_wall(nodes, np.float32(1.0), np.float32(REACH), up, np.float32(x), np.float32(y), np.float32(z))


def slope(degrees, at=(12.0, 8.0)):
    """The distance of a beach at the corners of cells; it rises along x."""
    x = GRID.points(NODE)
    a = math.radians(degrees)
    return (math.cos(a) * (x[..., 1] - at[1]) - math.sin(a) * (x[..., 0] - at[0])).astype(np.float32)


def test_out_of_a_beach_it_is_level():
    x, y, z = left(slope(20), UP, 12.0, 8.0, 6.0)
    assert (y, z) == pytest.approx((8.0, 6.0), abs=1e-4)
    assert x == pytest.approx(12.0 - REACH / math.sin(math.radians(20)), abs=1e-3)


@pytest.mark.parametrize(("degrees", "up"), [(20, NOWHERE), (0.5, UP)], ids=["nothing falls", "a flat floor"])
def test_else_it_is_along_the_normal(degrees, up):
    a = math.radians(degrees)
    x, y, z = left(slope(degrees), up, 12.0, 8.0, 6.0)
    assert (x, y, z) == pytest.approx((12.0 - REACH * math.sin(a), 8.0 + REACH * math.cos(a), 6.0), abs=1e-3)


def test_without_room_at_that_height_it_is_along_the_normals():
    """In the wedge between a beach and a wall."""
    nodes = np.minimum(slope(20), GRID.points(NODE)[..., 0] - 10.0).astype(np.float32)
    x, y, _ = left(nodes, UP, 12.0, 8.0, 6.0)
    assert y > 8.5
    assert (math.cos(math.radians(20)) * (y - 8.0) - math.sin(math.radians(20)) * (x - 12.0)) > 0.9 * REACH


def test_a_beach_before_a_wave_is_dry():
    """Water five cells high beside a beach of 10 degrees, which it has not reached yet."""
    a = math.radians(10)
    grid = Grid(1.0, (40, 16, 8))
    beach = math.cos(a) * (grid.points(NODE)[..., 1] - 4.0) - math.sin(a) * (grid.points(NODE)[..., 0] - 16.0)
    solid = sample_solids(grid, Walls((-np.inf,) * 3, (np.inf,) * 3), [], 0.0)
    nodes = np.minimum(solid.distance, beach).astype(np.float32)
    x = (grid.points(CENTRE)[:, :, :, None] + 0.25 * np.array(list(np.ndindex(2, 2, 2)))[None] * 2 - 0.25).reshape(
        -1, 3
    )
    above = math.cos(a) * (x[:, 1] - 4.0) - math.sin(a) * (x[:, 0] - 16.0) > 0.0
    particles = Particles.empty()
    particles.append(x[above & (x[:, 0] < 18.0) & (x[:, 1] < 10.0)].astype(np.float32), volume=np.float32(1 / 8))
    particles.sort(grid)
    phi = liquid_distance(particles.position, particles.volume, particles.start, grid, nodes, into=IntoSolids(UP))
    centre = grid.points(CENTRE)
    before = (centre[..., 0] > 20.0) & (
        math.cos(a) * (centre[..., 1] - 4.0) - math.sin(a) * (centre[..., 0] - 16.0) > 0
    )
    assert (phi[before] > 0.0).all()
    assert phi[17, 7, 4] < 0.0
