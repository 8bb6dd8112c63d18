"""The Voronoi cells of sites, each cut on its own; and of more sites, where only the cells near these are cut anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from glug.errors import SolverError
from glug.geometry.embedded.kernels import crowded
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
class CutCells:
    """Every cell by its vertices, in no order that means anything: what is made of it does not depend on that."""

    sites: np.ndarray  # (n, dim) [m]
    bins: Bins
    farthest: float  # [m] from their sites cells end
    count: np.ndarray  # of vertices (n,)
    around: np.ndarray  # (n, room, dim): the sites that meet there, besides its own; negative where the cells end
    reach: np.ndarray  # (n,): the square of the distance of the farthest vertex

    @classmethod
    def of(cls, sites: np.ndarray, farthest: float = np.inf) -> CutCells:
        """No two sites are at the same place."""
        sites = np.ascontiguousarray(sites, np.float64)
        n, dim = sites.shape
        room = np.empty(n, np.int32), np.empty((n, ROOM[dim], dim), np.int32), np.empty(n)
        found = cls(sites, Bins.of(sites), farthest, *room)
        return found.cut(np.arange(n))

    def cut(self, places: np.ndarray) -> CutCells:
        """Cut the cells at some places of the bins."""
        dim, corner = self.sites.shape[1], np.zeros(3)
        corner[:dim] = self.bins.corner
        margin = MARGIN * float(np.ptp(self.sites, axis=0).max())
        lower, upper = self.sites.min(axis=0) - margin, self.sites.max(axis=0) + margin
        box = np.stack([lower, upper, np.full(dim, self.farthest)])
        placed = np.zeros((len(self.sites), 3))
        placed[:, :dim] = self.sites[self.bins.order]
        given = placed, tuple(self.bins._replace(corner=corner)), box
        kernels_cells.cells(places, *given, self.count, self.around, self.reach)
        full = np.flatnonzero(self.count[self.bins.order[places]] < 0)
        if len(full) == 0:
            return self
        if self.around.shape[1] == kernels_cells.MOST_VERTICES:
            raise SolverError("a Voronoi cell has too many neighbours: its sites are very unevenly spread")
        more = ((0, 0), (0, kernels_cells.MOST_VERTICES - self.around.shape[1]), (0, 0))
        return replace(self, around=np.pad(self.around, more)).cut(places[full])

    def with_sites(self, more: np.ndarray) -> CutCells:
        """The cells with some sites (k, dim) after the others."""
        nobody, near = np.full((len(self.sites), 2), -1), np.empty(len(self.sites), np.bool_)
        crowded(more, tuple(Bins.of(more)), self.sites, 2.0 * np.sqrt(self.reach), nobody, near)
        sites = np.concatenate([self.sites, more])
        room = (np.concatenate([a, np.empty((len(more), *a.shape[1:]), a.dtype)]) for a in self._of_cells)
        found = CutCells(sites, Bins.of(sites), self.farthest, *room)
        anew = np.append(near, np.ones(len(more), np.bool_))
        return found.cut(np.flatnonzero(anew[found.bins.order]))

    @property
    def _of_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.count, self.around, self.reach

    @cached_property
    def faces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the faces of every site with later ones begin, and their corners (sites + 1); the sites beside them.

        Those that reach the end of the mesh are left out.
        """
        faces, corners = np.empty(len(self.sites), np.int64), np.empty(len(self.sites), np.int64)
        kernels_mesh.count_faces(self.count, self.around, faces, corners)
        first, corner = ends(faces), ends(corners)
        beside = np.empty((2, int(first[-1])), np.int32)
        kernels_mesh.fill_beside(self.count, self.around, first, beside)
        return first, corner, beside


def ends(counts: np.ndarray) -> np.ndarray:
    """Where lists of so many members begin, and the last one ends."""
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out
