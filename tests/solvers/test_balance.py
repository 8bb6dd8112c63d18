"""A constant that nothing fixes does not spoil float32 solves."""

import numpy as np
import pytest

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.physics.pressure.problem import PressureProblem
from glug.solvers.balance import Balanced


@pytest.fixture(scope="module")
def full() -> PressureProblem:
    grid = Grid(1.0 / 24, (32, 32, 32), (-3, -3, -3))
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), [], 0.0)
    return PressureProblem.build(grid, np.full(grid.shape, -1.0, np.float32), solid)


def test_a_closed_box_of_liquid_is_balanced(full: PressureProblem):
    cycle = full.preconditioners()[0]().precondition  # type: ignore[attr-defined]
    assert isinstance(cycle, Balanced)
    liquid = full.liquid > 0
    r = np.where(liquid, np.random.default_rng(0).normal(1.0, 1.0, liquid.shape), 0.0).astype(np.float32)
    z, scratch = np.zeros_like(r), np.zeros_like(r)
    energy = cycle((r,), (z,), (scratch,))
    assert abs(r.sum(dtype=np.float64)) < 1e-6 * np.abs(r).sum()
    assert abs(z.sum(dtype=np.float64)) < 1e-6 * np.abs(z).sum()
    assert energy == pytest.approx(float((r.astype(np.float64) * z).sum()), rel=1e-5)


def test_a_box_with_open_air_is_not(full: PressureProblem):
    y = full.grid.points(CENTRE)[..., 1]
    problem = PressureProblem.build(full.grid, (y - 0.5).astype(np.float32), full.solid)
    assert not isinstance(problem.preconditioners()[0]().precondition, Balanced)  # type: ignore[attr-defined]
    problem = problem.with_closed_air()  # the box is closed: the air above is one bubble
    assert isinstance(problem.preconditioners()[0]().precondition, Balanced)  # type: ignore[attr-defined]
