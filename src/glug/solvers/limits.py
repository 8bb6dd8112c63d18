"""When a solve stops."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SolveLimits:
    """A solve stops when |b - A x|_inf <= tolerance max(|b|_inf, floor), or after `max_iterations`.

    `floor` is the size of a right-hand side that is noise rather than signal.
    """

    tolerance: float
    max_iterations: int
    floor: float = 0.0

    def within(self, iterations: int) -> "SolveLimits":
        """The same with at most `iterations`."""
        return replace(self, max_iterations=min(iterations, self.max_iterations))

    def scaled(self, share: float) -> "SolveLimits":
        """Those of a system whose residuals count over `share` of its right-hand side's largest entry."""
        return replace(self, tolerance=self.tolerance * share, floor=self.floor / share)
