"""Solids at least half a cell thick never leak, however they lie on the grid."""

import numpy as np
import pytest
import scipy.ndimage

from glug.geometry.solids.field import Walls, sample_solids
from glug.geometry.solids.kernels_thin import join_samples
from glug.grids.connected import label_parts
from glug.grids.regular import Grid

OPEN = Walls((-np.inf,) * 3, (np.inf,) * 3)


class Plate:
    """An endless plate."""

    moving = False

    def __init__(self, normal, offset, thickness):
        self.normal = np.asarray(normal, float) / np.linalg.norm(normal)
        self.offset, self.half = offset, 0.5 * thickness

    def distance(self, points, t=0.0):
        return np.abs(points @ self.normal - self.offset) - self.half

    def velocity(self, points, t=0.0):
        return np.zeros_like(points)

    def bounds(self, t=0.0):
        return np.full(3, -np.inf), np.full(3, np.inf)


def sides_meet(thickness: float, normal, offset: float) -> bool:
    """Whether a cell on one side of the plate is connected to one on the other."""
    grid = Grid(1.0, (12, 12, 12))
    plate = Plate(normal, offset, thickness)
    area = sample_solids(grid, OPEN, [plate], 0.0).area
    label, _ = label_parts(np.ones(grid.shape, np.uint8), area)
    side = grid.points((0.5, 0.5, 0.5)) @ plate.normal - offset
    far = np.abs(side) > 1.5
    return bool(set(label[far & (side < 0)]) & set(label[far & (side > 0)]))


@pytest.mark.parametrize("seed", range(40))
def test_half_cell_plate_separates_its_sides(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3) if seed % 4 else np.eye(3)[seed // 4 % 3] + 1e-9
    offset = float(np.full(3, 6.0) @ (normal / np.linalg.norm(normal)) + rng.uniform(-0.5, 0.5))
    assert not sides_meet(0.5001, normal, offset)


def test_a_plate_that_no_half_cell_sample_can_see_does_leak():
    """Negative control: a plate of a fifth of a cell between two sample planes is invisible."""
    assert sides_meet(0.2, (1.0, 0.0, 0.0), 6.25)


@pytest.mark.parametrize("axis", range(3))
def test_a_solid_beside_the_window_is_not_there(axis):
    class Ball:
        moving = False
        centre = np.where(np.arange(3) == axis, 40.0, 6.0)

        def distance(self, points, t=0.0):
            return np.linalg.norm(points - self.centre, axis=1) - 2.0

        def bounds(self, t=0.0):
            return self.centre - 2.0, self.centre + 2.0

    grid = Grid(1.0, (12, 12, 12))
    with_ball, without = (sample_solids(grid, OPEN, solids, 0.0) for solids in ([Ball()], []))
    for a, b in zip(with_ball.area, without.area):
        np.testing.assert_array_equal(a, b)


def test_the_largest_part_of_a_cell_is_that_of_a_plain_search():
    rng = np.random.default_rng(1)
    fine = (rng.random((300, 3, 3, 3)) - rng.uniform(0.2, 0.8, (300, 1, 1, 1))).astype(np.float32)
    parts, hides = np.empty(300, np.int64), np.empty(300, np.bool_)
    join_samples(fine.reshape(-1, 27), parts, hides)
    several = 0
    for samples, bits, hidden in zip(fine, parts, hides):
        label, count = scipy.ndimage.label(samples > 0.0)
        sizes = np.bincount(label.ravel(), minlength=2)[1:]
        kept = ((bits >> np.arange(27)) & 1).reshape(3, 3, 3).astype(bool)
        assert not count or (kept == (label == label[kept].max())).all()
        assert kept.sum() == sizes.max()
        lines = [np.moveaxis(samples > 0.0, a, 0) for a in range(3)]
        assert hidden == any((low & ~middle & high).any() for low, middle, high in lines)
        several += count > 1
    assert several > 100  # negative control: to keep all open samples would be wrong here
