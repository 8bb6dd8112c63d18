"""`glug bench bodies`: what a hundred rigid bodies cost in the pressure solve of a tank of water.

It answers one question: how much longer does the projection take when the bodies' velocities are unknowns of it than
when they are known, for the same geometry? Densities are 0.5 to 2 times the water's; `light` bodies have 0.01.
"""

import time
from dataclasses import replace

import numpy as np

from glug.physics.pressure.problem import PressureProblem
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.measured import Result, alone, numbers, row
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION, COUNT = 96, 100
CASES = ("known", "coupled", "light")
LIMIT, TOLERANCE = 500, 1e-5
REPEATS = 7


def measure(n: int, case: str) -> Result:
    """Project in this process; the best of seven, after one on a small grid that compiles."""
    from glug.studies.problems.systems import crowded_tank

    light = case.startswith("light")
    _run(crowded_tank(24, 4, light), case)
    problem = crowded_tank(n, COUNT, light)
    return min((_run(problem, case) for _ in range(REPEATS)), key=lambda r: r["seconds"])


def _run(problem: PressureProblem, case: str) -> Result:
    """One projection of a random velocity; everything that follows from the geometry is made anew."""
    bodies = problem.bodies
    rng = np.random.default_rng(2)
    velocity = tuple(rng.normal(size=u.shape).astype(np.float32) for u in problem.grid.staggered())
    assert bodies is not None
    bodies.velocity[:] = rng.normal(size=bodies.velocity.shape)
    solid = replace(problem.solid, velocity=bodies.walls)
    parts = problem.grid, solid, problem.liquid, problem.components, problem.system
    fresh = PressureProblem(*parts, None if case == "known" else bodies)
    begin = time.perf_counter()
    u, v, w = velocity
    _, stats = fresh.project((u, v, w), SolveLimits(TOLERANCE, LIMIT))
    return {**numbers(stats), "seconds": time.perf_counter() - begin}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, each in its own process; prints the table."""
    n, threads = options.resolution or RESOLUTION, max(options.threads)
    rows, lines = [], [["bodies", "iterations", "projection s", "over known", "GB", "residual"]]
    known = None
    for case in CASES if options.solver is None else (options.solver,):
        r = alone(measure, threads, n=n, case=case)
        known = r["seconds"] if case == "known" else known
        over = f"{r['seconds'] / known:.2f}" if known else "-"
        rows.append(row("bodies/tank", case, n, threads, r))
        figures = [f"{r['seconds']:.3f}", over, f"{r['peak'] / 1e9:.2f}", f"{r['residual']:.1e}"]
        lines.append([case, str(r["iterations"]), *figures])
    options.say(aligned(lines))
    return rows
