"""Incomplete Cholesky factorisations as preconditioners: the classical baseline.

A factorisation without fill (Meijerink and van der Vorst 1977), of a seven-point stencil also modified: most of what it
drops goes to the diagonal (Gustafsson 1978; Bridson 2015, section 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from glug.solvers import kernels
from glug.solvers import kernels_incomplete as incomplete
from glug.solvers.cg import Vector

if TYPE_CHECKING:
    from scipy import sparse


class StencilCholesky:
    """z = (L L')^-1 r for the matrix of `links` (one field per axis) and `diagonal`, positive at unknowns.

    The outermost layer of cells holds no unknown.
    """

    def __init__(self, links: Sequence[np.ndarray], diagonal: np.ndarray, blocks: np.ndarray):
        self._links, self._blocks = tuple(links), blocks
        self._sums = np.zeros(len(blocks))
        active = diagonal > 0
        shape = diagonal.shape
        self._rows = np.zeros((*shape[:2], 2), np.int32)
        self._rows[..., 0] = active.argmax(axis=2)
        self._rows[..., 1] = shape[2] - active[..., ::-1].argmax(axis=2)
        self._rows[~active.any(axis=2)] = 0
        planes = np.cumsum(active.sum(axis=(1, 2)))
        self._middle = int(np.clip(np.searchsorted(planes, planes[-1] / 2), 1, shape[0] - 2))
        self._inverse = np.zeros_like(diagonal)
        incomplete.factorise_stencil(*self._links, diagonal, self._middle, self._inverse)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """Returns r . z."""
        incomplete.solve_stencil(*self._links, self._inverse, self._middle, self._rows, r[0], z[0])
        kernels.dot(r, z, self._blocks, self._sums)
        return float(self._sums.sum())


class AssembledCholesky:
    """z = (L L')^-1 r for a sparse matrix, on one thread."""

    def __init__(self, matrix: sparse.spmatrix):
        from scipy import sparse

        lower = sparse.tril(matrix, format="csr")
        lower.sort_indices()
        self._start, self._column = lower.indptr, lower.indices
        self._factor = np.empty(len(lower.data))
        incomplete.factorise_rows(self._start, self._column, lower.data, self._factor)

    def __call__(self, r: np.ndarray) -> np.ndarray:
        z = np.array(r, dtype=np.float64)
        incomplete.solve_rows(self._start, self._column, self._factor, z)
        return z
