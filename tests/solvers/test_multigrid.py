"""Multigrid takes a dozen iterations on any grid, where Jacobi takes ever more; it falls back when it must."""

import numpy as np
import pytest

from glug.errors import SolverError
from glug.physics.viscosity import ViscosityProblem, preconditioners
from glug.solvers.cg import Diagonal, conjugate_gradients, solve_with_fallback, zeros_like
from glug.studies import solve_problems


def iterations(n: int, solver: str, case: str = "delta") -> int:
    problem = solve_problems.viscosity_problem(n)
    system = problem.system()
    b = getattr(solve_problems, case)(problem.grid, system)
    x = zeros_like(system, np.float64)
    stats = conjugate_gradients(system, preconditioners(system, solver)[0](), b, x, 1e-6, 1000)
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
        cycle = problem.preconditioners("multigrid")[0]()
        stats = conjugate_gradients(problem.system, cycle, b, x, 1e-6, 100)
        print(f"splash: {stats.iterations} iterations at {n} cells")
        assert stats.converged
        assert stats.iterations <= 15


@pytest.mark.parametrize("ratio", [1e2, 1e6])
def test_a_jump_of_viscosity_across_a_plane_converges(ratio):
    grid, phi, solid = solve_problems.half_full(32)
    field = np.full(grid.shape, 32.0**2, np.float32)
    field[:, : grid.shape[1] // 2] /= np.float32(ratio)
    system = ViscosityProblem.build(grid, phi, solid, field).system()
    rng = np.random.default_rng(0)
    b = tuple(np.where(m > 0, rng.normal(size=m.shape), 0.0).astype(np.float32) for m in system.mask)
    x = zeros_like(system, np.float64)
    stats = conjugate_gradients(system, preconditioners(system, "multigrid")[0](), b, x, 1e-6, 100)
    print(f"jump 1:{ratio:.0e}: {stats.iterations} iterations")
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
    stats = solve_with_fallback(system, [useless, lambda: Diagonal(g, system.blocks)], b, x, 1e-6, 1000)
    assert stats.converged
    assert stats.iterations > 60


def test_a_right_hand_side_that_is_not_finite_names_the_solve():
    problem = solve_problems.viscosity_problem(16)
    velocity = problem.grid.staggered()
    velocity[1][8, 8, 8] = np.nan
    with pytest.raises(SolverError, match="viscosity"):
        problem.solve(velocity, tolerance=1e-4, max_iterations=10)
