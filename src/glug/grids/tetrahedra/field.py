"""The velocity between the faces of a mesh of simplices.

Every cell has the vector that fits the velocities of its open faces best (closed ones would hold the liquid that slips
along them), every vertex the value of the linear function through the cells around it, every face the mean of its two
cells with its own velocity along its normal. In between the field is linear in the parts of a simplex that its middle,
the middle of a face and an edge span: with barycentric coordinates in ascending order a <= b <= c <= d (a <= b <= c in
2D) the weights are 4 a of the cell, 3 (b - a) of the face, c - b and d - b of the vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.grids.regular import FACES, Grid, Staggered
from glug.grids.tetrahedra import kernels_field as kernels
from glug.grids.tetrahedra.mesh import Tetrahedra, around

REACH = 3  # layers of simplices by which a field is continued


@dataclass(frozen=True)
class Surroundings:
    """What of a mesh a field needs: which faces, simplices and vertices belong together, where to look for a point."""

    mesh: Tetrahedra
    start: np.ndarray  # of the faces of every cell
    face: np.ndarray
    width: float  # [m] of the bins of `seeds`

    @cached_property
    def of_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """The simplices of every vertex."""
        return around(self.mesh.simplices.corners, len(self.mesh.simplices.points))

    @cached_property
    def of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The simplices of every cell."""
        cell_of = self.mesh.cell_of
        start = np.zeros(len(self.mesh.cell_volume) + 1, np.int32)
        np.cumsum(np.bincount(cell_of, minlength=len(start) - 1), out=start[1:])
        return start, np.argsort(cell_of, kind="stable").astype(np.int32)

    @cached_property
    def face_of(self) -> np.ndarray:
        """The face opposite every corner of a simplex, negative where there is none between cells."""
        simplices, (first, corner) = self.mesh.simplices, self.mesh.side
        found = np.full(simplices.corners.shape, -1, np.int32)
        second = simplices.across[first, corner]
        found[first, corner] = np.arange(len(first), dtype=np.int32)
        found[second, (simplices.across[second] == first[:, None]).argmax(axis=1)] = found[first, corner]
        return found

    @cached_property
    def centre(self) -> np.ndarray:
        """The barycentric coordinates of its cell's pressure in every simplex."""
        simplices, out = self.mesh.simplices, np.empty(self.mesh.simplices.corners.shape)
        kernels.centre_parts(simplices.points, simplices.corners, self.mesh.cell_of, self.mesh.cell_position, out)
        return out

    @cached_property
    def seeds(self) -> tuple[np.ndarray, np.ndarray]:
        """A simplex near every bin of a lattice, and where the lattice begins [m]."""
        from scipy.ndimage import distance_transform_edt

        simplices, dim = self.mesh.simplices, self.mesh.dim
        middle = simplices.points[simplices.corners].mean(axis=1)
        lower, upper = simplices.points.min(axis=0), simplices.points.max(axis=0)
        shape = [int(n) for n in np.ceil((upper - lower) / self.width).astype(int)] + [1] * (3 - dim)
        bins = np.full(shape, -1, np.int32)
        place = np.minimum(((middle - lower) / self.width).astype(int), np.array(shape[:dim]) - 1)
        bins[(*place.T, *[0] * (3 - dim))] = np.arange(len(middle), dtype=np.int32)
        if (bins < 0).any():
            bins = bins[tuple(distance_transform_edt(bins < 0, return_distances=False, return_indices=True))]
        return bins, np.concatenate([lower, np.zeros(3 - dim)])

    def locate(self, points: np.ndarray) -> np.ndarray:
        """The simplex around each point (n, dim); for points outside one at the border."""
        simplices, (seeds, corner) = self.mesh.simplices, self.seeds
        found = np.empty(len(points), np.int32)
        given = simplices.points, simplices.corners, simplices.across
        kernels.locate(*given, seeds, corner, self.width, np.ascontiguousarray(points), found)
        return found

    def field(self, u: np.ndarray, used: np.ndarray) -> VelocityField:
        """The field of velocities of the faces, of which some are used; continued beyond them.

        A second fit knows how the velocity changes between the pressures and the faces, from the vertices of the first.
        """
        mesh, simplices, cells = self.mesh, self.mesh.simplices, len(self.mesh.cell_volume)
        shape = simplices.points, simplices.corners, simplices.across, mesh.side, mesh.cell_of, self.centre
        bend, at_face = np.zeros((2, len(mesh.area))), np.empty((len(mesh.area), 3))
        vector, known = np.zeros((cells, 3)), np.zeros(cells, np.bool_)
        vertex, found = np.zeros((len(simplices.points), 3)), np.zeros(len(simplices.points), np.bool_)
        for bent in (False, True):
            if bent:
                kernels.bend_of_faces(*shape, mesh.face_position, mesh.face_normal, vertex, found, bend)
            kernels.fit_cells(self.start, self.face, mesh.beside, mesh.face_normal, u, bend, used, vector, known)
            self._to_vertices(vector, known, True, vertex, found)
        trusted = known
        for layer in range(REACH):
            now = np.empty_like(known)
            kernels.cell_means(*self.of_cells, simplices.corners, vertex, found, vector, known, now)
            known, trusted = now, now if layer == 0 else trusted
            self._to_vertices(vector, known, False, vertex, found)
        faces = mesh.face_position, mesh.face_normal, u, used
        kernels.face_vectors(*shape, *faces, vertex, found, vector, at_face)
        return VelocityField(self, vector, vertex, found, at_face, trusted)

    def _to_vertices(
        self, vector: np.ndarray, known: np.ndarray, fresh: bool, vertex: np.ndarray, found: np.ndarray
    ) -> None:
        mesh = self.mesh
        given = mesh.cell_of, mesh.cell_position, vector, known, fresh
        kernels.vertex_means(mesh.simplices.points, *self.of_vertices, *given, vertex, found)


@dataclass(frozen=True)
class VelocityField:
    """Vectors [m/s] of cells, vertices and faces."""

    around: Surroundings
    cell: np.ndarray
    vertex: np.ndarray
    found: np.ndarray  # the vertices that have one
    face: np.ndarray
    trusted: np.ndarray  # the cells whose own faces or neighbours give it

    def to_grid(self, grid: Grid, wanted: Staggered, velocity: Staggered) -> None:
        """Replace the velocity of a regular grid on the `wanted` faces (uint8) in cells that are trusted, in place."""
        a, simplices = self.around, self.around.mesh.simplices
        seeds, corner = a.seeds
        for axis in grid.axes:
            origin = grid.corner + grid.dx * np.array(FACES[axis])
            mesh_of = simplices.points, simplices.corners, simplices.across, seeds, corner, a.width, a.mesh.cell_of
            field = a.face_of, a.centre, self.vertex, self.found, self.face, self.cell, self.trusted
            kernels.sample_component(*mesh_of, *field, origin, grid.dx, axis, wanted[axis], velocity[axis])


def from_grid(mesh: Tetrahedra, grid: Grid, velocity: Staggered) -> np.ndarray:
    """The velocities of a mesh's faces from those of a regular grid (faces,) [m/s]."""
    total, part = np.zeros(len(mesh.area)), np.empty(len(mesh.area))
    for axis in grid.axes:
        kernels.linear_at(
            velocity[axis], grid.corner + grid.dx * np.array(FACES[axis]), grid.dx, mesh.face_position, part
        )
        total += mesh.face_normal[:, axis] * part
    return total


def values_at(field: np.ndarray, grid: Grid, offset: tuple[float, float, float], points: np.ndarray) -> np.ndarray:
    """A field at `offset` (in cells) of a regular grid at points (n, dim), linear between its samples."""
    out = np.empty(len(points))
    kernels.linear_at(field, grid.corner + grid.dx * np.array(offset), grid.dx, np.ascontiguousarray(points), out)
    return out
