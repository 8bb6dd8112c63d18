"""Liquids on Voronoi cells: at rest, ringing, rough, in thin sheets and beside thin gaps; each with its control."""

import math

import numpy as np
import pytest

from glug import jit
from glug.geometry.embedded.sites import Placement
from glug.physics.voronoi import liquid
from glug.physics.voronoi.liquid import Method, VoronoiLiquid
from glug.studies.problems import voronoi as problems
from glug.studies.validate.unstructured.tetrahedra import above_floor

FINE_LATTICE = Placement("lattice", lattice=1.0)


@pytest.mark.parametrize("seed", [1, 2])
def test_liquid_rests_with_any_points(seed):
    points = problems.scattered_points(600, 2, 1.4, seed)
    assert problems.motion_at_rest(points, above_floor) < 1e-10
    assert problems.motion_at_rest(points, above_floor, ghosts=False) > 0.1


@pytest.mark.parametrize("sites", ["surface", "irregular"])
def test_pressure_is_of_second_order(sites):
    coarse, fine = (
        problems.error_of_free_disc(n, None if sites == "surface" else problems.irregular_points(3.0 / n, 1.5, n))
        for n in (16, 128)
    )
    assert math.log2(coarse / fine) / 3.0 > 1.5


@pytest.mark.slow
def test_a_drop_rings_with_rayleighs_period_and_goes_on():
    period, kept = problems.period_and_kept(*problems.Disc(10).ring(2))
    assert period == pytest.approx(1.0, abs=0.01)
    assert kept > 0.97


@pytest.mark.slow
def test_between_sites_alone_a_drop_soon_stops():
    method = Method(interpolation="barycentric", compensated=False)
    _, kept = problems.period_and_kept(*problems.Disc(10, method).ring(2))
    assert kept < 0.8


def test_velocity_that_is_carried_keeps_its_energy():
    """And semi-Lagrangian steps alone lose most of it."""
    assert 0.85 < problems.carried_swirl(Method()) < 1.0
    assert problems.carried_swirl(Method(compensated=False)) < 0.4


@pytest.mark.slow
def test_noise_decays_and_without_fairing_stays(monkeypatch):
    first, last = problems.Disc(10).roughness(120)
    assert last < 0.2 * first
    monkeypatch.setattr(liquid, "FAIRING", 0.0)
    first, last = problems.Disc(10).roughness(120)
    assert last > 0.5 * first


def test_a_round_drop_stays_at_rest():
    disc = problems.Disc(10)
    drop = disc.liquid(1.0)
    for _ in range(20):
        drop.step(disc.dt)
    assert callable(drop.velocity)
    assert np.abs(drop.velocity(drop.surface.vertices)).max() < 1e-3


def test_every_pair_of_sites_at_a_vertex_has_a_face():
    counts = np.array([problems.missing_pairs(problems.random_curve(seed)) for seed in range(100)])
    assert counts[:, 0].sum() > 5000
    assert counts[:, 1].sum() == 0


@pytest.mark.slow
def test_every_pair_of_sites_at_a_vertex_has_a_face_in_space():
    counts = np.array([problems.missing_pairs(problems.random_surface(seed)) for seed in range(100)])
    assert counts[:, 0].sum() > 20000
    assert counts[:, 1].sum() == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_thin_sheet_falls(seed):
    assert problems.falling_sheet(0.05, Placement(), seed=seed) < 0.01


def test_a_lattice_does_not_see_a_thin_sheet():
    assert problems.falling_sheet(0.05, problems.ON_LATTICE) > 1.0


def test_discs_do_not_feel_each_other_through_a_gap():
    assert max(problems.felt_across(0.1, Placement(), seed) for seed in range(10)) < 1e-9


def test_discs_on_a_lattice_feel_each_other_through_a_gap():
    assert min(problems.felt_across(0.1, FINE_LATTICE, seed) for seed in range(5)) > 0.01


def test_a_pool_between_walls_stays_at_rest():
    water = VoronoiLiquid(problems.pool(0.5, 0.1), gravity=(0.0, -1.0), solid=problems.basin)
    for _ in range(10):
        water.step(0.05)
    x = water.surface.vertices
    top = x[(x[:, 1] > 0.3) & (np.abs(x[:, 0]) < 0.5)]
    assert len(top) > 6
    # Flat but beside the walls, where its edge is not quite still; the volume there is seen by the edge's height.
    assert np.abs(top[:, 1] - np.median(top[:, 1])).max() < 2e-4 * 0.1
    assert np.median(top[:, 1]) == pytest.approx(0.5, abs=3e-3 * 0.1)
    assert np.abs(water.velocity(top)).max() < 1e-4 * 10 * 0.05  # of what gravity alone would have made


@pytest.mark.slow
def test_a_wave_in_a_basin_has_its_period():
    period, kept = problems.period_and_kept(*problems.swinging_pool(0.05))
    assert period == pytest.approx(1.0, abs=0.03)
    assert kept > 0.85  # 20 cells to a wave


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_ball_has_rayleighs_frequencies(n):
    assert problems.Ball(10).omega2(n) == pytest.approx(1.0, abs=0.04)  # of the squares: 2 % of the frequencies


def test_steps_do_not_depend_on_threads():
    found = []
    for count in (1, 2):
        disc = problems.Disc(6)
        angle = 2.0 * np.pi * np.arange(disc.vertices) / disc.vertices
        drop = disc.liquid(1.0 + 0.1 * np.cos(3.0 * angle))
        with jit.threads(count):
            for _ in range(5):
                drop.step(disc.dt)
        found.append(drop.surface.vertices)
    np.testing.assert_array_equal(*found)
