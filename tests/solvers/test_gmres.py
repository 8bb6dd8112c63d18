"""GMRES: systems without symmetry, to a residual that float32 alone does not reach; and what it admits."""

import numpy as np
import pytest

from glug.errors import SolverError
from glug.solvers.limits import SolveLimits
from glug.solvers.saddle.gmres import RESTART, Unknowns, gmres


class Dense:
    """A matrix over two fields, of which some samples are no unknowns."""

    name = "dense"

    def __init__(self, matrix: np.ndarray, size: int):
        self.matrix, self.unknowns = matrix, len(matrix)
        self.mask = (np.ones((1, 2, size), np.float32), np.ones((1, 1, len(matrix) - size), np.float32))
        self.mask[0][0, 1] = 0.0

    def flat(self, x):
        return np.concatenate([x[0][0, 0], x[1][0, 0]]).astype(np.float64)

    def fields(self, values, dtype=np.float64):
        size = self.mask[0].shape[2]
        x = tuple(np.zeros(m.shape, dtype) for m in self.mask)
        x[0][0, 0], x[1][0, 0] = values[:size], values[size:]
        return x

    def apply(self, x, q):
        for a, c in zip(q, self.fields(self.matrix @ self.flat(x))):
            a[:] = c
        return 0.0

    def residual(self, b, x, r):
        rest = self.fields(self.flat(b) - self.matrix @ self.flat(x))
        for a, c in zip(r, rest):
            a[:] = c


def system(n: int = 120, seed: int = 0) -> Dense:
    rng = np.random.default_rng(seed)
    matrix = 3.0 * np.eye(n) + rng.normal(size=(n, n)) / np.sqrt(n)
    matrix[n // 2 :] *= 1e3  # rows of very different sizes, which the weights make up for
    return Dense(matrix, n // 2)


def identity(r, z):
    for a, b in zip(r, z):
        b[:] = a


def solve(dense: Dense, precondition=identity, tolerance=1e-9, most=300):
    rng = np.random.default_rng(1)
    exact = rng.normal(size=dense.unknowns)
    b = dense.fields(dense.matrix @ exact)
    x = dense.fields(np.zeros(dense.unknowns))
    weights = tuple(np.ones_like(m) * s for m, s in zip(dense.mask, (np.float32(1.0), np.float32(1e-3))))
    scales = [float(np.abs(f).max()) for f in b]
    unknowns = Unknowns(dense.mask, weights)
    stats = gmres(dense, precondition, b, x, SolveLimits(tolerance, most), scales=scales, unknowns=unknowns)
    return float(np.abs(dense.flat(x) - exact).max()), stats


def test_the_solution_is_exact_far_beyond_float32():
    error, stats = solve(system())
    assert stats.converged and stats.residual <= 1e-9
    assert error < 1e-7  # a float32 has 6e-8 of its own size at best, in every product


def test_a_preconditioner_saves_iterations():
    dense = system()
    inverse = np.linalg.inv(dense.matrix)

    def nearly(r, z):
        for a, b in zip(z, dense.fields(inverse @ dense.flat(r), np.float32)):
            a[:] = b

    assert solve(dense, nearly)[1].iterations <= 4 < solve(dense)[1].iterations


def test_it_goes_on_with_another_basis():
    dense = system(4 * RESTART)
    _, stats = solve(dense, tolerance=1e-12, most=8 * RESTART)
    assert stats.converged


def test_what_is_not_reached_is_said():
    _, stats = solve(system(), most=3)
    assert not stats.converged and stats.iterations == 3
    _, stats = solve(system(), lambda r, z: None)  # z stays zero: nothing to combine
    assert not stats.converged


def test_a_right_hand_side_that_is_not_finite_is_an_error():
    dense = system()
    dense.matrix[0, 0] = np.nan
    with pytest.raises(SolverError, match="not finite"):
        solve(dense)
