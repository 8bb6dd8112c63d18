"""An example of a mesh: a grid of the plane whose columns and rows have sizes of their own."""

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from scipy import sparse

from glug.grids.boxes import Boxes, lattice_interpolation, side_fraction
from glug.grids.mesh import Distance, Fractions

# How samples lie along x and y: 0 on the lines, 1 midway between them.
CELLS, FACES, NODES = (1, 1), ((0, 1), (1, 0)), (0, 0)
SAMPLE, LOW, HIGH = range(3)


@dataclass(frozen=True)
class Stretched:
    """A `StrainMesh` from the lines between columns and between rows [m], ascending."""

    lines: tuple[np.ndarray, np.ndarray]
    dim = 2

    @classmethod
    def random(cls, n: int, seed: int = 0) -> "Stretched":
        """n by n cells over [-1.5, 1.5]^2 whose sides differ by up to three times."""
        sizes = np.random.default_rng(seed).uniform(1.0, 3.0, (2, n))
        x, y = (np.concatenate([[0.0], np.cumsum(s)]) * 3.0 / s.sum() - 1.5 for s in sizes)
        return cls((x, y))

    @cached_property
    def along(self) -> list[tuple[tuple[np.ndarray, ...], ...]]:
        """Along each axis, on the lines and midway: the samples, and where their boxes begin and end."""
        out = []
        for x in self.lines:
            middle = 0.5 * (x[1:] + x[:-1])
            ends = np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])
            out.append(((x, ends[:-1], ends[1:]), (middle, x[:-1], x[1:])))
        return out

    def at(self, what: int, *kinds: tuple[int, int]) -> np.ndarray:
        """Samples, or the lower or upper ends of their boxes (n, 2)."""
        axes = [[self.along[a][lie][what] for a, lie in enumerate(kind)] for kind in kinds]
        return np.concatenate([np.stack(np.meshgrid(*xy, indexing="ij"), axis=-1).reshape(-1, 2) for xy in axes])

    def boxes(self, *kinds: tuple[int, int]) -> Boxes:
        low, high = self.at(LOW, *kinds), self.at(HIGH, *kinds)
        return Boxes(0.5 * (low + high), high - low)

    face_position = property(lambda self: self.at(SAMPLE, *FACES))
    face_normal = property(lambda self: np.repeat(np.eye(2), [len(self.at(SAMPLE, kind)) for kind in FACES], axis=0))
    face_volume = property(lambda self: self.boxes(*FACES).volume)
    cell_position = property(lambda self: self.at(SAMPLE, CELLS))
    cell_volume = property(lambda self: self.boxes(CELLS).volume)
    edge_position = property(lambda self: self.at(SAMPLE, NODES))
    edge_volume = property(lambda self: self.boxes(NODES).volume)
    D = property(lambda self: self.derivative(0, 0) + self.derivative(1, 1))

    def derivative(self, component: int, along: int) -> sparse.csr_matrix:
        kind = FACES[component]
        parts = [sparse.identity(len(self.along[a][lie][SAMPLE])) for a, lie in enumerate(kind)]
        n = len(self.lines[along]) - 1
        step = sparse.diags([-1.0, 1.0], [0, 1], shape=(n, n + 1))
        _, low, high = self.along[along][1 - kind[along]]  # between the samples that are compared
        parts[along] = sparse.diags(1.0 / (high - low)) @ (step if component == along else -step.T)
        rows = reduce(sparse.kron, parts)
        other = sparse.csr_matrix((rows.shape[0], len(self.at(SAMPLE, FACES[1 - component]))))
        return sparse.hstack([rows, other] if component == 0 else [other, rows], format="csr")

    def fractions(self, distance: Distance) -> Fractions:
        return Fractions(*(self.boxes(*kinds).fraction(distance) for kinds in ((CELLS,), FACES, (NODES,))))

    def open_area(self, distance: Distance) -> np.ndarray:
        sides = [self.boxes(kind) for kind in FACES]
        at = [self.at(SAMPLE, kind) for kind in FACES]
        return np.concatenate([side_fraction(at[a], s.size, a, distance) for a, s in enumerate(sides)])

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        samples = [[self.along[a][lie][SAMPLE] for a, lie in enumerate(kind)] for kind in FACES]
        return sparse.block_diag([lattice_interpolation(x, points) for x in samples], format="csr")
