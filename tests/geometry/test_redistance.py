"""Redistancing gives distances near the surface and does not move it."""

import numpy as np

from glug.geometry.redistance import redistance
from glug.grids.regular import CENTRE, Grid


def sphere(n: int) -> tuple[Grid, np.ndarray]:
    grid = Grid(1.0 / n, (n, n, n))
    return grid, (np.linalg.norm(grid.points(CENTRE) - (0.52, 0.49, 0.5), axis=-1) - 0.3).astype(np.float32)


def test_distance_of_a_sphere_is_recovered_from_its_near_samples():
    grid, exact = sphere(48)
    phi = np.where(np.abs(exact) < 1.1 * grid.dx, exact, np.sign(exact)).astype(np.float32)
    redistance(phi, grid.dx, 4)
    near = np.abs(exact) < 3 * grid.dx
    assert np.abs(phi - exact)[near].max() < 0.35 * grid.dx  # first order, as the eikonal stencil
    assert np.abs(phi - exact)[near].mean() < 0.08 * grid.dx


def test_zero_level_stays_where_it_is():
    grid, phi = sphere(32)
    before = phi.copy()
    redistance(phi, grid.dx, 4)
    assert np.array_equal(phi < 0, before < 0)
    for axis in range(3):
        low, high = np.moveaxis(before, axis, 0)[:-1], np.moveaxis(before, axis, 0)[1:]
        crossing = (low < 0) != (high < 0)
        after_low, after_high = np.moveaxis(phi, axis, 0)[:-1], np.moveaxis(phi, axis, 0)[1:]
        before_share = low[crossing] / (low - high)[crossing]
        after_share = after_low[crossing] / (after_low - after_high)[crossing]
        assert np.abs(before_share - after_share).max() < 1e-5


def test_values_are_clamped_far_away():
    grid, phi = sphere(48)
    redistance(phi, grid.dx, 4)
    assert np.isclose(np.abs(phi).max(), 4 * grid.dx)
