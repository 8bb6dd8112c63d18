"""GMRES on matrix-free fields with the preconditioner on the right, for systems that are not positive definite.

The basis is float32, of the unknowns alone, end to end; the solution is float64, and the residual that decides is
recomputed in float64. What a basis claims is trusted for a few digits only; then the iteration begins anew from there.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from glug.errors import SolverError
from glug.jit import dense_on_one_thread, threads_for
from glug.solvers.cg import Masked, Vector, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.saddle import kernels
from glug.solvers.stats import SolveStats

RESTART = 60  # vectors of a basis, at most
TRUST = 1e-4  # share of the residual at its start to which a basis is believed: float32 tells less of a stiff system
CLOSER = 0.5  # the estimate is a mean over all unknowns; the largest entry is to meet the tolerance
STUCK = 0.9  # of the residual left by a whole basis: another one would not help
CHUNK = 1 << 16  # entries that are combined at once


class LinearSystem(Masked, Protocol):
    """A square operator on fields, known through its actions."""

    name: str
    unknowns: int

    def apply(self, x: Vector, q: Vector) -> float:
        """q = K x."""
        ...

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - K x for a float64 x, evaluated in float64."""
        ...


class Unknowns:
    """The unknowns of fields end to end, and the weights that make their rows comparable."""

    def __init__(self, mask: Vector, weights: Vector):
        self._index = [np.flatnonzero(m).astype(np.int32) for m in mask]
        ends = np.cumsum([0, *(len(i) for i in self._index)])
        self._parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self._weight = np.concatenate([w.reshape(-1)[i] for w, i in zip(weights, self._index)])

    def weighted(self, fields: Vector) -> np.ndarray:
        """The unknowns of fields, times their weights."""
        found = np.empty_like(self._weight)
        for f, i, part in zip(fields, self._index, self._parts):
            kernels.gather(f.reshape(-1), i, self._weight[part], found[part])
        return found

    def put(self, vector: np.ndarray, fields: Vector) -> None:
        """Write what is `weighted` in a vector into fields."""
        for f, i, part in zip(fields, self._index, self._parts):
            kernels.scatter(vector[part], i, self._weight[part], f.reshape(-1))

    def add(self, values: Vector, fields: Vector) -> None:
        """fields += values, at the unknowns."""
        for f, v, i in zip(fields, values, self._index):
            kernels.add_at(v.reshape(-1), i, f.reshape(-1))


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a . b, in float64 over chunks."""
    sums = np.empty(-(-len(a) // kernels.CHUNK))
    kernels.dots(a, b, sums)
    return float(sums.sum())


class Basis:
    """An Arnoldi basis and the least-squares problem in it, by Givens rotations."""

    def __init__(self, start: np.ndarray):
        size = np.sqrt(dot(start, start))
        start /= np.float32(size)
        self.vectors = [start]
        self._columns: list[np.ndarray] = []
        self._turns: list[tuple[float, float]] = []
        self._right = [size]

    def __len__(self) -> int:
        """The number of vectors whose products are known."""
        return len(self._columns)

    @property
    def estimate(self) -> float:
        """The size of the residual of the best combination."""
        return abs(self._right[-1])

    def extend(self, product: np.ndarray) -> bool:
        """With the product of the last vector, which is spoilt; False when nothing new is in it."""
        column = np.zeros(len(self.vectors) + 1)
        for n, v in enumerate(self.vectors):
            column[n] = dot(v, product)
            kernels.subtract(product, np.float32(column[n]), v)
        column[-1] = size = np.sqrt(dot(product, product))
        for n, (c, s) in enumerate(self._turns):
            column[n], column[n + 1] = c * column[n] + s * column[n + 1], c * column[n + 1] - s * column[n]
        length = np.hypot(column[-2], column[-1])
        if not length > 0.0:
            return False
        c, s = column[-2] / length, column[-1] / length
        column[-2], column[-1] = length, 0.0
        self._turns.append((c, s))
        self._columns.append(column)
        last = self._right.pop()
        self._right += [c * last, -s * last]
        if size > 0.0:
            product /= np.float32(size)
            self.vectors.append(product)
        return size > 0.0

    def combination(self) -> np.ndarray:
        """The best combination of the vectors, which are spoilt."""
        count = len(self)
        R = np.zeros((count, count))
        for j, column in enumerate(self._columns):
            R[: j + 1, j] = column[: j + 1]
        y = np.linalg.solve(R, np.array(self._right[:count]))
        total = self.vectors[0]
        for n in range(0, len(total), CHUNK):
            total[n : n + CHUNK] = sum(share * v[n : n + CHUNK].astype(np.float64) for share, v in zip(y, self.vectors))
        return total


class Products:
    """K times what the preconditioner makes of the vectors of a basis; `r` is spoilt."""

    def __init__(
        self, system: LinearSystem, precondition: Callable[[Vector, Vector], None], unknowns: Unknowns, r: Vector
    ):
        self._system, self._precondition, self._unknowns = system, precondition, unknowns
        self._r, self._z = r, zeros_like(system)

    def image(self, vector: np.ndarray) -> Vector:
        """What the preconditioner makes of a vector; the next call overwrites it."""
        self._unknowns.put(vector, self._r)
        self._precondition(self._r, self._z)
        return self._z

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        self._system.apply(self.image(vector), self._r)
        return self._unknowns.weighted(self._r)


def gmres(
    system: LinearSystem,
    precondition: Callable[[Vector, Vector], None],
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    *,
    scales: Sequence[float],
    unknowns: Unknowns,
) -> SolveStats:
    """Solve K x = b, starting from `x` (float64, overwritten), until |b - K x|_inf <= tolerance scale in every field.

    `precondition(r, z)` writes an approximation of K^-1 r into z, linear in r. The basis is orthogonal in the weighted
    residuals of `unknowns`.
    """
    begin = time.perf_counter()
    r = zeros_like(system)
    product = Products(system, precondition, unknowns, r)

    def worst() -> float:
        system.residual(b, x, r)
        found = float(np.max([np.abs(f).max() / s for f, s in zip(r, scales) if s != 0.0], initial=0.0))
        if not np.isfinite(found):
            raise SolverError(f"{system.name}: the residual is not finite")
        return found

    iterations = 0
    with threads_for(system.unknowns), dense_on_one_thread():
        left, stuck = worst(), False
        while left > limits.tolerance and iterations < limits.max_iterations and not stuck:
            basis = Basis(unknowns.weighted(r))
            goal = basis.estimate * max(CLOSER * limits.tolerance / left, TRUST)
            most, more = min(RESTART, limits.max_iterations - iterations), True
            while more and basis.estimate > goal and len(basis) < most:
                more = basis.extend(product(basis.vectors[-1]))
            iterations += max(len(basis), 1)
            unknowns.add(product.image(basis.combination()), x)
            del basis  # its memory is what the residual takes
            before, left = left, worst()
            stuck = left > STUCK * before
    seconds = time.perf_counter() - begin
    return SolveStats(system.name, system.unknowns, iterations, left, seconds, left <= limits.tolerance)
