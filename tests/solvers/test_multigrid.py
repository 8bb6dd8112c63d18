"""Multigrid takes a dozen iterations on any grid, where Jacobi takes ever more; it falls back when it must."""

import numpy as np
import pytest

from glug.errors import SolverError
from glug.physics.pressure import solvers, term_levels
from glug.physics.viscosity.preconditioners import SOLVERS, preconditioners
from glug.solvers.cg import Diagonal, conjugate_gradients, solve_with_fallback, zeros_like
from glug.solvers.limits import SolveLimits
from glug.studies.problems import systems as solve_problems
from glug.studies.problems.pressure import CASES as PRESSURE_CASES
from glug.studies.problems.viscosity import CASES


def iterations(n: int, solver: str, case: str = "delta") -> int:
    problem = solve_problems.viscosity_problem(n)
    system = problem.system()
    b = getattr(solve_problems, case)(problem.grid, system)
    x = zeros_like(system, np.float64)
    stats = conjugate_gradients(system, preconditioners(system, SOLVERS[solver])[0](), b, x, SolveLimits(1e-6, 1000))
    assert stats.converged
    return stats.iterations


def test_viscosity_takes_as_many_iterations_on_a_finer_grid():
    for case in ("delta", "smooth"):
        coarse, fine = iterations(24, "multigrid", case), iterations(48, "multigrid", case)
        print(f"{case}: {coarse} iterations at 24 cells, {fine} at 48")
        assert fine <= coarse + 2
        assert fine <= 10


def test_jacobi_takes_more_iterations_on_a_finer_grid():
    """Negative control."""
    assert iterations(48, "jacobi-cg") > 1.5 * iterations(24, "jacobi-cg")


def test_a_splash_takes_a_dozen_iterations():
    for n in (32, 48):
        problem = solve_problems.splash(n)
        velocity = tuple(
            np.random.default_rng(1).normal(size=u.shape).astype(np.float32) for u in problem.grid.staggered()
        )
        b = (problem.right_hand_side((velocity[0], velocity[1], velocity[2])),)
        x = zeros_like(problem.system, np.float64)
        cycle = problem.preconditioners()[0]()
        stats = conjugate_gradients(problem.system, cycle, b, x, SolveLimits(1e-6, 100))
        print(f"splash: {stats.iterations} iterations at {n} cells")
        assert stats.converged
        assert stats.iterations <= 15


@pytest.fixture(scope="module")
def constant() -> int:
    """Iterations for a constant viscosity and a random right-hand side."""
    return case_iterations("random")


def case_iterations(case: str, boxes: bool = True) -> int:
    problem = CASES[case].problem(32)
    system = problem.system()
    b, x = CASES[case].right(problem.grid, system), zeros_like(system, np.float64)
    cycle = preconditioners(system, SOLVERS["multigrid"], stiff_above=problem.stiff_above if boxes else None)[0]()
    stats = conjugate_gradients(system, cycle, b, x, SolveLimits(1e-6, 60))
    print(f"{case}: {stats.iterations} iterations")
    assert stats.converged
    return stats.iterations


@pytest.mark.parametrize(("case", "times"), [("gradient", 2), ("plane", 3), ("ball", 3)])
def test_a_viscosity_that_varies_by_a_million(constant, case, times):
    assert case_iterations(case) <= times * constant


def test_gauss_seidel_alone_takes_long_around_a_ball(constant):
    """Negative control."""
    assert case_iterations("ball", boxes=False) > 3 * constant


@pytest.mark.parametrize("case", ["plates", "maze", "closed"])
def test_pressure_between_obstacles_converges(case):
    problem = PRESSURE_CASES[case](24)
    velocity = tuple(np.random.default_rng(1).standard_normal(u.shape, np.float32) for u in problem.grid.staggered())
    _, stats = problem.project((velocity[0], velocity[1], velocity[2]), SolveLimits(1e-6, 1000))
    print(f"{case}: {stats.iterations} iterations")
    assert stats.converged


def test_a_preconditioner_that_does_not_help_is_given_up():
    problem = solve_problems.viscosity_problem(16)
    system = problem.system()
    b = solve_problems.delta(problem.grid, system)
    g = system.diagonal()

    def useless() -> Diagonal:
        rng = np.random.default_rng(0)
        return Diagonal(
            tuple(a * np.float32(10.0) ** rng.uniform(-9, 9, a.shape).astype(np.float32) for a in g), system.blocks
        )

    x = zeros_like(system, np.float64)
    stats = solve_with_fallback(system, [useless, lambda: Diagonal(g, system.blocks)], b, x, SolveLimits(1e-6, 1000))
    assert stats.converged
    assert stats.iterations > 60


def test_the_diagonal_solves_for_pressure_where_all_else_fails(monkeypatch):
    class Fails:
        def __init__(self, *_):
            pass

        def __call__(self, r, z, scratch):
            return -1.0

    monkeypatch.setattr(term_levels, "Multigrid", Fails)
    monkeypatch.setattr(solvers, "StencilCholesky", Fails)
    problem = solve_problems.splash(16)
    velocity = problem.grid.staggered()
    velocity[1][:] = -1.0
    stats = problem.project(velocity, SolveLimits(1e-5, 500))[1]
    assert stats.converged
    assert stats.iterations > 0


def test_a_right_hand_side_that_is_not_finite_names_the_solve():
    problem = solve_problems.viscosity_problem(16)
    velocity = problem.grid.staggered()
    velocity[1][8, 8, 8] = np.nan
    with pytest.raises(SolverError, match="viscosity"):
        problem.solve(velocity, SolveLimits(1e-4, 10))
