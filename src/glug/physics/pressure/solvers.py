"""The solvers of a projection by name, and their preconditioners.

A solver is a function `(problem, b, given, q, limits) -> SolveStats` that solves the problem's system for q, starting
from zero; `given` is h of its terms. A scene says its name (`solver.pressure`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


class Iterative:
    """Conjugate gradients with one preconditioner, and what to fall back on: `Preconditioning.by_name`."""

    def __init__(self, name: str):
        self.name = name

    def __call__(
        self, problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray, limits: SolveLimits
    ) -> SolveStats:
        right, x = problem.vector(b), problem.vector(q)
        problem.eliminated.prepare(right, given)
        makers = problem.preconditioning.by_name(self.name)
        bounds = None if problem.walls is None else problem.walls.bounds(problem)
        if bounds is None:
            patience = problem.system.patience
            stats = solve_with_fallback(problem.operator, makers, right, x, limits, patience=patience)
        else:
            without = Without(problem, multigrid=self.name != "jacobi-cg")
            stats = solve_bounded(problem.operator, bounds, without, right, x, limits)
        problem.unpack(x, q)
        if bounds is not None and problem.walls is not None:
            problem.walls.take(bounds, problem, q)
        return stats


MULTIGRID, JACOBI, INCOMPLETE = (Iterative(name) for name in ("multigrid", "jacobi-cg", "ic-cg"))
SOLVERS: dict[str, PressureSolver] = {s.name: s for s in (MULTIGRID, JACOBI, INCOMPLETE)}


class Preconditioning:
    """The preconditioners of one problem; a hierarchy is made once."""

    def __init__(self, problem: PressureProblem):
        self.problem = problem

    def by_name(self, name: str) -> Makers:
        """What `name` says, and what to fall back on."""
        alone = not self.problem.terms and self.problem.regions is None  # the factors know neither
        choices: dict[str, Makers] = {
            "jacobi-cg": [self.jacobi],
            "ic-cg": [self.incomplete],
            "multigrid": [self.multigrid, *([self.incomplete] if alone else []), self.jacobi],
        }
        return choices[name]

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

    def __init__(self, problem: PressureProblem, *, multigrid: bool = True):
        self.problem, self._multigrid = problem, multigrid
        self._coarse: list[PressureLevel] = []
        self._index = np.full(1, -1)

    def __call__(self, index: np.ndarray) -> tuple[System, Makers]:
        """Without the unknowns `index`: they count as air."""
        problem = self.problem
        level = problem.system.without(problem.cells_of(index))
        base: System = level if problem.regions is None else Held(problem.base, index)
        eliminated = problem.eliminated_over(base.mask)

        def jacobi() -> Preconditioner:
            return Diagonal(stiffened(base.mask, eliminated.parts), base.blocks)

        def cycle() -> Preconditioner:
            differing = len(np.setxor1d(index, self._index, assume_unique=True))
            grids = problem.preconditioning.grids
            if differing > self.SAME * max(len(index), 1):
                self._coarse, self._index = grids.coarser(level), index
            precondition = grids.cycle(level, self._coarse, problem.bodies_of(eliminated))
            if problem.regions is None:
                return Cycle(level, precondition)
            return Cycle(base, CoupledCycle(problem.regions.system, level, precondition, index))

        return eliminated.couple(base), [cycle, jacobi] if self._multigrid else [jacobi]


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
