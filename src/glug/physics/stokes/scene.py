"""The Stokes step of a scene: pressure and viscosity at once, from sampled distances (2D, assembled)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from glug.geometry.fractions import liquid_fractions, open_fractions
from glug.geometry.solids.field import SolidField, at_faces
from glug.grids.operators import Operators
from glug.grids.regular import NODE, Grid, Staggered
from glug.physics.stokes.problem import stokes_problem
from glug.solvers.stats import SolveStats


class Inlet(Protocol):
    """An open source."""

    def distance(self, points: np.ndarray, t: float = 0.0) -> np.ndarray: ...

    def velocity_at(self, points: np.ndarray, t: float = 0.0) -> np.ndarray: ...


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
    fluid: StokesFluid, velocity: Staggered, inlets: Sequence[Inlet] = (), pressed: np.ndarray | None = None
) -> tuple[np.ndarray, SolveStats]:
    """Replace `velocity` by the solution, in place; returns the pressure [Pa] of the cells.

    The liquid sticks to solids and takes their velocity;
    so it does to inlets, which are the shapes of open sources: there the velocity of what comes in is prescribed.
    `pressed` [Pa] is the pressure at the free surface, in the cells around it.
    """
    begin, grid, viscosity = time.perf_counter(), fluid.grid, fluid.viscosity
    operators = Operators(grid)
    liquid = liquid_fractions(operators, fluid.phi)
    nodes, wall = _walls(operators, fluid.solid, inlets)
    open_ = open_fractions(operators, nodes)
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


def _walls(operators: Operators, solid: SolidField, inlets: Sequence[Inlet]) -> tuple[np.ndarray, np.ndarray]:
    """Distance to solids and inlets at the nodes, and the velocity of the nearest of them on the faces."""
    grid, nodes = operators.grid, solid.distance
    still = grid.staggered() if solid.velocity is None else solid.velocity
    parts = [u.ravel().astype(np.float64) for u in still[: grid.dim]]
    for inlet in inlets:
        near = inlet.distance(grid.points(NODE).reshape(-1, 3)).reshape(nodes.shape)
        for a, offset in enumerate(operators.faces):
            points = grid.points(offset).reshape(-1, 3)
            mine = inlet.distance(points) < at_faces(nodes, a).ravel()
            parts[a] = np.where(mine, inlet.velocity_at(points)[:, a], parts[a])
        nodes = np.minimum(nodes, near.astype(nodes.dtype))
    return nodes, np.concatenate(parts)
