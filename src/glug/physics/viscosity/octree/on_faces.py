"""Viscosity of a liquid whose pressure is on the same tree: velocities of its faces in, velocities of its faces out.

No velocity is interpolated between grids. The tree's own leaves are the samples of the stresses; they are finest along
the surface and along cut solids, and there the rows are those of the regular problem. Sides of the domain are planes
between leaves of any size, and bear their friction there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.octree.linear import kernels_kept
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.kept import KeptFaces
from glug.grids.regular import Grid
from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.tree import STICKING, AdaptedProblem, Sides
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

BEYOND = 4  # cells of the regular grid around the tree's box: an even number, for the walls behind its sides
DRY = 4.0  # cells from the liquid that absent space counts as, at least as far as the leaves beside it


@dataclass(frozen=True)
class TreeLiquid:
    """What a viscous solve on a tree is given."""

    faces: TreeFaces
    box: Grid  # of the tree, in finest cells
    phi: np.ndarray  # the liquid's distance [m] at the leaves
    diffusion: float  # mu dt / (rho dx^2)
    solids: Callable[[Grid], SolidField]
    sides: Sides = STICKING  # slip lengths of the sides of the box, in finest cells

    def adapted(self) -> AdaptedProblem:
        """The regular problem around the tree's box, for its finest leaves."""
        begin = time.perf_counter()
        box, tree, around = self.box, self.faces.tree, BEYOND
        nx, ny, nz = (n + 2 * around for n in box.shape)
        lo = box.lo[0] - around, box.lo[1] - around, box.lo[2] - around
        grid = Grid(box.dx, (nx, ny, nz), lo, box.origin, 3)
        phi = np.full(box.shape, DRY * box.dx, np.float32)
        kernels_kept.paint_values(tree.key, tree.level, self.phi, phi)
        phi = np.pad(phi, around, mode="edge")  # liquid goes on into the walls that it touches
        solid = replace(self.solids(grid), keeps=False)
        problem = ViscosityProblem.build(grid, phi, solid, self.diffusion)
        del phi, solid
        problem.solid = problem.solid.uncut()
        regular = problem.unheld()
        ready = time.perf_counter()
        kept = KeptFaces.of(self.faces, regular.m, around)
        seconds = {"weights": ready - begin, "adapt": time.perf_counter() - ready}
        return AdaptedProblem(problem, regular, kept, None, seconds, around, self.sides)

    def solve(self, u: np.ndarray, limits: SolveLimits) -> SolveStats:
        """Replace the velocities `u` of the faces by the solution, in place; those inside solids become zero."""
        adapted = self.adapted()
        kept, stopped = adapted.faces, adapted.problem.solid_faces
        tree, mine = kept.tree, kept.number >= 0
        kernels_kept.clear_stopped(tree.key, tree.level, self.faces.first, self.faces.owned, stopped, BEYOND, u)
        del stopped
        x, stats = OctreeViscosity(adapted, self.diffusion).solved(u[: len(mine)][mine], limits)
        u[: len(mine)][mine] = x
        return stats
