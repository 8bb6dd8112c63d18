"""The Voronoi cells of sites, each cut on its own; and of more sites, where only the cells near these are cut anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from glug.errors import SolverError
from glug.grids.voronoi import kernels_bins, kernels_cells, kernels_mesh

ROOM = {2: 32, 3: 64}  # vertices that a cell has room for at first
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
    shape: tuple[np.ndarray, ...]  # as `kernels_cells.cells` leaves it
    reach: np.ndarray  # (n,): the square of the distance of the farthest vertex

    @classmethod
    def of(cls, sites: np.ndarray, farthest: float = np.inf) -> CutCells:
        """No two sites are at the same place."""
        sites = np.ascontiguousarray(sites, np.float64)
        n, dim = sites.shape
        found = cls(sites, Bins.of(sites), farthest, room_for(n, dim, ROOM[dim]), np.empty(n))
        return found.cut(np.arange(n))

    def cut(self, places: np.ndarray) -> CutCells:
        """Cut the cells at some places of the bins."""
        (n, dim), corner, placed = self.sites.shape, np.zeros(3), np.zeros((len(self.sites), 3))
        corner[:dim], placed[:, :dim] = self.bins.corner, self.sites[self.bins.order]
        margin = MARGIN * float(np.ptp(self.sites, axis=0).max())
        lower, upper = self.sites.min(axis=0) - margin, self.sites.max(axis=0) + margin
        box = np.stack([lower, upper, np.full(dim, self.farthest)])
        kernels_cells.cells(places, placed, tuple(self.bins._replace(corner=corner)), box, self.shape, self.reach)
        full = np.flatnonzero(self.shape[0][self.bins.order[places]] < 0)
        if len(full) == 0:
            return self
        room = self.shape[3].shape[1]
        if room == kernels_cells.MOST_VERTICES:
            raise SolverError("a Voronoi cell has too many neighbours: its sites are very unevenly spread")
        wider = room_for(n, dim, kernels_cells.MOST_VERTICES)
        for old, new in zip(self.shape, wider):
            new[tuple(slice(size) for size in old.shape)] = old
        return replace(self, shape=wider).cut(places[full])

    def with_sites(self, more: np.ndarray) -> CutCells:
        """The cells with some sites (k, dim) after the others."""
        nobody, near = np.full((len(self.sites), 2), -1), np.empty(len(self.sites), np.bool_)
        kernels_bins.crowded(more, tuple(Bins.of(more)), self.sites, 2.0 * np.sqrt(self.reach), nobody, near)
        sites = np.concatenate([self.sites, more])
        *shape, reach = (
            np.concatenate([a, np.empty((len(more), *a.shape[1:]), a.dtype)]) for a in (*self.shape, self.reach)
        )
        found = CutCells(sites, Bins.of(sites), self.farthest, tuple(shape), reach)
        anew = np.append(near, np.ones(len(more), np.bool_))
        return found.cut(np.flatnonzero(anew[found.bins.order]))

    def pairs(self, marked: np.ndarray) -> np.ndarray:
        """The sites (2, k) of which neither is `marked` (n,) whose cells have a face, in order."""
        others = np.empty_like(self.shape[2])
        kernels_mesh.later_unmarked(self.shape, marked, others)
        first, slot = np.nonzero(others >= 0)
        return np.stack([first, others[first, slot]])


def room_for(n: int, dim: int, vertices: int) -> tuple[np.ndarray, ...]:
    """Memory for cells of so many vertices; in space one with f faces has 2 f - 4."""
    faces = vertices if dim == 2 else vertices // 2 + 2
    count, degree = np.empty(n, np.int32), np.empty(n, np.int32)
    return count, degree, np.empty((n, faces), np.int32), np.empty((n, vertices, dim), np.uint8)


def ends(counts: np.ndarray) -> np.ndarray:
    """Where lists of so many members begin, and the last one ends."""
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out
