"""Conjugate gradients preconditioned by overlapping Schwarz blocks, for assembled systems too large to factorise.

The unknowns are cut into boxes by their positions; every box is grown by layers of the matrix's graph and
factorised. The preconditioner is the sum of the boxes' solutions (Batty 2010, section 4.8, has the multiplicative
variant), symmetric and positive.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from glug.errors import SolverError

BLOCK = 1000  # unknowns of a box before it grows
LAYERS = 1  # by which it grows


def boxes(positions: np.ndarray, size: int = BLOCK) -> list[np.ndarray]:
    """Indices of the positions (n, d), halved across the longest side until no part has more than `size`."""
    done, todo = [], [np.arange(len(positions))]
    while todo:
        part = todo.pop()
        if len(part) <= size:
            done.append(part)
            continue
        here = positions[part]
        along = here[:, np.argmax(np.ptp(here, axis=0))]
        order = np.argsort(along, kind="stable")
        todo += [part[order[: len(part) // 2]], part[order[len(part) // 2 :]]]
    return done


class Schwarz:
    """Sum of the solutions on overlapping boxes."""

    def __init__(self, matrix: sparse.csr_matrix, positions: np.ndarray, size: int = BLOCK, layers: int = LAYERS):
        self.parts = []
        for part in boxes(positions, size):
            for _ in range(layers):
                part = np.unique(np.concatenate([part, matrix[part].indices]))
            local = matrix[part][:, part].tocsc()
            factor = splu(local, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
            self.parts.append((part, factor))

    def __call__(self, r: np.ndarray) -> np.ndarray:
        z = np.zeros_like(r)
        for part, factor in self.parts:
            z[part] += factor.solve(r[part])
        return z


def schwarz_cg(
    matrix: sparse.csr_matrix, b: np.ndarray, positions: np.ndarray, tolerance: float = 1e-10, most: int = 3000
) -> tuple[np.ndarray, int]:
    """Solve to |b - A x| <= tolerance |b| (2-norms, of the matrix scaled to a unit diagonal)."""
    scale = 1.0 / np.sqrt(matrix.diagonal())
    A = (sparse.diags(scale) @ matrix @ sparse.diags(scale)).tocsr()
    precondition = Schwarz(A, positions)
    r = scale * b
    enough = tolerance * float(np.linalg.norm(r))
    x = np.zeros_like(r)
    z = precondition(r)
    d, rz = z, float(r @ z)
    for iteration in range(1, most + 1):
        if float(np.linalg.norm(r)) <= enough:
            return scale * x, iteration - 1
        q = A @ d
        step = rz / float(d @ q)
        x = x + step * d
        r = r - step * q
        z = precondition(r)
        rz, before = float(r @ z), rz
        d = z + (rz / before) * d
    raise SolverError(f"conjugate gradients with Schwarz blocks did not converge in {most} iterations")
