"""Conjugate gradients on matrix-free fields, float32 inside, with a float64 promise.

Directions and residuals are float32; the solution is float64. The residual that decides convergence is
recomputed in float64, because a float32 recurrence claims convergence long before it is true.
"""

import time
from typing import Protocol

import numpy as np

from glug.errors import SolverError
from glug.solvers import kernels
from glug.solvers.stats import SolveStats

Vector = tuple[np.ndarray, ...]

# The recurrence may run this far below the residual at its start before it is replaced by the true one:
# float32 keeps about seven digits, of which cancellation in a stencil takes three.
TRUST = 1e-3
DRIFT = 1.5  # true over recurrent residual, above which the recurrence is given up


class System(Protocol):
    """A symmetric positive (semi-)definite operator on fields, known through its actions.

    `diagonal` is zero at samples that are not unknowns, where every vector stays zero.
    """

    name: str
    unknowns: int
    diagonal: Vector
    blocks: np.ndarray

    def apply(self, d: Vector, q: Vector) -> float:
        """q = A d; returns d . q."""
        ...

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - A x for a float64 x, evaluated in float64."""
        ...


def zeros_like(system: System, dtype: type = np.float32) -> Vector:
    """A zero vector of the system."""
    return tuple(np.zeros(g.shape, dtype) for g in system.diagonal)


def conjugate_gradients(
    system: System, b: Vector, x: Vector, tolerance: float, max_iterations: int, floor: float = 0.0
) -> SolveStats:
    """Solve A x = b, starting from `x` (float64, overwritten), preconditioned by the diagonal.

    Stops when |b - A x|_inf <= tolerance max(|b|_inf, floor); `floor` is the size of a right-hand side that is
    noise rather than signal.
    """
    begin = time.perf_counter()
    slots = len(system.blocks) * len(b)
    sums, peaks = np.zeros(slots), np.zeros(slots, np.float32)
    r, d, q = zeros_like(system), zeros_like(system), zeros_like(system)

    def measured(v: Vector) -> tuple[float, float]:
        kernels.measure(v, system.diagonal, system.blocks, sums, peaks)
        total = float(sums.sum())  # not finite if any sample is not
        return total, float(peaks.max(initial=0.0)) if np.isfinite(total) else np.nan

    def finish(iterations: int, residual: float, converged: bool) -> SolveStats:
        if not np.isfinite(residual):
            raise SolverError(f"{system.name}: the solution is not finite after {iterations} iterations")
        seconds = time.perf_counter() - begin
        return SolveStats(system.name, system.unknowns, iterations, residual, seconds, converged)

    size = measured(b)[1]
    if not np.isfinite(size):
        raise SolverError(f"{system.name}: the right-hand side is not finite")
    scale = max(size, floor)
    if scale == 0.0 or system.unknowns == 0:
        for a in x:
            a[:] = 0.0
        return finish(0, 0.0, True)

    system.residual(b, x, r)
    rho, peak = measured(r)
    start = peak
    beta = 0.0
    iteration = 0
    while peak > tolerance * scale and iteration < max_iterations:
        kernels.step_direction(d, r, system.diagonal, system.blocks, np.float32(beta))
        curvature = system.apply(d, q)
        if not curvature > 0.0:
            break
        alpha = np.float32(rho / curvature)
        kernels.step_solution(x, r, d, q, system.diagonal, system.blocks, alpha, sums, peaks)
        before, rho, peak = rho, float(sums.sum()), float(peaks.max())
        iteration += 1
        beta = rho / before
        if peak <= max(tolerance * scale, TRUST * start):
            # Replace the recurrence's residual by the true one. Where the two have drifted apart the
            # directions are no longer conjugate: begin anew, which is iterative refinement.
            claimed = peak
            system.residual(b, x, r)
            rho, peak = measured(r)
            start = peak
            beta = rho / before if peak < DRIFT * claimed else 0.0
    system.residual(b, x, r)
    peak = measured(r)[1]
    return finish(iteration, peak / scale, peak <= tolerance * scale)
