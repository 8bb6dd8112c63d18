"""Viscosity of `solver.mesh = "octree"`, on the faces of the pressure: projection, viscous solve, projection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glug.geometry.solids.field import sample_solids
from glug.grids.octree.linear.build import Shape
from glug.grids.regular import Grid
from glug.physics.viscosity.octree.on_faces import TreeLiquid
from glug.simulation.context import StepContext
from glug.simulation.octree.tree import StepTree
from glug.simulation.stages import octree
from glug.simulation.stages.solves import NOISE, cell_viscosity
from glug.solvers.limits import SolveLimits

LAYERS = 2  # beyond the liquid's surface that a viscous solve looks at


def project(context: StepContext) -> None:
    """The projection before the viscous solve, with what forces have changed: without it, resting honey creeps."""
    octree.pressure(context, "project")


def viscosity(context: StepContext) -> None:
    """One viscous solve on the tree, with the velocity continued beyond the liquid's surface."""
    setting, step, solver = context.setting, context.tree, context.setting.scene.solver
    octree.continue_velocity(context, LAYERS, stick=True)
    diffusion = cell_viscosity(context, context.dt / (setting.density * setting.dx**2))
    assert isinstance(diffusion, float)  # scenes with others are refused
    solids = setting.holding(context.state.time)
    tree, base = step.tree.cropped()
    liquid = TreeLiquid(
        replace(step.faces, tree=tree),
        box(step, tree.shape, base),
        step.phi,
        diffusion,
        lambda around: sample_solids(around, setting.walls, solids, context.state.time),
        tuple((low / setting.dx, high / setting.dx) for low, high in setting.walls.slip),
    )
    u = step.u[: step.faces.count]
    limits = SolveLimits(solver.tolerance.viscosity, solver.max_iterations, NOISE * octree.fastest(step))
    context.solves["viscosity"] = liquid.solve(u, limits)
    octree.hold_sources(context)


def box(step: StepTree, shape: Shape, base: np.ndarray) -> Grid:
    """The finest cells of a part of the tree's box."""
    i, j, k = (int(n) for n in step.lo + base)
    return Grid(step.place.dx, shape, (i, j, k), step.origin, 3)


STAGES = {"project": project, "viscosity": viscosity}
