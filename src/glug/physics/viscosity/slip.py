"""What the surfaces of solids do to a viscous liquid that slips along them.

With mu (u - u_solid) / slip the shear stress of a surface with a slip length, and its normal n, the surfaces add

    1/2 sum over pieces of surface  (N u - u_solid)' F (N u - u_solid),

    F = fraction diffusion piece dx (  (I - n n') / slip  +  n n' / (ACROSS dx)  )

to the energy of `viscosity.problem`: friction along the surface, and next to no motion across it. `piece` is the area
of a piece in faces, `fraction` the liquid part of its cell, 0 where a separating wall has freed that. N interpolates
linearly between the faces around a piece, some of which lie in the solid: they are unknowns with hardly any mass.
So a shear flow along a plane is in equilibrium with its friction wherever the plane lies, and nothing holds back what
turns with a round solid.

In multigrid the matrix W = N' F N of these terms goes to coarser grids as P' W P. The kernels know nothing of it: they
hold the faces that it touches, whose rows, few as they are, are a sparse matrix and swept apart, after the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glug.geometry.solids.slip import LEAST_SLIP, Surface, around
from glug.grids.regular import FACES, Offset, copied
from glug.grids.strain_stencil import HERE, Place, acting, matrix_row
from glug.physics.rigid.bodies import Drag
from glug.solvers.cg import Vector

if TYPE_CHECKING:
    from glug.physics.viscosity.levels import ViscosityLevel

ACROSS = LEAST_SLIP  # cells: a wall with this slip length holds all components alike
LEAST_SHARE = 0.1  # of the weights of a piece: with less on unknown faces it is not felt
SWEEPS = 2  # over the rows of faces at surfaces, per sweep of the others
HELD = np.float32(1e20)  # a diagonal that holds its face


@dataclass(frozen=True)
class Faces:
    """Some faces of a staggered field: flat indices per axis, ascending."""

    index: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return sum(len(i) for i in self.index)

    def of(self, field: Vector) -> np.ndarray:
        """The field's values there, axis by axis."""
        return np.concatenate([u.reshape(-1)[i] for u, i in zip(field, self.index)])

    def put(self, values: np.ndarray, field: Vector) -> None:
        """Write them into the field, in place."""
        end = 0
        for u, i in zip(field, self.index):
            begin, end = end, end + len(i)
            u.reshape(-1)[i] = values[begin:end]

    def numbers(self, sizes: list[int]) -> np.ndarray:
        """Through all faces of all axes, of which there are `sizes`."""
        return np.concatenate([i + begin for i, begin in zip(self.index, np.cumsum([0, *sizes]))])

    @classmethod
    def numbered(cls, numbers: np.ndarray, sizes: list[int]) -> Faces:
        ends = np.cumsum([0, *sizes])
        return cls(tuple(numbers[(numbers >= a) & (numbers < b)] - a for a, b in itertools.pairwise(ends)))


@dataclass(frozen=True)
class SlipTerm:
    """W, over the faces that pieces of surface touch, and what the motion of the solids adds to a right-hand side."""

    faces: Faces
    W: Any  # scipy.sparse, float64
    pull: np.ndarray  # N' F u_solid
    surface: Surface | None = None  # the pieces, of the finest grid
    F: np.ndarray | None = None  # (n, 3, 3) of these
    FN: Any = None  # axis by axis
    sizes: tuple[int, ...] = ()  # faces of every axis

    @classmethod
    def build(cls, surface: Surface, F: np.ndarray, motion: np.ndarray, mask: Vector) -> SlipTerm:
        """Of pieces with the solid's velocity `motion` (n, 3), between unknown faces."""
        from scipy import sparse

        point = surface.point

        faces, matrices = [], []
        for offset, m in zip(FACES, mask):
            index, weight = around(point, offset, m.shape)
            weight = np.where(m.reshape(-1)[index] > 0, weight, 0.0)
            total = weight.sum(axis=1, keepdims=True)
            weight = np.where(total > LEAST_SHARE, weight / np.maximum(total, LEAST_SHARE), 0.0)
            mine, matrix = _compressed(index, weight)
            faces.append(mine)
            matrices.append(matrix)
        N = sparse.block_diag(matrices, format="csr")
        stiff = sparse.bmat([[sparse.diags(F[:, a, b]) for b in range(3)] for a in range(3)], format="csr")
        FN = stiff @ N
        pull, sizes = FN.T @ motion.T.reshape(-1), tuple(m.size for m in mask)
        return cls(Faces(tuple(faces)), (N.T @ FN).tocsr(), pull, surface, F, FN, sizes)

    def drag(self, solid: int, motions: Callable[[np.ndarray], np.ndarray]) -> Drag:
        """What the liquid does to the motions of a solid with that number: (N u - R v)' F (N u - R v) of its pieces."""
        assert self.surface is not None and self.F is not None
        mine = np.flatnonzero(self.surface.owner == solid)
        R = motions(self.surface.point[mine])
        spread = np.zeros((3, len(self.surface.owner), R.shape[2]))
        spread[:, mine] = R.transpose(1, 0, 2)
        value = -(self.FN.T @ spread.reshape(-1, R.shape[2]))
        H = np.einsum("nai,nab,nbj->ij", R, self.F[mine], R)
        return Drag(H, np.zeros(R.shape[2]), self.faces.numbers(list(self.sizes)), value)

    def matrix(self, sizes: list[int]):  # type: ignore[no-untyped-def]
        """W over all faces, axis by axis."""
        from scipy import sparse

        number, entries = self.faces.numbers(sizes), self.W.tocoo()
        place = number[entries.row], number[entries.col]
        return sparse.csr_matrix((entries.data, place), shape=(sum(sizes), sum(sizes)))

    def coarser(self, fine: Vector, mask: Vector) -> SlipTerm:
        """P' W P on cells twice as large, between the unknown faces there; `fine` are fields of this level."""
        from scipy import sparse

        faces, matrices = [], []
        for offset, u, m, own in zip(FACES, fine, mask, self.faces.index):
            place = np.stack(np.unravel_index(own, u.shape), axis=1)
            index, weight = around(1.0 + 0.5 * (place + np.asarray(offset)), offset, m.shape)  # behind an empty layer
            mine, matrix = _compressed(index, np.where(m.reshape(-1)[index] > 0, weight, 0.0))
            faces.append(mine)
            matrices.append(matrix)
        P = sparse.block_diag(matrices, format="csr")
        return SlipTerm(Faces(tuple(faces)), (P.T @ self.W @ P).tocsr(), P.T @ self.pull)

    def diagonal_of(self, shapes: Vector) -> Vector:
        """The diagonal of W, as fields."""
        out = tuple(np.zeros(u.shape, np.float32) for u in shapes)
        self.faces.put(self.W.diagonal(), out)
        return out


def _compressed(index: np.ndarray, weight: np.ndarray):  # type: ignore[no-untyped-def]
    """The samples with weights, ascending, and the weights as a matrix of their own: rows by these samples."""
    from scipy import sparse

    used = weight > 0
    mine, column = np.unique(index[used], return_inverse=True)
    row = np.broadcast_to(np.arange(len(index))[:, None], index.shape)[used]
    return mine, sparse.csr_matrix((weight[used], (row, column)), shape=(len(index), len(mine)))


def stiffness(surface: Surface, diffusion: np.ndarray) -> np.ndarray:
    """F (n, 3, 3) of the pieces of a surface; `diffusion` is mu dt / (rho dx^2) there, times the liquid fraction."""
    across = surface.normal[:, :, None] * surface.normal[:, None, :]
    along = np.eye(3) - across
    F = along / surface.length[:, None, None] + across / ACROSS
    return (diffusion * surface.piece)[:, None, None] * F


def interpolated(field: np.ndarray, offset: Offset, point: np.ndarray) -> np.ndarray:
    """A field sampled at `offset`, at points (in cells)."""
    index, weight = around(point, offset, field.shape)
    return (field.reshape(-1)[index] * weight).sum(axis=1)


class SurfaceRows:
    """The rows of A, W included, of the faces that W touches; the kernels hold these faces."""

    def __init__(self, level: ViscosityLevel, slip: SlipTerm):
        self.held = copied(level.m)
        for m, index in zip(self.held, slip.faces.index):
            m.reshape(-1)[index] = HELD
        sizes = [m.size for m in level.m]
        mine = slip.faces.numbers(sizes)
        row, column, value = operator_rows(level, slip.faces)
        others = np.setdiff1d(column, mine)
        self.count = len(mine)
        self.faces = Faces.numbered(mine, sizes)
        self.near = Faces.numbered(others, sizes)
        self.rows = self._rows(mine, others, row, column, value, slip.W)
        self._x = np.empty(self.rows.shape[1])

    @staticmethod
    def _rows(mine, others, row, column, value, W):  # type: ignore[no-untyped-def]
        from scipy import sparse

        number = np.concatenate([mine, others])
        order = np.argsort(number)
        place = order[np.searchsorted(number, column, sorter=order)]
        rows = sparse.csr_matrix((value, (row, place)), shape=(len(mine), len(number)))
        wide = sparse.csr_matrix((W.data, W.indices, W.indptr), shape=rows.shape)
        return (rows + wide).tocsr()

    def _gather(self, x: Vector) -> np.ndarray:
        self._x[: self.count] = self.faces.of(x)
        self._x[self.count :] = self.near.of(x)
        return self._x

    def apply(self, x: Vector, q: Vector) -> float:
        """q = A x on the faces; returns what that changes of x . q."""
        values = self._gather(x)
        product, before = self.rows @ values, self.faces.of(q)
        self.faces.put(product, q)
        return float(np.einsum("i,i->", values[: self.count], product - before))  # not BLAS: its sums depend on threads

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - A x on the faces."""
        self.faces.put(self.faces.of(b) - self.rows @ self._gather(x), r)

    @contextmanager
    def holding(self, b: Vector, x: Vector) -> Iterator[None]:
        """Sweeps of the kernels leave the faces as they are."""
        kept = self.faces.of(b)
        self.faces.put(HELD * self.faces.of(x), b)
        try:
            yield
        finally:
            self.faces.put(kept, b)

    def sweep(self, b: Vector, x: Vector, forward: bool) -> None:
        """Gauss-Seidel over the faces, in place."""
        from pyamg import amg_core

        values, known = self._gather(x), self.faces.of(b).astype(np.float64)
        order = (0, self.count, 1) if forward else (self.count - 1, -1, -1)
        for _ in range(SWEEPS):
            amg_core.gauss_seidel(self.rows.indptr, self.rows.indices, self.rows.data, values, known, *order)
        self.faces.put(values[: self.count], x)


def operator_rows(level: ViscosityLevel, faces: Faces) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, number of the column's face and value of the entries of M + E' K V E in the rows of some faces."""
    sizes = [m.size for m in level.m]
    begin = np.cumsum([0, *sizes])
    diagonal = level.diagonal_with(level.m)
    rows, columns, values = [], [], []
    for a, index in enumerate(faces.index):
        place = np.stack(np.unravel_index(index, level.m[a].shape), axis=1)
        number = np.arange(len(index)) + sum(len(i) for i in faces.index[:a])

        def add(axis: int, step: Place, coefficient: np.ndarray, number=number, place=place) -> None:  # type: ignore[no-untyped-def]
            shape = level.m[axis].shape
            to = np.ravel_multi_index(tuple((place + step).T), shape)
            mine = (level.m[axis].reshape(-1)[to] > 0) & (coefficient != 0)
            rows.append(number[mine])
            columns.append(to[mine] + begin[axis])
            values.append(coefficient[mine].astype(np.float64))

        def at(field: np.ndarray, step: Place, place=place) -> np.ndarray:  # type: ignore[no-untyped-def]
            return field[tuple((place + step).T)]

        around = acting(a)
        add(a, HERE, at(diagonal[a], HERE))
        for sample, sign, (axis, step) in matrix_row(a):
            strain, there, _ = around[sample]
            field = (level.e if axis == a else level.f)[strain.axis] if strain.shear else level.c[a]
            add(axis, step, sign * at(field, there))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
