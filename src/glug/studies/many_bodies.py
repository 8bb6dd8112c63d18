"""`glug bench bodies`: what a hundred rigid bodies cost in the pressure solve of a tank of water.

It answers one question: how much longer does the projection take when the bodies' velocities are unknowns of it than
when they are known, for the same geometry? Densities are 0.5 to 2 times the water's; `light` bodies have 0.01.
"""

import time
from typing import Any

import numpy as np

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION, COUNT = 96, 100
CASES = ("known", "coupled", "light", "light, corrected")
LIMIT, TOLERANCE = 500, 1e-5
REPEATS = 3


def measure(n: int, case: str, threads: int) -> dict[str, Any]:
    """Project in this process; the best of three after one that compiles."""
    from glug.jit import set_threads

    set_threads(threads)
    _run(24, case)
    best = min((_run(n, case) for _ in range(REPEATS)), key=lambda r: r["seconds"])
    return {**best, "peak": isolated.peak_bytes()}


def _run(n: int, case: str) -> dict[str, Any]:
    from glug.solvers.cg import Cycle
    from glug.solvers.low_rank import Woodbury
    from glug.studies.solve_problems import crowded_tank

    problem = crowded_tank(n, COUNT if n > 32 else 4, light=case.startswith("light"))
    rng = np.random.default_rng(2)
    velocity = tuple(rng.normal(size=u.shape).astype(np.float32) for u in problem.grid.staggered())
    assert problem.bodies is not None
    problem.bodies.velocity[:] = rng.normal(size=problem.bodies.velocity.shape)
    if case == "known":
        problem.right_hand_side((velocity[0], velocity[1], velocity[2]))  # writes the bodies' velocity
        problem.bodies = None
    begin = time.perf_counter()
    if problem.low_rank is not None and case.endswith("corrected"):
        preconditioner = problem.preconditioners("multigrid")[0]()
        assert isinstance(preconditioner, Cycle)
        problem._multigrid = Cycle(
            problem.system, Woodbury(preconditioner.precondition, problem.system, problem.low_rank)
        )
    corrected = time.perf_counter() - begin
    begin = time.perf_counter()
    _, stats = problem.project((velocity[0], velocity[1], velocity[2]), tolerance=TOLERANCE, max_iterations=LIMIT)
    seconds = time.perf_counter() - begin + corrected
    return {
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": seconds,
        "setup": stats.setup_seconds + corrected,
        "unknowns": stats.unknowns,
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, each in its own process; prints the table."""
    n, threads = options.resolution or RESOLUTION, max(options.threads)
    rows, lines = [], [["bodies", "iterations", "projection s", "over known", "GB", "residual"]]
    known = None
    for case in CASES[:3] if options.solver is None else (options.solver,):
        r = isolated.call(f"{__name__}:measure", n=n, case=case, threads=threads)
        known = r["seconds"] if case == "known" else known
        over = f"{r['seconds'] / known:.2f}" if known else "-"
        rows.append(
            BenchRow(
                "bodies/tank",
                case,
                n,
                dofs=r["unknowns"],
                threads=threads,
                iterations=r["iterations"],
                seconds=r["seconds"],
                setup_seconds=r["setup"],
                peak_gb=r["peak"] / 1e9,
                residual=r["residual"],
            )
        )
        figures = [f"{r['seconds']:.3f}", over, f"{r['peak'] / 1e9:.2f}", f"{r['residual']:.1e}"]
        lines.append([case, str(r["iterations"]), *figures])
    options.say(aligned(lines))
    return rows
