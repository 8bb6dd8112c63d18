"""A regular grid's velocity as the faces of a mesh see it, and the fit of the one to the other.

S takes the velocity of a grid to faces: what is linear between the samples, along the face's normal. A field made of
velocities of faces (`grids.tetrahedra.field`) and brought to the grid is R. What a projection takes off the faces is
orthogonal to what it leaves, with the liquid's volume at every face as its weight V; brought to the grid by any R, the
change may add energy to motions that S hardly sees, and adds it in every step. It cannot where R is the transpose of S,

    R = (S' V S)^-1 S' V:    u . S' V S R g = S u . V g,

the least-squares fit: the grid's change that faces see as theirs. So the change on the grid begins as a field brings
it, which is right where few faces see a sample, and goes towards the fit by sweeps, each a mean over what faces miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import Grid, Staggered, mapped
from glug.grids.tetrahedra import kernels_fit as kernels
from glug.grids.tetrahedra.field import from_grid
from glug.grids.tetrahedra.mesh import Tetrahedra, around

SWEEPS = 4
LEAST_SEEN = 0.05  # of the samples around a face that must be wanted, by their parts in it, or the face is left out


@dataclass(frozen=True)
class GridFit:
    """Faces by the cells of a grid that they are in, and what they see of every component of its wanted samples."""

    grid: Grid
    wanted: Staggered  # uint8
    face: np.ndarray  # their numbers in the mesh
    place: np.ndarray  # float32 (faces, dim), in cells from the grid's corner
    start: np.ndarray  # of the faces of every cell
    share: tuple[np.ndarray, ...]  # float32: of the linear function of a component, by axis
    weight: np.ndarray  # float32: the liquid's volume at every face
    scale: Staggered  # float32: how much all faces together see of a sample

    @classmethod
    def of(cls, mesh: Tetrahedra, grid: Grid, wanted: Staggered, weight: np.ndarray) -> GridFit:
        """For the faces that have a weight."""
        dim, shape = grid.dim, np.array(grid.shape)
        face = np.flatnonzero(weight > 0.0)
        place = (mesh.face_position[face] - grid.corner[:dim]) / grid.dx
        inside = ((place > 0.0) & (place < shape[:dim])).all(axis=1)
        face, place = face[inside], place[inside].astype(np.float32)
        at = np.minimum(place.astype(np.int32), shape[:dim] - 1)
        cell = np.ravel_multi_index((*at.T, *[np.zeros(len(at), int)] * (3 - dim)), grid.shape).astype(np.int32)
        start, order = around(cell[:, None], grid.cells)
        face, place = face[order], np.ascontiguousarray(place[order])
        normal, weight = mesh.face_normal[face].astype(np.float32), (weight[face] / weight.max()).astype(np.float32)
        shares, seen = [], np.ones(len(face), np.float32)
        for axis in grid.axes:
            part = np.zeros(len(face), np.float32)
            kernels.take_off(place, np.ones_like(part), axis, wanted[axis].astype(np.float32), part)
            seen = np.minimum(seen, -part)
            shares.append(normal[:, axis] / np.maximum(-part, np.float32(LEAST_SEEN)))
        weight = np.where(seen >= LEAST_SEEN, weight, np.float32(0.0))
        fit = cls(grid, wanted, face, place, start, tuple(shares), weight, grid.staggered())
        all_of_it = weight * np.abs(normal).sum(axis=1)
        for axis in grid.axes:
            fit._add_back(axis, np.abs(shares[axis]), all_of_it, mapped(np.ones_like, fit.scale), fit.scale)
        return fit

    def _add_back(self, axis: int, share: np.ndarray, value: np.ndarray, scale: Staggered, x: Staggered) -> None:
        given = self.place, self.start, self.grid.shape, share, axis, value, self.wanted[axis]
        kernels.add_back(*given, scale[axis], x[axis])

    def seen(self, mesh: Tetrahedra, velocity: Staggered) -> np.ndarray:
        """A velocity of the grid as the faces of the mesh see it [m/s]: those of the fit by wanted samples alone.

        Samples behind walls and in the air follow from wanted ones; a face that saw them as well would see of a change
        what the fit does not know of, and feed it.
        """
        u, inner = from_grid(mesh, self.grid, velocity), self.weight > 0.0
        found = np.zeros(len(self.face), np.float32)
        for axis in self.grid.axes:
            of_wanted = np.where(self.wanted[axis] > 0, velocity[axis], np.float32(0.0))
            kernels.take_off(self.place, self.share[axis], axis, of_wanted, found)
        u[self.face[inner]] = -found[inner]
        return u

    def improve(self, change: Staggered, seen: np.ndarray, sweeps: int = SWEEPS) -> None:
        """Bring a change of the grid's velocity, 0 but on wanted samples, towards what all faces see, in place."""
        for _ in range(sweeps):
            missing = seen[self.face].astype(np.float32)
            for axis in self.grid.axes:
                kernels.take_off(self.place, self.share[axis], axis, change[axis], missing)
            missing *= self.weight
            for axis in self.grid.axes:
                self._add_back(axis, self.share[axis], missing, self.scale, change)
