"""Conjugate gradients on matrix-free fields, float32 inside, with a float64 promise.

Directions and residuals are float32; the solution is float64. The residual that decides convergence is
recomputed in float64, because a float32 recurrence claims convergence long before it is true.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from glug.errors import SolverError
from glug.grids.blocks import HEAD
from glug.jit import threads_for
from glug.solvers import kernels
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

Vector = tuple[np.ndarray, ...]

# The recurrence may run this far below the largest residual since its start before it is replaced by the true one:
# float32 keeps about seven digits, of which cancellation in a stencil takes three.
TRUST = 1e-3
PATIENCE = 60  # iterations after which a preconditioner that should take a dozen is given up
PARTS = 64  # of an array, whose largest sample is looked for in each
DRIFT = 1.5  # true over recurrent residual, above which the recurrence is given up


class Masked(Protocol):
    """What has unknowns: `mask` is positive there; elsewhere every vector is zero."""

    mask: Vector


class System(Masked, Protocol):
    """A symmetric positive (semi-)definite operator on fields, known through its actions.

    `blocks` cover the unknowns.
    """

    name: str
    unknowns: int
    blocks: np.ndarray

    def apply(self, d: Vector, q: Vector) -> float:
        """q = A d; returns d . q."""
        ...

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - A x for a float64 x, evaluated in float64."""
        ...


class Preconditioner(Protocol):
    """What conjugate gradients ask of an approximate inverse of A, symmetric and positive: z is what it makes of r."""

    def step(self, x: Vector, r: Vector, d: Vector, q: Vector, alpha: float) -> float:
        """x += alpha d, r -= alpha q; returns |r|_inf."""
        ...

    def energy(self, r: Vector, scratch: Vector, stepped: bool) -> float:
        """r . z; `stepped` when r is what the last `step` left. `scratch` may be spoilt."""
        ...

    def turn(self, d: Vector, r: Vector, beta: float) -> None:
        """d = z + beta d; follows `energy` of the same r."""
        ...


def zeros_like(system: Masked, dtype: type = np.float32) -> Vector:
    """A zero vector of the system."""
    return tuple(np.zeros(m.shape, dtype) for m in system.mask)


def at_unknowns(system: Masked, fields: Sequence[np.ndarray]) -> Vector:
    """The values of fields at the unknowns, float64, zero elsewhere; `fields` may be the first ones of a vector."""
    x = tuple(np.zeros(m.shape) for m, _ in zip(system.mask, fields))
    for found, m, u in zip(x, system.mask, fields):
        np.copyto(found, u, where=m > 0)
    return x


def conjugate_gradients(
    system: System,
    preconditioner: Preconditioner,
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    residuals: list[float] | None = None,
) -> SolveStats:
    """Solve A x = b, starting from `x` (float64, overwritten), within `limits`.

    `residuals` collects the relative residual after every iteration, the first before any.
    """
    if any(a.dtype != np.float64 for a in x):
        raise TypeError(f"{system.name}: the solution must be float64, or the promise cannot be kept")
    begin = time.perf_counter()
    r, d, q = zeros_like(system), zeros_like(system), zeros_like(system)
    scale, tolerance = scale_of(system, b, limits), limits.tolerance
    if scale == 0.0 or system.unknowns == 0:
        for a in x:
            a[:] = 0.0
        return SolveStats(system.name, system.unknowns, 0, 0.0, time.perf_counter() - begin, True)

    system.residual(b, x, r)
    peak = start = largest(r, system.blocks)
    energy = 0.0
    iteration = 0
    history = [] if residuals is None else residuals
    history.append(peak / scale)
    true = conjugate = True  # r is the recomputed residual; d is conjugate to the directions before it
    while peak > tolerance * scale and iteration < limits.max_iterations:
        before, energy = energy, preconditioner.energy(r, q, stepped=not true)
        if not energy > 0.0:  # a preconditioner that is not positive: directions would lead astray
            break
        # A recomputed residual may differ where |r|_inf does not show it, in smooth modes: its energy does.
        begin_anew = not conjugate or (true and energy > before)
        preconditioner.turn(d, r, 0.0 if begin_anew else energy / before)
        curvature = system.apply(d, q)
        if not curvature > 0.0:
            break
        peak = preconditioner.step(x, r, d, q, energy / curvature)
        iteration += 1
        start = max(start, peak)  # a right-hand side may rise before it falls, and rounding with it
        true = peak <= max(tolerance * scale, TRUST * start)
        if true:
            # Replace the recurrence's residual by the true one. Where the two have drifted apart the
            # directions are no longer conjugate: begin anew, which is iterative refinement.
            claimed = peak
            system.residual(b, x, r)
            peak = start = largest(r, system.blocks)
            conjugate = peak < DRIFT * claimed
        history.append(peak / scale)
    if not true:
        system.residual(b, x, r)
        peak = largest(r, system.blocks)
    if not np.isfinite(peak / scale):
        raise SolverError(f"{system.name}: the solution is not finite after {iteration} iterations")
    seconds = time.perf_counter() - begin
    return SolveStats(system.name, system.unknowns, iteration, peak / scale, seconds, peak <= tolerance * scale)


def scale_of(system: System, b: Vector, limits: SolveLimits) -> float:
    """What residuals are relative to: |b|_inf, or the floor of `limits` where that is larger."""
    size = largest(b, system.blocks)
    if not np.isfinite(size):
        raise SolverError(f"{system.name}: the right-hand side is not finite")
    return max(size, limits.floor)


def start_from_better(system: System, b: Vector, x: Vector) -> None:
    """Replace `x` by zero where that leaves a smaller residual, in place."""
    r = zeros_like(system)
    system.residual(b, x, r)
    if largest(r, system.blocks) > largest(b, system.blocks):
        for a in x:
            a[:] = 0.0


def solve_with_fallback(
    system: System,
    preconditioners: Sequence[Callable[[], Preconditioner]],
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    residuals: list[float] | None = None,
    patience: Sequence[int] = (PATIENCE, PATIENCE),
) -> SolveStats:
    """`conjugate_gradients` with the first preconditioner, made when it is needed; if that has not converged after its
    number in `patience` of iterations, turns out not to be positive or cannot be made, on with the next. The last may
    take all that `limits` allow.
    """
    begin = time.perf_counter()
    iterations, setup = 0, 0.0
    with threads_for(system.unknowns):
        for n, make in enumerate(preconditioners):
            start = time.perf_counter()
            preconditioner = None  # frees the one before
            last = n == len(preconditioners) - 1
            try:
                preconditioner = make()
            except SolverError:  # a coarse matrix that is not positive
                if last:
                    raise
                continue
            finally:
                setup += time.perf_counter() - start
            own = limits if last else limits.within(patience[n])
            stats = conjugate_gradients(system, preconditioner, b, x, own, residuals)
            iterations += stats.iterations
            if stats.converged:
                break
    return replace(stats, iterations=iterations, seconds=time.perf_counter() - begin - setup, setup_seconds=setup)


def largest(v: Vector, blocks: np.ndarray) -> float:
    """|v|_inf of float32 fields; not a number if any sample is not finite."""
    if any(a.dtype != np.float32 for a in v):
        raise TypeError("the largest sample is found by its bits: fields must be float32")
    peaks = np.zeros(len(blocks) * len(v), np.float32)
    kernels.measure(v, blocks, peaks.view(np.int32))
    return _finite(peaks.max(initial=0.0))


def largest_in(values: np.ndarray) -> float:
    """The same of a whole array."""
    return largest((values.reshape(1, 1, -1),), row_in_parts(values.size))


@lru_cache(maxsize=16)
def row_in_parts(size: int) -> np.ndarray:
    """A row of `size` samples as blocks that threads share."""
    ends = np.linspace(0, size, PARTS + 1).astype(np.int32)
    parts = np.zeros((PARTS, HEAD), np.int32)
    parts[:, 2], parts[:, 3] = ends[:-1], ends[1:]
    return parts


def _finite(peak: np.floating) -> float:
    return float(peak) if np.isfinite(peak) else np.nan


class Diagonal:
    """Jacobi: z is r over the diagonal. Its energy comes with the step, so no pass is lost on it."""

    def __init__(self, diagonal: Vector, blocks: np.ndarray):
        self.diagonal, self.blocks = diagonal, blocks
        slots = len(blocks) * len(diagonal)
        self._sums, self._peaks = np.zeros(slots), np.zeros(slots, np.float32)

    def step(self, x: Vector, r: Vector, d: Vector, q: Vector, alpha: float) -> float:
        a = np.float32(alpha)
        kernels.step_scaled(x, r, d, q, self.diagonal, self.blocks, a, self._sums, self._peaks.view(np.int32))
        return float(self._peaks.max(initial=0.0))

    def energy(self, r: Vector, scratch: Vector, stepped: bool) -> float:
        if not stepped:
            kernels.turn_scaled(scratch, r, self.diagonal, self.blocks, np.float32(0.0))
            kernels.dot(r, scratch, self.blocks, self._sums)
        return float(self._sums.sum())

    def turn(self, d: Vector, r: Vector, beta: float) -> None:
        kernels.turn_scaled(d, r, self.diagonal, self.blocks, np.float32(beta))


class Cycle:
    """A symmetric multigrid cycle: `precondition(r, z, scratch)` sets z and returns r . z."""

    def __init__(self, system: System, precondition: Callable[[Vector, Vector, Vector], float]):
        self.precondition, self.blocks = precondition, system.blocks
        self._z = zeros_like(system)
        self._peaks = np.zeros(len(system.blocks) * len(system.mask), np.float32)

    def step(self, x: Vector, r: Vector, d: Vector, q: Vector, alpha: float) -> float:
        kernels.step(x, r, d, q, self.blocks, np.float32(alpha), self._peaks.view(np.int32))
        return _finite(self._peaks.max(initial=0.0))

    def energy(self, r: Vector, scratch: Vector, stepped: bool) -> float:
        return self.precondition(r, self._z, scratch)

    def turn(self, d: Vector, r: Vector, beta: float) -> None:
        kernels.add_scaled(np.float32(1.0), self._z, np.float32(beta), d, self.blocks)
