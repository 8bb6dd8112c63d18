"""The dense factorisation below multigrid: matrices that are singular but for rounding, and those that are worse."""

import numpy as np
import pytest
from scipy.linalg import cho_solve

from glug.errors import SolverError
from glug.solvers.multigrid import definite_factor


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
