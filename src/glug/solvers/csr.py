"""A system given by a matrix in compressed rows, for the solvers of matrix-free ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.solvers import kernels as vectors
from glug.solvers import kernels_csr as kernels
from glug.solvers.cg import Vector

RUN = 2048  # rows of a block


@dataclass
class CsrSystem:
    """A x for a symmetric matrix with the diagonal first in every row.

    `start` (n + 1) is int64, `column` int32 and `value` float64: with float32 the rows of a stiff matrix would not sum
    to the small mass that is left of them.
    """

    name: str
    start: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        self.unknowns = len(self.start) - 1
        begin = np.arange(0, self.unknowns, RUN)
        self.blocks = np.zeros((len(begin), 4), np.int32)
        self.blocks[:, 2], self.blocks[:, 3] = begin, np.minimum(begin + RUN, self.unknowns)
        self.mask: Vector = (self.diagonal,)
        self._sums = np.zeros(len(self.blocks))

    @cached_property
    def diagonal(self) -> np.ndarray:
        g = np.empty((1, 1, self.unknowns), np.float32)
        kernels.diagonal(self.start, self.value, (g,), self.blocks)
        return g

    def vector(self, values: np.ndarray, dtype: type = np.float32) -> Vector:
        """Values (n,) as a vector."""
        return (np.ascontiguousarray(values, dtype).reshape(1, 1, -1),)

    def apply(self, x: Vector, q: Vector) -> float:
        kernels.multiply(self.start, self.column, self.value, x, q, self.blocks, self._sums)
        return float(self._sums.sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        kernels.residual(self.start, self.column, self.value, b, x, r, self.blocks)

    def relax(self, b: Vector, x: Vector, before: Vector, keep: float, step: float) -> None:
        matrix = self.start, self.column, self.value
        kernels.relax(*matrix, b, x, before, self.blocks, np.float32(keep), np.float32(step))

    @cached_property
    def hold(self) -> Vector:
        """The diagonal of block Gauss-Seidel: with half of the couplings to other blocks it always converges.

        (Baker, Falgout, Kolev and Yang 2011: the l1 smoothers.)
        """
        g = (np.empty((1, 1, self.unknowns), np.float32),)
        kernels.hold_blocks(self.start, self.column, self.value, g, self.blocks)
        return g

    def sweep_blocks(self, b: Vector, x: Vector, before: Vector, forward: bool) -> None:
        """Gauss-Seidel within blocks of rows; `before` is a copy of x."""
        kernels.sweep(self.start, self.column, self.value, b, x, before, self.hold, self.blocks, forward)

    def matrix(self):  # type: ignore[no-untyped-def]
        """As `scipy.sparse`."""
        from scipy import sparse

        return sparse.csr_matrix((self.value, self.column, self.start), shape=(self.unknowns, self.unknowns))


@dataclass(frozen=True)
class BlockGaussSeidel:
    """`sweeps` sweeps of `sweep_blocks` before and after the coarse correction."""

    sweeps: int = 1

    def start(self, level: CsrSystem, b: Vector, x: Vector, scratch: Vector) -> None:
        vectors.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: CsrSystem, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            vectors.copy(x, scratch, level.blocks)
            level.sweep_blocks(b, x, scratch, True)

    def backward(self, level: CsrSystem, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            vectors.copy(x, scratch, level.blocks)
            level.sweep_blocks(b, x, scratch, False)
