"""Two liquids of different densities, in 2D: a heavy disc sinks, and as an affine region it sinks alike."""

import numpy as np
import pytest

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


def test_a_disc_of_ten_times_the_density_sinks_alike_as_an_affine_region():
    two_phase = fallen(10_000.0, 0)
    assert two_phase > 0.1
    assert fallen(10_000.0, "whole") == pytest.approx(two_phase, rel=0.05)


def test_a_light_disc_rises_and_a_disc_of_the_same_density_stays():
    assert fallen(100.0, "whole") < -0.05
    assert abs(fallen(1000.0, 0)) < 0.002  # a tenth of a cell
