"""The cycle for rigid bodies: symmetric, positive for bodies of any density, and as fast as without bodies."""

import numpy as np
import pytest

from glug.physics.pressure.levels import hierarchy
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.levels import BodyLevel
from glug.solvers.cg import Cycle, conjugate_gradients
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.studies.problems.systems import crowded_tank


def cycle_of(problem: PressureProblem) -> Cycle:
    cycle = problem.preconditioners()[0]()
    assert isinstance(cycle, Cycle)
    return cycle


def vector(problem: PressureProblem, seed: int) -> np.ndarray:
    r = np.random.default_rng(seed).normal(size=problem.grid.shape)
    return np.where(problem.liquid > 0, r, 0.0).astype(np.float32)


@pytest.mark.parametrize("light", [False, True])
def test_the_cycle_is_symmetric_and_positive(light: bool) -> None:
    problem = crowded_tank(24, 6, light)
    cycle = cycle_of(problem).precondition
    r = [vector(problem, seed) for seed in (0, 1)]
    z = [np.zeros_like(r[0]) for _ in r]
    for a, b in zip(r, z):
        assert cycle((a,), (b,), (np.zeros_like(a),)) > 0.0
    one, other = (float(np.vdot(a.astype(float), b)) for a, b in ((r[0], z[1]), (r[1], z[0])))
    scale = np.linalg.norm(r[0]) * np.linalg.norm(z[1])
    assert abs(one - other) < 1e-5 * scale
    assert isinstance(cycle.levels[0], BodyLevel)  # type: ignore[attr-defined]


def test_bodies_cost_at_most_one_iteration_more() -> None:
    problem = crowded_tank(48, 20)
    b = problem.right_hand_side(tuple(vector_like(u, n) for n, u in enumerate(problem.grid.staggered())))

    def iterations(system, precondition) -> int:  # type: ignore[no-untyped-def]
        x = problem.grid.scalar(dtype=np.float64)
        stats = conjugate_gradients(system, Cycle(problem.system, precondition), (b,), (x,), SolveLimits(1e-5, 60))
        assert stats.converged
        return stats.iterations

    plain = Multigrid(hierarchy(problem.system), GaussSeidel(2))
    known = iterations(problem.system, plain)
    assert iterations(problem.operator, cycle_of(problem).precondition) <= known + 1
    assert iterations(problem.operator, plain) > known + 1  # the control: coarse grids take bodies for walls


def vector_like(u: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=u.shape).astype(np.float32)
