"""What a solve reports."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SolveStats:
    """One linear solve: `residual` is the recomputed float64 |b - A x|_inf / |b|_inf."""

    solver: str
    unknowns: int
    iterations: int
    residual: float
    seconds: float
    converged: bool
    setup_seconds: float = 0.0  # of what is built before the iteration; not in `seconds`
    # Share of a right-hand side that no solution meets, where the system is singular; the rest is solved.
    imbalance: float = 0.0
