"""The preconditioners of a viscous solve by name, and liquid in parts that lie far apart."""

import time
from collections.abc import Callable
from dataclasses import replace

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


def solve_parts(
    system: ViscosityLevel,
    solver: str,
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
    system: ViscosityLevel, solver: str, low: LowRank | None = None, *, stiff_above: float | None = None
) -> list[Callable[[], Preconditioner]]:
    """What `solver` names, and what to fall back on; `stiff_above` is that of a problem."""

    def jacobi() -> Preconditioner:
        diagonal = system.diagonal()
        return Diagonal(diagonal if low is None else low.diagonal(diagonal), system.blocks)

    levels: list[ViscosityLevel] = []

    def multigrid(repeats: int = REPEATS) -> Preconditioner:
        if not levels:
            levels.extend(hierarchy(system))
        return Cycle(system, multigrid_cycle(levels, stiff_above, repeats))

    # A V-cycle is positive on any geometry; repeated visits, which cost fewer iterations, could fail to be.
    return [jacobi] if solver == "jacobi-cg" else [multigrid, lambda: multigrid(0), jacobi]


def multigrid_cycle(levels: list[ViscosityLevel], stiff_above: float | None, repeats: int = REPEATS) -> Precondition:
    """The cycle over a hierarchy, with boxes at jumps, free parts and stiff parts where there are any."""
    system, usual = levels[0], GaussSeidel(SWEEPS)
    smoother = usual if stiff_above is None else with_boxes_at_jumps(system, usual)
    cycle = with_free_parts(system, Multigrid(levels, smoother, repeats))
    if stiff_above is None or not np.isfinite(stiff_above) or repeats == 0:  # what to fall back on is plain
        return cycle
    return with_stiff_parts(system, cycle, stiff_above)
