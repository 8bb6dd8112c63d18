"""The viscosity problems of the solver bench by name: where the liquid is, how thick, and the right-hand side.

All are in a unit box with walls, mu dt / rho = 1 where the liquid is thickest. `delta` and `smooth` are the published
problem; `balls` and `coil` have little liquid in a large box; the others are the published geometry with a viscosity
that varies by a factor of a million and, like `random`, a random right-hand side.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import Vector
from glug.studies.problems.systems import BOX, PADDING, add_balls, delta, half_full, smooth, viscosity_problem, window

CONTRAST = 1e6
SHARE = 0.025  # of the box, in each of two balls
BLOBS = 60
THREAD = 0.035  # radius of the coil's thread
HONEY = 0.01  # its mu dt / rho


@dataclass(frozen=True)
class Case:
    problem: Callable[[int], ViscosityProblem]
    right: Callable[[Grid, ViscosityLevel], Vector]


def noise(grid: Grid, system: ViscosityLevel, seed: int = 0) -> Vector:
    """Independent normal numbers at the unknowns."""
    rng = np.random.default_rng(seed)
    return tuple(np.where(m > 0, rng.normal(size=m.shape), 0.0).astype(np.float32) for m in system.mask)


def two_balls_geometry(n: int) -> tuple[Grid, np.ndarray, SolidField]:
    """Two free balls of liquid in opposite corners of the box: grid, liquid distance, solids."""
    grid = window(n, (1.0, 1.0, 1.0))
    phi = np.full(grid.shape, 1.0, np.float32)
    radius = (SHARE * 0.75 / np.pi) ** (1.0 / 3.0)
    add_balls(grid, phi, np.array([[0.22, 0.22, 0.22], [0.78, 0.78, 0.78]]), np.full(2, radius))
    return grid, phi, sample_solids(grid, BOX, [], 0.0)


def two_balls(n: int) -> ViscosityProblem:
    """`two_balls_geometry` with mu dt / rho = 1."""
    return ViscosityProblem.build(*two_balls_geometry(n), float(n * n))


def coil_geometry(n: int) -> tuple[Grid, np.ndarray, SolidField]:
    """A thread that has coiled up on a puddle on the floor, built from balls along a helix.

    It is `honey-coil` in shape, in units of that scene's height.
    """
    turns = np.linspace(0.0, 2.0 * np.pi * 4.0, 600)
    across = 0.11
    heights = THREAD + 0.03 + 1.6 * THREAD * turns / (2.0 * np.pi)
    pile = np.stack([0.5 + across * np.cos(turns), heights, 0.5 + across * np.sin(turns)], axis=1)
    centres = np.concatenate([pile, np.linspace(pile[-1], (0.5, 0.9, 0.5), 200)])
    low = np.floor(np.array([0.25, 0.0, 0.25]) * n).astype(int) - PADDING
    i, j, k = np.ceil(np.array([0.75, 1.0, 0.75]) * n).astype(int) + PADDING + 1 - low
    grid = Grid(1.0 / n, (int(i), int(j), int(k)), (int(low[0]), int(low[1]), int(low[2])))
    x, y, z = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = np.maximum(np.hypot(x - 0.5, z - 0.5) - 0.2, y - 0.05).astype(np.float32)
    add_balls(grid, phi, centres, np.full(len(centres), THREAD))
    solid = sample_solids(grid, Walls((-np.inf, 0.0, -np.inf), (np.inf,) * 3), [], 0.0)
    return grid, phi, solid


def coil(n: int) -> ViscosityProblem:
    """`coil_geometry` with mu dt / rho of `honey-coil`."""
    return ViscosityProblem.build(*coil_geometry(n), HONEY * n * n)


def thick_where(thick: Callable[..., np.ndarray]) -> Callable[[int], ViscosityProblem]:
    """The published geometry; `thick` of x, y, z is the power of `CONTRAST`, zero to one."""

    def build(n: int) -> ViscosityProblem:
        grid, phi, solid = half_full(n)
        x, y, z = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
        share = np.broadcast_to(thick(x, y, z), grid.shape).astype(np.float64)
        return ViscosityProblem.build(grid, phi, solid, (n * n * CONTRAST ** (share - 1.0)).astype(np.float32))

    return build


def in_blobs(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """1 inside one of many balls."""
    rng = np.random.default_rng(3)
    inside = np.zeros(np.broadcast_shapes(x.shape, y.shape, z.shape), np.bool_)
    for centre, radius in zip(rng.uniform(0.0, (0.5, 1.0, 1.0), (BLOBS, 3)), rng.uniform(0.03, 0.09, BLOBS)):
        inside |= (x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2 < radius**2
    return inside


CASES: dict[str, Case] = {
    "delta": Case(viscosity_problem, delta),
    "smooth": Case(viscosity_problem, smooth),
    "random": Case(viscosity_problem, noise),
    "balls": Case(two_balls, smooth),
    "coil": Case(coil, smooth),
    "gradient": Case(thick_where(lambda x, y, z: np.clip(y, 0.0, 1.0)), noise),
    "plane": Case(thick_where(lambda x, y, z: y > 0.5), noise),
    "ball": Case(thick_where(lambda x, y, z: (x - 0.25) ** 2 + (y - 0.25) ** 2 + (z - 0.25) ** 2 < 0.12**2), noise),
    "blobs": Case(thick_where(in_blobs), noise),
}
