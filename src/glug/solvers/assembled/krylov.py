"""Assembled systems: factorisation for small ones, Krylov methods with algebraic multigrid for large ones.

A symmetric matrix is scaled to a unit diagonal first, because fractions of control volumes range over many
orders of magnitude and its diagonal with them. Every solve reports `SolveStats` and raises `SolverError` where there
are no factors or the iteration does not converge. Factors that leave a residual above `ACCEPTED` are reported as not
converged: the caller decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, minres, splu

from glug.errors import InputError, SolverError
from glug.solvers.stats import SolveStats

# Of an iteration's residual: relative to b for cg, to the preconditioned matrix and solution for minres.
TOLERANCE = {cg: 1e-12, minres: 1e-13}
MOST = 2000  # iterations
ACCEPTED = 1e-6  # |b - A x|_inf / |b|_inf above which a solution has failed
HELD = 1e-6  # of the diagonal, added to a preconditioner that may be singular
DIRECT, AMG = "direct", "amg"


class Cholesky:
    """The factors of a symmetric positive definite matrix; anything else raises `SolverError`.

    SuperLU without pivoting: its U is then D L' of the L D L' factorisation, and its pivots are those.
    """

    def __init__(self, matrix: sparse.spmatrix):
        self.matrix, self.scale = matrix, _scale(matrix)
        scaled = sparse.diags(self.scale) @ matrix @ sparse.diags(self.scale)
        try:
            self.factor = splu(
                scaled.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError as error:
            raise SolverError(f"the matrix is not positive definite: {error}") from error
        self.least_pivot = float(self.factor.U.diagonal().min())
        if not self.least_pivot > 0.0:
            raise SolverError(f"the matrix is not positive definite: it has the pivot {self.least_pivot:.1e}")

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution, with one step of refinement."""
        x = self.scale * self.factor.solve(self.scale * b)
        return x + self.scale * self.factor.solve(self.scale * (b - self.matrix @ x))


class AlgebraicCycle:
    """A V-cycle of smoothed aggregation (PyAMG) for a positive definite matrix: symmetric and positive.

    `smooth` (n, k) are vectors of which the matrix makes little; aggregates carry them over exactly.
    """

    def __init__(self, matrix: sparse.spmatrix, smooth: np.ndarray):
        from pyamg import smoothed_aggregation_solver

        self.scale = _scale(matrix)
        scaled = (sparse.diags(self.scale) @ matrix @ sparse.diags(self.scale)).tocsr()
        self.cycle = smoothed_aggregation_solver(scaled, B=smooth / self.scale[:, None]).aspreconditioner()

    def __call__(self, r: np.ndarray) -> np.ndarray:
        return self.scale * (self.cycle @ (self.scale * r))


def solve_positive(
    matrix: sparse.spmatrix, b: np.ndarray, smooth: np.ndarray, solver: str = DIRECT
) -> tuple[np.ndarray, SolveStats]:
    """Solve with a symmetric positive definite matrix: "direct" by Cholesky, "amg" by conjugate gradients."""
    begin = time.perf_counter()
    if solver == DIRECT:
        return _report("cholesky", matrix, Cholesky(matrix).solve(b), b, 1, begin)
    if solver != AMG:
        raise InputError(f"no solver is called '{solver}': there are '{DIRECT}' and '{AMG}'")
    return _iterate(cg, matrix, b, AlgebraicCycle(matrix, smooth), begin)


def solve_saddle(
    A: sparse.spmatrix,
    B: sparse.spmatrix,
    b: np.ndarray,
    *,
    mass: np.ndarray,
    compliance: np.ndarray,
    smooth: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, SolveStats]:
    """Solve [[A, B'], [B, 0]] by MINRES; A is positive definite, `smooth` belongs to A and to B B'.

    The Schur complement B A^-1 B' is preconditioned by what it is where A is nearly its diagonal part `mass`, by a
    cycle, plus what it is where A is nearly viscous, a diagonal: `compliance` (Cahouet and Chabard 1988).
    """
    begin = time.perf_counter()
    velocity = AlgebraicCycle(A, smooth[0])
    laplacian = B @ sparse.diags(1.0 / mass) @ B.T
    # In a closed component it is singular, and rounding would decide whether the cycle is positive.
    laplacian = laplacian + HELD * sparse.diags(laplacian.diagonal())
    pressure = AlgebraicCycle(laplacian.tocsr(), smooth[1])
    n = A.shape[0]

    def precondition(r: np.ndarray) -> np.ndarray:
        return np.concatenate([velocity(r[:n]), compliance * r[n:] + pressure(r[n:])])

    return _iterate(minres, sparse.bmat([[A, B.T], [B, None]], format="csr"), b, precondition, begin)


def solve_general(matrix: sparse.spmatrix, b: np.ndarray) -> tuple[np.ndarray, SolveStats]:
    """Solve with any matrix, by LU with pivoting and one step of refinement."""
    begin = time.perf_counter()
    try:
        factor = splu(matrix.tocsc())
    except RuntimeError as error:
        raise SolverError(f"the matrix has no inverse: {error}") from error
    x = factor.solve(b)
    return _report("lu", matrix, x + factor.solve(b - matrix @ x), b, 1, begin)


def _iterate(
    method: Callable, matrix: sparse.spmatrix, b: np.ndarray, precondition: Callable, begin: float
) -> tuple[np.ndarray, SolveStats]:
    """Run cg or minres of SciPy; `begin` is when the preconditioner was begun."""
    count, setup = 0, time.perf_counter() - begin

    def tick(_: np.ndarray) -> None:
        nonlocal count
        count += 1

    operator = LinearOperator(matrix.shape, precondition, dtype=np.float64)
    try:
        x, failed = method(matrix, b, rtol=TOLERANCE[method], maxiter=MOST, M=operator, callback=tick)
    except ValueError as error:  # minres, of a preconditioner that is not positive
        raise SolverError(f"{method.__name__} with algebraic multigrid failed: {error}") from error
    if failed:
        raise SolverError(f"{method.__name__} with algebraic multigrid did not converge in {count} iterations")
    x, stats = _report(f"amg-{method.__name__}", matrix, x, b, count, begin + setup)
    return x, replace(stats, setup_seconds=setup)


def _report(
    name: str, matrix: sparse.spmatrix, x: np.ndarray, b: np.ndarray, iterations: int, begin: float
) -> tuple[np.ndarray, SolveStats]:
    scale = float(np.abs(b).max(initial=0.0))
    residual = float(np.abs(b - matrix @ x).max()) / scale if scale > 0.0 else 0.0
    return x, SolveStats(name, len(b), iterations, residual, time.perf_counter() - begin, residual <= ACCEPTED)


def _scale(matrix: sparse.spmatrix) -> np.ndarray:
    diagonal = matrix.diagonal()
    if not (diagonal > 0.0).all():
        raise SolverError("the matrix is not positive definite: its diagonal is not positive")
    return 1.0 / np.sqrt(diagonal)
