"""Quadratic problems with lower bounds on some unknowns, by an active set around conjugate gradients.

Minimise 1/2 x' A x - b' x with x >= lower at the bounded unknowns. With multiplier = A x - b the minimum has

    multiplier = 0 where x is free,      min(diag(A) (x - lower), multiplier) = 0 where it is bounded,

that is x >= lower, multiplier >= 0 and one of the two equal. Newton's method on these equations, which are not smooth,
holds the unknowns with diag(A) (x - lower) < multiplier at their bound and solves for the others (Hintermueller, Ito
and Kunisch 2002).
For matrices without positive entries off the diagonal it converges from any start, mostly in a handful of turns; each
needs its system only to a tenth of what is left, so that all turns together cost a few ordinary solves.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from glug.errors import SolverError
from glug.solvers.assembled.direct import factorise
from glug.solvers.cg import Preconditioner, System, Vector, largest, solve_with_fallback, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

TURNS = 60  # at most; a dozen are usual from a cold start
INNER = 0.1  # what a turn leaves of the error it begins with, while other unknowns are held than in the turn before
SAFE = 0.5  # of the tolerance: what rounding the solution onto its bounds may add

Preconditioners = Sequence[Callable[[], Preconditioner]]
Without = Callable[[np.ndarray], tuple[System, Preconditioners]]


@dataclass
class Bounds:
    """x >= `lower` at the samples `index` (flat, increasing) of a field; `held` are those at their bound.

    A solve begins with `held` and leaves there what it found.
    """

    index: np.ndarray
    lower: np.ndarray | float = 0.0
    held: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        self.lower = np.broadcast_to(np.asarray(self.lower, np.float64), self.index.shape)
        if len(self.held) != len(self.index):
            self.held = np.zeros(len(self.index), np.bool_)

    def choose(self, x: np.ndarray, multiplier: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Newton's choice of `held`; returns min(diag(A) (x - lower), multiplier)."""
        above = diagonal * (x - self.lower)
        self.held = above < multiplier
        return np.minimum(above, multiplier)


def solve_bounded(
    system: System,
    bounds: Bounds,
    without: Without,
    b: Vector,
    x: Vector,
    limits: SolveLimits,
) -> SolveStats:
    """Minimise over one field, starting from `x` (float64, overwritten); `system.mask` is the diagonal of A.

    `without(index)` gives the system in which the unknowns at `index` are held, and its preconditioners. Stops when the
    conditions above hold within `limits`, recomputed in float64.
    """
    begin = time.perf_counter()
    scale, most = max(largest(b, system.blocks), limits.floor), limits.max_iterations
    if not np.isfinite(scale):
        raise SolverError(f"{system.name}: the right-hand side is not finite")
    if scale == 0.0 or system.unknowns == 0:
        x[0][:] = 0.0
        return SolveStats(system.name, system.unknowns, 0, 0.0, time.perf_counter() - begin, True)
    limit = SAFE * limits.tolerance * scale
    r, at = zeros_like(system), bounds.index
    flat, rest = x[0].reshape(-1), r[0].reshape(-1)
    diagonal = system.mask[0].reshape(-1)[at].astype(np.float64)
    iterations, setup, settled = 0, 0.0, len(at) == 0
    for turn in range(TURNS):
        if turn > 0:
            before = bounds.held
            error = _error(system, bounds, diagonal, b, x, r)
            settled = np.array_equal(before, bounds.held)
            if error <= limit or iterations >= most:
                break
        flat[at[bounds.held]] = np.asarray(bounds.lower)[bounds.held]
        system.residual(b, x, r)
        rest[at[bounds.held]] = 0.0
        peak = largest(r, system.blocks)
        step = zeros_like(system, np.float64)
        free, preconditioners = without(at[bounds.held])
        share = limit / max(peak, limit) if settled else max(INNER, limit / max(peak, limit))
        stats = solve_with_fallback(free, preconditioners, r, step, SolveLimits(share, most - iterations, limit))
        x[0][:] += step[0]
        iterations, setup = iterations + stats.iterations, setup + stats.setup_seconds
    np.maximum(flat[at], bounds.lower, out=(rounded := np.empty(len(at))))
    flat[at] = rounded
    error = _error(system, bounds, diagonal, b, x, r)
    relative = error / scale
    if not np.isfinite(relative):
        raise SolverError(f"{system.name}: the solution is not finite after {iterations} iterations")
    seconds = time.perf_counter() - begin - setup
    return SolveStats(system.name, system.unknowns, iterations, relative, seconds, relative <= limits.tolerance, setup)


def _error(system: System, bounds: Bounds, diagonal: np.ndarray, b: Vector, x: Vector, r: Vector) -> float:
    """How far the conditions of the minimum are from being met (largest entry); chooses `held` anew."""
    system.residual(b, x, r)
    rest = r[0].reshape(-1)
    rest[bounds.index] = bounds.choose(x[0].reshape(-1)[bounds.index], -rest[bounds.index].astype(np.float64), diagonal)
    return largest(r, system.blocks)


def direct_bounded(name: str, mask: Vector, bounds: Bounds, b: Vector, x: Vector, matrix) -> SolveStats:  # type: ignore[no-untyped-def]
    """The same with an assembled matrix (rows: samples with a positive `mask`) and factorisations: the reference."""
    begin = time.perf_counter()
    unknown = np.flatnonzero(mask[0] > 0)
    rhs = b[0].reshape(-1)[unknown].astype(np.float64)
    if not np.isfinite(rhs).all():
        raise SolverError(f"{name}: the right-hand side is not finite")
    place = np.searchsorted(unknown, bounds.index)
    diagonal = matrix.diagonal()[place]
    lower = np.asarray(bounds.lower)
    solution = np.zeros(len(rhs))
    scale = np.abs(rhs).max(initial=0.0)
    error, turn = np.inf, 0
    while turn < TURNS:
        free = np.ones(len(rhs), np.bool_)
        free[place[bounds.held]] = False
        solution[:] = 0.0
        solution[place[bounds.held]] = lower[bounds.held]
        if free.any():
            solution[free] = factorise(matrix[free][:, free])((rhs - matrix @ solution)[free])
        turn += 1
        before = bounds.held
        multiplier = matrix @ solution - rhs
        natural = multiplier.copy()
        natural[place] = bounds.choose(solution[place], multiplier[place], diagonal)
        error = np.abs(natural).max(initial=0.0)
        if np.array_equal(before, bounds.held) or error <= 1e-12 * scale:
            bounds.held = before
            break
    x[0][:] = 0.0
    x[0].reshape(-1)[unknown] = solution
    relative = float(error / scale) if scale > 0 else 0.0
    seconds = time.perf_counter() - begin
    return SolveStats("reference", len(rhs), turn, relative, seconds, relative < 1e-6)
