"""Viscosity of `solver.mesh = "octree"`, on the faces of the pressure: projection, viscous solve, projection."""

from __future__ import annotations

import numpy as np

from glug.geometry.solids.field import sample_solids
from glug.physics.viscosity.octree.on_faces import TreeLiquid
from glug.simulation.context import StepContext
from glug.simulation.stages import octree
from glug.simulation.stages.solves import NOISE, cell_viscosity
from glug.simulation.stages.transfer import around_liquid, fastest
from glug.simulation.stages.tree import StepTree, leaf_values
from glug.solvers.limits import SolveLimits


def project(context: StepContext) -> None:
    """The projection before the viscous solve, with what forces have changed: without it, resting honey creeps."""
    octree.pressure(context, "project")


def viscosity(context: StepContext) -> None:
    """One viscous solve on the tree, with the velocity continued beyond the liquid's surface."""
    setting, tree, grid, solver = context.setting, context.tree, context.grid, context.setting.scene.solver
    around_liquid(context, 2, stick=True)
    take_finest(tree, context)
    diffusion = cell_viscosity(context, context.dt / (setting.density * setting.dx**2))
    assert isinstance(diffusion, float)  # scenes with others are refused
    solids = setting.solids_with(context.state.bodies or [])
    liquid = TreeLiquid(
        tree.faces,
        tree.grid,
        leaf_values(tree, tree.taken(context.phi, grid, grid.dx), -grid.dx),
        diffusion,
        lambda around: sample_solids(around, setting.walls, solids, context.state.time),
        tuple((low / grid.dx, high / grid.dx) for low, high in setting.walls.slip),
    )
    limits = SolveLimits(solver.tolerance.viscosity, solver.max_iterations, NOISE * fastest(context.velocity))
    context.solves["viscosity"] = liquid.solve(tree.u, limits)


def take_finest(tree: StepTree, context: StepContext) -> None:
    """The window's velocity at the finest faces, which are faces of the window, too."""
    field = tree.taken_faces(context.velocity, context.grid, 0.0)
    axis, level, corner = tree.place[:, 0], tree.place[:, 1], tree.place[:, 2:]
    for a in range(3):
        mine = np.flatnonzero((axis == a) & (level == 0))
        tree.u[mine] = field[a][tuple(corner[mine].T)]


def pressure(context: StepContext) -> None:
    """The projection that ends the step."""
    octree.project(context, "pressure")


STAGES = {"project": project, "viscosity": viscosity, "pressure": pressure}
