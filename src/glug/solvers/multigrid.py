"""A V-cycle that knows no physics, as a preconditioner of conjugate gradients.

Levels supply their operator and the transfers between them; a smoother and its adjoint run before and after the
coarse correction, and the restriction is the transpose of the interpolation, so the cycle is symmetric.
"""

import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from glug.errors import SolverError
from glug.jit import SMALL, dense_on_one_thread, threads_for
from glug.solvers import kernels, kernels_bottom
from glug.solvers.cg import Vector, zeros_like

BOTTOM = 400  # unknowns that a dense factorisation takes in a millisecond
SHIFTS = (1e-7, 1e-6, 1e-5, 1e-4)  # of the diagonal of its matrix, until it is definite
UNFIXED = 1e-6  # of the diagonal: constants that cost less are not fixed, as far as float32 can tell


class Level(Protocol):
    """One grid of a hierarchy, known through its actions.

    `mask` is positive at unknowns; elsewhere every vector is zero.
    """

    mask: Vector
    unknowns: int
    blocks: np.ndarray

    def apply(self, x: Vector, q: Vector) -> float:
        """q = A x; returns x . q."""
        ...

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - A x."""
        ...

    def restrict(self, r: Vector, coarse: Any, b: Vector) -> None:
        """b = P' r on the level `coarse`."""
        ...

    def interpolate(self, e: Vector, x: Vector) -> None:
        """x += P e."""
        ...


class Smoother(Protocol):
    """`scratch` is a vector that a smoother may spoil."""

    def start(self, level: Any, b: Vector, x: Vector, scratch: Vector) -> None:
        """x = what `forward` makes of zero."""
        ...

    def forward(self, level: Any, b: Vector, x: Vector, scratch: Vector) -> None:
        """Improve x as a solution of A x = b."""
        ...

    def backward(self, level: Any, b: Vector, x: Vector, scratch: Vector) -> None:
        """The adjoint of `forward`."""
        ...


class Multigrid:
    """A preconditioner: one V-cycle, symmetric and positive."""

    def __init__(self, levels: Sequence[Level], smoother: Smoother, repeats: int = 0, bottom: "Bottom | None" = None):
        self.levels, self.smoother, self.repeats = levels, smoother, repeats
        self._sums = np.zeros(len(levels[0].blocks) * len(levels[0].mask))
        self._vectors = [tuple(zeros_like(level) for _ in range(3)) for level in levels[1:]]
        self._unknowns = [level.unknowns for level in levels]
        if bottom is None:
            bottom = DirectBottom(levels[-1]) if self._unknowns[-1] <= BOTTOM else SweptBottom(smoother)
        self._bottom: Bottom = bottom

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """z = what the cycle makes of r; returns r . z."""
        with threads_for(self._unknowns[0]):
            self.cycle(0, r, z, scratch)
        kernels.dot(r, z, self.levels[0].blocks, self._sums)
        return float(self._sums.sum())

    def cycle(self, depth: int, b: Vector, x: Vector, r: Vector, fresh: bool = True) -> None:
        """Improve x on the level `depth`; `fresh` when x is to start from zero."""
        level = self.levels[depth]
        if depth == len(self.levels) - 1:
            self._bottom.solve(level, b, x, r)
            return
        coarse_b, coarse_x, coarse_r = self._vectors[depth]
        (self.smoother.start if fresh else self.smoother.forward)(level, b, x, r)
        level.residual(b, x, r)
        level.restrict(r, self.levels[depth + 1], coarse_b)
        with self._threads_below(depth):
            self.cycle(depth + 1, coarse_b, coarse_x, coarse_r)
            if depth + 2 < len(self.levels) and depth < self.repeats:
                self.cycle(depth + 1, coarse_b, coarse_x, coarse_r, fresh=False)
        level.interpolate(coarse_x, x)
        self.smoother.backward(level, b, x, r)

    def _threads_below(self, depth: int) -> AbstractContextManager[Any]:
        """The threads of the level below `depth`. Where this one is small already they are its own: to ask costs more
        than a kernel of the coarsest levels takes."""
        return nullcontext() if self._unknowns[depth] < SMALL else threads_for(self._unknowns[depth + 1])


class Bottom(Protocol):
    def solve(self, level: Level, b: Vector, x: Vector, scratch: Vector) -> None: ...


def definite_factor(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """Cholesky factors of a matrix that is positive but for rounding.

    A part with modes that nothing fixes is singular, and rows that were summed in float32 may leave it slightly
    negative: the first of some growing shifts of the diagonal that makes it definite.
    """
    from scipy.linalg import LinAlgError, cho_factor

    diagonal = matrix.diagonal().copy()
    for shift in SHIFTS:
        np.fill_diagonal(matrix, diagonal * (1.0 + shift))
        try:
            return cho_factor(matrix, lower=True)
        except LinAlgError:
            continue
    raise SolverError("the coarsest grid of multigrid is not positive: its matrix has negative modes")


class DirectBottom:
    """The coarsest level by a dense Cholesky factorisation."""

    def __init__(self, level: Level):
        self._index = [np.flatnonzero(m) for m in level.mask]
        ends = np.cumsum([0, *(len(i) for i in self._index)])
        self._parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
        matrix = self._assemble(level)
        with dense_on_one_thread():
            self._solve = self._factorise(0.5 * (matrix + matrix.T)) if len(matrix) else np.zeros_like

    def _factorise(self, matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        factor = np.ascontiguousarray(definite_factor(hold_constants(matrix))[0])

        def solve(b: np.ndarray) -> np.ndarray:
            kernels_bottom.solve_factored(factor, b)
            return b

        return solve

    def _assemble(self, level: Level) -> np.ndarray:
        """The matrix, column by column. Rows reach one sample along every axis, so every third column fits in one
        product: 27 products per component. Where rows reach `far`, every column has a product of its own.
        """
        if getattr(level, "far", False):
            return self._assemble_far(level)
        places = tuple(np.stack(np.unravel_index(i, m.shape)) for i, m in zip(self._index, level.mask))
        number = tuple(np.full(m.shape, -1) for m in level.mask)
        for n, index, part in zip(number, self._index, self._parts):
            n.ravel()[index] = np.arange(part.start, part.stop)
        total = self._parts[-1].stop
        matrix = np.zeros((total, total))
        x, q = zeros_like(level), zeros_like(level)
        for c, mask in enumerate(level.mask):
            ones = (mask > 0).astype(np.float32)
            for colour in itertools.product(range(3), repeat=3):
                every_third = tuple(slice(o, None, 3) for o in colour)
                x[c][every_third] = ones[every_third]
                level.apply(x, q)
                x[c][every_third] = 0.0
                kernels_bottom.take_columns(q, places, number[c], *colour, matrix)
        return matrix

    def _assemble_far(self, level: Level) -> np.ndarray:
        x, q = zeros_like(level), zeros_like(level)
        columns = []
        for u, index in zip(x, self._index):
            for i in index:
                u.reshape(-1)[i] = 1.0
                level.apply(x, q)
                u.reshape(-1)[i] = 0.0
                columns.append(self._gather(q))
        return np.array(columns).reshape(len(columns), len(columns))

    def _gather(self, v: Vector) -> np.ndarray:
        return np.concatenate([a.ravel()[i] for a, i in zip(v, self._index)]).astype(np.float64)

    def solve(self, level: Level, b: Vector, x: Vector, scratch: Vector) -> None:
        solution = self._solve(self._gather(b))
        for a, index, part in zip(x, self._index, self._parts):
            a.ravel()[index] = solution[part]


def hold_constants(matrix: np.ndarray) -> np.ndarray:
    """`matrix` with a weight on the mean of every part that it does not fix, as in a closed pressure problem.

    A right-hand side that sums to zero has the solution of mean zero then. Without, what rounding makes of the sum
    would be blown up to a large constant, in which the rest of a float32 solution is lost.
    """
    label = np.empty(len(matrix), np.int64)
    count = kernels_bottom.label_parts(matrix, label)
    total = np.bincount(label, matrix.sum(axis=1), minlength=count)
    stiffness = np.bincount(label, matrix.diagonal(), minlength=count)
    for part in np.flatnonzero(np.abs(total) <= UNFIXED * stiffness):
        mine = np.flatnonzero(label == part)
        matrix[np.ix_(mine, mine)] += stiffness[part] / len(mine) ** 2
    return matrix


class SweptBottom:
    """The coarsest level by many sweeps forwards and as many backwards, where it is too large to factorise."""

    def __init__(self, smoother: Smoother, sweeps: int = 20):
        self._smoother, self._sweeps = smoother, sweeps

    def solve(self, level: Level, b: Vector, x: Vector, scratch: Vector) -> None:
        self._smoother.start(level, b, x, scratch)
        for _ in range(self._sweeps - 1):
            self._smoother.forward(level, b, x, scratch)
        for _ in range(self._sweeps):
            self._smoother.backward(level, b, x, scratch)
