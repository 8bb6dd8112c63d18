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
    def of_vertices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cells of the simplices of every vertex, and what part each has in the vertex's own value."""
        mesh, points = self.mesh, self.mesh.simplices.points
        start, simplices = around(mesh.simplices.corners, len(points))
        cells, weight = mesh.cell_of[simplices], np.empty(len(simplices))
        kernels.vertex_weights(points, start, cells, mesh.cell_position, weight)
        return start, cells, weight

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
        found = np.full(self.mesh.simplices.corners.shape, -1, np.int32)
        kernels.faces_of_simplices(self.mesh.simplices.across, self.mesh.side, found)
        return found

    @cached_property
    def simplex(self) -> np.ndarray:
        """The simplices (2, faces) on both sides of every face."""
        return np.stack([self.mesh.side[0], self.mesh.simplices.across[tuple(self.mesh.side)]])

    @cached_property
    def seeds(self) -> tuple[np.ndarray, np.ndarray]:
        """A simplex near every bin of a lattice, and where the lattice begins [m]."""
        points, dim = self.mesh.simplices.points, self.mesh.dim
        corner, last = points.min(axis=0), points.max(axis=0)
        bins = np.full([int(n) for n in np.ceil((last - corner) / self.width)] + [1] * (3 - dim), -1, np.int32)
        kernels.seed_bins(points, self.mesh.simplices.corners, corner, self.width, bins)
        return bins, np.concatenate([corner, np.zeros(3 - dim)])

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
        mesh, shape, cells = self.mesh, self.mesh.simplices, len(self.mesh.cell_volume)
        sides = mesh.beside, self.simplex
        velocities = mesh.face_normal, mesh.face_position, mesh.cell_position, u, used
        vector, known, near = np.zeros((cells, 3)), np.zeros(cells, np.bool_), np.zeros(cells, np.bool_)
        vertex, found = np.zeros((len(shape.points), 3)), np.ones(len(shape.points), np.bool_)
        gradient = np.zeros((len(shape.corners), 9), np.float32)
        for some in (gradient[:0], gradient):
            if len(some):
                kernels.gradients(shape.points, shape.corners, vertex, found, gradient)
            kernels.fit_cells(self.start, self.face, *sides, *velocities, some, vector, known)
            kernels.vertex_means(*self.of_vertices, vector, known, found, vertex, found, near)
        trusted = known
        for layer in range(REACH):
            reached = np.zeros_like(found)
            kernels.cell_means(*self.of_cells, shape.corners, vertex, found, near, vector, known, reached)
            trusted = known.copy() if layer == 0 else trusted
            kernels.vertex_means(*self.of_vertices, vector, known, reached, vertex, found, near)
        kernels.gradients(shape.points, shape.corners, vertex, found, gradient)
        at_face = np.zeros((len(mesh.area), 3), np.float32)
        kernels.face_vectors(shape.points, mesh.ends, *sides, *velocities, gradient, vector, known, at_face)
        return VelocityField(self, vector, vertex, at_face, gradient, trusted)


@dataclass(frozen=True)
class VelocityField:
    """Vectors [m/s] of cells, vertices and faces."""

    around: Surroundings
    cell: np.ndarray
    vertex: np.ndarray
    face: np.ndarray
    gradient: np.ndarray  # of simplices, float32
    trusted: np.ndarray  # the cells whose own faces or neighbours give it

    def to_grid(self, grid: Grid, wanted: Staggered, velocity: Staggered, refined: bool = True) -> None:
        """Replace the velocity of a regular grid on the `wanted` faces (uint8) in cells that are trusted, in place.

        The field that is not `refined`, a baseline, is linear between the vertices of simplices.
        """
        for axis in grid.axes:
            origin = grid.corner + grid.dx * np.array(FACES[axis])
            kernels.sample_component(*self._given(), refined, origin, grid.dx, axis, wanted[axis], velocity[axis])

    def at(self, points: np.ndarray, refined: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The velocity at points (n, dim), and where it is that of cells that are trusted; elsewhere 0."""
        out, known = np.zeros(points.shape), np.empty(len(points), np.bool_)
        kernels.sample_points(*self._given(), refined, np.ascontiguousarray(points), out, known)
        return out, known

    def carried(self, points: np.ndarray, dt: float, refined: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The velocity where what is at points now was a time dt [s] ago (midpoint rule), and where that is known."""
        there, known = points, np.ones(len(points), bool)
        for part in (0.5, 1.0):
            velocity, found = self.at(there, refined)
            there, known = points - part * dt * velocity, known & found
        velocity, found = self.at(there, refined)
        return velocity, known & found

    def _given(self) -> tuple:
        """What kernels that sample the field take first."""
        a, simplices = self.around, self.around.mesh.simplices
        mesh_of = (simplices.points, simplices.corners, simplices.across, *a.seeds, a.width, a.mesh.cell_of)
        own = self.vertex, self.face, self.cell, self.gradient, self.trusted
        return *mesh_of, a.face_of, a.mesh.cell_position, *own


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
