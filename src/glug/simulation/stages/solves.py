"""Stages that solve: pressure and viscosity, one after the other."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from glug.grids.extrapolate import extrapolate
from glug.grids.regular import mapped
from glug.particles import transfer
from glug.physics.velocity import extend_displacement
from glug.physics.viscosity.solvers import ViscousFluid
from glug.simulation.context import StepContext
from glug.simulation.solvers import pressure_solver, viscosity_solver
from glug.simulation.stages.paths import remembered
from glug.simulation.stages.transfer import around_liquid, fastest
from glug.solvers.limits import SolveLimits

DISPLACED = 0.03  # relative residual of a displacement: the next step sees what it has left
NOISE = 1e-6  # of the fastest velocity of a step: right-hand sides below are rounding, not flow


def project(context: StepContext) -> None:
    """The projection before the viscous solve: without it, resting honey creeps."""
    context.q = _projected(context, "project")


def pressure(context: StepContext) -> None:
    """The projection that ends the step; q is that of both projections, where there was one before."""
    q = _projected(context, "pressure", context.q)
    context.q = q if context.q is None else context.q + q


def _projected(context: StepContext, name: str, earlier: np.ndarray | None = None) -> np.ndarray:
    setting, solver = context.setting, context.setting.scene.solver
    floor = NOISE * (fastest(context.velocity) + context.dt * float(np.linalg.norm(setting.gravity)))
    with remembered(context):
        q, context.solves[name] = context.problem.project(
            context.velocity,
            SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor),
            earlier=earlier,
            freed=context.freed,
            solver=pressure_solver(setting),
        )
    return q


def viscosity(context: StepContext) -> None:
    """One viscous solve of the liquid, with the velocity continued beyond its surface."""
    setting, solver = context.setting, context.setting.scene.solver
    around_liquid(context, 2, stick=True)
    thin = setting.is_thin(context.dt)  # a thick one would ring
    fluid = viscous_fluid(context, context.acting if thin else context.dt)
    limits = SolveLimits(solver.tolerance.viscosity, solver.max_iterations, NOISE * fastest(context.velocity))
    with remembered(context) if thin else nullcontext():
        context.solves["viscosity"] = viscosity_solver(setting)(fluid, context.velocity, limits)
    context.fields |= fluid.fields


def viscous_fluid(context: StepContext, dt: float) -> ViscousFluid:
    """What a viscous solve, or one of Stokes flow, for `dt` [s] begins with."""
    setting = context.setting
    diffusion = cell_viscosity(context, dt / (setting.density * setting.dx**2))
    density = None if context.mobility is None else mapped(np.reciprocal, context.mobility)
    return ViscousFluid(context.grid, context.phi, context.held, diffusion, context.bodies, context.freed, density)


def cell_viscosity(context: StepContext, scale: float) -> np.ndarray | float:
    """Viscosity times `scale`: a number, or the cells' mean over particles continued to their surroundings."""
    setting, p = context.setting, context.state.particles
    if not setting.viscosity_varies:
        return float(setting.laws[0].value) * scale
    field = transfer.cell_means(p.viscosity, p, context.grid, 0.0)
    known = (np.diff(p.start[:-1]).reshape(context.grid.shape) > 0).view(np.uint8)
    extrapolate(field, known, 3)
    return field * np.float32(scale)


def displace(context: StepContext) -> None:
    """Add to the velocity that moves the particles, and to nothing else, what gives volumes back that have drifted.

    And what spreads the particles evenly.
    """
    setting, solver = context.setting, context.setting.scene.solver
    if context.correction is not None:
        limits = SolveLimits(DISPLACED, solver.max_iterations)
        found = context.problem.displacement(
            context.correction, context.growth, limits, solver=pressure_solver(setting)
        )
        w = context.grid.staggered()
        if found is not None:
            w, context.solves["displace"] = found
        if context.evenness is not None:
            context.evenness.add_to(w, context.wet, context.held.openness, context.held.area, context.grid)
        extend_displacement(w, context.grid, context.wet, context.held.area)
        for u, by in zip(context.velocity, w):
            u += by
    context.problem.forget_solves()
    del context.reached
