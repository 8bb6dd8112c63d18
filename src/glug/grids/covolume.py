"""Meshes whose pressures lie on lines across their faces: tetrahedra with circumcentres, Voronoi cells with sites.

The pressures of the two cells a, b of a face are at x_a and x_b, and x_b - x_a = d n is parallel to the face's normal.
So one difference is the gradient, whatever the shape of the cells:

    G p = (p_b - p_a) / d,      V_C D u = sum_f +-A u,      V_F = A d

with the area A of the face; both are exact for linear p, and V_F G = -D' V_C as for every `Mesh`. With the velocity
anywhere on the line, rigid motions have no divergence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from glug.grids.kernels import faces_of_cells


@dataclass(frozen=True)
class Covolume:
    """Cells and the faces between them, flat; float64 but for numbers of cells."""

    cell_position: np.ndarray  # x (cells, dim) [m]
    cell_volume: np.ndarray  # (cells,) [m^dim]
    beside: np.ndarray  # int32 (2, faces): the cells a and b
    face_position: np.ndarray  # of the velocity (faces, dim) [m]
    face_normal: np.ndarray  # n from a to b (faces, dim)
    area: np.ndarray  # A (faces,) [m^(dim - 1)]
    distance: np.ndarray  # d (faces,) [m]

    @property
    def dim(self) -> int:
        return self.cell_position.shape[1]

    @property
    def face_volume(self) -> np.ndarray:
        return self.area * self.distance

    @cached_property
    def faces_of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the faces of every cell begin (cells + 1,), and which they are, in ascending order."""
        start = np.zeros(len(self.cell_volume) + 1, np.int32)
        np.cumsum(np.bincount(self.beside.ravel(), minlength=len(self.cell_volume)), out=start[1:])
        face = np.empty(self.beside.size, np.int32)
        faces_of_cells(self.beside, start, face, start[:-1].copy())
        return start, face

    @cached_property
    def D(self) -> sparse.csr_matrix:
        faces = np.arange(len(self.area))
        flow = np.concatenate([self.area, -self.area]) / self.cell_volume[self.beside.ravel()]
        shape = len(self.cell_volume), len(faces)
        return sparse.csr_matrix((flow, (self.beside.ravel(), np.concatenate([faces, faces]))), shape=shape)
