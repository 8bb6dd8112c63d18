"""Viscosity on an octree, in place of a regular solve (Goldade 2021, chapter 5).

The tree is finest wherever the regular problem is not plain: at the liquid's surface, at solids, and a band of plain
cells further in. There its rows are the regular ones, cut distances and all; inside it coarsens as fast as faces allow.
So the weights, the solids' part of the right-hand side and the rule for faces without mass are those of
`ViscosityProblem`.
"""

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from glug.grids.octree.transfer import to_octree, to_regular
from glug.grids.octree.tree import Octree
from glug.grids.regular import Staggered
from glug.physics.terms import Eliminated
from glug.physics.viscosity.octree.finest import FinestWeights
from glug.physics.viscosity.octree.levels import REPEATS, BelowTree, OctreeSmoother
from glug.physics.viscosity.octree.rows import OctreeWeights, assemble, coarse_diffusion
from glug.physics.viscosity.octree.slip import SlippingRows
from glug.physics.viscosity.octree.tree import AdaptedProblem
from glug.physics.viscosity.preconditioners import MULTIGRID, Iterative
from glug.physics.viscosity.problem import ViscosityProblem, write_solids
from glug.physics.viscosity.weights import Diffusion
from glug.solvers.assembled.rows import AssembledSystem
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, solve_with_fallback, start_from_better
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Level, Multigrid
from glug.solvers.stats import SolveStats


class OctreeViscosity:
    """One geometry, viscosity and time step on a tree (`adapt`), for one solve.

    `diffusion` is mu dt / (rho dx^2), a number or a cell-centred field.

    The weights of the regular problem fill its window: they are let go of as soon as the rows have what they need, and
    `adapted` has them no more. Nothing of it is kept but where leaves and faces are.
    """

    def __init__(
        self,
        adapted: AdaptedProblem,
        diffusion: Diffusion,
        *,
        enhanced: bool = True,
        solver: Iterative = MULTIGRID,
    ):
        problem, self.shift = adapted.problem, adapted.shift
        self.tree, self.place, self.volume = adapted.tree.unlinked(), adapted.faces.place, adapted.faces.volume
        self.walls, self.bodies = problem.solid.velocity, problem.bodies
        self.stopped = [np.packbits(s) for s in problem.solid_faces]
        begin = time.perf_counter()
        self.mass, held = self._of_finest(problem.mass, 1.0), self._of_finest(map(problem.held, range(3)), 1.0)
        self.known = None  # what the known velocities of solids add to the right-hand side of finest faces
        if problem.known_walls is not None:
            self.known = self._of_finest(problem.right_hand_side(problem.grid.staggered()), 0.0)
        terms, slip, density = problem.terms, problem.slip, problem.density
        number = self._numbers(problem) if terms or slip is not None else np.zeros(0, np.int64)
        taken = time.perf_counter()
        coupling = map(problem.coupling, range(3))
        finest = FinestWeights.of(self.tree, self.shift, problem.weights.cell, problem.weights.edges, coupling)
        del problem, coupling
        below = BelowTree.of(adapted) if solver.coarse else None
        adapted.let_go()
        coarsened = time.perf_counter()
        weights = OctreeWeights(held, finest, *coarse_diffusion(self.tree, diffusion), self.shift, adapted.sides)
        rows = assemble(adapted.faces, weights, enhanced=enhanced)
        del held, finest, weights
        if density is not None:
            self._weigh(density, rows)
        self.system = rows if slip is None else SlippingRows(rows, slip, number)
        self.eliminated = Eliminated(self.system.mask, terms, number)
        self.solver, self.levels = solver, list[Level]() if below is None else below.above(self.system)
        spent = {"transfer": taken - begin, "setup": coarsened - taken, "assemble": time.perf_counter() - coarsened}
        self.seconds = {**adapted.seconds, **spent}

    def _of_finest(self, fields: Iterable[np.ndarray], elsewhere: float) -> np.ndarray:
        """Regular fields at the tree's finest faces."""
        values = np.full(len(self.place), elsewhere, np.float32)
        for a, field in enumerate(fields):
            mine, at = self._finest(a)
            values[mine] = field[at]
        return values

    def _finest(self, axis: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The finest faces across an axis, and where they are in the regular grid."""
        mine = np.flatnonzero((self.place[:, 0] == axis) & (self.place[:, 1] == 0))
        return mine, tuple((self.place[mine, 2:] + np.int16(self.shift)).T)

    def _weigh(self, density: Staggered, rows: AssembledSystem) -> None:
        """Give coarse faces, which have the reference density so far, that of the liquid around them."""
        coarse = self.place[:, 1] > 0
        rho = to_octree(self._painted(), self.place, density)[coarse]
        self.mass[coarse] = rho
        rows.rest[coarse] += (rho - np.float32(1.0)) * self.volume[coarse]
        rows.forget_diagonal()

    def _painted(self) -> Octree:
        """The tree over the window, for velocities that come from there and go back."""
        return Octree(self.tree.painted(), self.tree.levels)

    def _numbers(self, problem: ViscosityProblem) -> np.ndarray:
        """Of the regular faces, through all axes, on the tree; -1 for those that are none of its finest ones.

        Leaves are finest around solids, so what these add to the regular rows is what they add to the tree's.
        """
        sizes = [m.size for m in problem.mass]
        number = np.full(sum(sizes), -1)
        for a, m in enumerate(problem.mass):
            mine, at = self._finest(a)
            number[sum(sizes[:a]) + np.ravel_multi_index(tuple(n.astype(np.int64) for n in at), m.shape)] = mine
        return number

    def right_hand_side(self, start: np.ndarray) -> np.ndarray:
        """M u* minus what the known velocities of solids contribute; `start` is u* on the tree."""
        b = self.mass * start
        if self.known is not None:
            b += self.known
        b *= self.volume
        return b

    def solve(self, velocity: Staggered, limits: SolveLimits) -> SolveStats:
        """Replace `velocity`, that of the regular grid, by the solution, in place; solid faces take the solid's."""
        begin = time.perf_counter()
        painted = self._painted()
        start = to_octree(painted, self.place, velocity)
        self.seconds["transfer"] += time.perf_counter() - begin
        x, stats = self.solved(start, limits, velocity)
        begin = time.perf_counter()
        to_regular(painted, self.place, x, velocity)
        walls = self.walls if self.bodies is None else self.bodies.walls
        stopped = [np.unpackbits(s, count=u.size).reshape(u.shape) for s, u in zip(self.stopped, velocity)]
        write_solids(walls, (stopped[0], stopped[1], stopped[2]), velocity)
        spent = time.perf_counter() - begin
        self.seconds["transfer"] += spent
        return replace(stats, setup_seconds=stats.setup_seconds + spent)

    def solved(
        self, start: np.ndarray, limits: SolveLimits, velocity: Staggered | None = None
    ) -> tuple[np.ndarray, SolveStats]:
        """The solution (float64) on the tree's unknown faces that follows from their velocities `start`.

        Terms see the regular `velocity`. Residuals are relative to the right-hand side of the finest faces, as on the
        regular grid: beside that of coarse faces, larger by their volume, those of the surface would not count.
        """
        begin = time.perf_counter()
        b = self.system.vector(self.right_hand_side(start))
        eliminated = self.eliminated
        assert velocity is not None or not eliminated.terms
        given = [] if velocity is None else [term.given(b, velocity) for term in eliminated.terms]
        eliminated.prepare(b, given)
        x = self.system.vector(start, np.float64)
        del start
        whole = eliminated.couple(self.system)
        start_from_better(whole, b, x)
        self.seconds["transfer"] += time.perf_counter() - begin
        largest = float(np.abs(b[0]).max(initial=0.0))
        finest = float(np.abs(b[0][0, 0, self.place[:, 1] == 0]).max(initial=0.0))
        # A right-hand side of next to nothing at the surface would ask for more than float64 residuals can show.
        share = max(finest / largest, 8.0 ** (1 - self.tree.levels)) if finest > 0.0 else 1.0
        choices = self.solver.makers(self)
        stats = solve_with_fallback(whole, choices, b, x, limits.scaled(share))
        stats = replace(stats, residual=stats.residual / share)
        eliminated.finish(x, x, given)
        return x[0][0, 0], replace(stats, setup_seconds=stats.setup_seconds + sum(self.seconds.values()))

    def jacobi(self) -> Preconditioner:
        return Diagonal(self.system.mask, self.system.blocks)

    def multigrid(self) -> Preconditioner:
        return Cycle(self.system, Multigrid(self.levels, OctreeSmoother(), REPEATS))

    def plain_multigrid(self) -> Preconditioner:
        return Cycle(self.system, Multigrid(self.levels, OctreeSmoother(), 0))
