"""The Stokes step of a scene: pressure and viscosity at once, from sampled distances (2D, assembled)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.fractions import liquid_fractions, open_fractions
from glug.geometry.solids.field import SolidField
from glug.grids.operators import Operators
from glug.grids.regular import Grid, Staggered
from glug.physics.stokes.problem import stokes_problem
from glug.solvers.stats import SolveStats


@dataclass(frozen=True)
class StokesFluid:
    """What a Stokes solve begins with."""

    grid: Grid
    phi: np.ndarray  # the liquid's distance [m] at cell centres
    solid: SolidField
    viscosity: np.ndarray | float  # [Pa s]: a number or a field over the cells
    density: float  # [kg/m3]
    dt: float  # [s]


def solve_stokes(
    fluid: StokesFluid, velocity: Staggered, pressed: np.ndarray | None = None
) -> tuple[np.ndarray, SolveStats]:
    """Replace `velocity` by the solution, in place; returns the pressure [Pa] of the cells.

    The liquid sticks to solids and takes their velocity.
    `pressed` [Pa] is the pressure at the free surface, in the cells around it.
    """
    begin, grid, viscosity = time.perf_counter(), fluid.grid, fluid.viscosity
    operators = Operators(grid)
    liquid = liquid_fractions(operators, fluid.phi)
    open_ = open_fractions(operators, fluid.solid.distance)
    still = grid.staggered() if fluid.solid.velocity is None else fluid.solid.velocity
    wall = np.concatenate([u.ravel().astype(np.float64) for u in still[: grid.dim]])
    mu = viscosity if isinstance(viscosity, float) else operators.at_strains(viscosity)
    problem = stokes_problem(operators, liquid, open_, mu, density=fluid.density, dt=fluid.dt)
    start = np.concatenate([u.ravel().astype(np.float64) for u in velocity[: grid.dim]])
    s_air = np.zeros(problem.rows.liquid.shape)
    if pressed is not None:
        s_air[problem.rows.slices["p"]] = pressed.ravel()
    # A scene warns of a residual and goes on.
    solution = problem.solve(start, u_wall=wall, s_air=s_air, strict=False)
    for u, found in zip(velocity, operators.split(solution.u, operators.faces)):
        u[:] = found
    stats = replace(solution.stats, solver="stokes", seconds=time.perf_counter() - begin)
    return solution["p"].reshape(grid.shape), stats
