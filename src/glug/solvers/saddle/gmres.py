"""Flexible GMRES on matrix-free fields (Saad 1993), for systems that are not positive definite.

The basis is float32, of the unknowns alone, end to end; the solution is float64, and the residual that decides is
recomputed in float64. Where float32 has nothing more to say the iteration begins anew from there.
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
from glug.solvers.stats import SolveStats

RESTART = 60  # vectors of a basis, at most
TRUST = 1e-6  # share of the residual at its start below which a float32 basis says nothing
CLOSER = 0.5  # the estimate is a mean over all unknowns; the largest entry is to meet the tolerance
STUCK = 0.9  # of the residual left by a whole basis: another one would not help
CHUNK = 1 << 16  # entries that are summed in float32


class LinearSystem(Masked, Protocol):
    """A square operator on fields, known through its actions."""

    name: str
    unknowns: int

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - K x for a float64 x, evaluated in float64."""
        ...


class Unknowns:
    """The unknowns of fields end to end, each times a weight."""

    def __init__(self, mask: Vector, weights: Vector):
        self._index = [np.flatnonzero(m) for m in mask]
        ends = np.cumsum([0, *(len(i) for i in self._index)])
        self._parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self.weight = self.gather(weights)

    def gather(self, fields: Vector) -> np.ndarray:
        return np.concatenate([f.reshape(-1)[i] for f, i in zip(fields, self._index)])

    def scatter(self, values: np.ndarray, fields: Vector) -> None:
        for f, i, part in zip(fields, self._index, self._parts):
            f.reshape(-1)[i] = values[part]

    def add(self, values: np.ndarray, fields: Vector) -> None:
        for f, i, part in zip(fields, self._index, self._parts):
            f.reshape(-1)[i] += values[part]


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a . b, in float64 over chunks."""
    return sum(float(np.dot(a[n : n + CHUNK], b[n : n + CHUNK])) for n in range(0, len(a), CHUNK))


class Basis:
    """An Arnoldi basis and the least-squares problem in it, by Givens rotations."""

    def __init__(self, start: np.ndarray):
        size = np.sqrt(dot(start, start))
        self.vectors = [start / np.float32(size)]
        self.images: list[np.ndarray] = []
        self._columns: list[np.ndarray] = []
        self._turns: list[tuple[float, float]] = []
        self._right = [size]

    @property
    def estimate(self) -> float:
        """The size of the residual of the best combination."""
        return abs(self._right[-1])

    def extend(self, image: np.ndarray, product: np.ndarray) -> bool:
        """With an image of the last vector and its product, which is spoilt; False when nothing new is in it."""
        self.images.append(image)
        column = np.zeros(len(self.vectors) + 1)
        for n, v in enumerate(self.vectors):
            column[n] = dot(v, product)
            product -= np.float32(column[n]) * v
        column[-1] = size = np.sqrt(dot(product, product))
        for n, (c, s) in enumerate(self._turns):
            column[n], column[n + 1] = c * column[n] + s * column[n + 1], c * column[n + 1] - s * column[n]
        length = np.hypot(column[-2], column[-1])
        if not length > 0.0:
            self.images.pop()
            return False
        c, s = column[-2] / length, column[-1] / length
        column[-2], column[-1] = length, 0.0
        self._turns.append((c, s))
        self._columns.append(column)
        last = self._right.pop()
        self._right += [c * last, -s * last]
        if size > 0.0:
            self.vectors.append(product / np.float32(size))
        return size > 0.0

    def combination(self) -> np.ndarray:
        """The best combination of the images, float64."""
        n = len(self.images)
        R = np.zeros((n, n))
        for j, column in enumerate(self._columns):
            R[: j + 1, j] = column[: j + 1]
        y = np.linalg.solve(R, np.array(self._right[:n]))
        total = np.zeros(len(self.vectors[0]))
        for share, image in zip(y, self.images):
            total += share * image
        return total


class Extension:
    """What extends a basis: an image of its last vector under the preconditioner, and the product with that."""

    def __init__(self, system: LinearSystem, precondition: Callable[[Vector, Vector], None], unknowns: Unknowns):
        self._system, self._precondition, self._unknowns = system, precondition, unknowns
        self._r, self._z, self._q = zeros_like(system), zeros_like(system), zeros_like(system)
        self._exact = zeros_like(system, np.float64)

    def __call__(self, basis: Basis) -> bool:
        """False when there is nothing new in it."""
        unknowns, r = self._unknowns, self._r
        unknowns.scatter(basis.vectors[-1] / unknowns.weight, r)
        self._precondition(r, self._z)
        image = unknowns.gather(self._z)
        unknowns.scatter(image, self._exact)
        for f in r:
            f.fill(0.0)
        # Minus the product, in float64: in float32 stiff rows would lose what is smooth.
        self._system.residual(r, self._exact, self._q)
        return basis.extend(image, unknowns.gather(self._q) * -unknowns.weight)


def flexible_gmres(
    system: LinearSystem,
    precondition: Callable[[Vector, Vector], None],
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    *,
    scales: Sequence[float],
    weights: Vector,
) -> SolveStats:
    """Solve K x = b, starting from `x` (float64, overwritten), until |b - K x|_inf <= tolerance scale in every field.

    `precondition(r, z)` writes an approximation of K^-1 r into z. The basis is orthogonal in residuals times `weights`.
    """
    begin = time.perf_counter()
    unknowns, r = Unknowns(system.mask, weights), zeros_like(system)
    extend = Extension(system, precondition, unknowns)

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
            basis = Basis(unknowns.gather(r) * unknowns.weight)
            goal = basis.estimate * max(CLOSER * limits.tolerance / left, TRUST)
            most, more = min(RESTART, limits.max_iterations - iterations), True
            while more and basis.estimate > goal and len(basis.images) < most:
                more = extend(basis)
            iterations += max(len(basis.images), 1)
            unknowns.add(basis.combination(), x)
            before, left = left, worst()
            stuck = left > STUCK * before
    seconds = time.perf_counter() - begin
    return SolveStats(system.name, system.unknowns, iterations, left, seconds, left <= limits.tolerance)
