"""Surface tension: curvature, the pressure of it in projections and Stokes solves, and steps without a limit."""

import numpy as np
import pytest

from glug.grids.regular import CENTRE, Grid
from glug.physics.tension.pressure import capillary_step, held_back, push, surface_pressure
from glug.physics.tension.surface import SurfacePoints

RADIUS = 8.0


def round_drop(dim: int, sign: float = 1.0) -> tuple[np.ndarray, Grid, np.ndarray]:
    """The exact distance of a drop (or of a bubble), and no solid anywhere."""
    n = 24
    grid = Grid(0.1, (n, n, n if dim == 3 else 1), dim=dim)
    x = grid.points(CENTRE)[..., :dim] - (1.2, 1.23, 1.17)[:dim]
    phi = sign * (np.linalg.norm(x, axis=-1) - RADIUS * grid.dx)
    return phi.astype(np.float32), grid, np.full([m + 1 for m in grid.shape], 9.0, np.float32)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_curvature_of_a_round_drop_and_of_a_bubble(dim, sign):
    points = SurfacePoints.find(*round_drop(dim, sign))
    kappa = points.curvature * RADIUS / (dim - 1)
    assert abs((kappa * points.area).sum() / points.area.sum() - sign) < 0.01
    assert np.abs(kappa - sign).max() < 0.02


@pytest.mark.parametrize("dim", [2, 3])
def test_points_stand_for_the_whole_surface_once(dim):
    points = SurfacePoints.find(*round_drop(dim))
    whole = 2 * np.pi * RADIUS if dim == 2 else 4 * np.pi * RADIUS**2
    assert abs(points.area.sum() / whole - 1.0) < 0.01


def test_filter_leaves_no_wave_a_negative_share():
    """A single mean over neighbours does (the control), and then short waves grow."""
    phi, grid, nodes = round_drop(2)
    points = SurfacePoints.find(phi, grid, nodes)
    whole = np.eye(len(points))
    assert np.linalg.eigvals(points.filtered(whole)).real.min() > -1e-3
    once = points.mean.toarray()
    assert np.linalg.eigvals(2 * once - once @ once).real.min() < -0.02


def test_filter_leaves_a_constant_and_nearly_a_long_wave():
    points = SurfacePoints.find(*round_drop(2))
    angle = np.arctan2(*(points.position[:, :2] - (12.0, 12.3)).T)
    assert np.abs(points.filtered(np.ones(len(points))) - 1.0).max() < 1e-12
    wave = np.cos(2 * angle)
    blurred = 1.0 - np.exp(-0.5 * 2 * (3.5**2 / 7) * (2 / RADIUS) ** 2)  # 1 - S^2, S having the variance r^2 / 7
    share = (1.0 - blurred**2) * (1.0 + 0.8 * blurred)
    assert (points.filtered(wave) @ wave) / (wave @ wave) == pytest.approx(share, rel=0.02)


def test_long_steps_hold_short_waves_back_and_leave_constants():
    points = SurfacePoints.find(*round_drop(2))
    angle = np.arctan2(*(points.position[:, :2] - (12.0, 12.3)).T)
    assert np.abs(held_back(points, np.ones(len(points)), 10.0) - 1.0).max() < 1e-4
    shares = []
    for n in (2, 4):
        wave = np.cos(n * angle)
        shares.append((held_back(points, wave, 2.5) @ wave) / (wave @ wave))
    k = np.array([2, 4]) / RADIUS
    y = k * (0.25 * 2.5**2) ** (1 / 3)
    assert shares == pytest.approx(1 / (1 + (y**2 + y**4) / 2), rel=0.03)


def test_no_wave_is_turned_round_and_those_that_the_filter_leaves_out_are_not_held_back():
    points = SurfacePoints.find(*round_drop(2))
    whole = np.stack([held_back(points, row, 2.5) for row in np.eye(len(points))], axis=1)
    shares = np.linalg.eigvals(whole).real
    assert 0.5 < shares.min() < 0.95 and 0.999 < shares.max() < 1.0 + 1e-4
    filtered = np.stack([points.filtered(row) for row in np.eye(len(points))], axis=1)
    short = np.linalg.eigh(0.5 * (filtered + filtered.T))[1][:, :5]  # of which it leaves least
    assert (np.einsum("ik,ij,jk->k", short, whole, short) > 0.9).all()


def test_no_surface_has_no_curvature():
    grid = Grid(0.1, (8, 8, 8))
    points = SurfacePoints.find(np.full(grid.shape, -1.0, np.float32), grid, np.ones((9, 9, 9), np.float32))
    assert len(points) == 0 and len(held_back(points, points.curvature, 1.0)) == 0


def test_pressure_of_the_surface_has_the_sign_of_its_curvature():
    for sign in (1.0, -1.0):
        phi, grid, nodes = round_drop(2, sign)
        points = SurfacePoints.find(phi, grid, nodes)
        field = surface_pressure(points.across_faces(points.curvature), phi, grid)
        beside = np.abs(phi) < 0.4 * grid.dx
        assert np.abs(field[beside] * RADIUS - sign).max() < 0.03


def test_a_push_is_across_links_alone():
    phi, grid, nodes = round_drop(2)
    points = SurfacePoints.find(phi, grid, nodes)
    jump = points.across_faces(points.curvature)
    velocity, links, area = grid.staggered(), grid.staggered(), grid.staggered()
    push(velocity, jump, links, area)
    assert not any(u.any() for u in velocity)
    for link, open_ in zip(links, area):
        link[:], open_[:] = 2.0, 1.0
    push(velocity, jump, links, area)
    assert np.array_equal(velocity[0], -2.0 * jump[0])


def test_capillary_step():
    assert capillary_step(0.0728, 998.2, 1e-3) == pytest.approx(3.703e-3, rel=1e-3)
    assert capillary_step(0.0, 998.2, 1e-3) == np.inf
