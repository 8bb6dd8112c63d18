"""A viscous step leaves rigid motion of a free body alone; a componentwise Laplacian does not."""

import numpy as np
from setups import ball, rotation

from glug.physics.reference.scenes import reference_viscosity
from glug.physics.viscosity.preconditioners import MULTIGRID, preconditioners
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import solve_with_fallback, zeros_like
from glug.solvers.limits import SolveLimits

SPIN, CENTRE_OF_SPIN = (0.3, 1.0, -0.5), (0.51, 0.48, 0.5)
RADIUS = 0.3


def diffusion(grid) -> float:
    """mu dt / (rho dx^2) such that mu dt / (rho R^2) = 1."""
    return (RADIUS / grid.dx) ** 2


def wet_change(problem: ViscosityProblem, before, after) -> float:
    """Largest change on faces with liquid, relative to the largest speed there."""
    wet = [m > 0.5 for m in problem.mass]
    change = max(np.abs(a - b)[w].max() for a, b, w in zip(after, before, wet))
    return float(change / max(np.abs(b)[w].max() for b, w in zip(before, wet)))


def test_fast_path_keeps_rotation():
    grid, phi, solid = ball(32)
    problem = ViscosityProblem.build(grid, phi, solid, diffusion(grid))
    before = rotation(grid, SPIN, CENTRE_OF_SPIN)
    after = tuple(u.copy() for u in before)
    problem.solve(after, SolveLimits(1e-6, 500))
    change = wet_change(problem, before, after)
    print(f"fast path changes a rotation by {change:.1e}")
    assert change < 1e-5


def test_fast_path_keeps_rotation_from_a_cold_start():
    """The same without the help of a start at the solution: the right-hand side alone."""
    grid, phi, solid = ball(24)
    problem = ViscosityProblem.build(grid, phi, solid, diffusion(grid))
    before = rotation(grid, SPIN, CENTRE_OF_SPIN)
    b = problem.right_hand_side(before)
    system = problem.system()
    x = zeros_like(system, np.float64)
    stats = solve_with_fallback(system, preconditioners(system, MULTIGRID), b, x, SolveLimits(1e-9, 4000))
    assert stats.converged
    assert wet_change(problem, before, x) < 1e-5


def test_reference_keeps_rotation():
    grid, phi, solid = ball(16)
    problem = ViscosityProblem.build(grid, phi, solid, diffusion(grid))
    before = rotation(grid, SPIN, CENTRE_OF_SPIN, np.float64)
    after = tuple(u.copy() for u in before)
    reference_viscosity(problem, after)
    change = wet_change(problem, before, after)
    print(f"reference changes a rotation by {change:.1e}")
    assert change < 1e-12


def test_componentwise_laplacian_loses_more_than_half():
    grid, phi, solid = ball(16)
    problem = ViscosityProblem.build(grid, phi, solid, diffusion(grid))
    before = rotation(grid, SPIN, CENTRE_OF_SPIN, np.float64)
    after = tuple(u.copy() for u in before)
    reference_viscosity(problem, after, laplacian=True)
    kept = sum((m * b * a).sum() for m, b, a in zip(problem.mass, before, after))
    whole = sum((m * b * b).sum() for m, b in zip(problem.mass, before))
    assert kept / whole < 0.5
