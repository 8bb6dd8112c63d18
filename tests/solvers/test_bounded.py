"""Bounded solves meet the conditions of the minimum, equal an independent method, and say when they do not converge."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from glug.errors import SolverError
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.jit import threads
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.solvers import MULTIGRID, Without
from glug.physics.reference.scenes import assemble_pressure
from glug.solvers.bounded import Bounds, direct_bounded, solve_bounded
from glug.solvers.limits import SolveLimits

GRID = Grid(1.0 / 6, (10, 10, 10), (-2, -2, -2))
WALLS = Walls((0.02, 0.0, 0.0), (1.0, 1.0, 0.95))


def problem_and_load(seed: int) -> tuple[PressureProblem, np.ndarray, np.ndarray]:
    """A wavy pool of 150 cells, a random right-hand side, and half of its cells to be bounded."""
    rng = np.random.default_rng(seed)
    x, y, _ = np.moveaxis(GRID.points(CENTRE), -1, 0)
    phi = (y - 0.7 - 0.2 * np.sin(5 * x + seed)).astype(np.float32)
    problem = PressureProblem.build(GRID, phi, sample_solids(GRID, WALLS, [], 0.0))
    wet = np.flatnonzero(problem.liquid)
    b = GRID.scalar()
    b.reshape(-1)[wet] = rng.normal(size=len(wet)) - 0.2
    return problem, b, np.sort(rng.choice(wet, len(wet) // 2, replace=False))


def fast(problem, b, bounds, tolerance=1e-7, limit=1000):
    x = (GRID.scalar(dtype=np.float64),)
    without = Without(problem, MULTIGRID.held_makers)
    return x[0], solve_bounded(problem.system, bounds, without, (b,), x, SolveLimits(tolerance, limit))


@pytest.mark.parametrize("seed", range(3))
def test_equals_an_independent_method_and_the_reference(seed):
    problem, b, index = problem_and_load(seed)
    rng = np.random.default_rng(seed + 10)
    lower = rng.uniform(-0.3, 0.1, len(index))
    matrix = assemble_pressure(problem)
    wet = problem.liquid > 0
    # The same minimum as a bounded least-squares problem: |L' x - L^-1 b|.
    root = np.linalg.cholesky(matrix.toarray())
    least = np.full(wet.sum(), -np.inf)
    least[np.searchsorted(np.flatnonzero(wet), index)] = lower
    exact = lsq_linear(root.T, np.linalg.solve(root, b[wet]), (least, np.inf), method="bvls", tol=1e-14).x
    quick, bounds = Bounds(index, lower), Bounds(index, lower)
    x, stats = fast(problem, b, quick)
    assert stats.converged
    assert np.abs(x[wet] - exact).max() < 1e-5 * np.abs(exact).max()
    y = GRID.scalar(dtype=np.float64)
    assert direct_bounded("pressure", problem.system.mask, bounds, (b,), (y,), matrix).converged
    assert np.abs(y[wet] - exact).max() < 1e-10 * np.abs(exact).max()
    assert 10 < bounds.held.sum() < len(index) - 10
    assert np.array_equal(bounds.held, quick.held)


def test_without_bounds_the_solution_goes_below_them():
    """Negative control of the test above."""
    problem, b, index = problem_and_load(0)
    x, stats = fast(problem, b, Bounds(index[:0]))
    assert stats.converged
    assert x.reshape(-1)[index].min() < -0.1 * np.abs(x).max()


def test_a_start_with_all_or_wrong_cells_held_ends_the_same():
    problem, b, index = problem_and_load(1)
    answers = []
    for held in (np.zeros(len(index), bool), np.ones(len(index), bool), np.arange(len(index)) % 2 == 0):
        bounds = Bounds(index, 0.0, held)
        x, stats = fast(problem, b, bounds)
        assert stats.converged
        answers.append((x, bounds.held))
    for x, held in answers[1:]:
        assert np.abs(x - answers[0][0]).max() < 1e-5 * np.abs(x).max()
        assert np.array_equal(held, answers[0][1])


def test_the_result_does_not_depend_on_the_number_of_threads():
    problem, b, index = problem_and_load(2)
    answers = []
    for count in (1, 2):
        with threads(count):
            answers.append(fast(problem, b, Bounds(index))[0])
    assert np.array_equal(*answers)


def test_too_few_iterations_are_reported():
    problem, b, index = problem_and_load(0)
    assert not fast(problem, b, Bounds(index), limit=1)[1].converged


def test_no_load_is_no_work():
    problem, b, index = problem_and_load(0)
    x, stats = fast(problem, 0 * b, Bounds(index))
    assert stats.converged and stats.iterations == 0 and not x.any()


def test_a_load_that_is_not_finite_raises():
    problem, b, index = problem_and_load(0)
    b.reshape(-1)[index[0]] = np.nan
    with pytest.raises(SolverError, match="pressure"):
        fast(problem, b, Bounds(index))
