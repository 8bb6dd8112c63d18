"""The reference operators of the regular grid: D, G and E as `scipy.sparse` matrices, in 2D and 3D.

Everything is made of one block: the difference of neighbouring samples along one axis, which takes samples at
an offset to those halfway between them. Vectors are flat: a scalar field in C order; velocities and strains are
their components one after the other. Lengths are in metres, so the rows are derivatives.

    D u = sum_a d_a u_a                   at cell centres      (divergence)
    G p = (d_a p)_a = -D' p               on faces             (gradient)
    E u = (d_a u_a)_a at centres, (d_b u_a + d_a u_b)_{a<b} at edges     (strain rate; shears doubled)

On the border of the grid a difference takes the missing sample as zero: no liquid may reach it.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations

import numpy as np
from scipy import sparse

from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Offset

AXIS = "xyz"


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
    """Samples and operators of a grid; matrices are made when they are first asked for."""

    grid: Grid

    @property
    def dim(self) -> int:
        return self.grid.dim

    @property
    def faces(self) -> tuple[Offset, ...]:
        """Offsets of the velocity components."""
        return FACES[: self.dim]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The axes of every shear: (0, 1) in 2D; (0, 1), (0, 2), (1, 2) in 3D."""
        return tuple(combinations(range(self.dim), 2))

    @property
    def edges(self) -> tuple[Offset, ...]:
        """Offsets of the shears, in the order of `pairs`; in 2D the nodes of the plane."""
        return tuple(EDGES[3 - a - b] for a, b in self.pairs)

    @property
    def shear_names(self) -> tuple[str, ...]:
        return tuple(f"tau_{AXIS[a]}{AXIS[b]}" for a, b in self.pairs)

    @property
    def face_axis(self) -> np.ndarray:
        """The axis of every velocity."""
        return np.repeat(np.arange(self.dim), [self.count(o) for o in self.faces])

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

    @cached_property
    def normal_strains(self) -> list[sparse.csr_matrix]:
        """d_a u_a at cell centres, for every axis a, over all faces."""
        return [
            sparse.hstack([difference(self.grid, o, a) if a == b else self._none(CENTRE, o) for b, o in self._each()])
            for a in range(self.dim)
        ]

    @cached_property
    def shear_strains(self) -> list[sparse.csr_matrix]:
        """d_b u_a + d_a u_b at the edges of every pair (a, b), over all faces."""
        rows = []
        for (a, b), edge in zip(self.pairs, self.edges):
            along = {a: b, b: a}
            rows.append(
                sparse.hstack(
                    [difference(self.grid, o, along[c]) if c in along else self._none(edge, o) for c, o in self._each()]
                )
            )
        return rows

    @cached_property
    def D(self) -> sparse.csr_matrix:
        """Divergence [1/s] at cell centres."""
        return sum(self.normal_strains[1:], self.normal_strains[0]).tocsr()

    @cached_property
    def G(self) -> sparse.csr_matrix:
        """Gradient of a cell field, on the faces."""
        return (-self.D.T).tocsr()

    @cached_property
    def E(self) -> sparse.csr_matrix:
        """Strain rates: the normal ones axis by axis, then the doubled shears in the order of `pairs`."""
        return sparse.vstack([*self.normal_strains, *self.shear_strains], format="csr")

    def _each(self) -> list[tuple[int, Offset]]:
        return list(enumerate(self.faces))

    def _none(self, rows: Offset, columns: Offset) -> sparse.csr_matrix:
        return sparse.csr_matrix((self.count(rows), self.count(columns)))
