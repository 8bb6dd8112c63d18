"""Multigrid cycles on assembled matrices: the reference of the matrix-free ones, in any dimension.

Every smoother has its adjoint, and the restriction is the transpose of the interpolation: the cycle is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from glug.solvers.assembled import kernels_cycle as kernels


class Smoother(Protocol):
    def sweep(self, b: np.ndarray, x: np.ndarray, forward: bool) -> None:
        """Improve x as a solution of A x = b, in place; backwards is the adjoint of forwards."""
        ...


class Boxes:
    """The unknowns of every row are solved for together, one row after the other (Aanjaneya et al. 2019)."""

    def __init__(self, matrix: sparse.csr_matrix, band: np.ndarray):
        self._rows = matrix.indptr, matrix.indices, matrix.data
        self._most = int(np.diff(matrix.indptr).max())

    def sweep(self, b: np.ndarray, x: np.ndarray, forward: bool) -> None:
        kernels.sweep_boxes(*self._rows, self._most, b, x, forward)


class Rows:
    """Gauss-Seidel."""

    def __init__(self, matrix: sparse.csr_matrix, band: np.ndarray):
        self._rows = matrix.indptr, matrix.indices, matrix.data

    def sweep(self, b: np.ndarray, x: np.ndarray, forward: bool) -> None:
        kernels.sweep_rows(*self._rows, b, x, forward)


class BandedJacobi:
    """Damped Jacobi: three sweeps in the `band` along boundaries, one everywhere, three in the band."""

    BAND_SWEEPS, FACTOR = 3, 0.5

    def __init__(self, matrix: sparse.csr_matrix, band: np.ndarray):
        self._matrix, self._near, self._band = matrix, matrix[band], band
        self._scale = self.FACTOR / matrix.diagonal()

    def sweep(self, b: np.ndarray, x: np.ndarray, forward: bool) -> None:
        for _ in range(self.BAND_SWEEPS):
            self._along_boundaries(b, x)
        x += self._scale * (b - self._matrix @ x)
        for _ in range(self.BAND_SWEEPS):
            self._along_boundaries(b, x)

    def _along_boundaries(self, b: np.ndarray, x: np.ndarray) -> None:
        x[self._band] += self._scale[self._band] * (b[self._band] - self._near @ x)


class AssembledCycle:
    """A preconditioner: one V-cycle over `matrices`, finest first; `prolongations` lead from each to the one before."""

    def __init__(
        self,
        matrices: Sequence[sparse.csr_matrix],
        prolongations: Sequence[sparse.csr_matrix],
        smoothers: Sequence[Smoother],
    ):
        self._matrices, self._prolongations, self._smoothers = matrices, prolongations, smoothers
        self._bottom = splu(matrices[-1].tocsc())

    def __call__(self, r: np.ndarray) -> np.ndarray:
        return self._cycle(0, np.asarray(r, np.float64))

    def _cycle(self, depth: int, b: np.ndarray) -> np.ndarray:
        if depth == len(self._matrices) - 1:
            return self._bottom.solve(b)
        x = np.zeros_like(b)
        self._smoothers[depth].sweep(b, x, True)
        down = self._prolongations[depth]
        x += down @ self._cycle(depth + 1, down.T @ (b - self._matrices[depth] @ x))
        self._smoothers[depth].sweep(b, x, False)
        return x


def assembled_cg(
    matrix: sparse.csr_matrix,
    precondition: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    tolerance: float,
    most: int,
) -> tuple[np.ndarray, list[float]]:
    """Conjugate gradients from zero until |b - A x|_inf <= tolerance |b|_inf; x and the residuals on the way."""
    x, r = np.zeros_like(b), b.copy()
    size = float(np.abs(b).max())
    residuals = [1.0]
    d, before = np.zeros_like(b), 1.0
    while residuals[-1] > tolerance and len(residuals) <= most:
        z = precondition(r)
        energy = float(r @ z)
        d = z + (energy / before if len(residuals) > 1 else 0.0) * d
        before = energy
        q = matrix @ d
        alpha = energy / float(d @ q)
        x += alpha * d
        r -= alpha * q
        residuals.append(float(np.abs(r).max()) / size)
    residuals[-1] = float(np.abs(b - matrix @ x).max()) / size
    return x, residuals
