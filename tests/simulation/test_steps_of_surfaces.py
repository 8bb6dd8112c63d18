"""Liquid comes to rest however long the steps that a scene allows."""

import math

import numpy as np
import pytest

import glug
from glug.simulation.setting import Setting
from glug.simulation.stages.motion import choose_time_step


def pool(viscosity: float, coupling: str = "split", max_substeps: int = 32) -> glug.Simulation:
    """A box half full, at rest, with steps as long as they may be."""
    water = {"kind": "box", "lower": [-1, -1, -1], "upper": [2, 0.5, 2]}
    return glug.Simulation(
        {
            "domain": {"size": [1, 1, 1], "resolution": 12},
            "time": {"fps": 0.25, "cfl": 20.0, "max_substeps": max_substeps},
            "liquids": {"liquid": {"density": 1000.0, "viscosity": viscosity}},
            "volumes": [{"liquid": "liquid", "shape": water}],
            "solver": {"coupling": coupling},
        }
    )


def speed_after(steps: int, simulation: glug.Simulation) -> float:
    """The largest of a particle, after some steps [m/s]."""
    for _ in range(steps):
        simulation.step_once()
    return float(np.abs(simulation.state.particles.velocity).max())


@pytest.mark.parametrize("viscosity, coupling", [(0.0, "split"), (10.0, "split"), (10.0, "stokes")])
def test_a_pool_rests_in_long_steps(viscosity: float, coupling: str) -> None:
    simulation = pool(viscosity, coupling)
    begun = len(simulation.state.particles)
    assert speed_after(40, simulation) < 0.02
    assert len(simulation.state.particles) == begun


def test_in_longer_ones_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: nothing crosses more than `cfl` cells, but the surface swings ever higher."""
    monkeypatch.setattr(Setting, "surface_step", math.inf)
    assert speed_after(20, pool(0.0)) > 0.5


def test_steps_that_max_substeps_makes_longer_are_reported() -> None:
    few = pool(0.0, max_substeps=8).step_once()
    assert any("comes to rest" in warning for warning in few.warnings)
    assert not pool(0.0).step_once().warnings


def test_thick_liquid_may_take_longer_steps() -> None:
    """Waves creep back: steps are those of the frames."""
    thin, thick = (choose_time_step(s.setting, s.state) for s in (pool(0.0), pool(1e4)))
    assert thin < 0.2 < 0.3 < thick
