"""`glug bench pressure-solve`: projections of a splash with hundreds of droplets and of mazes, by every solver.

It answers one question: how many core-microseconds does an unknown cost, to a recomputed residual of 1e-6 of the
right-hand side's, set-up included? Timed as `viscosity-solve` is.
"""

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves import measured
from glug.studies.bench.solves.measured import Result
from glug.studies.bench.solves.viscosity import LIMIT, RESOLUTION, TOLERANCE
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned
from glug.view.plot import Line

SOLVERS = {"default": "multigrid", "jacobi-cg": "jacobi-cg", "ic-cg": "ic-cg"}


def measure(n: int, solver: str, case: str) -> Result:
    """Solve in this process; set-up is what follows the links."""
    return measured.fastest(lambda size: _solve(size, solver, case), n)


def _solve(n: int, solver: str, case: str) -> Result:
    from glug.physics.pressure.solvers import SOLVERS as METHODS
    from glug.solvers.cg import solve_with_fallback, zeros_like
    from glug.studies.problems.pressure import CASES

    problem = CASES[case](n)
    rng = np.random.default_rng(1)
    velocity = tuple(rng.standard_normal(u.shape, np.float32) for u in problem.grid.staggered())
    b = (problem.right_hand_side((velocity[0], velocity[1], velocity[2])),)
    x = zeros_like(problem.system, np.float64)
    choices = problem.preconditioners(METHODS[SOLVERS[solver]])
    residuals: list[float] = []
    stats = solve_with_fallback(problem.system, choices, b, x, SolveLimits(TOLERANCE, LIMIT), residuals=residuals)
    return measured.numbers(stats, residuals)


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and solver, each in its own process; prints the table."""
    from glug.studies.problems.pressure import CASES

    n = options.resolution or RESOLUTION
    threads = max(options.threads)
    rows, lines = [], [measured.HEADER]
    cases = measured.chosen("case", options.case, ("splash",), CASES)
    curves: dict[str, list[Line]] = {case: [] for case in cases}
    for case in cases:
        for solver in measured.chosen("solver", options.solver, SOLVERS, SOLVERS):
            r = measured.alone(measure, threads, n=n, solver=solver, case=case)
            rows.append(measured.row(f"pressure/{case}", solver, n, threads, r))
            lines.append([case, solver, *measured.figures(r, threads)])
            curves[case] += measured.curve(solver, r, threads)
    options.say(aligned(lines))
    if options.plot is not None:
        measured.draw("pressure", n, curves, options.plot)
    return rows
