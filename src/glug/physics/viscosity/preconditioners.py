"""The preconditioners of a viscous solve, what begins with which, and liquid in parts that lie far apart."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from glug.grids.packing import pack_parts
from glug.physics.viscosity.boxes import with_boxes_at_jumps
from glug.physics.viscosity.levels import ViscosityLevel, hierarchy, packed
from glug.physics.viscosity.parts.free import Precondition, with_free_parts
from glug.physics.viscosity.parts.stiff import with_stiff_parts
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, Vector, solve_with_fallback
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import LowRank
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.solvers.stats import SolveStats

SWEEPS, REPEATS = 2, 1  # of the default cycle: fewer cost more time in iterations, more in sweeps


class Preconditioning(Protocol):
    """The preconditioners of one problem, on the regular grid or on a tree."""

    def jacobi(self) -> Preconditioner: ...

    def multigrid(self) -> Preconditioner:
        """A cycle that visits coarse grids again: fewer iterations, but not positive on every geometry."""

    def plain_multigrid(self) -> Preconditioner:
        """A V-cycle, which is."""


Makers = list[Callable[[], Preconditioner]]


@dataclass(frozen=True)
class Iterative:
    """Conjugate gradients: with what to begin, and what to fall back on."""

    name: str
    makers: Callable[[Preconditioning], Makers]
    coarse: bool  # whether it visits coarse grids


MULTIGRID = Iterative("multigrid", lambda p: [p.multigrid, p.plain_multigrid, p.jacobi], coarse=True)
JACOBI = Iterative("jacobi-cg", lambda p: [p.jacobi], coarse=False)
SOLVERS = {solver.name: solver for solver in (MULTIGRID, JACOBI)}


def solve_parts(
    system: ViscosityLevel,
    solver: Iterative,
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    *,
    stiff_above: float | None = None,
    residuals: list[float] | None = None,
) -> SolveStats:
    """Solve for x by `solver`; parts that lie far apart are moved together meanwhile, where no solid slips."""
    begin = time.perf_counter()
    packing = pack_parts(system.blocks, system.shape) if system.slip is None else None
    if packing is None:
        choices = preconditioners(system, solver, stiff_above=stiff_above)
        return solve_with_fallback(system, choices, b, x, limits, residuals)
    together = packed(system, packing)
    near = tuple(packing.pack(u) for u in x)
    right = tuple(packing.pack(u) for u in b)
    setup = time.perf_counter() - begin
    choices = preconditioners(together, solver, stiff_above=stiff_above)
    stats = solve_with_fallback(together, choices, right, near, limits, residuals)
    begin = time.perf_counter()
    for u, v in zip(near, x):
        packing.unpack(u, v)
    seconds = stats.seconds + time.perf_counter() - begin
    return replace(stats, setup_seconds=stats.setup_seconds + setup, seconds=seconds)


def preconditioners(
    system: ViscosityLevel, solver: Iterative, low: Sequence[LowRank] = (), *, stiff_above: float | None = None
) -> Makers:
    """What `solver` begins with and falls back on; `low` are the terms', and `stiff_above` is that of a problem."""
    return solver.makers(RegularPreconditioning(system, low, stiff_above))


class RegularPreconditioning:
    """Those of the regular grid; a hierarchy is made once."""

    def __init__(self, system: ViscosityLevel, low: Sequence[LowRank], stiff_above: float | None):
        self.system, self.low, self.stiff_above = system, low, stiff_above

    def jacobi(self) -> Preconditioner:
        diagonal: Vector = self.system.diagonal()
        for part in self.low:
            diagonal = part.diagonal(diagonal)
        return Diagonal(diagonal, self.system.blocks)

    def multigrid(self) -> Preconditioner:
        return Cycle(self.system, multigrid_cycle(self._levels, self.stiff_above))

    def plain_multigrid(self) -> Preconditioner:
        return Cycle(self.system, multigrid_cycle(self._levels, self.stiff_above, 0))

    @cached_property
    def _levels(self) -> list[ViscosityLevel]:
        return hierarchy(self.system)


def multigrid_cycle(levels: list[ViscosityLevel], stiff_above: float | None, repeats: int = REPEATS) -> Precondition:
    """The cycle over a hierarchy, with boxes at jumps, free parts and stiff parts where there are any."""
    system, usual = levels[0], GaussSeidel(SWEEPS)
    smoother = usual if stiff_above is None else with_boxes_at_jumps(system, usual)
    cycle = with_free_parts(system, Multigrid(levels, smoother, repeats))
    if stiff_above is None or not np.isfinite(stiff_above) or repeats == 0:  # what to fall back on is plain
        return cycle
    return with_stiff_parts(system, cycle, stiff_above)
