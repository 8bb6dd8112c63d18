"""Water rests where its surface meets solids: on beaches of any slope, around a ball, in a bowl.

Beside solids the surface goes on level (`leave_wall`). Along their normals it would be read where there is other
liquid, or none: beaches then throw water about at metres a second.
"""

import math

import numpy as np
import pytest

from glug.geometry.liquid import NOWHERE
from glug.simulation import Simulation
from glug.simulation.setting import Setting

FPS, LEVEL = 24, 0.5125
GDT = 9.81 / FPS  # [m/s]: what a particle that nothing holds gains in a step
BALL = {"kind": "sphere", "centre": [0.5, 0.45, 0.5], "radius": 0.2}
BOWL = {
    "kind": "difference",
    "parts": [
        {"kind": "box", "lower": [-0.5, -0.5, -0.5], "upper": [1.5, 0.7, 1.5]},
        {"kind": "sphere", "centre": [0.5, 0.7, 0.5], "radius": 0.42},
    ],
}


def beach(degrees):
    slope = math.radians(degrees)
    return {"kind": "half-space", "point": [1.8, LEVEL, 0.0], "normal": [-math.sin(slope), math.cos(slope), 0.0]}


def scene(shape, dim=3, length=1.0, depth=1.0):
    """A tank with cells of 1/24 m, filled to LEVEL."""
    solid = {name: value[:dim] if name in ("point", "normal", "centre") else value for name, value in shape.items()}
    return {
        "domain": {"size": [length, 1.0, depth][:dim], "resolution": round(24 * length)},
        "time": {"fps": FPS},
        "liquids": {"water": {"material": "water"}},
        "solids": [{"name": "solid", "shape": solid}],
        "volumes": [
            {"liquid": "water", "shape": {"kind": "box", "lower": [0.0] * dim, "upper": [length, LEVEL, depth][:dim]}}
        ],
    }


def unrest(described, seconds=2.0):
    """Speeds in the last second [g dt]: the fastest of any particle, and the mean (rms)."""
    simulation = Simulation(described)
    fastest, mean = 0.0, 0.0
    while simulation.state.time < seconds - 1e-9:
        simulation.step_once()
        if simulation.state.time > seconds - 1.0:
            squares = (simulation.state.particles.velocity.astype(np.float64) ** 2).sum(axis=1)
            fastest, mean = max(fastest, math.sqrt(squares.max()) / GDT), max(mean, math.sqrt(squares.mean()) / GDT)
    return fastest, mean


CASES = {
    "ball": scene(BALL),
    "bowl": scene(BOWL),
    "beach of 45 degrees": scene(beach(45), length=2.0, depth=0.25),
    "beach of 20 degrees": scene(beach(20), length=2.0, depth=0.25),
    "beach of 10 degrees": scene(beach(10), length=2.0, depth=0.25),
    "beach of 20 degrees in 2D": scene(beach(20), 2, length=2.0),
    "beach of 10 degrees in 2D": scene(beach(10), 2, length=2.0),
}


@pytest.mark.parametrize("name", CASES)
def test_water_rests_beside_solids(name):
    fastest, mean = unrest(CASES[name])
    assert fastest < 0.6
    assert mean < 0.06


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("ball", "beach of 45 degrees")])
def test_along_normals_of_solids_it_does_not(name, monkeypatch):
    monkeypatch.setattr(Setting, "up", NOWHERE)
    fastest, _ = unrest(CASES[name])
    assert fastest > 0.9
