"""Sparse direct solution of an assembled system: the reference."""

import time
from collections.abc import Callable

import numpy as np

from glug.errors import SolverError
from glug.solvers.cg import Vector
from glug.solvers.stats import SolveStats

# A closed component leaves the matrix singular by a constant. Adding this much of the diagonal picks the
# solution of (nearly) zero mean and changes others by less than the rounding of the right-hand side.
REGULARISATION = 1e-13


def factorise(matrix) -> Callable[[np.ndarray], np.ndarray]:  # type: ignore[no-untyped-def]
    """The inverse of a symmetric `matrix`, applied with one step of refinement."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    shifted = (matrix + REGULARISATION * sparse.diags(matrix.diagonal())).tocsc()
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def solve(rhs: np.ndarray) -> np.ndarray:
        solution = factor.solve(rhs)
        return solution + factor.solve(rhs - matrix @ solution)

    return solve


def direct_solve(name: str, mask: Vector, b: Vector, x: Vector, matrix) -> SolveStats:  # type: ignore[no-untyped-def]
    """Solve with the assembled `matrix`, whose rows are the samples with a positive `mask`, in C order."""
    begin = time.perf_counter()
    active = [g > 0 for g in mask]
    rhs = np.concatenate([c[a] for c, a in zip(b, active)]).astype(np.float64)
    if not np.isfinite(rhs).all():
        raise SolverError(f"{name}: the right-hand side is not finite")
    residual = 0.0
    if len(rhs):
        solution = factorise(matrix)(rhs)
        offset = 0
        for c, a in zip(x, active):
            n = int(a.sum())
            c[:] = 0.0
            c[a] = solution[offset : offset + n]
            offset += n
        scale = np.abs(rhs).max()
        residual = float(np.abs(rhs - matrix @ solution).max() / scale) if scale > 0 else 0.0
    seconds = time.perf_counter() - begin
    return SolveStats("reference", len(rhs), 1, residual, seconds, residual < 1e-6)
