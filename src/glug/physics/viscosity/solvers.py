"""The solvers of a viscous step by name.

A solver is a function `(fluid, velocity, limits) -> SolveStats` that replaces `velocity`, in place, by the solution of
the viscous problem of a `ViscousFluid`. A scene says its name (`solver.viscosity`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.solids.field import SolidField
from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.tree import BAND, LEVELS, AdaptedProblem, adapt, adapt_if_faster, bent_cells
from glug.physics.viscosity.preconditioners import MULTIGRID, Iterative
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.weights import Diffusion
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


@dataclass(frozen=True)
class ViscousFluid:
    """What a viscous solve, or one of Stokes flow, begins with."""

    grid: Grid
    phi: np.ndarray  # the liquid's distance [m] at cell centres
    solid: SolidField
    diffusion: Diffusion
    bodies: RigidBodies | None = None
    freed: np.ndarray | None = None  # cells that separating walls have let go
    density: Staggered | None = None  # on the faces, over the reference density; None where all have it
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # what a solver adds to the output: `level` of a tree

    def wet(self, axis: int) -> np.ndarray:
        """The liquid fraction of all faces across `axis` times their density."""
        share = liquid_volume(self.phi, self.grid, FACES[axis])
        return share if self.density is None else share * self.density[axis]

    def problem(self) -> ViscosityProblem:
        """The problem on the regular grid."""
        given = self.grid, self.phi, self.solid, self.diffusion, self.bodies, self.freed, self.density
        return ViscosityProblem.build(*given)


ViscositySolver = Callable[[ViscousFluid, Staggered, SolveLimits], SolveStats]


@dataclass(frozen=True)
class RegularSolver:
    """On the regular grid."""

    method: Iterative = MULTIGRID

    def __call__(self, fluid: ViscousFluid, velocity: Staggered, limits: SolveLimits) -> SolveStats:
        return fluid.problem().solve(velocity, limits, solver=self.method)


@dataclass(frozen=True)
class OctreeSolver:
    """On a tree: always, or only where it is faster, and otherwise on the regular grid."""

    levels: int = LEVELS
    band: int = BAND
    bend: float = 0.0  # [m/s]: cells stay finest where the velocity departs by more from linear; 0 for no such rule
    enhanced: bool = True
    always: bool = True

    def __call__(self, fluid: ViscousFluid, velocity: Staggered, limits: SolveLimits) -> SolveStats:
        if self.always:  # the window is large for what the tree needs of it
            fluid = replace(fluid, solid=replace(fluid.solid, keeps=False))
        problem = fluid.problem()
        adapted = self._adapted(problem, velocity)
        if adapted is None:
            return problem.solve(velocity, limits)
        del problem  # its weights fill the window
        octree = OctreeViscosity(adapted, fluid.diffusion, enhanced=self.enhanced)
        del adapted
        fluid.fields["level"] = octree.tree.painted()
        return octree.solve(velocity, limits)

    def _adapted(self, problem: ViscosityProblem, velocity: Staggered) -> AdaptedProblem | None:
        finest = bent_cells(velocity, self.bend) if self.bend > 0.0 else None
        return (adapt if self.always else adapt_if_faster)(problem, self.levels, self.band, finest)
