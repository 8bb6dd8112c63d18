"""Viscosity on an octree, in place of a regular solve (Goldade 2021, chapter 5).

The tree is finest wherever the regular problem is not plain: at the liquid's surface, at solids, and a band of plain
cells further in. There its rows are the regular ones, cut distances and all; inside it coarsens as fast as faces allow.
So the weights, the solids' part of the right-hand side and the rule for faces without mass are those of
`ViscosityProblem`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from glug.grids.octree import kernels as kernels_octree
from glug.grids.octree import kernels_transfer as kernels_octree_transfer
from glug.grids.octree.transfer import to_octree, to_regular
from glug.grids.octree.tree import Faces, Octree
from glug.grids.regular import Staggered
from glug.physics.rigid.viscosity import ViscousBodies
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.octree.levels import REPEATS, OctreeSmoother, octree_hierarchy
from glug.physics.viscosity.octree.rows import OctreeWeights, assemble, coarse_diffusion
from glug.physics.viscosity.problem import JUMP, ViscosityProblem, write_solids
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, Vector, solve_with_fallback, start_from_better
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import Coupled
from glug.solvers.multigrid import Level, Multigrid
from glug.solvers.stats import SolveStats

LEVELS, BAND = 4, 2  # as the source has it: more levels or thinner bands gain nothing
# From how many unknowns of the regular grid on, and with how many times fewer, a step on a tree takes less time: the
# figure of the bench takes 1.5 times as long as on the regular grid with 1.7 million, 0.75 times with 5.6 million.
MANY, FEWER = 4_000_000, 4.0


def tree_inside(
    m: Staggered, levels: int, band: int, finest: np.ndarray | None = None, jumps: np.ndarray | None = None
) -> Octree:
    """The coarsest tree that has `band` finest cells of plain liquid around everything else.

    `m` is what acts on the regular faces alone: 1 where they are plain. `jumps` are cells that are not plain either
    (`jump_cells`), `finest` such that are finest without a band (`bent_cells`).
    """
    shape = m[1].shape[0], m[0].shape[1], m[0].shape[2]
    inside, smaller = np.empty(shape, np.bool_), np.empty(shape, np.bool_)
    kernels_octree.plain_cells(m, inside)
    if jumps is not None:
        inside &= ~jumps
    # A leaf touches plain cells only, even with a band of one: no stencil at a transition then meets a cut.
    for _ in range(max(band - 1, 1)):
        kernels_octree.shrink(inside, smaller)
        inside, smaller = smaller, inside
    np.logical_not(inside, out=smaller)
    if finest is not None:
        smaller |= finest
    return Octree.refined(smaller, levels)


def jump_cells(cell: np.ndarray) -> np.ndarray:
    """Cells whose viscosity differs by more than a factor of `JUMP` from that of a neighbour."""
    marked = np.zeros(cell.shape, np.bool_)
    for axis in range(3):
        k, mine = np.moveaxis(cell, axis, 0), np.moveaxis(marked, axis, 0)
        apart = np.maximum(k[1:], k[:-1]) > JUMP * np.minimum(k[1:], k[:-1])
        mine[1:] |= apart
        mine[:-1] |= apart
    return marked


def bent_cells(velocity: Staggered, bend: float) -> np.ndarray:
    """Cells where coarser ones would lose detail of the velocity: it departs by more than `bend` [m/s] from linear.

    That is from the mean of its two neighbours along an axis. Linear velocities pass unchanged through coarse cells.
    """
    shape = velocity[1].shape[0], velocity[0].shape[1], velocity[0].shape[2]
    marked = np.zeros(shape, np.bool_)
    kernels_octree.mark_bent(velocity, np.float32(bend), marked)
    return marked


@dataclass
class Adapted:
    """A regular problem and the tree for it."""

    problem: ViscosityProblem
    regular: ViscosityLevel  # the operator on the regular grid of finest cells
    tree: Octree
    faces: Faces
    jumps: np.ndarray | None  # where the viscosity does
    seconds: dict[str, float]

    @classmethod
    def to(
        cls, problem: ViscosityProblem, levels: int = LEVELS, band: int = BAND, finest: np.ndarray | None = None
    ) -> "Adapted":
        begin = time.perf_counter()
        regular = problem.system()
        ready = time.perf_counter()
        jumps = None if problem.stiff_above is None else jump_cells(problem.weights.cell)
        tree = tree_inside(regular.m, levels, band, finest, jumps)
        faces = tree.faces(regular.m)
        seconds = {"weights": ready - begin, "adapt": time.perf_counter() - ready}
        return cls(problem, regular, tree, faces, jumps, seconds)


def worthwhile(problem: ViscosityProblem, levels: int, band: int, finest: np.ndarray | None) -> Adapted | None:
    """The tree for a problem that is solved faster on it than on the regular grid; None where it is not.

    Where liquid slips trees have no rows for it, and where the viscosity jumps no boxes.
    """
    plain = problem.slip is None and problem.friction is None and problem.solid.slip is None
    plain = plain and problem.stiff_above is None
    if not plain or sum(int(np.count_nonzero(m)) for m in problem.mass) < MANY:
        return None
    adapted = Adapted.to(problem, levels, band, finest)
    return adapted if adapted.regular.unknowns >= FEWER * adapted.faces.count else None


class OctreeViscosity:
    """One geometry, viscosity and time step on a tree, for one solve.

    All that needs the weights of the regular problem is made at the beginning, so that these, which fill the whole
    window, can be forgotten before the solve. `solver` is `multigrid`, with `jacobi-cg` to fall back on, or
    `jacobi-cg`.
    """

    def __init__(
        self, adapted: Adapted, diffusion: np.ndarray | float, *, enhanced: bool = True, solver: str = "multigrid"
    ):
        problem, regular, self.tree = adapted.problem, adapted.regular, adapted.tree
        self.solid, self.solid_faces = problem.solid, problem.solid_faces
        self.place = place = adapted.faces.place
        begin = time.perf_counter()
        kappa, first = coarse_diffusion(self.tree, diffusion)
        weights = OctreeWeights(regular.m, regular.c[0], regular.e, regular.f, kappa, first)
        self.system = assemble(self.tree, adapted.faces, weights, enhanced=enhanced)
        assembled = time.perf_counter()
        self.viscous = self._viscous_bodies(problem)
        self.volume = face_volumes(self.tree, place)
        self.mass = self._of_finest(problem.mass, 1.0)
        self.known = None  # what the known velocities of solids add to the right-hand side of finest faces
        if self.solid.velocity is not None:
            self.known = self._of_finest(problem.right_hand_side(problem.grid.staggered()), 0.0)
        ready = time.perf_counter()
        self.levels: list[Level] = []
        if solver != "jacobi-cg":
            self.levels = octree_hierarchy(self.tree, place, self.system, regular, adapted.jumps)
        self.seconds = {
            **adapted.seconds,
            "assemble": assembled - begin,
            "transfer": ready - assembled,
            "setup": time.perf_counter() - ready,
        }

    @classmethod
    def build(
        cls,
        problem: ViscosityProblem,
        diffusion: np.ndarray | float,
        *,
        levels: int = LEVELS,
        band: int = BAND,
        enhanced: bool = True,
        solver: str = "multigrid",
    ) -> "OctreeViscosity":
        """The problem on the tree that fits it; `diffusion` is mu dt / (rho dx^2), a number or a cell-centred field."""
        return cls(Adapted.to(problem, levels, band), diffusion, enhanced=enhanced, solver=solver)

    def _of_finest(self, fields: Vector, elsewhere: float) -> np.ndarray:
        """Regular fields at the tree's finest faces."""
        values = np.full(len(self.place), elsewhere, np.float32)
        kernels_octree_transfer.take_level(self.place, 0, self.tree.deep, fields, values)
        return values

    def _viscous_bodies(self, problem: ViscosityProblem) -> ViscousBodies | None:
        """The bodies' part of the system: leaves are finest around them, so their rows are the regular ones."""
        viscous = problem.viscous_bodies()
        if viscous is None:
            return None
        sizes = [m.size for m in problem.mass]
        number = np.full(sum(sizes), -1)
        for a, m in enumerate(problem.mass):
            mine = np.flatnonzero((self.place[:, 0] == a) & (self.place[:, 1] == 0))
            corner = tuple(self.place[mine, 2:].astype(np.int64).T)
            number[sum(sizes[:a]) + np.ravel_multi_index(corner, m.shape)] = mine
        return viscous.renumbered(number)

    def right_hand_side(self, start: np.ndarray) -> np.ndarray:
        """M u* minus what the known velocities of solids contribute; `start` is u* on the tree."""
        b = self.mass * start
        if self.known is not None:
            b += self.known
        b *= self.volume
        return b

    def solve(self, velocity: Staggered, limits: SolveLimits) -> SolveStats:
        """Replace `velocity` by the solution, in place; solid faces take the solid's.

        Residuals are relative to the right-hand side of the finest faces, as on the regular grid: beside that of coarse
        faces, which is larger by their volume, those of the surface would not count.
        """
        begin = time.perf_counter()
        start = to_octree(self.tree, self.place, velocity)
        viscous = self.viscous
        b = self.system.vector(self.right_hand_side(start))
        low = None if viscous is None else viscous.low_rank(self.system.mask)
        if viscous is not None and low is not None:
            viscous.add_to(b, low)
        x = self.system.vector(start, np.float64)
        del start
        whole = self.system if low is None else Coupled(self.system, low)
        start_from_better(whole, b, x)
        self.seconds["transfer"] += time.perf_counter() - begin
        largest = float(np.abs(b[0]).max(initial=0.0))
        finest = float(np.abs(b[0][0, 0, self.place[:, 1] == 0]).max(initial=0.0))
        # A right-hand side of next to nothing at the surface would ask for more than float64 residuals can show.
        share = max(finest / largest, 8.0 ** (1 - self.tree.levels)) if finest > 0.0 else 1.0
        choices = self._preconditioners()
        scaled = SolveLimits(limits.tolerance * share, limits.max_iterations, limits.floor / share)
        stats = solve_with_fallback(whole, choices, b, x, scaled)
        stats = replace(stats, residual=stats.residual / share)
        begin = time.perf_counter()
        if viscous is not None and low is not None and self.solid.velocity is not None:
            viscous.move(x, low)
            viscous.bodies.write(self.solid.velocity)
        to_regular(self.tree, self.place, x[0][0, 0], velocity)
        write_solids(self.solid, self.solid_faces, velocity)
        self.seconds["transfer"] += time.perf_counter() - begin
        return replace(stats, setup_seconds=stats.setup_seconds + sum(self.seconds.values()))

    def _preconditioners(self) -> list[Callable[[], Preconditioner]]:
        """The solver's, and what to fall back on."""

        def jacobi() -> Preconditioner:
            return Diagonal(self.system.mask, self.system.blocks)

        def multigrid(repeats: int = REPEATS) -> Preconditioner:
            return Cycle(self.system, Multigrid(self.levels, OctreeSmoother(), repeats))

        return [multigrid, lambda: multigrid(0), jacobi] if self.levels else [jacobi]


def face_volumes(tree: Octree, place: np.ndarray) -> np.ndarray:
    """Control volumes of the faces, in finest cells."""
    volume = np.empty(len(place), np.float32)
    kernels_octree.face_volumes(tree.level, tree.deep, place, volume)
    return volume
