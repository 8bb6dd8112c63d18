"""Points of the liquid's surface and its curvature there.

The points are where lines between neighbouring cell centres cross phi = 0: the ghost-fluid faces, and what the pressure
of surface tension is asked at. A point on a line along axis a stands for the area |n_a| dx^2, so that the three axes
together count every piece of surface once.

Particles leave the surface bumps of a few hundredths of a cell, whose curvature is as large as that of a drop. So the
curvature is that of paraboloids through all points within a few cells, and is smoothed along the surface by a filter
that leaves long waves as they are and whose response is nowhere negative: where it is, short waves grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from glug.geometry import kernels as geometry_kernels
from glug.grids.regular import Grid, Staggered
from glug.physics.tension import kernels

RADIUS = 3.5  # cells: how far points are neighbours
SAME_SIDE = 0.3  # cosine between the normals of neighbours, at least: the other side of a sheet is none
CALM = 3  # passes that smooth phi, for normals alone
IN_SOLID = 2.5  # cells: how deep inside solids there are points of the surface
LEAST_AREA = 1e-3  # of a point
ROUNDEST = 1.0  # 1/cells: curvature of the smallest ball, per principal curvature
SHARPENED = 0.8  # what paraboloids and particles blur at long waves, in units of what the filter does


@dataclass(frozen=True)
class SurfacePoints:
    """The crossings of the surface with the lines between cell centres, in cells from the window's corner."""

    grid: Grid
    position: np.ndarray  # (n, 3)
    normal: np.ndarray  # (n, 3), out of the liquid
    face: np.ndarray  # (n, 3) index of the face in the field of its axis
    axis: np.ndarray  # (n,)
    outward: np.ndarray  # (n,) +1 where the liquid is in the face's lower cell, else -1

    @classmethod
    def find(cls, phi: np.ndarray, grid: Grid, nodes: np.ndarray) -> SurfacePoints:
        """From the liquid's distance at cell centres, and the solid's at cell corners.

        The surface goes on into solids, at right angles to their own: that is the contact angle. What is deeper inside
        than the continuation is none.
        """
        calm = phi.copy()
        for _ in range(CALM):
            other = np.empty_like(calm)
            geometry_kernels.smooth(calm, other)
            calm = other
        found = [_crossings(phi, calm, axis, grid.dim) for axis in grid.axes]
        position, *others = (np.concatenate(parts) for parts in zip(*found))
        depth = np.empty((len(position), 1), np.float32)
        geometry_kernels.trilinear_many(nodes, position.astype(np.float32), depth)
        kept = depth[:, 0] > -IN_SOLID * grid.dx
        position, normal, face, axis, outward = (field[kept] for field in (position, *others))
        return cls(grid, position, normal, face, axis, outward)

    def __len__(self) -> int:
        return len(self.axis)

    @cached_property
    def area(self) -> np.ndarray:
        """(n,) of the surface that a point stands for [dx^2]."""
        return np.abs(self.normal[np.arange(len(self)), self.axis]) + LEAST_AREA

    @cached_property
    def nearness(self) -> sparse.csr_matrix:
        """(1 - (r / RADIUS)^2)^2 of neighbours on the same side of the liquid, and 1 of every point with itself."""
        n = len(self)
        pairs = cKDTree(self.position).query_pairs(RADIUS, output_type="ndarray")
        one, two = pairs.T if len(pairs) else np.zeros((2, 0), np.int64)
        same = np.einsum("na,na->n", self.normal[one], self.normal[two]) > SAME_SIDE
        one, two = one[same], two[same]
        square = np.square(self.position[one] - self.position[two]).sum(axis=1) / RADIUS**2
        half = sparse.coo_matrix((np.square(1.0 - square), (one, two)), shape=(n, n))
        found = (half + half.T + sparse.identity(n)).tocsr()
        found.sort_indices()
        return found

    @cached_property
    def mean(self) -> sparse.csr_matrix:
        """S: the mean over neighbours, by area and nearness."""
        weighted = self.nearness @ sparse.diags(self.area)
        return sparse.diags(1.0 / np.asarray(weighted.sum(axis=1)).ravel()) @ weighted

    def averaged(self, values: np.ndarray) -> np.ndarray:
        """S^2 of values: its response to waves is a square."""
        return self.mean @ (self.mean @ values)

    def filtered(self, values: np.ndarray) -> np.ndarray:
        """(1 - (1 - S^2)^2) (1 + SHARPENED (1 - S^2)) of values."""
        once = self.averaged(values)
        smooth = 2.0 * once - self.averaged(once)
        return smooth + SHARPENED * (smooth - self.averaged(smooth))

    @cached_property
    def curvature(self) -> np.ndarray:
        """k1 + k2 [1/cell] at the points: 2/R of a ball, 1/R of a disc."""
        if len(self) == 0:
            return np.zeros(0)
        near, raw = self.nearness, np.empty(len(self))
        weight = near.data * self.area[near.indices]
        kernels.fit_paraboloids(self.position, self.normal, near.indptr, near.indices, weight, self.grid.dim == 2, raw)
        most = (self.grid.dim - 1) * ROUNDEST
        return np.clip(self.filtered(np.clip(raw, -most, most)), -most, most)

    def across_faces(self, values: np.ndarray) -> Staggered:
        """Of values in the air less those in the liquid, upper less lower, on the faces of the points; 0 elsewhere."""
        field = self.grid.staggered()
        for a in self.grid.axes:
            mine = self.axis == a
            field[a][tuple(self.face[mine].T)] = (values * self.outward)[mine]
        return field


def _crossings(phi: np.ndarray, calm: np.ndarray, axis: int, dim: int) -> tuple[np.ndarray, ...]:
    """Positions, normals, faces, axes and outward signs of the crossings along an axis."""
    before = (slice(None),) * axis
    wet = phi < 0.0
    lower = np.argwhere(wet[(*before, slice(None, -1))] != wet[(*before, slice(1, None))])
    upper = lower.copy()
    upper[:, axis] += 1
    one, two = phi[tuple(lower.T)].astype(float), phi[tuple(upper.T)].astype(float)
    share = one / (one - two)
    position = lower + 0.5
    position[:, axis] += share
    slope = (1.0 - share)[:, None] * _gradient(calm, lower, dim) + share[:, None] * _gradient(calm, upper, dim)
    normal = slope / np.maximum(np.linalg.norm(slope, axis=1), 1e-30)[:, None]
    return position, normal, upper, np.full(len(lower), axis), np.where(one < 0.0, 1.0, -1.0)


def _gradient(field: np.ndarray, cells: np.ndarray, dim: int) -> np.ndarray:
    """Central differences at cells (n, 3), zero along z in 2D."""
    out = np.zeros(cells.shape)
    for a in range(dim):
        low, high = cells.copy(), cells.copy()
        low[:, a] = np.maximum(low[:, a] - 1, 0)
        high[:, a] = np.minimum(high[:, a] + 1, field.shape[a] - 1)
        out[:, a] = field[tuple(high.T)] - field[tuple(low.T)]
    return out
