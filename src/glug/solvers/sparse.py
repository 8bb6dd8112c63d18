"""Assembled systems: sparse factorisation for small ones, preconditioned conjugate gradients for large ones.

A symmetric matrix is scaled to a unit diagonal first, because fractions of control volumes range over many
orders of magnitude and its diagonal with them.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from glug.errors import SolverError
from glug.solvers.schwarz import schwarz_cg

LARGEST_3D = 10_000  # unknowns; factors fill up in 3D


class Cholesky:
    """The factors of a symmetric positive definite matrix; anything else raises `SolverError`.

    SuperLU without pivoting: its U is then D L' of the L D L' factorisation, and its pivots are those.
    """

    def __init__(self, matrix: sparse.spmatrix):
        diagonal = matrix.diagonal()
        if not (diagonal > 0.0).all():
            raise SolverError("the matrix is not positive definite: its diagonal is not positive")
        self.matrix = matrix
        self.scale = 1.0 / np.sqrt(diagonal)
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


def solve_positive(
    matrix: sparse.spmatrix, b: np.ndarray, positions: np.ndarray, solver: str = "auto"
) -> tuple[np.ndarray, int]:
    """Solve with a symmetric positive definite matrix; the solution and the number of iterations.

    `positions` (n, dim) are those of the unknowns. "auto" factorises in 2D and while a 3D system is small; the
    others are "cholesky" and "schwarz".
    """
    if solver == "auto":
        solver = "cholesky" if positions.shape[1] == 2 or len(b) <= LARGEST_3D else "schwarz"
    if solver == "schwarz":
        return schwarz_cg(matrix.tocsr(), b, positions)
    return Cholesky(matrix).solve(b), 1


def solve_general(matrix: sparse.spmatrix, b: np.ndarray) -> np.ndarray:
    """Solve with any matrix, by LU with pivoting and one step of refinement."""
    factor = splu(matrix.tocsc())
    x = factor.solve(b)
    return x + factor.solve(b - matrix @ x)
