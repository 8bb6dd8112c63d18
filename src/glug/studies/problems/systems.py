"""The linear systems that benches and tests of solvers share.

`half_full` is the published test problem (Aanjaneya et al. 2019, Tables 1 and 2): a unit box with walls and a solid
ball (its radius is not given: 0.2), liquid where x - 1/2 + sin(x y z) / 4 < 0. `splash` is a wavy pool under hundreds
of droplets, with a ball in it.
"""

from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import Vector

PADDING = 3  # empty cells around the liquid and the walls
BOX = Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
DELTA_AT = 0.1
DROPLETS = 400


@dataclass(frozen=True)
class StillBall:
    """A solid ball that does not move, or is about to."""

    centre: tuple[float, float, float]
    radius: float
    walls: str = "sticking"
    moving: bool = False

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.linalg.norm(points - np.array(self.centre), axis=-1) - self.radius

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.centre) - self.radius, np.array(self.centre) + self.radius


def window(n: int, upper: tuple[float, float, float]) -> Grid:
    """The cells of a unit box at `n` cells along a side, from its corner to `upper`, with padding."""
    i, j, k = (int(np.ceil(n * u)) + 2 * PADDING + 1 for u in upper)
    return Grid(1.0 / n, (i, j, k), (-PADDING,) * 3)


def half_full(n: int) -> tuple[Grid, np.ndarray, SolidField]:
    """The published liquid and solids: grid, liquid distance, solids."""
    grid = window(n, (0.5, 1.0, 1.0))
    x, y, z = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = (x - 0.5 + 0.25 * np.sin(x * y * z)).astype(np.float32)
    return grid, phi, sample_solids(grid, BOX, [StillBall((0.5, 0.5, 0.5), 0.2)], 0.0)


def viscosity_problem(n: int) -> ViscosityProblem:
    """The published problem with mu dt / rho = 1 (not given there)."""
    grid, phi, solid = half_full(n)
    return ViscosityProblem.build(grid, phi, solid, float(n * n))


def add_balls(grid: Grid, phi: np.ndarray, centres: np.ndarray, radii: np.ndarray) -> None:
    """Add liquid balls to the distance `phi`, in place."""
    for centre, radius in zip(centres, radii):
        low = np.floor((centre - radius - grid.corner) / grid.dx).astype(int) - 3
        high = np.ceil((centre + radius - grid.corner) / grid.dx).astype(int) + 3
        part = tuple(slice(max(a, 0), b) for a, b in zip(low, high))
        px, py, pz = (c[p] for c, p in zip(grid.coordinates(CENTRE), part))
        r2 = (
            (px - centre[0])[:, None, None] ** 2
            + (py - centre[1])[None, :, None] ** 2
            + (pz - centre[2])[None, None, :] ** 2
        )
        np.minimum(phi[part], np.sqrt(r2) - radius, out=phi[part])


def splash(n: int, seed: int = 0, separating: bool = False) -> PressureProblem:
    """A wavy pool, hundreds of droplets above it and a solid ball in it; all walls may be `separating`."""
    rng = np.random.default_rng(seed)
    grid = window(n, (1.0, 1.0, 1.0))
    x, y, z = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = (y - 0.4 - 0.05 * np.sin(9 * x + 2) * np.cos(7 * z)).astype(np.float32)
    centres = rng.uniform((0.02, 0.45, 0.02), (0.98, 0.95, 0.98), (DROPLETS, 3))
    radii = rng.uniform(0.006, 0.03, DROPLETS)
    add_balls(grid, phi, centres, radii)
    ball = StillBall((0.5, 0.3, 0.5), 0.15, "separating" if separating else "sticking")
    solid = sample_solids(grid, replace(BOX, separating=((separating,) * 2,) * 3), [ball], 0.0)
    return PressureProblem.build(grid, phi, solid)


def delta(grid: Grid, system: ViscosityLevel) -> Vector:
    """One at the faces nearest to (0.1, 0.1, 0.1), zero elsewhere."""
    b = tuple(np.zeros(m.shape, np.float32) for m in system.mask)
    for a, offset in enumerate(FACES):
        b[a][tuple(np.round((DELTA_AT - grid.corner) / grid.dx - np.array(offset)).astype(int))] = 1.0
    return b


def smooth(grid: Grid, system: ViscosityLevel, seed: int = 0) -> Vector:
    """The sum of four random waves of a few lengths per box."""
    rng = np.random.default_rng(seed)
    b = []
    for a, offset in enumerate(FACES):
        x, y, z = np.meshgrid(*grid.coordinates(offset), indexing="ij", sparse=True)
        total = np.zeros((), np.float64)
        for _ in range(4):
            k = 4.0 * rng.normal(size=3)
            total = total + np.sin(k[0] * x + k[1] * y + k[2] * z + rng.uniform(0, 6))
        b.append(np.where(system.mask[a] > 0, total, 0.0).astype(np.float32))
    return tuple(b)


def crowded_tank(n: int, count: int, light: bool = False, seed: int = 0) -> PressureProblem:
    """A tank three quarters full with `count` balls, of 0.5 to 2 times the liquid's density, or 0.01 times."""
    rng = np.random.default_rng(seed)
    grid = window(n, (1.0, 1.0, 1.0))
    side = int(np.ceil(count ** (1.0 / 3.0)))
    places = np.stack(np.meshgrid(*[(np.arange(side) + 0.5) / side] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    chosen = places[rng.permutation(len(places))[:count]] * [1.0, 0.8, 1.0]
    radii = rng.uniform(0.25, 0.38, count) * 0.8 / side
    balls = [StillBall((c[0], c[1], c[2]), r, moving=True) for c, r in zip(chosen, radii)]
    field = sample_solids(grid, BOX, balls, 0.0)
    densities = np.full(count, 10.0) if light else rng.uniform(500.0, 2000.0, count)
    bodies = []
    for number, (ball, density) in enumerate(zip(balls, densities)):
        mass = float(density * 4.0 / 3.0 * np.pi * ball.radius**3)
        inertia = 0.4 * mass * ball.radius**2 * np.eye(3)
        bodies.append(Inertia(number, np.array(ball.centre), float(density), mass, inertia))
    y = grid.coordinates(CENTRE)[1].astype(np.float32)
    phi = np.ascontiguousarray(np.broadcast_to((y - np.float32(0.75))[None, :, None], grid.shape))
    return PressureProblem.build(grid, phi, field, RigidBodies.build(grid, field, bodies, 1000.0))
