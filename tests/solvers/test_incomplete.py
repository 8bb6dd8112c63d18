"""Incomplete Cholesky is exact where nothing fills in, symmetric, and needs fewer iterations than the diagonal."""

import numpy as np
import pytest
from scipy import sparse

from glug.grids.blocks import active_blocks
from glug.jit import threads
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.solvers import SOLVERS
from glug.solvers.cg import conjugate_gradients, zeros_like
from glug.solvers.incomplete import AssembledCholesky, StencilCholesky
from glug.solvers.limits import SolveLimits
from glug.studies.problems.systems import splash


def test_a_chain_of_cells_is_solved_exactly():
    """Along one axis elimination makes no fill, so the factorisation is whole, from both ends to the middle."""
    for axis in range(3):
        shape = [3, 3, 3]
        shape[axis] = 12
        links = [np.zeros([n + (a == b) for b, n in enumerate(shape)], np.float32) for a in range(3)]
        line = np.moveaxis(links[axis], axis, 0)
        line[2:11, 1, 1] = 1.0
        diagonal = np.zeros(shape, np.float32)
        np.moveaxis(diagonal, axis, 0)[1:11, 1, 1] = 2.5
        r = np.where(diagonal > 0, np.random.default_rng(0).normal(size=shape), 0.0).astype(np.float32)
        z = np.zeros_like(r)
        StencilCholesky(links, diagonal, active_blocks(diagonal))((r,), (z,), (z,))
        matrix = 2.5 * np.eye(10) - np.eye(10, k=1) - np.eye(10, k=-1)
        expected = np.linalg.solve(matrix, np.moveaxis(r, axis, 0)[1:11, 1, 1])
        np.testing.assert_allclose(np.moveaxis(z, axis, 0)[1:11, 1, 1], expected, rtol=1e-5)


def test_an_assembled_matrix_without_fill_is_solved_exactly():
    matrix = sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(9, 9), format="csr")
    r = np.arange(9.0)
    np.testing.assert_allclose(AssembledCholesky(matrix)(r), np.linalg.solve(matrix.toarray(), r))


@pytest.fixture(scope="module")
def problem() -> PressureProblem:
    return splash(32)


def test_the_preconditioner_is_symmetric_and_positive(problem):
    system = problem.system
    precondition = StencilCholesky(system.links, system.diagonal, system.blocks)
    rng = np.random.default_rng(0)
    a, b = (np.where(system.diagonal > 0, rng.normal(size=system.shape), 0.0).astype(np.float32) for _ in range(2))
    za, zb = np.zeros_like(a), np.zeros_like(a)
    energy = precondition((a,), (za,), (za,))
    assert energy > 0.0
    assert precondition((b,), (zb,), (zb,)) > 0.0
    assert abs(np.vdot(a.astype(float), zb) - np.vdot(b.astype(float), za)) < 1e-5 * energy


def test_fewer_iterations_than_the_diagonal_and_the_same_bits_on_any_threads(problem):
    velocity = tuple(np.random.default_rng(1).standard_normal(u.shape, np.float32) for u in problem.grid.staggered())
    b = (problem.right_hand_side((velocity[0], velocity[1], velocity[2])),)
    counts, answers = {}, []
    for solver, count in (("jacobi-cg", 1), ("ic-cg", 1), ("ic-cg", 2)):
        with threads(count):
            x = zeros_like(problem.system, np.float64)
            stats = conjugate_gradients(
                problem.system, problem.preconditioners(SOLVERS[solver])[0](), b, x, SolveLimits(1e-6, 500)
            )
        assert stats.converged
        counts[solver] = stats.iterations
        answers.append(x[0])
    print(counts)
    assert counts["ic-cg"] < 0.5 * counts["jacobi-cg"]
    np.testing.assert_array_equal(answers[1], answers[2])
