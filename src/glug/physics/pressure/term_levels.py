"""The grids of a pressure solve with rigid bodies and bubbles.

On the finest grid a term is what it is; coarser grids would take a body for a wall and a bubble for air at p = 0, so
there both are fluid (`rigid.levels`, `air.levels`).
"""

from collections.abc import Sequence
from typing import Any

from glug.physics.air.bubbles import Bubbles
from glug.physics.air.levels import fill
from glug.physics.pressure.levels import PressureLevel, hierarchy
from glug.physics.rigid.bodies import BodyPressure
from glug.physics.rigid.levels import BodyGrids, BodyLevel, BodySmoother
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Joined, LowRank
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel


class TermGrids:
    """The levels of pressure systems that hold the same bodies and bubbles."""

    def __init__(self, bodies: BodyPressure | None, bubbles: Bubbles | None):
        self._bodies = None if bodies is None else BodyGrids(bodies.bodies, bodies.rows)
        self._bubbles = bubbles
        self._known = None if bubbles is None else ~bubbles.anchors
        if self._known is not None and not self._known.any():
            self._known = None

    def _smoothed(self, mask: Vector, bodies: LowRank | None) -> LowRank | Joined | None:
        """What sweeps of the finest level know of the terms."""
        parts = [] if self._bodies is None else [self._bodies.smoothed(mask, bodies)]
        if self._bubbles is not None and self._known is not None:
            parts.append(self._bubbles.only(self._known, mask))
        return parts[0] if len(parts) == 1 else Joined(parts) if parts else None

    def coarser(self, fine: PressureLevel) -> list[PressureLevel]:
        """The levels below `fine`."""

        def below(level: PressureLevel) -> list[PressureLevel]:
            if self._bubbles is None or self._known is None:
                return hierarchy(level)[1:]
            return hierarchy(fill(level, self._bubbles.cells_of(self._known)))[1:]

        if self._bodies is None:
            return below(fine)
        with self._bodies.filled(fine) as level:
            return below(level)

    def cycle(self, fine: PressureLevel, coarser: Sequence[PressureLevel], bodies: LowRank | None = None) -> Multigrid:
        """The V-cycle of `fine` with its terms, and the levels below; `bodies` are those of the system's terms."""
        low = self._smoothed(fine.mask, bodies)
        if low is None and self._bubbles is None:
            return Multigrid([fine, *coarser], GaussSeidel(fine.sweeps))
        finest: Any = fine if low is None else BodyLevel(fine, low)
        return Multigrid([finest, *coarser], BodySmoother(fine.sweeps))
