"""A liquid at rest stays at rest: geometry held fixed, surface and floor at arbitrary sub-cell positions."""

import numpy as np
import pytest
from setups import tank

from glug.physics.pressure.problem import PressureProblem
from glug.physics.velocity import LiquidSurroundings
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits

DT, G = 0.01, 9.81


def residual_speeds(steps: int, implicit_number: float | None, project_first: bool = True) -> list[float]:
    """Largest vertical speed after each step, in units of g dt."""
    grid, phi, solid = tank()
    problem = PressureProblem.build(grid, phi, solid)
    viscous = None if implicit_number is None else ViscosityProblem.build(grid, phi, solid, implicit_number)
    velocity, reached = grid.staggered(), grid.staggered()
    limits = SolveLimits(1e-8, 2000, 1e-2 * G * DT)
    wet = np.zeros(velocity[1].shape, bool)
    wet[:, :-1] |= problem.liquid > 0
    wet &= solid.area[1] > 0
    speeds = []
    for _ in range(steps):
        velocity[1][:] -= np.float32(G * DT)
        if viscous is not None:
            if project_first:
                problem.project(velocity, limits)
            LiquidSurroundings(grid, solid, None, problem.liquid, reached).extend(velocity, 2, stick=True)
            viscous.solve(velocity, limits)
        _, stats = problem.project(velocity, limits)
        assert stats.converged
        LiquidSurroundings(grid, solid, None, problem.liquid, reached).extend(velocity, 2, stick=viscous is not None)
        speeds.append(float(np.abs(velocity[1][wet]).max()) / (G * DT))
    return speeds


@pytest.mark.parametrize("implicit_number", [None, 10.0], ids=["water", "honey"])
def test_speed_stays_below_1e_5_g_dt(implicit_number):
    speeds = residual_speeds(50, implicit_number)
    print(f"largest speed over 50 steps: {max(speeds):.1e} g dt")
    assert max(speeds) < 1e-5


def test_honey_creeps_without_the_projection_before_the_viscous_solve():
    """Negative control: gravity then shears the liquid before pressure can answer."""
    speeds = residual_speeds(3, 10.0, project_first=False)
    print(f"without it: {max(speeds):.1e} g dt")
    assert max(speeds) > 1e-3
