"""Two phases of the fast path against the assembled problem, and a light bubble against constraint bubbles."""

import numpy as np
import pytest

from glug.geometry.solids import Walls, sample_solids
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.pressure import PressureProblem
from glug.physics.reference_bubbles import two_phase_pressure
from glug.physics.two_phase import two_phase_problem

N = 16
LIQUID = 1000.0


def tank(open_top: bool):
    grid = Grid(1.0 / N, (N + 8,) * 3, (-4,) * 3)
    solid = sample_solids(grid, Walls((0.013, 0.0, 0.007), (0.97, np.inf if open_top else 1.0, 0.981)), [], 0.0)
    x = grid.points(CENTRE)
    phi = np.maximum(x[..., 1] - 0.8, 0.22 - np.linalg.norm(x - (0.5, 0.4, 0.47), axis=-1))
    return grid, phi.astype(np.float32), solid


def falling(grid: Grid) -> Staggered:
    u, v, w = grid.staggered()
    return u, v - np.float32(1.0), w


@pytest.mark.parametrize("air", [1.2, 100.0])
@pytest.mark.parametrize("solver", ["multigrid", "reference"])
def test_equals_the_assembled_problem(air: float, solver: str):
    grid, phi, solid = tank(open_top=False)
    problem = two_phase_problem(grid, phi, solid, air / LIQUID)
    velocity = falling(grid)
    _, stats = problem.project(velocity, tolerance=1e-7, max_iterations=3000, solver=solver)
    assert stats.converged
    operators = Operators(grid)
    area = np.concatenate([a.ravel() for a in solid.area]).astype(float)
    exact = two_phase_pressure(
        operators, area, phi.ravel().astype(float), problem.liquid.ravel() > 0, density=LIQUID, air_density=air
    )
    u = exact.solve(np.concatenate([a.ravel() for a in falling(grid)]).astype(float)).u
    wet = (np.abs(operators.D.T) @ (phi.ravel() < 0).astype(float) > 0) & exact.moves
    apart = np.abs(np.concatenate([a.ravel() for a in velocity]) - u)[wet].max()
    assert apart <= 2e-4 * np.abs(u[wet]).max()


def test_light_air_is_a_constraint_bubble():
    grid, phi, solid = tank(open_top=True)
    light = falling(grid)
    two_phase_problem(grid, phi, solid, 1e-6).project(light, tolerance=1e-6, max_iterations=3000)
    bubbles, without = falling(grid), falling(grid)
    problem = PressureProblem.build(grid, phi, solid)
    problem.project(without, tolerance=1e-6, max_iterations=500)
    problem.close_air()
    problem.project(bubbles, tolerance=1e-6, max_iterations=500)
    links = [link > 0 for link in problem.system.links]

    def apart(one: Staggered, other: Staggered) -> float:
        return max(float(np.abs(a - b)[k].max()) for a, b, k in zip(one, other, links))

    assert apart(light, bubbles) < 0.05 * apart(light, without)
