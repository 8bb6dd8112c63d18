"""The liquids of Brochu, Batty and Bridson (2010), Table 6.1 of Batty (2010), on Voronoi cells in space.

Sizes are ours: the source has numbers of tetrahedra only. Lengths in metres, gravity 1 m/s2 as in its plane scenes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.geometry.sampled import sample_box
from glug.geometry.surface import extract
from glug.geometry.tracking.surface import Limits, TrackedSurface
from glug.physics.voronoi.liquid import DEEP, Method, VoronoiLiquid
from glug.solvers.limits import SolveLimits

FINER, ROUNDS = 2, 6  # samples per cell of the first surface, and rounds of improvement
CFL = 0.66  # cells in a step, as the source has it
FRAME = 0.02  # [s]
METHOD = Method(solver="multigrid", limits=SolveLimits(1e-6, 400))


def ball(points: np.ndarray, centre: tuple[float, float, float], radius: float) -> np.ndarray:
    return np.linalg.norm(points - np.array(centre), axis=1) - radius


def room(points: np.ndarray) -> np.ndarray:
    """The distance of the walls of a unit box without a lid."""
    x, y, z = points.T
    return np.minimum(np.minimum(np.minimum(x, 1.0 - x), np.minimum(z, 1.0 - z)), y)


@dataclass(frozen=True)
class Splash:
    """One of the three: `thin-sheet` (a ball dropped on a floor), `liquid-column` (into a pool), `sphere-splash`."""

    name: str
    dx: float

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Of the liquid at the beginning, DEEP in the walls where it stands against them."""
        if self.name == "thin-sheet":
            return ball(points, (0.5, 0.23, 0.5), 0.2)
        depth = 0.3 if self.name == "sphere-splash" else 0.15
        pool = np.maximum(points[:, 1] - depth, -room(points) - DEEP[3] * self.dx)
        if self.name == "sphere-splash":
            return np.minimum(pool, ball(points, (0.5, 0.5, 0.5), 0.15))
        radial = np.hypot(points[:, 0] - 0.5, points[:, 2] - 0.5) - 0.12
        return np.minimum(pool, np.maximum(radial, np.abs(points[:, 1] - 0.5) - 0.3))

    def begin(self) -> VoronoiLiquid:
        dx, margin = self.dx, 2.0 * self.dx
        lower, upper = np.full(3, -margin), np.full(3, 1.0 + margin)
        found = extract(sample_box(self.distance, lower, upper, dx / FINER, 1))
        surface = TrackedSurface(*found, dx, Limits(shortest=0.8))
        for _ in range(ROUNDS):
            surface.improve()
            surface.settle()
            surface.move(surface.smoothing())
        surface = TrackedSurface(surface.vertices, surface.triangles, dx)

        def falling(points: np.ndarray) -> np.ndarray:
            above = {"thin-sheet": 0.0, "sphere-splash": 0.33, "liquid-column": np.inf}[self.name]
            return np.where(points[:, 1:2] > above, [0.0, -1.0, 0.0], 0.0)

        gravity = (0.0, -1.0, 0.0)
        return VoronoiLiquid(surface, gravity=gravity, solid=room, method=METHOD, velocity=falling)
