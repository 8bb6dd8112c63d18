"""Open sources in the solves of a step: the liquid in a source moves as the source says, whatever pulls at it.

For projections, viscous and Stokes solves it is a solid that moves with the source's velocity: what leaves the source
is then what is poured into it. If its velocity were only where solves begin, a heavy or thick stream would draw it out
faster, and the stream would hold more space than liquid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.scene.bodies import Source
from glug.scene.shapes.transform import Bounds


@dataclass(frozen=True)
class Nozzle:
    """A source as a solid (`geometry.solids.sampling.Solid`)."""

    source: Source
    moving = True

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return self.source.distance(points, t)

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return self.source.velocity_at(points, t)

    def bounds(self, t: float) -> Bounds:
        return self.source.bounds(t)

    def holds(self, points: np.ndarray, t: float, reach: float) -> np.ndarray:
        """Numbers of the points (n, 3) [m] in the source, or at most `reach` [m] away."""
        lower, upper = self.bounds(t)
        near = np.flatnonzero(((points >= lower - reach) & (points <= upper + reach)).all(axis=1))
        return near[self.distance(points[near], t) <= reach]
