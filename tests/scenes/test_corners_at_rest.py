"""A block of pitch stands: the particles at its corners do not fall past it.

A particle just outside a corner reads faces as many samples away from the liquid as there are axes. Taken for spray,
these fell with gravity, and the particles of corners with them, at centimetres a second.
"""

import numpy as np
import pytest

import glug
from glug.physics import velocity

CREEP = 1e-5  # [m/s]; rho g h^2 / mu = 1.6e-6 is what the block flows at


def fastest(steps=2):
    shape = {"kind": "box", "lower": [0.3, 0.0, 0.3], "upper": [0.7, 0.4, 0.7]}
    scene = {
        "name": "pitch",
        "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
        "liquids": {"pitch": {"density": 1000.0, "viscosity": 1e9}},
        "volumes": [{"liquid": "pitch", "shape": shape}],
    }
    simulation = glug.Simulation(scene)
    for _ in range(steps):
        simulation.step_once()
    return float(np.linalg.norm(simulation.state.particles.velocity, axis=1).max())


def test_corners_stand():
    assert fastest() < CREEP


def test_corners_fall_where_two_layers_belong_to_the_liquid(monkeypatch):
    usual = velocity.extrapolate_linearly
    monkeypatch.setattr(velocity, "extrapolate_linearly", lambda u, known, layers: usual(u, known, min(layers, 2)))
    assert fastest() > 1e3 * CREEP


@pytest.mark.parametrize("resolution", [10, 13])
def test_a_tank_of_it_rests(resolution):
    shape = {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [1.0, 0.47, 1.0]}
    scene = {
        "name": "pitch",
        "domain": {"size": [1.0, 1.0, 1.0], "resolution": resolution},
        "liquids": {"pitch": {"density": 1000.0, "viscosity": 1e9}},
        "volumes": [{"liquid": "pitch", "shape": shape}],
    }
    simulation = glug.Simulation(scene)
    simulation.step_once()
    assert np.linalg.norm(simulation.state.particles.velocity, axis=1).max() < CREEP
