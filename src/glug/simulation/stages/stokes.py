"""The stage that solves pressure and viscosity at once: matrix-free in 3D, assembled in 2D."""

from __future__ import annotations

import numpy as np

from glug.grids.regular import copied
from glug.physics.reference.stokes import reference_stokes
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.stokes.scene import StokesFluid, solve_stokes
from glug.physics.tension.pressure import push, surface_pressure
from glug.simulation.context import StepContext
from glug.simulation.stages.solves import NOISE, cell_viscosity, viscous_fluid
from glug.simulation.stages.transfer import fastest
from glug.solvers.limits import SolveLimits

LARGEST_ASSEMBLED = 20_000  # unknowns: factors fill up in 3D


def stokes(context: StepContext) -> None:
    """Pressure and viscosity in one solve."""
    (_stokes_2d if context.grid.dim == 2 else _stokes_3d)(context)


def _stokes_3d(context: StepContext) -> None:
    setting, solver = context.setting, context.setting.scene.solver
    problem = StokesProblem.build(viscous_fluid(context, context.dt))
    if context.problem.bubbles is not None and len(context.problem.bubbles):
        problem = problem.with_bubbles(context.problem.bubbles)
    floor = NOISE * (fastest(context.velocity) + context.dt * float(np.linalg.norm(setting.gravity)))
    limits = SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor)
    if context.surface_jump is not None:
        push(context.velocity, context.surface_jump, problem.level.flux, problem.viscous.mass)
    before, moved = copied(context.velocity), None if context.bodies is None else context.bodies.velocity.copy()
    context.q, stats = problem.solve(context.velocity, limits)
    if not stats.converged and stats.unknowns <= LARGEST_ASSEMBLED:
        context.warnings.append(
            f"stokes: not converged after {stats.iterations} iterations (residual {stats.residual:.1e}); "
            "solved with the assembled matrix instead"
        )
        context.velocity = before
        if context.bodies is not None:
            context.bodies.velocity[:] = moved
        context.q, stats = reference_stokes(problem, context.velocity)
    context.solves["stokes"] = stats


def _stokes_2d(context: StepContext) -> None:
    setting, grid = context.setting, context.grid
    viscosity = cell_viscosity(context, 1.0)
    fluid = StokesFluid(grid, context.phi, context.held, viscosity, setting.density, context.dt)
    to_pascal = setting.density * grid.dx / context.dt
    pressed = (
        None if context.surface_jump is None else surface_pressure(context.surface_jump, context.phi, grid) * to_pascal
    )
    p, context.solves["stokes"] = solve_stokes(fluid, context.velocity, pressed)
    context.q = p * (context.dt / (setting.density * setting.dx))
