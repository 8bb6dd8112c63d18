"""A system given by a matrix in compressed rows, for the solvers of matrix-free ones."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from glug.solvers import kernels as vectors
from glug.solvers.assembled import kernels_rows as kernels
from glug.solvers.cg import Vector
from glug.solvers.multigrid import Level

RUN = 2048  # rows of a block
# Blocks of Gauss-Seidel: the larger they are, the fewer rows see old values; there are enough of them for many threads.
SWEPT_ROWS, SWEPT_BLOCKS = 65536, 16
EVERY = np.zeros(0, np.int32)


def runs(rows: int, size: int) -> np.ndarray:
    """Blocks of `size` rows, as kernels of fields of one row take them."""
    begin = np.arange(0, rows, size)
    blocks = np.zeros((len(begin), 4), np.int32)
    blocks[:, 2], blocks[:, 3] = begin, np.minimum(begin + size, rows)
    return blocks


@dataclass
class AssembledSystem:
    """A x for a symmetric matrix: every row's entries off the diagonal, and `rest`, the sum of the whole row.

    Those of row n are `length[n]` (uint8) from start[n] (uint32) on; `column` is int32, `value` and `rest` float32.
    There may be room between rows, so that they can be filled in one pass. A stiff row sums to a small mass, which a
    diagonal in float32 would lose; kept apart it is not lost (`kernels_rows`).
    """

    name: str
    start: np.ndarray
    length: np.ndarray
    column: np.ndarray
    value: np.ndarray
    rest: np.ndarray

    def __post_init__(self) -> None:
        self.unknowns = len(self.start)
        self.blocks = runs(self.unknowns, RUN)
        self.swept = runs(self.unknowns, min(max(RUN, self.unknowns // SWEPT_BLOCKS), SWEPT_ROWS))
        self.mask: Vector = (self.diagonal,)
        self._sums = np.zeros(len(self.blocks))

    @cached_property
    def diagonal(self) -> np.ndarray:
        g = np.empty((1, 1, self.unknowns), np.float32)
        kernels.diagonal(self.start, self.length, self.value, self.rest, (g,), self.blocks)
        return g

    @property
    def entries(self) -> int:
        """Of the matrix, diagonal included."""
        return int(self.length.sum(dtype=np.int64)) + self.unknowns

    @property
    def _rows(self) -> tuple[np.ndarray, ...]:
        return self.start, self.length, self.column, self.value, self.rest

    def vector(self, values: np.ndarray, dtype: type = np.float32) -> Vector:
        """Values (n,) as a vector."""
        return (np.ascontiguousarray(values, dtype).reshape(1, 1, -1),)

    def apply(self, x: Vector, q: Vector) -> float:
        kernels.multiply(*self._rows, x, q, self.blocks, self._sums)
        return float(self._sums.sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        kernels.residual(*self._rows, b, x, r, self.blocks)

    @cached_property
    def hold(self) -> Vector:
        """The diagonal of block Gauss-Seidel: with half of the couplings to other blocks it always converges.

        (Baker, Falgout, Kolev and Yang 2011: the l1 smoothers.)
        """
        g = (np.empty((1, 1, self.unknowns), np.float32),)
        kernels.hold_blocks(*self._rows, g, self.swept)
        return g

    def sweep(self, b: Vector, x: Vector, before: Vector, part: "Part", forward: bool) -> None:
        """Gauss-Seidel within blocks of rows; `before` is a copy of x."""
        kernels.sweep(*self._rows, b, x, before, self.hold, part.blocks, part.rows, forward)

    @property
    def everything(self) -> "Part":
        return Part(self.swept, EVERY)

    def part(self, rows: np.ndarray) -> "Part":
        """The rows that are listed in ascending order."""
        blocks = self.swept.copy()
        blocks[:, :2] = np.searchsorted(rows, blocks[:, 2:])
        return Part(blocks[blocks[:, 0] < blocks[:, 1]], rows.astype(np.int32))

    def forget_diagonal(self) -> None:
        """After a change of `rest`: make the diagonal anew."""
        self.__dict__.pop("diagonal", None)
        self.mask = (self.diagonal,)

    def matrix(self):  # type: ignore[no-untyped-def]
        """As `scipy.sparse`, in float64."""
        return self.rows_of(np.arange(self.unknowns))

    def rows_of(self, numbers: np.ndarray):  # type: ignore[no-untyped-def]
        """Some rows of it."""
        from scipy import sparse

        length = self.length[numbers]
        row = np.repeat(np.arange(len(numbers)), length)
        first = np.cumsum(length, dtype=np.int64) - length
        taken = np.arange(len(row)) + (self.start[numbers] - first)[row]
        shape = len(numbers), self.unknowns
        off = sparse.csr_matrix((self.value[taken].astype(np.float64), (row, self.column[taken])), shape=shape)
        rest = self.rest[numbers] - np.asarray(off.sum(axis=1)).ravel()
        return off + sparse.csr_matrix((rest, (np.arange(len(numbers)), numbers)), shape=shape)


@dataclass(frozen=True)
class Part:
    """Some of the rows of a matrix, and the blocks that hold them (`kernels_rows.sweep`)."""

    blocks: np.ndarray
    rows: np.ndarray  # int32; none are all


class PartLevel(Level, Protocol):
    everything: Part
    hard: Part  # what needs more sweeps

    def sweep(self, b: Vector, x: Vector, before: Vector, part: Part, forward: bool) -> None: ...


@dataclass(frozen=True)
class BlockGaussSeidel:
    """`sweeps` sweeps within blocks before and after the coarse correction, and `more` of the hard part around them."""

    sweeps: int = 1
    more: int = 0

    def start(self, level: PartLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        vectors.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: PartLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self._sweep(level, b, x, scratch, True)

    def backward(self, level: PartLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self._sweep(level, b, x, scratch, False)

    def _sweep(self, level: PartLevel, b: Vector, x: Vector, scratch: Vector, forward: bool) -> None:
        hard = [level.hard] * (self.more if len(level.hard.rows) else 0)
        changed = EVERY  # the rows since x was copied; none are all
        for part in (*hard, *[level.everything] * self.sweeps, *hard):
            if len(changed):
                kernels.copy_rows(x, scratch, changed)
            else:
                vectors.copy(x, scratch, level.blocks)
            level.sweep(b, x, scratch, part, forward)
            changed = part.rows
