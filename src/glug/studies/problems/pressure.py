"""The pressure problems of the solver bench by name.

`splash` has hundreds of droplets over a wavy pool. Coarse grids cannot tell what solids of the fine one separate:
`plates` are thinner than a cell and open at alternate ends, so that the way through is long; `maze` has passages of a
few cells between blocks at random. `closed` is a box without any free surface.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import sample_solids
from glug.grids.regular import CENTRE
from glug.physics.pressure.problem import PressureProblem
from glug.studies.problems.systems import BOX, splash, window

SURFACE = 0.8  # height of the free surface


@dataclass(frozen=True)
class StillSolid:
    """A solid at rest with a distance of its own."""

    inside: Callable[[np.ndarray], np.ndarray]
    moving: bool = False

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return self.inside(points)

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), np.ones(3)


def pool(n: int, solids: list[StillSolid], height: float = SURFACE) -> PressureProblem:
    """A box filled to `height`."""
    grid = window(n, (1.0, 1.0, 1.0))
    phi = (grid.points(CENTRE)[..., 1] - height).astype(np.float32)
    return PressureProblem.build(grid, phi, sample_solids(grid, BOX, solids, 0.0))


def plates(n: int) -> PressureProblem:
    """Vertical plates four cells apart, 0.6 cells thick, open at alternate ends: one long way from wall to wall."""
    dx = 1.0 / n

    def inside(points: np.ndarray) -> np.ndarray:
        x = points[..., 0] / (4.0 * dx) - 0.5
        number = np.round(x)
        across = np.abs(x - number) * 4.0 * dx - 0.3 * dx
        along = np.where(number % 2 == 0, points[..., 2], 1.0 - points[..., 2])
        return np.maximum(across, 4.0 * dx - along)

    return pool(n, [StillSolid(inside)])


def maze(n: int, seed: int = 2) -> PressureProblem:
    """Cubes of four cells, two in five of them solid at random."""
    width = 4.0 / n
    count = int(np.ceil(1.0 / width))
    filled = np.random.default_rng(seed).uniform(size=(count, count, count)) < 0.4
    padded = np.pad(filled, 1)

    def inside(points: np.ndarray) -> np.ndarray:
        place = np.clip(np.floor(points / width).astype(int), 0, count - 1)
        nearest = np.full(points.shape[:-1], width)
        for step in np.ndindex(3, 3, 3):
            other = place + np.array(step) - 1
            outside = np.abs(points - (other + 0.5) * width) - 0.5 * width
            distance = np.linalg.norm(np.maximum(outside, 0.0), axis=-1) + np.minimum(outside.max(axis=-1), 0.0)
            solid = padded[tuple(np.moveaxis(other + 1, -1, 0))]
            np.minimum(nearest, np.where(solid, distance, width), out=nearest)
        return nearest

    return pool(n, [StillSolid(inside)])


def closed(n: int) -> PressureProblem:
    return pool(n, [], 2.0)


CASES: dict[str, Callable[[int], PressureProblem]] = {
    "splash": splash,
    "plates": plates,
    "maze": maze,
    "closed": closed,
}
