"""The dense factorisation below multigrid: matrices that are singular but for rounding, and those that are worse."""

import numpy as np
import pytest
from scipy.linalg import cho_solve

from glug.errors import SolverError
from glug.solvers import kernels_bottom
from glug.solvers.multigrid import definite_factor, hold_constants


def matrix(least):
    """A symmetric matrix of 40 rows with the eigenvalues 1 to 40, the first replaced by `least`."""
    vectors, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(40, 40)))
    values = np.arange(1.0, 41.0)
    values[0] = least
    made = (vectors * values) @ vectors.T
    return 0.5 * (made + made.T)


@pytest.mark.parametrize("least", [1.0, 0.0, -1e-5, -1e-4])
def test_rounding_below_zero_does_not_end_a_run(least):
    made = matrix(least)
    b = made @ np.random.default_rng(2).normal(size=40)
    x = cho_solve(definite_factor(made.copy()), b)
    assert np.linalg.norm(made @ x - b) < 1e-3 * np.linalg.norm(b)


def test_a_negative_mode_is_an_error():
    with pytest.raises(SolverError, match="negative"):
        definite_factor(matrix(-1.0))


def test_a_definite_matrix_is_shifted_least():
    """Negative control for the growing shifts: a matrix that needs none gets the first."""
    made = matrix(1.0)
    factor, _ = definite_factor(made.copy())
    lower = np.tril(factor)
    assert np.allclose(lower @ lower.T, made + 1e-7 * np.diag(made.diagonal()), rtol=0, atol=1e-13)


def test_solution_by_rows_of_the_factor_is_that_of_the_library():
    made = matrix(1.0)
    factor, lower = definite_factor(made.copy())
    b = np.random.default_rng(3).normal(size=40)
    x = b.copy()
    kernels_bottom.solve_factored(np.ascontiguousarray(factor), x)
    assert np.allclose(x, cho_solve((factor, lower), b), rtol=1e-12, atol=0)


def test_only_parts_that_nothing_fixes_are_held():
    """Two chains with free ends, of which one is tied to a wall, with their rows mixed; no entry between them."""
    chain = 2.0 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1)
    chain[0, 0] = chain[-1, -1] = 1.0
    tied = chain.copy()
    tied[0, 0] = 2.0
    made = np.zeros((10, 10))
    made[::2, ::2], made[1::2, 1::2] = chain, tied
    held = hold_constants(made.copy())
    assert np.array_equal(held[1::2, 1::2], tied)
    assert np.all(held[::2, 1::2] == 0.0)
    b = np.array([1.0, -1.0, 0.0, 2.0, -2.0])
    x = np.linalg.solve(held[::2, ::2], b)
    assert np.allclose(chain @ x, b) and abs(x.mean()) < 1e-12
