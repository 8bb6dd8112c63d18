"""The velocity between the faces of Voronoi cells (Brochu, Batty and Bridson 2010).

Every vertex has the vector that fits the velocities of the faces around it best, every site what the linear function
through its vertices has there, every face the mean of its vertices with its own velocity along its normal. The
gradients of those functions correct the fits for faces being elsewhere than the vertex. Beyond the liquid are means of
what is known. In between, the velocity is linear in the simplices of a site, the middle of a face and an edge of it
(`refined`). The two baselines are linear between the sites of Delaunay's simplices (`barycentric`), and Warren's
coordinates in the cells (`generalised`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from glug.grids.voronoi import kernels_field as kernels
from glug.grids.voronoi import kernels_sample
from glug.grids.voronoi.mesh import Located, Voronoi

Interpolation = Literal["refined", "barycentric", "generalised"]
KINDS = {
    "refined": kernels_sample.REFINED,
    "barycentric": kernels_sample.BARYCENTRIC,
    "generalised": kernels_sample.GENERALISED,
}
FITS = 3  # of vectors, each with the gradients of the one before; the first has none
PASSES = 6  # by which the velocity is continued, each from vertices to sites and back


class Behind(NamedTuple):
    """What of a mesh is in solids."""

    sites: np.ndarray
    vertices: np.ndarray
    outwards: np.ndarray  # unit vectors (n, dim) out of the solids at those vertices


@dataclass(frozen=True)
class VoronoiField:
    """Vectors [m/s] of sites, vertices and faces of a mesh; `u` are the velocities of faces that it was made of."""

    mesh: Voronoi
    u: np.ndarray
    used: np.ndarray
    wet: np.ndarray
    site: np.ndarray
    vertex: np.ndarray
    face: np.ndarray
    known: np.ndarray  # the vertices that have one
    gradient: np.ndarray  # (sites, dim, dim) of the linear functions of sites in the liquid
    inside: np.ndarray  # the sites in the liquid that have such a function
    interpolation: Interpolation = "refined"
    behind: Behind | None = None

    @classmethod
    def of(
        cls,
        mesh: Voronoi,
        u: np.ndarray,
        used: np.ndarray,
        wet: np.ndarray,
        interpolation: Interpolation,
        behind: Behind | None = None,
    ) -> VoronoiField:
        """The field of velocities of the faces, of which those of wet cells are used; continued beyond them.

        What is `behind` walls has, along them, the mean of what is before: linear functions that are continued there
        grow from step to step.
        """
        vertex, known = np.zeros_like(mesh.vertices), np.zeros(len(mesh.vertices), np.bool_)
        sites = len(mesh.cell_position)
        site, found = np.zeros((sites, mesh.dim)), np.zeros(sites, np.bool_)
        gradient = np.zeros((sites, mesh.dim, mesh.dim))
        vertices_of = mesh.vertices_of_cells
        hidden = np.zeros(len(vertex), np.bool_) if behind is None else behind.vertices
        linear = wet if behind is None else wet & ~behind.sites
        shape = mesh.faces_at_vertices, mesh.face_normal, mesh.face_position, mesh.vertices, mesh.meeting
        for _ in range(FITS):
            kernels.fit_vertices(shape, u, used, gradient, vertex, known)
            known &= ~hidden
            vertex[hidden] = 0.0
            places = mesh.vertices, vertex, known, mesh.cell_position, linear
            kernels.fit_sites(*vertices_of, *places, site, gradient, found)
        inside = np.flatnonzero(linear & found)
        for _ in range(PASSES):
            now = np.empty_like(known)
            given = mesh.meeting, mesh.vertices, mesh.cell_position, site, gradient, found, hidden
            kernels.continue_vertices(*given, vertex, known, now)
            known, now = now, np.empty_like(found)
            kernels.means(*vertices_of, vertex, known, site, found, now)
            found = now
        if behind is not None:
            into = (vertex[hidden] * behind.outwards).sum(axis=1)
            vertex[hidden] -= into[:, None] * behind.outwards
        face = np.empty((len(u), mesh.dim))
        kernels.face_vectors(*mesh.ring, vertex, known, mesh.face_normal, u, used, face)
        return cls(mesh, u, used, wet, site, vertex, face, known, gradient, inside, interpolation, behind)

    def of_faces(self, u: np.ndarray) -> VoronoiField:
        """The field of other velocities of the same faces."""
        return VoronoiField.of(self.mesh, u, self.used, self.wet, self.interpolation, self.behind)

    @property
    def _mesh(self) -> tuple:
        m = self.mesh
        faces = m.faces_of_cells[1], m.face_normal, m.face_position, *m.ring, m.vertices
        return m.cell_position, m.outwards[1], *faces, m.meeting, *m.vertices_of_cells

    def __call__(self, points: np.ndarray, where: Located | None = None) -> np.ndarray:
        """The velocity (n, dim) [m/s] at points (n, dim), which are `where` the mesh locates them."""
        out = np.empty((len(points), self.mesh.dim))
        points = np.ascontiguousarray(points, np.float64)
        where = self.mesh.locate(points) if where is None else where
        kernels_sample.sample(points, *where, self._mesh, self._vectors, KINDS[self.interpolation], out)
        return out

    @property
    def _vectors(self) -> tuple:
        return self.site, self.vertex, self.face, self.known

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest [m/s] of every component in every cell (cells, dim)."""
        low, high = np.empty_like(self.site), np.empty_like(self.site)
        m = self.mesh
        kernels_sample.bounds(*m.faces_of_cells, *m.vertices_of_cells, self._vectors, low, high)
        return low, high

    @cached_property
    def _nearest(self) -> cKDTree:
        return cKDTree(self.mesh.cell_position[self.inside])

    def one_sided(self, points: np.ndarray, within: np.ndarray) -> np.ndarray:
        """The velocity (n, dim) [m/s] at points as the liquid has it that is at `within`, whatever else is near.

        A film too thin for a site of its own has the velocity of the field: the nearest site is another liquid's.
        """
        if len(self.inside) == 0:
            return self(points)
        far, nearest = self._nearest.query(within)
        own = self.inside[nearest]
        away = points - self.mesh.cell_position[own]
        sided = self.site[own] + np.einsum("nab,nb->na", self.gradient[own], away)
        return np.where((far < 0.5 * np.median(self.mesh.distance))[:, None], sided, self(points))

    def carried(self, points: np.ndarray, dt: float) -> np.ndarray:
        """Points after dt [s], by Ralston's method of third order; backwards where dt is negative."""
        where = self.mesh.locate(points)
        k1 = self(points, where)
        half = points + 0.5 * dt * k1
        k2 = self(half, self.mesh.locate(half, where))
        most = points + 0.75 * dt * k2
        k3 = self(most, self.mesh.locate(most, where))
        return points + dt / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3)
