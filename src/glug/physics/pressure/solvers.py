"""The solvers of a projection by name, and their preconditioners.

A solver is a function `(problem, b, given, q, limits) -> SolveStats` that solves the problem's system for q, starting
from zero; `given` is h of its terms. One that takes separating walls keeps to `problem.bounds`, where there are any,
and leaves in their `held` where it met them. A scene says its name (`solver.pressure`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from glug.physics.affine.system import CoupledCycle
from glug.physics.pressure.levels import PressureLevel
from glug.physics.pressure.term_levels import TermGrids
from glug.solvers.balance import Balanced
from glug.solvers.bounded import solve_bounded
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, System, Vector, solve_with_fallback
from glug.solvers.incomplete import StencilCholesky
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import LowRank
from glug.solvers.multigrid import Multigrid
from glug.solvers.stats import SolveStats

if TYPE_CHECKING:
    from glug.physics.pressure.problem import PressureProblem

LEAST_BALANCED = 500  # cells: sweeps alone solve smaller parts
Makers = list[Callable[[], Preconditioner]]


class PressureSolver(Protocol):
    """Solves a projection's system."""

    def __call__(
        self, problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray, limits: SolveLimits
    ) -> SolveStats: ...


@dataclass(frozen=True)
class Iterative:
    """Conjugate gradients: with what to begin and what to fall back on, and the same where unknowns are held."""

    name: str
    makers: Callable[[Preconditioning], Makers]
    held_makers: Callable[[HeldPreconditioning], Makers]

    def __call__(
        self, problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray, limits: SolveLimits
    ) -> SolveStats:
        right, x = problem.vector(b), problem.vector(q)
        problem.eliminated.prepare(right, given)
        if problem.bounds is None:
            makers, patience = problem.preconditioners(self), problem.system.patience
            stats = solve_with_fallback(problem.operator, makers, right, x, limits, patience=patience)
        else:
            without = Without(problem, self.held_makers)
            stats = solve_bounded(problem.operator, problem.bounds, without, right, x, limits)
        problem.unpack(x, q)
        return stats


class Preconditioning:
    """The preconditioners of one problem; a hierarchy is made once."""

    def __init__(self, problem: PressureProblem):
        self.problem = problem

    def robust(self) -> Makers:
        """What solves where multigrid does not."""
        alone = not self.problem.terms and self.problem.regions is None  # the factors know neither
        return [self.incomplete, self.jacobi] if alone else [self.jacobi]

    def jacobi(self) -> Preconditioner:
        system = self.problem.base
        return Diagonal(stiffened(system.mask, self.problem.eliminated.parts), system.blocks)

    def incomplete(self) -> Preconditioner:
        system = self.problem.system
        return Cycle(system, StencilCholesky(system.links, system.diagonal, system.blocks))

    def multigrid(self) -> Preconditioner:
        return self._multigrid

    @cached_property
    def _multigrid(self) -> Preconditioner:
        problem, cycle = self.problem, self._cycle
        if problem.regions is not None:
            system = problem.regions.system
            return Cycle(system, CoupledCycle(system, problem.system, cycle))
        loose = self._unfixed()
        return Cycle(problem.system, cycle if loose is None else Balanced(cycle, problem.system, loose))

    @cached_property
    def grids(self) -> TermGrids:
        return TermGrids(self.problem.body_term, self.problem.bubbles)

    @cached_property
    def _cycle(self) -> Multigrid:
        problem = self.problem
        return self.grids.cycle(
            problem.system, self.grids.coarser(problem.system), problem.bodies_of(problem.eliminated)
        )

    def _unfixed(self) -> np.ndarray | None:
        """Number, by cell, the parts of the liquid whose pressure is known up to a constant; None without any."""
        problem = self.problem
        if problem.bodies is not None or problem.more_terms:
            return None
        components, bubbles = problem.components, problem.bubbles
        free, cells = components.free, components.cells
        part = np.where(free, -1, np.arange(len(free))) if bubbles is None else bubbles.unfixed
        large = np.bincount(part[part >= 0], cells[part >= 0]) >= LEAST_BALANCED
        if not large.any():
            return None
        number = np.append(np.where(large, np.cumsum(large) - 1, -1), -1)  # the last for part -1
        return np.append(number[part], -1).astype(np.int32)[components.label]


def stiffened(mask: Vector, parts: Sequence[LowRank]) -> Vector:
    """`mask` with the diagonals of the terms that add to it; what bubbles take away is left out."""
    for part in parts:
        if np.all(np.einsum("nii->n", part.T) > 0.0) and part.items:
            mask = part.diagonal(mask)
    return mask


class Without:
    """The system with any unknowns held, and its preconditioners; coarse grids serve similar sets of unknowns."""

    SAME = 0.1  # share of the held unknowns that may differ before coarse grids are made anew

    def __init__(self, problem: PressureProblem, makers: Callable[[HeldPreconditioning], Makers]):
        self.problem, self._makers = problem, makers
        self._coarse: list[PressureLevel] = []
        self._index = np.full(1, -1)

    def __call__(self, index: np.ndarray) -> tuple[System, Makers]:
        """Without the unknowns `index`: they count as air."""
        held = HeldPreconditioning(self, index)
        return held.eliminated.couple(held.base), self._makers(held)

    def coarser(self, level: PressureLevel, index: np.ndarray) -> list[PressureLevel]:
        """The levels below `level`, which is without `index`, or those of a similar one."""
        differing = len(np.setxor1d(index, self._index, assume_unique=True))
        if differing > self.SAME * max(len(index), 1):
            self._coarse, self._index = self.problem.preconditioning.grids.coarser(level), index
        return self._coarse


class HeldPreconditioning:
    """The preconditioners of a problem whose unknowns `index` are held."""

    def __init__(self, without: Without, index: np.ndarray):
        problem = self.problem = without.problem
        self._without, self._index = without, index
        self.level = problem.system.without(problem.cells_of(index))
        self.base: System = self.level if problem.regions is None else Held(problem.base, index)
        self.eliminated = problem.eliminated_over(self.base.mask)

    def jacobi(self) -> Preconditioner:
        return Diagonal(stiffened(self.base.mask, self.eliminated.parts), self.base.blocks)

    def multigrid(self) -> Preconditioner:
        problem, level, index = self.problem, self.level, self._index
        coarse = self._without.coarser(level, index)
        cycle = problem.preconditioning.grids.cycle(level, coarse, problem.bodies_of(self.eliminated))
        if problem.regions is None:
            return Cycle(level, cycle)
        return Cycle(self.base, CoupledCycle(problem.regions.system, level, cycle, index))


class Held:
    """A system of one component in which the unknowns `index` (flat) are held at what they are."""

    def __init__(self, system: System, index: np.ndarray):
        self.system, self.index = system, index
        self.name, self.unknowns, self.blocks = system.name, system.unknowns - len(index), system.blocks
        mask = system.mask[0].copy()
        mask.reshape(-1)[index] = 0.0
        self.mask: Vector = (mask,)

    def apply(self, d: Vector, q: Vector) -> float:
        energy = self.system.apply(d, q)
        q[0].reshape(-1)[self.index] = 0.0
        return energy

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        self.system.residual(b, x, r)
        r[0].reshape(-1)[self.index] = 0.0


MULTIGRID = Iterative("multigrid", lambda p: [p.multigrid, *p.robust()], lambda p: [p.multigrid, p.jacobi])
JACOBI = Iterative("jacobi-cg", lambda p: [p.jacobi], lambda p: [p.jacobi])
INCOMPLETE = Iterative("ic-cg", lambda p: [p.incomplete], lambda p: [p.multigrid, p.jacobi])
SOLVERS = {solver.name: solver for solver in (MULTIGRID, JACOBI, INCOMPLETE)}
