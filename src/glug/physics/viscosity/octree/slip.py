"""Rows of a tree with what solids add along which the liquid slips (`viscosity.slip`).

Leaves are finest around solids, so the faces that their surfaces touch are finest ones and W is that of the regular
grid. As there, the tree's sweeps hold these faces, and their rows, few as they are, are swept apart.
"""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse

from glug.physics.viscosity.slip import HELD, SWEEPS, SlipTerm
from glug.solvers.assembled.rows import AssembledSystem, Part
from glug.solvers.cg import Vector


class SlippingRows:
    """A + W, over the faces of a tree; `number` gives the tree's numbers of regular faces."""

    def __init__(self, rows: AssembledSystem, slip: SlipTerm, number: np.ndarray):
        mine = number[slip.faces.numbers(list(slip.sizes))]
        kept = np.flatnonzero(mine >= 0)
        order = kept[np.argsort(mine[kept])]
        self.system, self.faces = rows, mine[order]
        self.W = sparse.csr_matrix(slip.W)[order][:, order].tocsr()
        self.name, self.unknowns, self.blocks = rows.name, rows.unknowns, rows.blocks
        diagonal = rows.mask[0].copy()
        diagonal[0, 0, self.faces] += self.W.diagonal().astype(np.float32)
        self.mask: Vector = (diagonal,)
        self.vector, self.everything, self.part = rows.vector, rows.everything, rows.part
        held = rows.hold[0].copy()
        held[0, 0, self.faces] = HELD
        self._held = copy.copy(rows)
        self._held.hold = (held,)
        shape = len(self.faces), rows.unknowns
        wide = sparse.csr_matrix((self.W.data, self.faces[self.W.indices], self.W.indptr), shape)
        self._rows = self._near((rows.rows_of(self.faces) + wide).tocsr())

    def _near(self, rows: sparse.csr_matrix) -> sparse.csr_matrix:
        """`rows` with the columns of `faces` first and then those of their neighbours alone."""
        others = np.setdiff1d(rows.indices, self.faces)
        self._columns = np.concatenate([self.faces, others])
        return rows[:, self._columns].tocsr()

    def apply(self, x: Vector, q: Vector) -> float:
        energy = self.system.apply(x, q)
        values = x[0][0, 0, self.faces].astype(np.float64)
        added = self.W @ values
        q[0][0, 0, self.faces] += added.astype(np.float32)
        return energy + float(np.einsum("i,i->", values, added))  # not BLAS: its sums depend on threads

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        self.system.residual(b, x, r)
        r[0][0, 0, self.faces] = b[0][0, 0, self.faces] - self._rows @ x[0][0, 0, self._columns].astype(np.float64)

    def sweep(self, b: Vector, x: Vector, before: Vector, part: Part, forward: bool) -> None:
        """The tree's sweep without the faces at surfaces, and then these; backward the other way round."""
        if not forward:
            self._sweep_faces(b, x, forward)
            before[0][:] = x[0]
        self._held.sweep(b, x, before, part, forward)
        if forward:
            self._sweep_faces(b, x, forward)

    def _sweep_faces(self, b: Vector, x: Vector, forward: bool) -> None:
        from pyamg import amg_core

        count = len(self.faces)
        values = x[0][0, 0, self._columns].astype(np.float64)
        known = b[0][0, 0, self.faces].astype(np.float64)
        order = (0, count, 1) if forward else (count - 1, -1, -1)
        for _ in range(SWEEPS):
            amg_core.gauss_seidel(self._rows.indptr, self._rows.indices, self._rows.data, values, known, *order)
        x[0][0, 0, self.faces] = values[:count]
