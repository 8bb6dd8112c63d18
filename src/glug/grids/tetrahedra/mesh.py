"""Triangles and tetrahedra with pressures at their circumcentres: a `Mesh` that conforms to nothing.

The line between the circumcentres of two simplices crosses the face between them at a right angle, so one difference is
the gradient (`grids.covolume`). Where circumcentres coincide, which is routine where a lattice changes its spacing, the
simplices share one pressure and are one cell. Where the order of two circumcentres is reversed the mesh is not
Delaunay's: such faces are flipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from glug.grids.boxes import linear_fraction
from glug.grids.covolume import Covolume
from glug.grids.kernels import join_pairs
from glug.grids.mesh import Distance, Fractions
from glug.grids.tetrahedra import kernels, kernels_geometry
from glug.grids.tetrahedra.lattice import Box, Leaves, lattice

COINCIDENT = 1e-6  # of a face's width: circumcentres that are nearer to each other are one
FLAT = 2.0  # of the median radius: circumscribed balls at the border of scattered points that are larger are dropped
CHUNKS = 8  # of simplices that are counted at once
MOST_PASSES = 40  # of flips
SLIVER = 1e-6  # of a control volume: what is less would be a row of rounding in a matrix


@dataclass(frozen=True)
class Simplices:
    """Points (n, dim) [m], simplices by their corners (m, dim + 1), and those behind the face opposite each corner."""

    points: np.ndarray
    corners: np.ndarray
    across: np.ndarray

    @classmethod
    def connected(cls, points: np.ndarray, corners: np.ndarray) -> Simplices:
        across = np.empty_like(corners)
        kernels.find_neighbours(corners, *around(corners, len(points)), across)
        return cls(points, corners, across)

    @property
    def dim(self) -> int:
        return self.points.shape[1]

    def circumcentres(self) -> tuple[np.ndarray, np.ndarray]:
        """Their places and the volumes of the simplices."""
        centre, volume = np.empty((len(self.corners), self.dim)), np.empty(len(self.corners))
        kernels_geometry.circumcentres(self.points, self.corners, centre, volume)
        return centre, volume

    def flipped(self, turned: np.ndarray) -> tuple[Simplices, np.ndarray]:
        """With faces that are turned around flipped, as far as they do not touch; and which simplices are new."""
        n, room = len(self.corners), len(turned)
        corners, across = (
            np.concatenate([a, np.full((room, self.dim + 1), -1, np.int32)]) for a in (self.corners, self.across)
        )
        done = np.zeros(n + room, np.bool_)
        count = kernels.flip(self.points, corners, across, n, turned, done)
        return Simplices(self.points, corners[:count], across[:count]), done[:count]

    def turned(self, centre: np.ndarray, looked: np.ndarray) -> np.ndarray:
        """The faces (simplex, corner) whose circumcentres lie in the wrong order, of simplices that are looked at."""
        bits = np.empty(len(self.corners), np.uint8)
        given = self.points, self.corners, self.across, centre, looked, COINCIDENT
        kernels_geometry.find_turned(*given, bits)
        wrong = np.flatnonzero(bits)
        at, corner = np.nonzero((bits[wrong, None] >> np.arange(self.dim + 1, dtype=np.uint8)) & 1)
        return np.stack([wrong[at], corner], axis=1)


def around(corners: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """The simplices of every point: where they begin, and their numbers."""
    chunks = np.linspace(0, len(corners), CHUNKS + 1).astype(np.int64)
    count = np.zeros((CHUNKS, points), np.int32)
    kernels.count_around(corners, chunks, count)
    start = np.zeros(points + 1, np.int32)
    np.cumsum(count.sum(axis=0), out=start[1:])
    place = start[:-1] + np.cumsum(count, axis=0, dtype=np.int32) - count
    found = np.empty(corners.size, np.int32)
    kernels.fill_around(corners, chunks, place, found)
    return start, found


@dataclass(frozen=True)
class Faces:
    """The faces between simplices: of the first, opposite `corner`."""

    beside: np.ndarray
    corner: np.ndarray
    ends: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    area: np.ndarray
    distance: np.ndarray

    @classmethod
    def of(cls, simplices: Simplices, centre: np.ndarray) -> Faces:
        count = np.empty(len(simplices.corners), np.int32)
        kernels_geometry.count_faces(simplices.across, count)
        start = np.zeros(len(count) + 1, np.int32)
        np.cumsum(count, out=start[1:])
        m, dim = int(start[-1]), simplices.dim
        numbers = np.empty((2, m), np.int32), np.empty(m, np.int32), np.empty((m, dim), np.int32)
        arrays = *numbers, np.empty((m, dim)), np.empty((m, dim)), np.empty(m), np.empty(m)
        kernels_geometry.make_faces(simplices.points, simplices.corners, simplices.across, centre, start, *arrays)
        return cls(*arrays)

    @property
    def width(self) -> np.ndarray:
        return self.area if self.normal.shape[1] == 2 else np.sqrt(self.area)

    def kept(self, some: np.ndarray) -> Faces:
        """Some of them."""
        rest = (self.corner, self.ends, self.position, self.normal, self.area, self.distance)
        return Faces(self.beside[:, some], *(a[some] for a in rest))


@dataclass(frozen=True)
class Tetrahedra(Covolume):
    """A `Mesh` of simplices in 2D and 3D; the outermost faces are walls."""

    simplices: Simplices
    cell_of: np.ndarray  # int32: the cell that a simplex is in
    ends: np.ndarray  # int32 (faces, dim): the corners of every face
    side: np.ndarray  # int32 (2, faces): the first simplex of every face, and its corner opposite it
    turned: int = 0  # faces that are still in the wrong order

    @classmethod
    def build(cls, points: np.ndarray, corners: np.ndarray) -> Tetrahedra:
        """Of points (n, dim) [m] and simplices (m, dim + 1), flipped until no circumcentres are in the wrong order."""
        simplices = Simplices.connected(points, np.ascontiguousarray(corners, np.int32))
        looked = np.ones(len(simplices.corners), np.bool_)
        for _ in range(MOST_PASSES):
            centre, volume = simplices.circumcentres()
            turned = simplices.turned(centre, looked)
            if len(turned) == 0:
                break
            simplices, changed = simplices.flipped(turned)
            waiting = turned[~changed[turned[:, 0]], 0]  # whose faces touched others that were flipped
            changed[waiting] = True
            looked = changed
        faces = Faces.of(simplices, centre)
        cell_of = _clusters(faces, len(volume))
        return _assemble(cls, simplices, faces, centre, volume, cell_of, len(turned))

    @classmethod
    def over(cls, box: Box, leaves: Leaves | None = None) -> Tetrahedra:
        """The lattice of leaves in a box; without any, of finest ones."""
        return cls.build(*lattice(box.leaves() if leaves is None else leaves, box.spacing, box.corner))

    @classmethod
    def from_points(cls, points: np.ndarray) -> Tetrahedra:
        """Delaunay's simplices of any points, without flat ones at the border."""
        from scipy.spatial import Delaunay

        found = Delaunay(points)
        corners, behind = found.simplices.astype(np.int32), found.neighbors
        centre = Simplices(points, corners, behind).circumcentres()[0]
        radius = np.linalg.norm(centre - points[corners[:, 0]], axis=1)
        flat, kept = radius > FLAT * np.median(radius), np.ones(len(corners), bool)
        while True:
            drop = kept & flat & ((behind < 0) | ~kept[behind]).any(axis=1)
            if not drop.any():
                return cls.build(points, corners[kept])
            kept &= ~drop

    def irregular(self, shift: float, seed: int = 0) -> Tetrahedra:
        """Of the same points, each moved at random by up to `shift` [m] along every axis."""
        points = self.simplices.points
        return Tetrahedra.from_points(points + np.random.default_rng(seed).uniform(-shift, shift, points.shape))

    def barycentric(self) -> Tetrahedra:
        """The baseline: pressures at the middles of simplices, as if the lines between them crossed faces squarely."""
        simplices = self.simplices
        middle = simplices.points[simplices.corners].mean(axis=1)
        faces = Faces.of(simplices, middle)
        apart = np.linalg.norm(middle[faces.beside[1]] - middle[faces.beside[0]], axis=1)
        faces = replace(faces, distance=apart, position=simplices.points[faces.ends].mean(axis=1))
        cell_of = np.arange(len(middle), dtype=np.int32)
        return _assemble(Tetrahedra, simplices, faces, middle, simplices.circumcentres()[1], cell_of, 0)

    def fractions(self, distance: Distance) -> Fractions:
        """Of the simplices, and of the two between a face and the circumcentres; slivers of these are none."""
        points, volume = self.simplices.points, self.simplices.circumcentres()[1]
        whole = fraction_of_simplices(points[self.simplices.corners.T], distance)
        part = np.bincount(self.cell_of, volume * whole, len(self.cell_volume))
        ends = points[self.ends.T]
        kites = [fraction_of_simplices(np.stack([*ends, self.cell_position[cell]]), distance) for cell in self.beside]
        face = 0.5 * (kites[0] + kites[1])
        return Fractions(part / self.cell_volume, np.where(face < SLIVER, 0.0, face), np.zeros(0))

    def open_area(self, distance: Distance) -> np.ndarray:
        """By the linear function between the values at the corners of a face (marching triangles)."""
        return linear_fraction(distance(self.simplices.points)[self.ends.T])

    @cached_property
    def fit(self) -> sparse.csr_matrix:
        """The vector of every cell that fits the velocities of its faces best: (dim cells, faces)."""
        return cell_fit(self, np.ones(len(self.area), bool))

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        """The vector of the cell around each point."""
        cell, n = self.cell_of[self.locate(points)], len(self.cell_volume)
        return sparse.csr_matrix(self.fit[np.concatenate([a * n + cell for a in range(self.dim)])])

    def locate(self, points: np.ndarray) -> np.ndarray:
        """The simplex around each point; the nearest in some sense for points outside."""
        corners = self.simplices.points[self.simplices.corners]
        inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])
        from scipy.spatial import cKDTree

        _, near = cKDTree(corners.mean(axis=1)).query(points, k=min(32, len(corners)))
        parts = np.einsum("pkx,pkxe->pke", points[:, None] - corners[near, 0], inverse[near])
        inside = np.minimum(parts.min(axis=2), 1.0 - parts.sum(axis=2))
        return near[np.arange(len(points)), inside.argmax(axis=1)]


# Halves of edges cut a simplex into 4 or 8 of equal size: the ends of those edges, for every corner of the parts.
PARTS = {
    2: "00 01 02, 11 01 12, 22 02 12, 01 02 12",
    3: "00 01 02 03, 11 01 12 13, 22 02 12 23, 33 03 13 23, 01 02 03 13, 01 02 12 13, 02 03 13 23, 02 12 13 23",
}


def fraction_of_simplices(corners: np.ndarray, distance: Distance) -> np.ndarray:
    """The part of simplices (dim + 1, n, dim) where `distance` is negative, which counts as linear in 4 or 8 parts."""
    k = len(corners)
    names = [f"{i}{j}" for i in range(k) for j in range(i, k)]
    value = {name: distance(0.5 * (corners[int(name[0])] + corners[int(name[1])])) for name in names}
    parts = PARTS[k - 1].split(", ")
    return np.mean([linear_fraction(np.stack([value[name] for name in part.split()])) for part in parts], axis=0)


def _clusters(faces: Faces, simplices: int) -> np.ndarray:
    """The number of the cell that every simplex is in: one where circumcentres coincide."""
    small = np.flatnonzero(np.abs(faces.distance) < COINCIDENT * faces.width)
    parent = np.arange(simplices, dtype=np.int32)
    join_pairs(faces.beside, small, parent)
    own = parent == np.arange(simplices)
    return (np.cumsum(own, dtype=np.int32) - np.int32(1))[parent]


def _assemble(
    kind: type[Tetrahedra],
    simplices: Simplices,
    faces: Faces,
    centre: np.ndarray,
    volume: np.ndarray,
    cell_of: np.ndarray,
    turned: int,
) -> Tetrahedra:
    """Cells and the faces between different ones."""
    numbers = np.maximum.accumulate(cell_of) if len(cell_of) else cell_of
    first = np.flatnonzero(np.diff(numbers, prepend=-1) > 0)  # cells are numbered by their first simplices
    beside = cell_of[faces.beside]
    kept = np.flatnonzero(beside[0] != beside[1])
    if len(kept) < len(faces.area):
        beside, faces = beside[:, kept], faces.kept(kept)
    cells = int(cell_of.max(initial=-1)) + 1
    return kind(
        centre[first], np.bincount(cell_of, volume, cells), beside, faces.position, faces.normal, faces.area,
        faces.distance, simplices, cell_of, faces.ends, np.stack([faces.beside[0], faces.corner]), turned,
    )  # fmt: skip


def cell_fit(mesh: Covolume, used: np.ndarray) -> sparse.csr_matrix:
    """(dim cells, faces): the least-squares vector of every cell from those of its faces that are `used`."""
    dim, n, m = mesh.dim, len(mesh.cell_volume), len(mesh.area)
    face = np.flatnonzero(used)
    cell, face = mesh.beside[:, face].ravel(), np.concatenate([face, face])
    normal = mesh.face_normal[face]
    squares = [np.bincount(cell, normal[:, a] * normal[:, b], n) for a in range(dim) for b in range(dim)]
    inverse = np.linalg.pinv(np.stack(squares, axis=1).reshape(n, dim, dim), rcond=1e-3, hermitian=True)
    rows = np.einsum("kab,kb->ak", inverse[cell], normal)
    parts = [sparse.csr_matrix((rows[a], (cell, face)), shape=(n, m)) for a in range(dim)]
    return sparse.vstack(parts, format="csr")
