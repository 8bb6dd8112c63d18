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
