"""Reference projection with affine regions: the ordinary one with fewer velocities to choose from.

Faces of a region move with it, u = R v; the others are free. Among these velocities the projection

    minimises 1/2 (u - u*)' M (u - u*)  subject to  D u = target,     D over the ordinary cells.

With M and D of the free faces, and J = R' D' of those between regions and ordinary cells, that is

    (D M^-1 D' + J' M_v^-1 J) q = D u* + J' v* - target,     M_v = R' M R,     v* = M_v^-1 R' M u*,
    u = u* - M^-1 D' q,     v = v* - M_v^-1 J q:

v* keeps the momentum of what a region holds, and the matrix is that of Goldade 2021 (eq. 4.22) with the sign that makes
it positive. A trace-free affine velocity has no divergence in the region's cells, so they need no pressure. Velocities
and positions are in cells, masses relative to one full face of the reference density.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from scipy.sparse.csgraph import connected_components

from glug.grids.operators import Operators
from glug.grids.regular import Grid
from glug.physics.affine.regions import Regions, basis, owners
from glug.solvers.assembled.krylov import solve_positive

FLAT = 1e-11  # of the matrix: pressures that cost less than this belong to the null space


@dataclass(frozen=True)
class AffineSolution:
    """Face velocities, flat, the regions' unknowns and the pressures q of the ordinary cells (0 elsewhere)."""

    u: np.ndarray
    v: np.ndarray
    q: np.ndarray
    unknowns: int
    residual: float  # |b - A q|_inf / |b|_inf


class AffineProjection:
    """One geometry, ready for any velocity.

    `area` is the open fraction of every face, `mobility` the reference density over the one there (times the distance
    to the surface in cells, where air is vacuum), both staggered; `cells` are those of the fluid.
    """

    def __init__(
        self,
        grid: Grid,
        area: Sequence[np.ndarray],
        mobility: Sequence[np.ndarray],
        cells: np.ndarray,
        regions: Regions,
    ):
        self.grid, self.regions = grid, regions
        operators = Operators(grid)
        owner = [owners(regions, a) for a in grid.axes]
        flat_owner = _flat(owner)
        self.owned = flat_owner >= 0
        opening, motion = _flat(area[: grid.dim]).astype(float), _flat(mobility[: grid.dim]).astype(float)
        self.free = (opening > 0.0) & (motion > 0.0) & ~self.owned
        self.ordinary = (cells & (regions.label < 0)).ravel()
        self.R = self._basis(owner)
        M = sparse.diags(_ratio(opening, motion))
        self._weighted = sparse.csr_matrix(self.R.T @ M)
        self.mass = np.array(_blocks(sparse.csr_matrix(self._weighted @ self.R), regions.count))  # M_v
        inverse = np.linalg.inv(self.mass) if regions.count else self.mass
        self._inverse = sparse.block_diag(list(inverse), format="csr") if regions.count else sparse.csr_matrix((0, 0))
        self.D = (operators.D[self.ordinary] * grid.dx) @ sparse.diags(opening)
        self.J = (self.D @ self.R).T.tocsr()
        self._mobility = np.where(
            self.free, np.divide(motion, opening, out=np.zeros_like(motion), where=opening > 0), 0.0
        )

    def _basis(self, owner: list[np.ndarray]) -> sparse.csr_matrix:
        """R: every face of a region from the region's unknowns."""
        dim = self.grid.dim
        each = dim + dim * dim - 1
        rows, columns, values = [], [], []
        begin = 0
        for a, mine in enumerate(owner):
            where = np.nonzero(mine >= 0)
            region = mine[where]
            value = basis(self.grid, self.regions, a, where, region)
            face = begin + np.ravel_multi_index(where, mine.shape)
            rows.append(np.repeat(face, each))
            columns.append((region[:, None] * each + np.arange(each)).ravel())
            values.append(value.ravel())
            begin += mine.size
        shape = (begin, each * self.regions.count)
        return sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    def ordinary_matrix(self) -> sparse.csr_matrix:
        """D M^-1 D' of the free faces, over the ordinary cells."""
        half = self.D @ sparse.diags(np.sqrt(self._mobility))
        return (half @ half.T).tocsr()

    def matrix(self) -> sparse.csr_matrix:
        """The whole matrix over the ordinary cells."""
        reduced = self.J.T @ self._inverse @ self.J
        return (self.ordinary_matrix() + 0.5 * (reduced + reduced.T)).tocsr()

    def fit(self, u: np.ndarray) -> np.ndarray:
        """The regions' unknowns that carry the momentum of `u`."""
        return self._inverse @ (self._weighted @ u)

    def response(self, q: np.ndarray) -> np.ndarray:
        """M_v^-1 J q."""
        return self._inverse @ (self.J @ q)

    def moved(self, u: np.ndarray, v: np.ndarray, q: np.ndarray) -> np.ndarray:
        """What the pressures q make of velocities u, which are R v in the regions."""
        return np.where(self.owned, self.R @ (v - self.response(q)), u - self._mobility * (self.D.T @ q))

    def project(self, u: np.ndarray, target: np.ndarray | float = 0.0) -> AffineSolution:
        """The velocity nearest to `u` whose divergence times dx in every ordinary cell is `target`."""
        v = self.fit(u)
        u = np.where(self.owned, self.R @ v, u)
        return self.correct(u, v, self.D @ u - np.broadcast_to(target, len(self.ordinary))[self.ordinary])

    def correct(self, u: np.ndarray, v: np.ndarray, excess: np.ndarray) -> AffineSolution:
        """From `u`, which is R v in the regions, and by how much the divergence of the ordinary cells is too large."""
        q, residual = self.pressures(excess)
        u, v = self.moved(u, v, q), v - self.response(q)
        pressure = np.zeros(len(self.ordinary))
        pressure[self.ordinary] = -q
        return AffineSolution(u, v, pressure, len(q) + len(v), residual)

    def pressures(self, b: np.ndarray, added: sparse.spmatrix | None = None) -> tuple[np.ndarray, float]:
        """Of the ordinary cells, with `added` to the matrix, and the residual of the solution.

        What is closed has pressures that push nothing: they are left out, and what the walls force there is dropped.
        """
        matrix = self.matrix() if added is None else sparse.csr_matrix(self.matrix() + added)
        keep = matrix.diagonal() > 0.0
        idle, held = idle_pressures(matrix, self.ordinary_matrix())
        keep[held] = False
        b = b - idle @ (idle.T @ b)
        q = np.zeros(len(b))
        if keep.any():
            q[keep], _ = solve_positive(matrix[keep][:, keep], b[keep], np.ones((int(keep.sum()), 1)))
        scale = float(np.abs(b).max(initial=0.0))
        return q, float(np.abs(b - matrix @ q).max()) / scale if scale > 0.0 else 0.0


def idle_pressures(matrix: sparse.csr_matrix, links: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis (n, m) of the null space of `matrix`, and m entries that may be held to make it regular.

    Without differences inside the parts that `links` connects there are only constants on them, and what these cost:
    what regions, bodies and bubbles see of them in no combination is idle. A body presses on any number of pockets
    with three unknowns, six in 3D, and pools under a bubble, which gives way, are lifted together.
    """
    count, label = connected_components(links, directed=False)
    diagonal = matrix.diagonal()
    empty = np.zeros(count, bool)
    np.logical_or.at(empty, label, diagonal <= 0.0)
    C = sparse.csr_matrix((np.ones(len(label)), (np.arange(len(label)), label)), (len(label), count))
    costs = sparse.csr_matrix(C.T @ matrix @ C)
    own, alone = costs.diagonal(), np.diff(abs(costs).tocsr().indptr) <= 1
    scale = 1.0 / np.sqrt(np.maximum(C.T @ diagonal, 1e-300))
    chosen = np.flatnonzero(~empty & ~(alone & (own * scale**2 >= FLAT)))  # what is tied to air by itself is not idle
    C, scale = C[:, chosen], scale[chosen]
    cost, shape = np.linalg.eigh(scale[:, None] * costs[chosen][:, chosen].toarray() * scale)
    constants = scale[:, None] * shape[:, cost < FLAT]  # (parts, m)
    idle = np.linalg.qr(C @ constants)[0]
    first = qr(constants.T, pivoting=True)[2][: constants.shape[1]]  # parts whose constants are independent
    return idle, np.unique(label, return_index=True)[1][chosen[first]]


def _flat(components: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([c.ravel() for c in components])


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, and 0 where b is."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)


def _blocks(matrix: sparse.csr_matrix, count: int) -> list[np.ndarray]:
    """The diagonal blocks of a block-diagonal matrix."""
    size = matrix.shape[0] // max(1, count)
    return [matrix[n * size : (n + 1) * size, n * size : (n + 1) * size].toarray() for n in range(count)]
