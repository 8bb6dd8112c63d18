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

from glug.errors import SolverError
from glug.grids.covolume import Covolume
from glug.grids.voronoi import kernels_cells, kernels_mesh

ROOM = {2: 32, 3: 96}  # vertices that a cell has room for at first
MARGIN = 0.5  # of the extent of the sites: as far around them is the box in which cells end
PER_BIN = 1.5  # sites


class Bins(NamedTuple):
    """Points sorted by the boxes of a lattice, as kernels take them; 2D has one layer of boxes."""

    start: np.ndarray
    order: np.ndarray
    corner: np.ndarray
    shape: np.ndarray
    width: float

    @classmethod
    def of(cls, points: np.ndarray, per_bin: float = PER_BIN) -> Bins:
        dim = points.shape[1]
        corner, extent = points.min(axis=0), np.ptp(points, axis=0)
        extent = np.maximum(extent, 1e-3 * float(extent.max()) or 1.0)  # flat sets, and single points
        width = float((np.prod(extent) * per_bin / len(points)) ** (1.0 / dim))
        width = max(width, float(extent.max()) / 1000.0)
        shape = np.ones(3, np.int64)
        shape[:dim] = np.floor(extent / width).astype(np.int64) + 1
        place = np.minimum(((points - corner) / width).astype(np.int64), shape[:dim] - 1)
        key = np.ravel_multi_index(tuple(place.T), tuple(shape[:dim]))
        start = np.zeros(int(np.prod(shape)) + 1, np.int32)
        np.cumsum(np.bincount(key, minlength=len(start) - 1), out=start[1:])
        return cls(start, np.argsort(key, kind="stable").astype(np.int32), corner, shape, width)


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
        sites = np.ascontiguousarray(sites, np.float64)
        bins = Bins.of(sites)
        count, around = _cut(sites, bins, farthest)
        total = np.empty(len(sites), np.int64)
        kernels_mesh.count_vertices(count, around, total)
        first = _ends(total)
        meeting = np.empty((int(first[-1]), sites.shape[1] + 1), np.int32)
        vertices = np.empty((len(meeting), sites.shape[1]))
        kernels_mesh.fill_vertices(sites, count, around, first, meeting, vertices)
        faces, corners = np.empty(len(sites), np.int64), np.empty(len(sites), np.int64)
        kernels_mesh.count_faces(count, around, faces, corners)
        begin = _ends(faces), _ends(corners)
        beside, start = np.empty((2, int(begin[0][-1])), np.int32), np.empty(int(begin[0][-1]) + 1, np.int64)
        corner = np.empty(int(begin[1][-1]), np.int32)
        start[-1] = len(corner)
        kernels_mesh.fill_faces(count, around, (first, meeting), begin, beside, start, corner)
        middle, normal = np.empty((len(start) - 1, sites.shape[1])), np.empty((len(start) - 1, sites.shape[1]))
        area, distance = np.empty(len(middle)), np.empty(len(middle))
        kernels_mesh.measure_faces(sites, beside, start, corner, vertices, middle, normal, area, distance)
        volume = np.bincount(beside.ravel(), np.tile(area * distance, 2), len(sites)) / (2.0 * sites.shape[1])
        volume = np.maximum(volume, 1e-300)
        return cls(
            sites, volume, beside, middle, normal, area, distance,
            vertices, meeting, (start, corner), begin[0], bins,
        )  # fmt: skip

    @cached_property
    def faces_at_vertices(self) -> np.ndarray:
        """int32 (vertices, 3 or 6): the faces between the sites that meet at a vertex, negative where there is none."""
        pairs = 3 if self.dim == 2 else 6
        out = np.empty((len(self.vertices), pairs), np.int32)
        kernels_mesh.faces_at_vertices(self.meeting, self.first_face, self.beside, out)
        return out


def _ends(counts: np.ndarray) -> np.ndarray:
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def _cut(sites: np.ndarray, bins: Bins, farthest: float) -> tuple[np.ndarray, np.ndarray]:
    """The number of vertices of every cell, and the sites around them."""
    margin = MARGIN * float(np.ptp(sites, axis=0).max())
    box = np.stack([sites.min(axis=0) - margin, sites.max(axis=0) + margin, np.full(sites.shape[1], farthest)])
    for room in (ROOM[sites.shape[1]], kernels_cells.MOST_VERTICES):
        count = np.empty(len(sites), np.int32)
        around = np.empty((len(sites), room, sites.shape[1]), np.int32)
        kernels_cells.cells(sites, tuple(bins), box, room, count, around)
        if (count >= 0).all():
            return count, around
    raise SolverError("a Voronoi cell has too many neighbours: its sites are very unevenly spread")
