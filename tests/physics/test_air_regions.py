"""Air regions: connected through open faces only, by volume; open ones reach the border of the window."""

import numpy as np
import pytest
from scipy import ndimage

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.connected import label_parts
from glug.grids.regular import CENTRE, Grid
from glug.physics.air.regions import find_air_regions

CLOSED = Walls((0.0,) * 3, (1.0,) * 3)


def box(n: int = 24) -> Grid:
    return Grid(1.0 / n, (n + 6,) * 3, (-3,) * 3)


def ball(grid: Grid, centre, radius: float) -> np.ndarray:
    return np.linalg.norm(grid.points(CENTRE) - centre, axis=-1) - radius


def test_labels_equal_those_of_scipy():
    rng = np.random.default_rng(3)
    member = (rng.random((37, 20, 29)) < 0.35).astype(np.uint8)
    area = tuple(np.ones([n + (a == b) for b, n in enumerate(member.shape)], np.float32) for a in range(3))
    label, count = label_parts(member, area)
    expected, number = ndimage.label(member)
    assert count == number
    np.testing.assert_array_equal(label, expected - 1)  # both number parts by their first cells


def test_nested_drop_leaves_one_region():
    grid = box()
    solid = sample_solids(grid, CLOSED, [], 0.0)
    phi = np.maximum(-ball(grid, 0.5, 0.35), -1.0)
    phi = np.minimum(phi, ball(grid, 0.5, 0.15))  # a drop inside the bubble
    regions = find_air_regions((phi < 0).astype(np.uint8), solid.area)
    assert len(regions) == 1
    assert not regions.open.any()


@pytest.mark.parametrize("upper, is_open", [(np.inf, True), (1.0, False)])
def test_air_above_a_pool_is_open_when_the_top_is(upper: float, is_open: bool):
    grid = box()
    solid = sample_solids(grid, Walls((0.0,) * 3, (1.0, upper, 1.0)), [], 0.0)
    phi = np.minimum(grid.points(CENTRE)[..., 1] - 0.7, 1.0)
    phi = np.maximum(phi, -ball(grid, (0.5, 0.35, 0.5), 0.2))  # and a bubble below
    liquid = ((phi < 0) & (solid.openness > 0)).astype(np.uint8)
    regions = find_air_regions(liquid, solid.area)
    assert sorted(regions.open) == sorted([False, is_open])
    bubble = int(np.argmin(regions.cells))
    volume = regions.volume(grid, solid.openness, liquid.astype(np.float32))
    assert volume[bubble] == pytest.approx(regions.cells[bubble] * grid.dx**3)


class Plate:
    """A wall thinner than a cell across the box."""

    moving = False

    def distance(self, points, t=0.0):
        return np.abs(points[:, 0] - 0.507) - 0.01

    def velocity(self, points, t=0.0):
        return np.zeros_like(points)

    def bounds(self, t=0.0):
        return np.array([0.49, -1.0, -1.0]), np.array([0.52, 2.0, 2.0])


def test_a_thin_wall_separates_two_regions():
    grid = box()
    for solids, count in (([Plate()], 2), ([], 1)):
        solid = sample_solids(grid, CLOSED, solids, 0.0)
        assert len(find_air_regions(np.zeros(grid.shape, np.uint8), solid.area)) == count
