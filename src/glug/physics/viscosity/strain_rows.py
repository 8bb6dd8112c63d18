"""Strain rows next to walls, as sparse matrices.

A stress sample that touches a solid face has differences cut at the wall. The rows of these samples give what moving
solids contribute to a right-hand side; with every sample taken they are the assembled reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.regular import Grid, Staggered
from glug.grids.strain_stencil import strains
from glug.physics.viscosity import kernels

if TYPE_CHECKING:
    from glug.physics.viscosity.problem import StressWeights


@dataclass(frozen=True)
class WallRows:
    """Strain rows: up to four faces each, what is known of it, and its stiffness.

    `index` numbers faces through all three axes (axis by axis, C order); -1 where there is no face.
    """

    shapes: tuple[tuple[int, ...], ...]
    index: np.ndarray  # (n, 4) int64
    weight: np.ndarray  # (n, 4)
    known: np.ndarray  # (n,)
    stiffness: np.ndarray  # (n,)

    def offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([int(np.prod(s)) for s in self.shapes])])

    def matrix(self):  # type: ignore[no-untyped-def]
        """E over all faces, as `scipy.sparse`."""
        from scipy import sparse

        used = self.index >= 0
        rows = np.broadcast_to(np.arange(len(self.index))[:, None], self.index.shape)[used]
        shape = (len(self.index), int(self.offsets()[-1]))
        return sparse.csr_matrix((self.weight[used], (rows, self.index[used])), shape=shape)

    def subtract_known(self, b: tuple[np.ndarray, ...]) -> None:
        """b -= E' K V known: the solids' part of the right-hand side."""
        moving = self.known != 0.0
        if not moving.any():
            return
        pull = (self.weight * (self.stiffness * self.known)[:, None])[moving]
        index = self.index[moving]
        offsets = self.offsets()
        for a in range(3):
            mine = (index >= offsets[a]) & (index < offsets[a + 1])
            faces, which = np.unique(index[mine] - offsets[a], return_inverse=True)
            b[a].reshape(-1)[faces] -= np.bincount(which, pull[mine]).astype(b[a].dtype)

    def assemble(self, mass: Staggered, added=None):  # type: ignore[no-untyped-def]
        """M + E' K V E over the unknown faces, and its diagonal as fields (zero where there is no unknown).

        `added` is another matrix over all faces.
        """
        from scipy import sparse

        e = self.matrix()
        m = np.concatenate([c.ravel() for c in mass]).astype(np.float64)
        full = (sparse.diags(m) + e.T @ sparse.diags(self.stiffness) @ e).tocsr()
        full = full if added is None else full + added
        unknown = np.flatnonzero(m > 0)
        matrix = full[unknown][:, unknown].tocsc()
        d = np.zeros(len(m))
        d[unknown] = matrix.diagonal()
        offsets = self.offsets()
        fields = tuple(d[offsets[a] : offsets[a + 1]].reshape(self.shapes[a]) for a in range(3))
        return matrix, fields


def strain_rows(
    grid: Grid,
    solid: SolidField,
    solid_faces: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: StressWeights,
    *,
    every: bool,
    laplacian: bool = False,
    box: np.ndarray | None = None,
) -> WallRows:
    """The rows of the samples that touch solid faces, or of `every` sample; of those in a `box` where one is given.

    A row that is `laplacian` is split by component: u_y and v_x apart instead of u_y + v_x.
    """
    shapes = tuple(s.shape for s in solid_faces)
    offsets = np.concatenate([[0], np.cumsum([int(np.prod(s)) for s in shapes])])
    moving = solid.velocity is not None
    velocity = solid.velocity if solid.velocity is not None else solid.area
    box = np.array([(0, n + 1) for n in grid.shape]) if box is None else box
    parts = []
    for strain in strains(grid.dim):
        field = weights.edges[strain.axis] if strain.shear else weights.cell
        differences = np.array([(d.axis, *d.low, *d.high) for d in strain.differences])
        arguments = differences, offsets, box, field, solid.stopping, solid_faces, velocity, moving, every
        count = kernels.strain_rows(*arguments, np.zeros((0, 4), np.int64), np.zeros((0, 4)), np.zeros(0), np.zeros(0))
        index, weight = np.full((count, 4), -1, np.int64), np.zeros((count, 4))
        known, stiffness = np.zeros(count), np.zeros(count)
        kernels.strain_rows(*arguments, index, weight, known, stiffness)
        if laplacian and not strain.shear:
            stiffness = 0.5 * stiffness  # mu |grad u|^2 has mu where the strain energy has 2 mu
        if laplacian and strain.shear:
            for n in range(len(strain.differences)):
                half, share = np.full_like(index, -1), np.zeros_like(weight)
                half[:, :2], share[:, :2] = index[:, 2 * n : 2 * n + 2], weight[:, 2 * n : 2 * n + 2]
                parts.append((half, share, 0 * known, stiffness))
        else:
            parts.append((index, weight, known, stiffness))
    index, weight, known, stiffness = (np.concatenate(p) for p in zip(*parts))
    return WallRows(shapes, index, weight, known, stiffness)
