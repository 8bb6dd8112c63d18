"""Coarse grids feel rods that are thinner than their cells: liquid does not flow through them there."""

from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import sample_solids
from glug.grids.regular import CENTRE
from glug.physics.viscosity import levels
from glug.physics.viscosity.preconditioners import MULTIGRID, solve_parts
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits
from glug.studies.problems.systems import BOX, smooth, window

CELLS = 64
RADIUS = 1.7  # cells


@dataclass(frozen=True)
class Rod:
    """A still upright rod."""

    x: float
    z: float
    walls: str = "sticking"
    moving: bool = False

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.hypot(points[..., 0] - self.x, points[..., 2] - self.z) - RADIUS / CELLS

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        reach = RADIUS / CELLS
        return np.array([self.x - reach, -1.0, self.z - reach]), np.array([self.x + reach, 2.0, self.z + reach])


def iterations() -> int:
    """In a pool with 25 rods."""
    grid = window(CELLS, (1.0, 0.8, 1.0))
    x, y, _ = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = np.ascontiguousarray(np.broadcast_to(y - 0.7 + 0.05 * np.sin(6.0 * x), grid.shape), np.float32)
    rods = [Rod(0.1 + 0.2 * i, 0.1 + 0.2 * k) for i in range(5) for k in range(5)]
    system = ViscosityProblem.build(grid, phi, sample_solids(grid, BOX, rods, 0.0), float(CELLS**2)).system()
    x = zeros_like(system, np.float64)
    stats = solve_parts(system, MULTIGRID, smooth(grid, system), x, SolveLimits(1e-6, 60))
    print(f"{stats.iterations} iterations")
    assert stats.converged
    return stats.iterations


def test_a_pool_with_rods_takes_few_iterations(monkeypatch):
    few = iterations()
    assert few <= 13
    monkeypatch.setattr(levels, "hold_by_lost_walls", lambda *_: None)
    assert iterations() > few + 2  # where coarse grids see no rods, the negative control
