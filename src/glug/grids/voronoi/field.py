"""The velocity between the faces of Voronoi cells (Brochu, Batty and Bridson 2010).

Every vertex has the vector that fits the velocities of the faces around it best, every site what the linear function
through its vertices has there, every face the mean of its vertices with its own velocity along its normal. The
gradients of those functions correct the fits for faces being elsewhere than the vertex. Beyond the liquid are means of
what is known. In between, the velocity is linear in the simplices of a site, the middle of a face and an edge of it
(`refined`). The two baselines are linear between the sites of Delaunay's simplices (`barycentric`), and Warren's
coordinates in the cells (`generalised`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from glug.grids.voronoi import kernels_field as kernels
from glug.grids.voronoi import kernels_sample
from glug.grids.voronoi.fit import Fit
from glug.grids.voronoi.mesh import Located, Voronoi

Interpolation = Literal["refined", "barycentric", "generalised"]
BASELINES = {"barycentric": kernels_sample.BARYCENTRIC, "generalised": kernels_sample.GENERALISED}
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
    wet: np.ndarray
    fit: Fit  # which of u are used, and how
    site: np.ndarray
    vertex: np.ndarray
    face: np.ndarray
    known: np.ndarray  # the vertices that have one
    gradient: np.ndarray  # (sites, dim, dim) of the linear functions of sites in the liquid
    inside: np.ndarray  # the sites in the liquid that have such a function
    interpolation: Interpolation = "refined"
    behind: Behind | None = None

    @property
    def used(self) -> np.ndarray:
        return self.fit.used

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
        """The field of velocities of the faces, of which those of wet cells are used; continued beyond them."""
        hidden = np.zeros(len(mesh.vertices), np.bool_) if behind is None else behind.vertices
        linear = wet if behind is None else wet & ~behind.sites
        fit = Fit.of(mesh, used, linear, hidden)
        inside = np.flatnonzero(fit.linear)
        site, vertex, face, known, gradient = continued(fit, u, behind)
        return cls(mesh, u, wet, fit, site, vertex, face, known, gradient, inside, interpolation, behind)

    def of_faces(self, u: np.ndarray) -> VoronoiField:
        """The field of other velocities of the same faces."""
        site, vertex, face, known, gradient = continued(self.fit, u, self.behind)
        return replace(self, u=u, site=site, vertex=vertex, face=face, known=known, gradient=gradient)

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
        if self.interpolation == "refined":
            kernels_sample.refined(points, *where, self._mesh, self._vectors, out)
        else:
            kind = BASELINES[self.interpolation]
            kernels_sample.baseline(points, where.site, self._mesh, self._vectors, kind, out)
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
        return self.carried_to(points, dt)[0]

    def carried_to(self, points: np.ndarray, dt: float) -> tuple[np.ndarray, Located]:
        """The same, and where they are then."""
        where = self.mesh.locate(points)
        return self._carried(points, self(points, where), where, dt)

    def faces_carried(self, faces: np.ndarray, dt: float) -> np.ndarray:
        """The middles of some faces after dt [s]."""
        points = self.mesh.face_position[faces]
        if self.interpolation != "refined":
            return self.carried(points, dt)
        beside = self.mesh.beside[0, faces]
        return self._carried(points, self.face[faces], Located(beside, beside), dt)[0]

    def _carried(self, points: np.ndarray, k1: np.ndarray, near: Located, dt: float) -> tuple[np.ndarray, Located]:
        """From the velocities k1 that points have where they are."""
        half = points + 0.5 * dt * k1
        near = self.mesh.locate(half, near)
        k2 = self(half, near)
        most = points + 0.75 * dt * k2
        near = self.mesh.locate(most, near)
        k3 = self(most, near)
        found = points + dt / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3)
        return found, self.mesh.locate(found, near)


def continued(
    fit: Fit, u: np.ndarray, behind: Behind | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The vectors of sites, vertices and faces, which vertices have one, and the gradients of sites.

    What is `behind` walls has, along them, the mean of what is before: linear functions that are continued there grow
    from step to step.
    """
    mesh, known, found = fit.mesh, fit.known, np.empty_like(fit.linear)
    vertex, site, gradient = fit.vectors(u)
    kernels.means(*mesh.vertices_of_cells, vertex, known, site, fit.linear, found)
    hidden = np.zeros(len(vertex), np.bool_) if behind is None else behind.vertices
    for _ in range(PASSES):
        now = np.empty_like(known)
        given = mesh.meeting, mesh.vertices, mesh.cell_position, site, gradient, found, hidden
        kernels.continue_vertices(*given, vertex, known, now)
        known, now = now, np.empty_like(found)
        kernels.means(*mesh.vertices_of_cells, vertex, known, site, found, now)
        found = now
    if behind is not None:
        into = (vertex[hidden] * behind.outwards).sum(axis=1)
        vertex[hidden] -= into[:, None] * behind.outwards
    face = np.empty((len(u), mesh.dim))
    kernels.face_vectors(*mesh.ring, vertex, known, mesh.face_normal, u, fit.used, face)
    return site, vertex, face, known, gradient
