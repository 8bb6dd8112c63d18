"""The projection on a sparse octree: one velocity per fine face, one gradient per coarse face (Losasso et al. 2006).

Find q with D u = 0, u = u* - G q. With the leaves' sides and areas in finest cells, q = p dt / (rho dx), and the system
is the sum over faces of w g g' (`kernels`): symmetric and positive semi-definite. Along the surface and along solids
leaves are finest, and there it is the regular grid's: open areas, second-order ghost fluid. The reference is
`grids.octree.flux`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.merged import Leaves
from glug.grids.octree.linear.tree import OUTSIDE
from glug.physics.pressure.octree import kernels
from glug.physics.pressure.octree.levels import OctreePressureLevel, tree_cycle
from glug.solvers.balance import Balanced
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, Vector, solve_with_fallback
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

SOLVERS = ("multigrid", "jacobi-cg")
MOST_REPEATS = 4  # of a solve whose small leaves are not done yet


@dataclass
class OctreePressure:
    """One geometry's projection, ready for any number of velocities."""

    faces: TreeFaces
    level: OctreePressureLevel
    label: np.ndarray  # int32: the part of the liquid of every unknown
    closed: np.ndarray  # of every part, whether it touches no air

    @classmethod
    def build(cls, faces: TreeFaces, phi: np.ndarray, area: np.ndarray | None = None) -> OctreePressure:
        """From the liquid's distance at the centres of leaves, and the open fractions (leaves, 6) of their sides.

        Neither the surface nor a solid may pass a leaf next to one of another level, or that leaf itself.
        """
        tree = faces.tree
        opened = np.ones((len(tree), 6), np.float32) if area is None else np.ascontiguousarray(area, np.float32)
        beside = (tree.links != OUTSIDE) & (opened > 0.0)
        liquid = ((phi < 0) & beside.any(axis=1)).astype(np.uint8)
        level = OctreePressureLevel(Leaves.of(tree), phi.astype(np.float32), liquid, opened)
        root = np.arange(level.unknowns, dtype=np.int32)
        kernels.join(level.system.start, level.system.length, level.system.column, root)
        label = (np.cumsum(root == np.arange(len(root)), dtype=np.int32) - np.int32(1))[root]
        return cls(faces, level, label, np.bincount(label, level.system.rest > 0.0) == 0)

    @property
    def unknowns(self) -> int:
        return self.level.unknowns

    @cached_property
    def side_area(self) -> np.ndarray:
        """The area of a side of every unknown's leaf, in finest faces."""
        return np.ldexp(1.0, 2 * self.level.leaves.level[self.level.liquid > 0].astype(np.int32))

    def divergence(self, u: np.ndarray, inflow: np.ndarray | None = None) -> np.ndarray:
        """-D u* of every unknown; `inflow` (leaves,) is what moving solids press into each leaf."""
        level, rhs = self.level, np.empty(self.unknowns, np.float32)
        leaves, faces = level.leaves, self.faces
        kernels.divergence(leaves.links, leaves.level, level.area, faces.first, faces.owned, u, level.number, rhs)
        if inflow is not None:
            rhs += inflow[level.liquid > 0].astype(np.float32)
        return rhs

    def consistent(self, rhs: np.ndarray) -> np.ndarray:
        """A right-hand side, in place, so that a solution exists: closed parts cannot change their volume.

        What a part has too much is taken from its leaves in proportion to their volume.
        """
        if self.closed.any():
            volume = self.side_area**1.5
            share = np.bincount(self.label, rhs.astype(np.float64)) / np.bincount(self.label, volume)
            rhs -= (np.where(self.closed, share, 0.0)[self.label] * volume).astype(np.float32)
        return rhs

    def preconditioners(self, solver: str) -> list[Callable[[], Preconditioner]]:
        """What a solver begins with, and what it falls back on."""
        return [self.jacobi] if solver == "jacobi-cg" else [lambda: self.multigrid, self.jacobi]

    def jacobi(self) -> Preconditioner:
        return Diagonal(self.level.mask, self.level.blocks)

    @cached_property
    def multigrid(self) -> Preconditioner:
        cycle = tree_cycle(self.level)
        if not self.closed.any():
            return Cycle(self.level.system, cycle)
        number = np.where(self.closed, np.cumsum(self.closed) - 1, -1).astype(np.int32)
        return Cycle(self.level.system, Balanced(cycle, self.level.system, number[self.label].reshape(1, 1, -1)))

    def project(
        self, u: np.ndarray, limits: SolveLimits, *, inflow: np.ndarray | None = None, solver: str = "multigrid"
    ) -> tuple[np.ndarray, SolveStats]:
        """Make the face velocities satisfy D u = 0, in place; returns q (float64, zero in the air) of every leaf."""
        rhs = self.consistent(self.divergence(u, inflow))
        x, stats = self.solve(rhs, limits, solver)
        q = np.zeros(len(self.level.leaves))
        q[self.level.liquid > 0] = x
        kernels.subtract_gradient(*self.level.fields, self.faces.first, self.faces.owned, q, u)
        return q, stats

    def solve(
        self, rhs: np.ndarray, limits: SolveLimits, solver: str = "multigrid", residuals: list[float] | None = None
    ) -> tuple[np.ndarray, SolveStats]:
        """The solution (float64) of the system, and how the solve went.

        Residuals are flows: those of large leaves would hide those of small ones. They count by the area of a side, as
        velocities; where the solver's own measure was met and this one is not, it goes on.
        """
        system = self.level.system
        b, x = system.vector(rhs), system.vector(np.zeros(len(rhs)), np.float64)
        makers, stats = self.preconditioners(solver), None
        wished = limits
        for _ in range(MOST_REPEATS):
            found = solve_with_fallback(system, makers, b, x, wished, residuals=residuals)
            stats = found if stats is None else after(stats, found)
            size, left = self._velocity(rhs), self._velocity(self._residual(b, x))
            stats = replace(stats, residual=left / size if size > 0.0 else 0.0)
            if left <= limits.tolerance * max(size, limits.floor) or not found.converged:
                break
            reached = min(
                max(found.residual / wished.tolerance, 1e-3), 1.0
            )  # a solve may have gone further than it was to
            wished = wished.scaled(0.5 * reached * limits.tolerance * size / left)
        assert stats is not None
        return x[0][0, 0], stats

    def _velocity(self, flow: np.ndarray) -> float:
        return float((np.abs(flow) / self.side_area).max(initial=0.0))

    def _residual(self, b: Vector, x: Vector) -> np.ndarray:
        r = self.level.system.vector(np.zeros(self.unknowns, np.float32))
        self.level.system.residual(b, x, r)
        return r[0][0, 0]


def after(one: SolveStats, other: SolveStats) -> SolveStats:
    """Of two solves of one system, one after the other."""
    return replace(
        other,
        iterations=one.iterations + other.iterations,
        seconds=one.seconds + other.seconds,
        setup_seconds=one.setup_seconds + other.setup_seconds,
    )
