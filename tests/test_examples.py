"""The examples run, and one number of each is right."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from glug.simulation.stages import solves

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_honey_pours_at_the_rate_of_the_nozzle():
    poured = example("honey").pour(frames=6, resolution=24)
    volumes, heights = zip(*poured)
    area, speed, seconds = math.pi * 0.007**2, 0.5, 5 / 24
    # A nozzle 1.7 cells wide: particles are seeded cell by cell, so its area is known to about a fifth.
    assert volumes[-1] - volumes[0] == pytest.approx(area * speed * seconds, rel=0.2)
    assert heights[-1] < heights[0] - speed * seconds


def test_wind_tilts_the_surface_by_its_push_over_gravity():
    wind = example("wind")
    # A surface is known to a small part of a cell, its slope over 32 of them to 2%; a period is cut into 32 steps.
    assert wind.blow() == pytest.approx(wind.PUSH / 9.81, rel=0.05)


def test_without_wind_the_surface_is_level():
    wind = example("wind")
    wind.PUSH = 0.0
    assert abs(wind.blow()) < 0.002  # a fiftieth of the slope that the wind gives it


def test_a_pressure_solver_of_ones_own_gives_the_velocities_of_the_built_in_one(monkeypatch):
    monkeypatch.setattr(solves, "DISPLACED", 1e-9)  # solves for displacements are rough, and moved particles differ
    own = example("own_pressure_solver")
    ours, built_in = own.velocities("scipy-cg"), own.velocities("reference")
    assert np.abs(built_in).max() > 1.0
    assert ours == pytest.approx(built_in, abs=1e-7)  # both meet 1e-9 of a divergence of some m/s, five steps long
