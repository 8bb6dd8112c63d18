"""Liquids of different densities: mobility of faces; and in 2D a heavy disc sinks, as an affine region alike."""

import numpy as np
import pytest

from glug.grids.regular import CENTRE, Grid
from glug.physics.densities import mobility_of
from glug.simulation import Simulation

RADIUS, HEIGHT = 0.2, 0.9  # [m]


def fallen(density: float, tiles: int | str) -> float:
    """How far [m] the centroid of a disc of the other liquid comes down within 0.25 s."""
    disc = {"kind": "sphere", "centre": [0.5, HEIGHT], "radius": RADIUS}
    around = {"kind": "difference", "parts": [{"kind": "box", "lower": [0.0, 0.0], "upper": [1.0, 1.3]}, disc]}
    scene = {
        "domain": {"size": [1.0, 1.5], "resolution": 60},
        "time": {"fps": 24},
        "liquids": {
            "water": {"density": 1000.0, "viscosity": 0.0},
            "other": {"density": density, "viscosity": 0.0},
        },
        "volumes": [{"shape": around, "liquid": "water"}, {"shape": disc, "liquid": "other"}],
        "solver": {"viscosity": "none", "tiles": tiles, "tile_band": 2, "tile_liquid": "other"},
    }
    simulation = Simulation(scene)
    while simulation.state.frame < 6:
        simulation.step_once()
    particles = simulation.state.particles
    mine = particles.liquid[:, 0] == 1
    return HEIGHT - float(particles.position[mine, 1].mean(dtype=np.float64))


def test_mobility_is_that_of_the_shares_of_liquids_between_two_centres():
    """The heavier liquid lies below y = 3.75 cells, a quarter of the way from one centre to the next."""
    grid = Grid(1.0, (8, 8, 8))
    phi = (grid.points(CENTRE)[..., 1] - 3.75).astype(np.float32)
    across = mobility_of([phi], [5.0], grid)[1][4, :, 4]  # 3.5 and 4.5 are beside face 4
    assert across[1:-1] == pytest.approx([1 / 5] * 3 + [1 / (0.25 * 5 + 0.75)] + [1.0] * 3)


def test_a_disc_of_ten_times_the_density_sinks_alike_as_an_affine_region():
    two_phase = fallen(10_000.0, 0)
    assert two_phase > 0.1
    assert fallen(10_000.0, "whole") == pytest.approx(two_phase, rel=0.05)


def test_a_light_disc_rises_and_a_disc_of_the_same_density_stays():
    assert fallen(100.0, "whole") < -0.05
    assert abs(fallen(1000.0, 0)) < 0.002  # a tenth of a cell
