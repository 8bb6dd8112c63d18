"""Liquid and solid geometries that the tests of physics share."""

import numpy as np

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.pressure.solvers import SOLVERS
from glug.physics.reference.scenes import reference_pressure

PRESSURE = {**SOLVERS, "reference": reference_pressure}
NO_WALLS = Walls((-np.inf,) * 3, (np.inf,) * 3)


class HalfSpace:
    """A solid below a plane."""

    moving = False

    def __init__(self, point, normal):
        self.point, self.normal = np.asarray(point, float), np.asarray(normal, float) / np.linalg.norm(normal)

    def distance(self, points, t=0.0):
        return (points - self.point) @ self.normal

    def velocity(self, points, t=0.0):
        return np.zeros_like(points)

    def bounds(self, t=0.0):
        return np.full(3, -np.inf), np.full(3, np.inf)


def ball(n: int = 32, radius: float = 0.3, centre=(0.51, 0.48, 0.5)) -> tuple[Grid, np.ndarray, SolidField]:
    """A free ball of liquid in a unit cube without solids."""
    grid = Grid(1.0 / n, (n, n, n))
    phi = (np.linalg.norm(grid.points(CENTRE) - centre, axis=-1) - radius).astype(np.float32)
    return grid, phi, sample_solids(grid, NO_WALLS, [], 0.0)


def tank(n: int = 24, surface: float = 0.537, slope: float = 0.2) -> tuple[Grid, np.ndarray, SolidField]:
    """Liquid at rest in a box of side n dx, over a tilted floor, with its surface at an arbitrary height."""
    dx = 1.0 / n
    grid = Grid(dx, (n + 8, n + 8, n + 8), (-4, -4, -4))
    floor = HalfSpace((0.5, 0.21, 0.5), (-slope, 1.0, 0.5 * slope))
    solid = sample_solids(grid, Walls((0.013, 0.0, 0.007), (0.97, 1.0, 0.981)), [floor], 0.0)
    phi = (grid.points(CENTRE)[..., 1] - surface).astype(np.float32)
    return grid, np.clip(phi, -4 * dx, 4 * dx), solid


def rotation(grid: Grid, spin, centre, dtype: type = np.float32) -> Staggered:
    """The face velocities of a rigid rotation."""
    from glug.grids.regular import FACES

    u = [np.cross(spin, grid.points(FACES[a]) - centre)[..., a].astype(dtype) for a in range(3)]
    return u[0], u[1], u[2]
