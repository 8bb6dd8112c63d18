"""The regular grid as a mesh: samples, control volumes, D and derivatives as `scipy.sparse` matrices, in 2D and 3D.

Everything is made of one block: the difference of neighbouring samples along one axis, which takes samples at
an offset to those halfway between them. Vectors are flat: a scalar field in C order; velocities and strains are
their components one after the other. Lengths are in metres, so the rows are derivatives; control volumes are dx^dim.

    D u = sum_a d_a u_a                   at cell centres      (divergence)
    E u = (d_a u_a)_a at centres, (d_b u_a + d_a u_b)_{a<b} at edges     (strain rate; shears doubled)

On the border of the grid a difference takes the missing sample as zero: no liquid may reach it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from scipy import sparse
from scipy.ndimage import distance_transform_edt

from glug.grids.boxes import Boxes, lattice_interpolation, side_fraction
from glug.grids.mesh import Distance, Fractions, axis_pairs
from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Offset, midway


def difference(grid: Grid, offset: Offset, axis: int) -> sparse.csr_matrix:
    """Derivative along `axis` [1/m], from the samples at `offset` to those half a cell further along it."""
    factors = []
    for a, n in enumerate(grid.sample_shape(offset)):
        if a != axis:
            factors.append(sparse.identity(n, format="csr"))
            continue
        # n + 1 samples on cell borders have n differences; n samples inside cells have n + 1.
        inner = n - 1 if offset[a] == 0.0 else n
        ahead = sparse.diags([-1.0, 1.0], [0, 1], shape=(inner, inner + 1)) / grid.dx
        factors.append(ahead if offset[a] == 0.0 else -ahead.T)
    return reduce(lambda a, b: sparse.kron(a, b, format="csr"), factors)


@dataclass(frozen=True)
class Operators:
    """The `StrainMesh` of a grid; what it holds is made when it is first asked for."""

    grid: Grid

    @property
    def dim(self) -> int:
        return self.grid.dim

    # -- samples by their offset in a cell -----------------------------------------------------------------

    @property
    def faces(self) -> tuple[Offset, ...]:
        """Offsets of the velocity components."""
        return FACES[: self.dim]

    @property
    def edges(self) -> tuple[Offset, ...]:
        """Offsets of the shears, pair by pair; in 2D the nodes of the plane."""
        return tuple(EDGES[3 - a - b] for a, b in axis_pairs(self.dim))

    def count(self, offset: Offset) -> int:
        return int(np.prod(self.grid.sample_shape(offset)))

    def points(self, offset: Offset) -> np.ndarray:
        """Positions of the samples at `offset` (n, dim) [m]."""
        return self.grid.points(offset).reshape(-1, 3)[:, : self.dim]

    def split(self, vector: np.ndarray, offsets: tuple[Offset, ...]) -> list[np.ndarray]:
        """The components of a flat vector, each in the grid's shape."""
        sizes = np.cumsum([self.count(o) for o in offsets])[:-1]
        parts = np.split(vector, sizes)
        return [part.reshape(self.grid.sample_shape(o)) for part, o in zip(parts, offsets)]

    def measure(self, fraction: Callable[[Offset], np.ndarray]) -> Fractions:
        """From a function that measures the cubes around the samples at an offset."""

        def all_of(offsets: tuple[Offset, ...]) -> np.ndarray:
            return np.concatenate([np.asarray(fraction(o), dtype=float).ravel() for o in offsets])

        return Fractions(all_of((CENTRE,)), all_of(self.faces), all_of(self.edges))

    # -- the mesh ------------------------------------------------------------------------------------------

    @cached_property
    def face_position(self) -> np.ndarray:
        return np.concatenate([self.points(o) for o in self.faces])

    @cached_property
    def face_normal(self) -> np.ndarray:
        return np.repeat(np.eye(self.dim), [self.count(o) for o in self.faces], axis=0)

    @property
    def face_volume(self) -> np.ndarray:
        return self._volume(self.faces)

    @property
    def cell_position(self) -> np.ndarray:
        return self.points(CENTRE)

    @property
    def cell_volume(self) -> np.ndarray:
        return self._volume((CENTRE,))

    @property
    def edge_position(self) -> np.ndarray:
        return np.concatenate([self.points(o) for o in self.edges])

    @property
    def edge_volume(self) -> np.ndarray:
        return self._volume(self.edges)

    def _volume(self, offsets: tuple[Offset, ...]) -> np.ndarray:
        return np.full(sum(self.count(o) for o in offsets), self.grid.dx**self.dim)

    @cached_property
    def D(self) -> sparse.csr_matrix:
        """Divergence [1/m] at cell centres."""
        return sum((self.derivative(a, a) for a in range(1, self.dim)), start=self.derivative(0, 0)).tocsr()

    def derivative(self, component: int, along: int) -> sparse.csr_matrix:
        """d u_component / d x_along [1/m] at the cells, or at the edges of the pair."""
        rows = self.count(CENTRE if component == along else EDGES[3 - component - along])
        blocks = [
            difference(self.grid, o, along) if a == component else sparse.csr_matrix((rows, self.count(o)))
            for a, o in enumerate(self.faces)
        ]
        return sparse.hstack(blocks, format="csr")

    def fractions(self, distance: Distance) -> Fractions:
        return self.measure(lambda o: self._cubes(self.points(o)).fraction(distance))

    def _cubes(self, points: np.ndarray) -> Boxes:
        return Boxes(points, np.full(points.shape, self.grid.dx))

    def open_area(self, distance: Distance) -> np.ndarray:
        sides = [self._cubes(self.points(o)) for o in self.faces]
        return np.concatenate([side_fraction(s.middle, s.size, a, distance) for a, s in enumerate(sides)])

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        """Multilinear, component by component."""
        lines = [self.grid.coordinates(o)[: self.dim] for o in self.faces]
        return sparse.block_diag([lattice_interpolation(x, points) for x in lines], format="csr")

    # -- fields --------------------------------------------------------------------------------------------

    def extrapolated(self, u: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Every component continued from the nearest face `inside`."""
        parts = []
        for values, known in zip(self.split(u, self.faces), self.split(inside, self.faces)):
            nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
            parts.append(values[tuple(nearest)].ravel())
        return np.concatenate(parts)

    def at_strains(self, field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A field over the cells at cells and edges, flat: the mean of the cells around an edge."""
        edges = [_mean_around(field, offset) for offset in self.edges]
        return field.ravel().astype(np.float64), np.concatenate([e.ravel() for e in edges])


def _mean_around(cells: np.ndarray, offset: Offset) -> np.ndarray:
    out = cells.astype(np.float64)
    for a, (o, centre) in enumerate(zip(offset, CENTRE)):
        if o != centre:
            pad = [(1, 1) if b == a else (0, 0) for b in range(3)]
            out = midway(np.pad(out, pad, mode="edge"), a)
    return out
