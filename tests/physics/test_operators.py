"""The fast operators equal the assembled ones, and are symmetric and positive."""

import numpy as np
import pytest
from setups import PRESSURE, HalfSpace, ball, tank

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.scenes import assemble_pressure, reference_viscosity
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits


def random_domain(seed: int):
    """A wavy liquid over a random slope, in a box whose walls cut cells anywhere."""
    rng = np.random.default_rng(seed)
    n = 16
    grid = Grid(1.0 / n, (n + 8, n + 8, n + 8), (-4, -4, -4))
    floor = HalfSpace((0.5, rng.uniform(0.1, 0.3), 0.5), (rng.normal() * 0.3, 1.0, rng.normal() * 0.3))
    walls = Walls(tuple(rng.uniform(0, 0.06, 3)), tuple(1 - rng.uniform(0, 0.06, 3)))
    solid = sample_solids(grid, walls, [floor], 0.0)
    x, y, z = np.moveaxis(grid.points(CENTRE), -1, 0)
    wave = rng.uniform(0.5, 0.7) + 0.08 * np.sin(7 * x + rng.uniform(0, 6)) * np.cos(5 * z)
    return grid, np.clip(y - wave, -4 * grid.dx, 4 * grid.dx).astype(np.float32), solid, rng


@pytest.mark.parametrize("seed", range(4))
def test_viscosity_kernels_equal_the_assembled_matrix(seed):
    grid, phi, solid, rng = random_domain(seed)
    field = np.exp(rng.normal(size=grid.shape)).astype(np.float32) * np.float32(5.0)
    problem = ViscosityProblem.build(grid, phi, solid, field)
    rows = strain_rows(grid, solid, problem.solid_faces, problem.weights, every=True)
    matrix, diagonal = rows.assemble(problem.mass)
    system = problem.system()
    d, q = zeros_like(system), zeros_like(system)
    for a in range(3):
        unknown = diagonal[a] > 0
        assert np.array_equal(unknown, system.mask[a] > 0)
        d[a][unknown] = rng.normal(size=unknown.sum())
    dot = system.apply(d, q)
    x = np.concatenate([v[g > 0] for v, g in zip(d, diagonal)]).astype(np.float64)
    y = np.concatenate([v[g > 0] for v, g in zip(q, diagonal)])
    exact = matrix @ x
    assert np.abs(y - exact).max() < 1e-5 * np.abs(exact).max()
    assert abs(dot - x @ exact) < 1e-5 * abs(x @ exact)
    r = zeros_like(system)
    system.residual(zeros_like(system), tuple(v.astype(np.float64) for v in d), r)
    y = np.concatenate([v[g > 0] for v, g in zip(r, diagonal)])
    assert np.abs(y + exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("seed", range(4))
def test_pressure_kernels_equal_the_assembled_matrix(seed):
    grid, phi, solid, rng = random_domain(seed)
    problem = PressureProblem.build(grid, phi, solid)
    d, q = grid.scalar(), grid.scalar()
    liquid = problem.liquid > 0
    d[liquid] = rng.normal(size=liquid.sum())
    dot = problem.system.apply((d,), (q,))
    exact = assemble_pressure(problem) @ d[liquid].astype(np.float64)
    assert np.abs(q[liquid] - exact).max() < 1e-5 * np.abs(exact).max()
    assert abs(dot - d[liquid] @ exact) < 1e-5 * abs(dot)


@pytest.mark.parametrize("seed", range(2))
def test_matrices_are_symmetric_and_positive(seed):
    grid, phi, solid, rng = random_domain(seed)
    viscosity = ViscosityProblem.build(grid, phi, solid, 10.0)
    rows = strain_rows(grid, solid, viscosity.solid_faces, viscosity.weights, every=True)
    pressure = assemble_pressure(PressureProblem.build(grid, phi, solid))
    for matrix in (rows.assemble(viscosity.mass)[0], pressure):
        assert abs(matrix - matrix.T).max() < 1e-14 * abs(matrix).max()
        x = rng.normal(size=matrix.shape[0])
        assert x @ (matrix @ x) > 0


def test_fast_pressure_equals_reference():
    grid, phi, solid, rng = random_domain(7)
    problem = PressureProblem.build(grid, phi, solid)
    start = [rng.normal(size=u.shape).astype(np.float32) for u in grid.staggered()]
    answers = []
    for solver in ("multigrid", "jacobi-cg", "reference"):
        velocity = tuple(u.copy() for u in start)
        _, stats = problem.project(velocity, SolveLimits(1e-7, 1000), solver=PRESSURE[solver])
        assert stats.converged
        answers.append(velocity)
    for answer in answers[:2]:
        for a, b in zip(answer, answers[2]):
            assert np.abs(a - b).max() < 1e-4
    rhs = problem.right_hand_side(answers[0])
    assert np.abs(rhs).max() < 1e-4  # divergence-free, in the solver's own measure


def test_fast_viscosity_equals_reference():
    grid, phi, solid, rng = random_domain(3)
    problem = ViscosityProblem.build(grid, phi, solid, 3.0)
    start = [rng.normal(size=u.shape).astype(np.float32) for u in grid.staggered()]
    fast, exact = tuple(u.copy() for u in start), tuple(u.copy() for u in start)
    assert problem.solve(fast, SolveLimits(1e-6, 3000)).converged
    reference_viscosity(problem, exact)
    for a, b in zip(fast, exact):
        assert np.abs(a - b).max() < 1e-4


def test_viscosity_never_adds_energy():
    grid, phi, solid = ball(24)
    problem = ViscosityProblem.build(grid, phi, solid, 20.0)
    rng = np.random.default_rng(0)
    velocity = tuple(rng.normal(size=u.shape).astype(np.float32) for u in grid.staggered())
    before = sum((m * u * u).sum(dtype=np.float64) for m, u in zip(problem.mass, velocity))
    problem.solve(velocity, SolveLimits(1e-6, 2000))
    after = sum((m * u * u).sum(dtype=np.float64) for m, u in zip(problem.mass, velocity))
    assert after < before


def test_a_closed_box_that_is_compressed_is_solved_in_the_least_squares_sense():
    """No free surface: the mean of the right-hand side cannot be met, the rest is."""
    grid, phi, solid = tank(n=16, slope=0.0)
    full = np.full_like(phi, np.float32(-4 * grid.dx))
    problem = PressureProblem.build(grid, full, solid)
    assert not problem.components.free.any()
    velocity = grid.staggered()
    x, _, _ = grid.coordinates((0.0, 0.5, 0.5))
    velocity[0][:] = (0.1 * x)[:, None, None]
    _, stats = problem.project(velocity, SolveLimits(1e-6, 2000))
    assert stats.converged
    assert stats.imbalance < 1e-6
    rhs = grid.scalar()
    from glug.physics.pressure import kernels

    kernels.divergence_rhs(*velocity, *solid.area, problem.liquid, rhs)
    inside = rhs[problem.liquid > 0]
    assert np.abs(inside - inside.mean()).max() < 1e-3 * 0.1 * grid.dx * 10


def test_nan_raises_and_names_the_stage():
    from glug.errors import SolverError

    grid, phi, solid = tank(n=16)
    problem = PressureProblem.build(grid, phi, solid)
    velocity = grid.staggered()
    velocity[0][14, 11, 12] = np.nan
    assert problem.liquid[14, 11, 12]
    with pytest.raises(SolverError, match="pressure"):
        problem.project(velocity, SolveLimits(1e-5, 10))
