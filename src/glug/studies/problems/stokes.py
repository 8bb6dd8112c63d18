"""The Stokes problems of the solver bench by name: where the liquid is, what is solid, and how thick it is.

All are in a unit box and begin with waves of a few lengths per box. `block` is the published geometry of the viscous
bench, half a box with a ball in it; `pool` a jet that falls into a pool; `coil` a thread that has coiled up; `balls`
two free balls; in `jumps` one half of the block is ten thousand times as thick as the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glug.geometry.solids.field import SolidField, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid, Staggered, mapped
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.studies.problems.systems import BOX, half_full, window
from glug.studies.problems.viscosity import coil_geometry, two_balls_geometry

Geometry = tuple[Grid, np.ndarray, SolidField]
JUMP = 1e4
POOL, JET = 0.3, 0.08  # height of the pool and radius of the jet


def pool(n: int) -> Geometry:
    """A jet that falls into a pool."""
    grid = window(n, (1.0, 1.0, 1.0))
    x, y, z = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = np.minimum(y - POOL, np.maximum(np.hypot(x - 0.45, z - 0.53) - JET, y - 0.9))
    return grid, phi.astype(np.float32), sample_solids(grid, BOX, [], 0.0)


GEOMETRIES: dict[str, Callable[[int], Geometry]] = {
    "block": half_full,
    "pool": pool,
    "coil": coil_geometry,
    "balls": two_balls_geometry,
    "jumps": half_full,
}


def problem(case: str, n: int, diffusion: float) -> StokesProblem:
    """The case on n cells along a side; `diffusion` is mu dt / (rho dx^2) where the liquid is thickest."""
    return StokesProblem.build(ViscousFluid(*GEOMETRIES[case](n), thickness(case, n, diffusion)))


def thickness(case: str, n: int, diffusion: float) -> np.ndarray | float:
    """`diffusion`, or where it jumps a field over the cells."""
    if case != "jumps":
        return diffusion
    grid, _, _ = GEOMETRIES[case](n)
    y = grid.coordinates(CENTRE)[1][None, :, None]
    share = np.where(np.broadcast_to(y, grid.shape) > 0.5, 1.0, 1.0 / JUMP)
    return (diffusion * share).astype(np.float32)


def waves(grid: Grid, seed: int = 0) -> Staggered:
    """The sum of four random waves of a few lengths per box, on the faces [m/s]."""
    rng = np.random.default_rng(seed)

    def component(offset: tuple[float, float, float]) -> np.ndarray:
        x, y, z = np.meshgrid(*grid.coordinates(offset), indexing="ij", sparse=True)
        turns = ((4.0 * rng.normal(size=3), rng.uniform(0.0, 6.0)) for _ in range(4))
        return sum(np.sin(k[0] * x + k[1] * y + k[2] * z + phase) for k, phase in turns).astype(np.float32)

    return mapped(component, FACES)
