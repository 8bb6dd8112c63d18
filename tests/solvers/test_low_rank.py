"""A + J' T J equals its dense matrix, keeps its float64 promise, and gives the same bits on any threads."""

import numpy as np
import pytest
from test_cg import SHAPE, Diffusion, nothing, right_hand_side

from glug.jit import threads
from glug.solvers.cg import Cycle, Diagonal, Vector, conjugate_gradients, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import Coupled, LowRank
from glug.solvers.multigrid import DirectBottom


def bodies(system: Diffusion, count: int, m: int, sign: float = 1.0, size: int = 300) -> LowRank:
    """Random rows that share samples, with one sample twice, and symmetric matrices of one sign."""
    rng = np.random.default_rng(7)
    everywhere = np.arange(system.mask[0].size)
    rows = []
    for _ in range(count):
        cell = rng.choice(everywhere, size, replace=False)
        cell[1] = cell[0]
        rows.append((cell, rng.normal(size=(size, m))))
    half = rng.normal(size=(count, m, m))
    return LowRank(system.mask, rows, sign * (half @ half.transpose(0, 2, 1)) / m)


def dense(system: Diffusion, low: LowRank) -> tuple[np.ndarray, np.ndarray]:
    """A + J' T J over the unknowns, and where they are."""
    index = np.flatnonzero(system.mask[0])
    A = np.empty((len(index), len(index)))
    for n, c in enumerate(index):
        x = np.zeros(SHAPE)
        x.reshape(-1)[c] = 1.0
        A[:, n] = system.product(x).reshape(-1)[index]
    part = low._parts[0]
    J = np.zeros((low.items, low.m, system.mask[0].size))
    for e in range(len(part.cell)):
        J[part.item[e], :, part.cell[e]] += part.coefficient[:, e]
    J = J[:, :, index]
    return A + np.einsum("bin,bij,bjm->nm", J, low.T, J), index


@pytest.fixture(scope="module")
def system() -> Diffusion:
    return Diffusion.build(contrast=10.0)


class Exact:
    """A^-1 by a dense factorisation, in place of a cycle."""

    def __init__(self, system: Diffusion):
        self.bottom = DirectBottom(system)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        self.bottom.solve(None, r, z, scratch)  # type: ignore[arg-type]
        return float((r[0].astype(np.float64) * z[0]).sum())


@pytest.fixture(scope="module")
def exact(system: Diffusion) -> Exact:
    return Exact(system)


@pytest.mark.parametrize(("m", "sign"), [(6, 1.0), (1, -1e-4)])
def test_product_and_residual_are_those_of_the_dense_matrix(system: Diffusion, m: int, sign: float) -> None:
    low = bodies(system, 5, m, sign)
    coupled = Coupled(system, low)
    A, index = dense(system, low)
    b, d = right_hand_side(system, 1), right_hand_side(system, 2)
    x = (d[0].astype(np.float64),)
    expected = A @ x[0].reshape(-1)[index]
    q, r = zeros_like(system), zeros_like(system)
    energy = coupled.apply(d, q)
    np.testing.assert_allclose(q[0].reshape(-1)[index], expected, atol=1e-5 * np.abs(expected).max())
    assert energy == pytest.approx(x[0].reshape(-1)[index] @ expected, rel=1e-5)
    kept = b[0].copy()
    coupled.residual(b, x, r)
    np.testing.assert_allclose(r[0].reshape(-1)[index], b[0].reshape(-1)[index] - expected, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(b[0], kept)
    assert not q[0][system.mask[0] == 0].any()
    assert not r[0][system.mask[0] == 0].any()


def test_the_residual_is_not_rounded_to_float32_where_large_terms_cancel(system: Diffusion) -> None:
    low = bodies(system, 2, 3, sign=1e6)
    A, index = dense(system, low)
    x, r = nothing(), zeros_like(system)
    b = right_hand_side(system)
    x[0].reshape(-1)[index] = np.linalg.solve(A, b[0].reshape(-1)[index].astype(np.float64))
    Coupled(system, low).residual(b, x, r)
    assert np.abs(r[0]).max() < 1e-7 * np.abs(b[0]).max()


def test_diagonal(system: Diffusion) -> None:
    low = bodies(system, 5, 6)
    A, index = dense(system, low)
    np.testing.assert_allclose(low.diagonal(system.mask)[0].reshape(-1)[index], np.diag(A), rtol=1e-6)


@pytest.mark.parametrize("sign", [1.0, 100.0, -1e-4])
def test_the_solution_is_that_of_the_dense_matrix(system: Diffusion, exact: Exact, sign: float) -> None:
    low = bodies(system, 3, 2, sign)
    coupled = Coupled(system, low)
    A, index = dense(system, low)
    assert np.linalg.eigvalsh(A)[0] > 0
    b = right_hand_side(system)
    expected = np.linalg.solve(A, b[0].reshape(-1)[index].astype(np.float64))
    for preconditioner in (
        Diagonal(low.diagonal(system.mask), system.blocks),
        Cycle(system, exact),
    ):
        x = nothing()
        stats = conjugate_gradients(coupled, preconditioner, b, x, SolveLimits(1e-6, 400))
        assert stats.converged
        residual = b[0].reshape(-1)[index] - A @ x[0].reshape(-1)[index]
        assert np.abs(residual).max() <= 1.1e-6 * np.abs(b[0]).max()
        np.testing.assert_allclose(x[0].reshape(-1)[index], expected, atol=1e-4 * np.abs(expected).max())


def test_threads_give_the_same_bits(system: Diffusion) -> None:
    low = bodies(system, 4, 6, size=5000)
    d = right_hand_side(system)
    results = []
    for count in (1, 2):
        with threads(count):
            q = zeros_like(system)
            energy = Coupled(system, low).apply(d, q)
            results.append((energy, q[0].tobytes()))
    assert results[0] == results[1]


def test_no_bodies_change_nothing(system: Diffusion) -> None:
    low = LowRank(system.mask, [], np.zeros((0, 6, 6)))
    d, q, plain = right_hand_side(system), zeros_like(system), zeros_like(system)
    assert Coupled(system, low).apply(d, q) == system.apply(d, plain)
    np.testing.assert_array_equal(q[0], plain[0])
