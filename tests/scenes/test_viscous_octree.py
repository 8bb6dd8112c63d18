"""Thick liquids on an octree: at rest as still as on the regular grid, a beam that sags alike, a ball that turns on."""

from typing import Any

import numpy as np
import pytest

import glug
from glug.particles.levels import level_of
from glug.scene import load


def tank(mesh: str, volume: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": "tank",
        "domain": {"size": [1, 1, 1], "resolution": 32},
        "time": {"fps": 48},
        "liquids": {"paste": {"density": 1000.0, "viscosity": 500.0}},
        "volumes": [{"liquid": "paste", **volume}],
        "solver": {"mesh": mesh},
        "refine": {"levels": 4, "band": 4},
        **more,
    }


def largest(simulation: glug.Simulation) -> int:
    """The level of the largest particles."""
    return int(level_of(simulation.state.particles.volume, simulation.setting.particle_volume).max())


def test_thick_liquid_in_a_tank_rests():
    """It fills the tank to 0.7, so that coarse leaves touch the bottom and the sides."""
    pool = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.7, 1]}}
    energy = {}
    for mesh in ("regular", "octree"):
        simulation = glug.Simulation(tank(mesh, pool))
        energy[mesh] = [simulation.step_once().liquid.kinetic for _ in range(6)]
    assert largest(simulation) >= 2
    assert np.mean(energy["octree"]) < 1.2 * np.mean(energy["regular"])


def test_a_ball_in_flight_keeps_its_rotation():
    """Angular momentum over eight steps without gravity, with leaves of two sizes inside."""
    ball = {"shape": {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.4}, "spin": [0.0, 2.0, 0.0]}
    simulation = glug.Simulation(tank("octree", ball, gravity=[0.0, 0.0, 0.0]))
    turns = []
    for _ in range(8):
        simulation.step_once()
        p = simulation.state.particles
        mass, x = p.volume[:, :1], p.position - 0.5
        turns.append(float((mass[:, 0] * np.cross(x, p.velocity)[:, 1]).sum()))
    assert largest(simulation) >= 1
    print(turns)
    assert abs(turns[-1] / turns[0] - 1.0) < 0.01


def fall(mesh: str, frames: int) -> tuple[float, int]:
    """How far the end of the library's beam has sunk [m], and the viscous unknowns of the last step."""
    scene = load("viscous-beam", {"domain.resolution": 72, "solver.mesh": mesh, "refine.levels": 3})
    simulation = glug.Simulation(scene)
    p = simulation.state.particles
    tip = p.id[p.position[:, 0] > 0.2, 0]
    start = float(p.position[np.isin(p.id[:, 0], tip), 1].mean())
    for frame in simulation.run(frames):
        stats = frame.stats
    p = simulation.state.particles
    return start - float(p.position[np.isin(p.id[:, 0], tip), 1].mean()), stats[-1].solves["viscosity"].unknowns


@pytest.mark.slow
def test_a_beam_sags_as_on_the_regular_grid():
    (regular, every), (octree, fewer) = fall("regular", 12), fall("octree", 12)
    print(f"fall {regular:.5f} m and {octree:.5f} m, {every} and {fewer} unknowns")
    assert regular > 0.002
    assert abs(octree / regular - 1.0) < 0.03
    assert fewer < every
