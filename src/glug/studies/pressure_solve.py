"""`glug bench pressure-solve`: a projection of a splash with hundreds of droplets, by every solver.

It answers one question: how many core-microseconds does an unknown cost, to a recomputed residual of 1e-6 of the
right-hand side's, set-up included?
"""

import time
from typing import Any

import numpy as np

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned
from glug.studies.viscosity_solve import LIMIT, NOT_WRITTEN, RESOLUTION, TOLERANCE, figures, row

SOLVERS = ("default", "jacobi-cg")


def measure(n: int, solver: str, threads: int) -> dict[str, Any]:
    """Solve once in this process; set-up is what follows the links."""
    from glug.jit import set_threads

    set_threads(threads)
    _run(24, solver)  # loads or compiles the kernels
    return {**_run(n, solver), "peak": isolated.peak_bytes()}


def _run(n: int, solver: str) -> dict[str, Any]:
    from glug.solvers.cg import conjugate_gradients, zeros_like
    from glug.studies.solve_problems import splash

    problem = splash(n)
    rng = np.random.default_rng(1)
    velocity = tuple(rng.normal(size=u.shape).astype(np.float32) for u in problem.grid.staggered())
    b = (problem.right_hand_side((velocity[0], velocity[1], velocity[2])),)
    begin = time.perf_counter()
    preconditioner = problem.preconditioners("jacobi-cg" if solver == "jacobi-cg" else "multigrid")[0]()
    setup = time.perf_counter() - begin
    x = zeros_like(problem.system, np.float64)
    stats = conjugate_gradients(problem.system, preconditioner, b, x, TOLERANCE, LIMIT)
    return {
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": stats.seconds,
        "setup": setup,
        "unknowns": stats.unknowns,
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per solver, each in its own process; prints the table."""
    n = options.resolution or RESOLUTION
    threads = max(options.threads)
    chosen = (*SOLVERS, "ic-cg") if options.solver in (None, "all") else (options.solver,)
    rows, lines = [], [["case", "solver", "iterations", "set-up s", "solve s", "core-us/unknown", "GB", "residual"]]
    for solver in chosen:
        if solver in NOT_WRITTEN:
            rows.append(BenchRow("pressure/splash", solver, n, threads=threads, skipped=NOT_WRITTEN[solver]))
            continue
        r = isolated.call(f"{__name__}:measure", n=n, solver=solver, threads=threads)
        rows.append(row("pressure/splash", solver, n, threads, r))
        lines.append(["splash", solver, *figures(r, threads)])
    options.say(aligned(lines))
    return rows
