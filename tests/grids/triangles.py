"""An example of a mesh without strains: triangles of the plane, with pressures at their circumcentres.

The line between two circumcentres crosses the side between them at a right angle, in its middle: there the velocity
sits, whatever its direction.
"""

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.spatial import Delaunay

from glug.grids.boxes import linear_fraction
from glug.grids.mesh import Distance, Fractions


class Triangles:
    """A `Mesh` from points (n, 2) [m] that Delaunay's triangles connect; the outermost sides are walls."""

    dim = 2

    def __init__(self, points: np.ndarray):
        triangles = Delaunay(points)
        self.points, self.corners, across = points, triangles.simplices, triangles.neighbors
        cell, corner = np.nonzero((across >= 0) & (np.arange(len(across))[:, None] < across))
        self.beside = np.stack([cell, across[cell, corner]])  # the two triangles of every side
        self.ends = np.stack([self.corners[cell, (corner + n) % 3] for n in (1, 2)])

    @classmethod
    def random(cls, n: int, seed: int = 0) -> "Triangles":
        """About n rows over [-1.5, 1.5]^2, of triangles that are not far from equilateral."""
        h = 3.0 / n
        i, j = np.meshgrid(np.arange(n + 1), np.arange(int(n * 2 / np.sqrt(3)) + 1), indexing="ij")
        lattice = np.stack([(i + 0.5 * (j % 2)) * h, j * np.sqrt(0.75) * h], axis=-1).reshape(-1, 2)
        moved = np.random.default_rng(seed).uniform(-0.2 * h, 0.2 * h, lattice.shape)
        return cls(lattice - lattice.mean(axis=0) + moved)

    @cached_property
    def edges(self) -> np.ndarray:
        """From the first corner of every triangle to the two others (n, 2, 2)."""
        return self.points[self.corners[:, 1:]] - self.points[self.corners[:, :1]]

    @cached_property
    def cell_position(self) -> np.ndarray:
        half = 0.5 * (self.edges**2).sum(axis=2)[..., None]
        return self.points[self.corners[:, 0]] + np.linalg.solve(self.edges, half)[..., 0]

    @cached_property
    def cell_volume(self) -> np.ndarray:
        return 0.5 * np.abs(np.linalg.det(self.edges))

    @cached_property
    def face_position(self) -> np.ndarray:
        return self.points[self.ends].mean(axis=0)

    @cached_property
    def face_normal(self) -> np.ndarray:
        """From the first triangle to the second, across the side."""
        x, y = (self.points[self.ends[1]] - self.points[self.ends[0]]).T
        normal = np.stack([y, -x], axis=1) / self.length[:, None]
        first = self.points[self.corners[self.beside[0]]].mean(axis=1)
        return normal * np.sign(((self.face_position - first) * normal).sum(axis=1))[:, None]

    @cached_property
    def length(self) -> np.ndarray:
        return np.linalg.norm(self.points[self.ends[1]] - self.points[self.ends[0]], axis=1)

    @cached_property
    def face_volume(self) -> np.ndarray:
        first, second = self.cell_position[self.beside]
        return self.length * ((second - first) * self.face_normal).sum(axis=1)

    @cached_property
    def D(self) -> sparse.csr_matrix:
        faces = np.arange(len(self.length))
        flow = np.concatenate([self.length, -self.length]) / self.cell_volume[self.beside.ravel()]
        shape = len(self.cell_volume), len(faces)
        return sparse.csr_matrix((flow, (self.beside.ravel(), np.concatenate([faces, faces]))), shape=shape)

    def fractions(self, distance: Distance) -> Fractions:
        """Of the triangles, and of the two between the ends of a side and the circumcentres."""
        corner, centre = distance(self.points), distance(self.cell_position)
        kites = [linear_fraction(np.stack([*corner[self.ends], centre[cell]])) for cell in self.beside]
        return Fractions(linear_fraction(corner[self.corners.T]), 0.5 * (kites[0] + kites[1]), np.zeros(0))

    def open_area(self, distance: Distance) -> np.ndarray:
        return linear_fraction(distance(self.points)[self.ends])

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        """The vector of every triangle that fits the velocities of its three sides best; not at the border."""
        D, begin = self.D, self.points[self.corners[:, 0]]
        parts = np.einsum("pcx,cxe->pce", points[:, None] - begin, np.linalg.inv(self.edges))
        cell = np.minimum(parts.min(axis=2), 1.0 - parts.sum(axis=2)).argmax(axis=1)  # the triangle around each point
        sides = np.stack([D.indices[D.indptr[c] : D.indptr[c + 1]] for c in cell])
        fits = np.moveaxis(np.linalg.pinv(self.face_normal[sides]), 1, 0)  # (2, n, 3)
        rows = np.repeat(np.arange(len(points)), 3)
        shape = len(points), len(self.length)
        rows_of = [sparse.csr_matrix((fit.ravel(), (rows, sides.ravel())), shape=shape) for fit in fits]
        return sparse.vstack(rows_of, format="csr")
