"""The stage of surface tension: what it does to the faces that the surface crosses, before any solve."""

from __future__ import annotations

import numpy as np

from glug.grids.extrapolate import extrapolate
from glug.particles import transfer
from glug.physics.tension.pressure import capillary_step, held_back, push
from glug.physics.tension.surface import SurfacePoints
from glug.simulation.context import StepContext

REACH = 2  # cells beyond particles within which the surface lies


def tension(context: StepContext) -> None:
    """The jump of the pressure across the surface, gamma kappa; a projection begins with what it does to velocities."""
    setting, grid = context.setting, context.grid
    points = SurfacePoints.find(context.phi, grid, context.solid.distance)
    kappa = points.curvature
    if setting.scene.solver.tension == "implicit":
        kappa = held_back(points, kappa, context.dt / capillary_step(setting.tension, setting.density, grid.dx))
    to_q = context.acting / (setting.density * grid.dx**2)  # of gamma kappa, kappa being in 1/cells
    context.surface_jump = points.across_faces(to_q * surface_tension(context, points) * kappa)
    if not setting.stokes:
        push(context.velocity, context.surface_jump, context.problem.links, context.solid.area)


def surface_tension(context: StepContext, points: SurfacePoints) -> np.ndarray | float:
    """gamma [N/m] at the points: a number, or that of the liquids beside them."""
    setting, p = context.setting, context.state.particles
    if len(set(setting.tensions)) == 1:
        return setting.tension
    of_particles = np.array(setting.tensions, np.float32)[p.liquid[:, 0].astype(np.int64)][:, None]
    field = transfer.cell_means(of_particles, p, context.grid, 0.0)
    known = (np.diff(p.start[:-1]).reshape(context.grid.shape) > 0).view(np.uint8)
    extrapolate(field, known, REACH)
    inside = points.face.copy()
    inside[np.arange(len(points)), points.axis] -= (points.outward > 0).astype(np.int64)
    return field[tuple(inside.T)].astype(np.float64)
