"""How the velocities of faces become vectors of vertices and linear functions of sites: the linear part of a field.

Every vertex has the vector that fits the used faces around it best, every site in the liquid the linear function that
fits its vertices best. The gradients of these correct the fits of vertices for the faces being elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.voronoi import kernels_field as kernels
from glug.grids.voronoi.cut import ends
from glug.grids.voronoi.mesh import Voronoi

FITS = 3  # of vectors, each with the gradients of the one before; the first has none


@dataclass(frozen=True)
class Fit:
    """Of the faces of a mesh that are `used`; the same for all their velocities."""

    mesh: Voronoi
    used: np.ndarray  # (faces,)
    known: np.ndarray  # the vertices that have a vector
    linear: np.ndarray  # the sites that have a linear function
    vertices: np.ndarray  # those that are fitted, and for each ...
    inverse: np.ndarray  # ... the inverse of its normal equations
    moment: np.ndarray  # ... what gradients take away
    sites: np.ndarray  # those that are fitted, and for each ...
    at: np.ndarray  # ... where its weights begin
    weight: np.ndarray  # of the vertices of their cells in the value and the gradient of the linear functions

    @classmethod
    def of(cls, mesh: Voronoi, used: np.ndarray, linear: np.ndarray, hidden: np.ndarray) -> Fit:
        """Sites that are `linear` have gradients, vertices that are `hidden` no vectors."""
        dim, known, found = mesh.dim, np.zeros(len(mesh.vertices), np.bool_), np.zeros(len(linear), np.bool_)
        count = np.empty(len(known), np.int8)
        kernels.count_used(mesh.faces_at_vertices, used, count)
        vertices, sites = np.flatnonzero((count >= dim) & ~hidden), np.flatnonzero(linear)
        inverse, moment = np.empty((len(vertices), 6)), np.empty((len(vertices), dim, 6))
        shape = mesh.faces_at_vertices, mesh.face_normal, mesh.face_position, mesh.vertices
        kernels.prepare_vertices(vertices, shape, used, inverse, moment, known)
        start = mesh.vertices_of_cells[0]
        at = ends((start[1:] - start[:-1])[sites])
        weight = np.empty((int(at[-1]), 1 + dim))
        places = mesh.vertices, known, mesh.cell_position
        kernels.prepare_sites(sites, at, mesh.vertices_of_cells, *places, weight, found)
        return cls(mesh, used, known, found, vertices, inverse, moment, sites, at, weight)

    def vectors(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Those of vertices and sites, 0 where they have none, and the gradients (sites, dim, dim)."""
        m, dim = self.mesh, self.mesh.dim
        vertex, site = np.zeros_like(m.vertices), np.zeros_like(m.cell_position)
        first, gradient = np.empty((len(self.vertices), dim)), np.zeros((len(site), dim, dim))
        kernels.fit_faces(self.vertices, m.faces_at_vertices, m.face_normal, self.used, u, self.inverse, first)
        vertex[self.vertices] = first
        for fit in range(FITS):
            if fit > 0:
                shape = self.vertices, m.meeting, self.inverse, self.moment
                kernels.fit_vertices(*shape, gradient, first, vertex)
            kernels.fit_sites(self.sites, self.at, m.vertices_of_cells, self.weight, vertex, site, gradient)
        return vertex, site, gradient
