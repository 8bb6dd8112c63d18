"""Voronoi cells of sites in 2D and 3D: the covolume mesh whose pressures may be put anywhere.

The cell of a site is what is nearer to it than to others. The face between two cells lies on the bisector of their
sites, so the line between the pressures, at the sites, is along its normal whatever the sites are. Velocities are at
the centroids of the faces: their fluxes are exact where the velocity is linear, and a field that is brought onto the
mesh it came from has the same values there. `Voronoi.of` cuts every cell on its own, in parallel (`kernels_cells`);
Qhull's triangulation is what tests hold it to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from glug.grids.covolume import Covolume
from glug.grids.tetrahedra.mesh import around
from glug.grids.voronoi import kernels_mesh, kernels_sample
from glug.grids.voronoi.cut import Bins, CutCells, ends


class Located(NamedTuple):
    """Where points are: in the cell of a site, before a face (one of `faces_of_cells`, negative at the site itself)."""

    site: np.ndarray
    place: np.ndarray


@dataclass(frozen=True)
class Voronoi(Covolume):
    """Besides a covolume mesh: where cells meet. Faces that reach the end of the mesh are left out."""

    vertices: np.ndarray  # (vertices, dim) [m]: where the cells of dim + 1 sites meet
    meeting: np.ndarray  # int32 (vertices, dim + 1): those sites, in ascending order
    ring: tuple[np.ndarray, np.ndarray]  # start (faces + 1,) and corner: the vertices of every face, in order
    first_face: np.ndarray  # (cells + 1,): faces are sorted by their first cell
    bins: Bins  # of the sites

    @classmethod
    def of(cls, sites: np.ndarray, farthest: float = np.inf) -> Voronoi:
        """The cells of sites (n, dim), of which no two are at the same place; they end `farthest` [m] from them."""
        return cls.of_cells(CutCells.of(sites, farthest))

    @classmethod
    def of_cells(cls, cells: CutCells) -> Voronoi:
        sites, shape = cells.sites, cells.shape
        total, faces, corners = (np.empty(len(sites), np.int64) for _ in range(3))
        kernels_mesh.count_vertices(shape, total)
        first = ends(total)
        meeting = np.empty((int(first[-1]), sites.shape[1] + 1), np.int32)
        vertices = np.empty((len(meeting), sites.shape[1]))
        kernels_mesh.fill_vertices(sites, shape, first, meeting, vertices)
        kernels_mesh.count_faces(shape, faces, corners)
        begin = ends(faces), ends(corners)
        beside, start = np.empty((2, int(begin[0][-1])), np.int32), np.empty(int(begin[0][-1]) + 1, np.int64)
        corner = np.empty(int(begin[1][-1]), np.int32)
        start[-1] = len(corner)
        kernels_mesh.fill_faces(shape, (first, meeting), begin, beside, start, corner)
        middle, normal = np.empty((len(start) - 1, sites.shape[1])), np.empty((len(start) - 1, sites.shape[1]))
        area, distance = np.empty(len(middle)), np.empty(len(middle))
        kernels_mesh.measure_faces(sites, beside, start, corner, vertices, middle, normal, area, distance)
        volume = np.bincount(beside.ravel(), np.tile(area * distance, 2), len(sites)) / (2.0 * sites.shape[1])
        volume = np.maximum(volume, 1e-300)
        return cls(
            sites, volume, beside, middle, normal, area, distance,
            vertices, meeting, (start, corner), begin[0], cells.bins,
        )  # fmt: skip

    @cached_property
    def faces_at_vertices(self) -> np.ndarray:
        """int32 (vertices, 3 or 6): the faces between the sites that meet at a vertex, negative where there is none."""
        pairs = 3 if self.dim == 2 else 6
        out = np.empty((len(self.vertices), pairs), np.int32)
        kernels_mesh.faces_at_vertices(self.meeting, self.first_face, self.beside, out)
        return out

    @cached_property
    def vertices_of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the vertices of every cell begin (cells + 1,), and which they are."""
        return around(self.meeting, len(self.cell_position))

    @cached_property
    def outwards(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every face of every cell (`faces_of_cells`): the site beyond it, and the vector v to that over half of its
        square. A point is beyond the face where v . (point - site) > 1."""
        start, face = self.faces_of_cells
        other, way = np.empty(len(face), np.int32), np.empty((len(face), self.dim))
        kernels_sample.outwards(self.cell_position, self.beside, start, face, other, way)
        return other, way

    def locate(self, points: np.ndarray, near: Located | None = None) -> Located:
        """The cells that points (n, dim) are in.

        They are quickly found `near` where other points are, or if those after each other are near each other.
        """
        site = np.full(len(points), -1, np.int32) if near is None else near.site.copy()
        found = Located(site, np.empty(len(points), np.int32))
        start, (other, way) = self.faces_of_cells[0], self.outwards
        cells = self.cell_position, start, way, other, self.vertices_of_cells[0]
        kernels_sample.locate(np.ascontiguousarray(points, np.float64), tuple(self.bins), cells, *found)
        return found
