"""`glug bench octree-pressure`: one projection of a deep pool with waves, on a sparse octree.

It answers one question: how many iterations, core-microseconds and bytes does a leaf take, to a residual of 1e-6 (of
velocities: the flow out of a leaf over the area of its side)? Gravity has acted for a step on liquid at rest, or
velocities are random. Set-up is the matrix, its parts and the coarse trees. Times are core-seconds, the least of some
solves: beside other programs they vary less than the clock. `jacobi-cg` is the baseline.
"""

from __future__ import annotations

import time

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves import measured
from glug.studies.bench.solves.measured import Result
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

USUAL = (64, 128, 256, 512)
TOLERANCE, LIMIT, TIMES = 1e-6, 3000, 2
CASES = ("gravity", "random")
SOLVERS = ("multigrid", "jacobi-cg")


def measure(n: int, case: str, solver: str) -> Result:
    """The cheapest of some projections in this process, after a small one that loads or compiles the kernels."""
    _run(32, case, solver)
    return min((_run(n, case, solver) for _ in range(TIMES)), key=lambda r: r["setup"] + r["seconds"])


def _run(n: int, case: str, solver: str) -> Result:
    from glug.grids.octree.linear.faces import TreeFaces
    from glug.physics.pressure.octree.problem import OctreePressure
    from glug.studies.isolated import resident_bytes
    from glug.studies.problems.linear_octree import pool, waves

    tree = pool(n)
    phi = waves(n)(tree.centre).astype(np.float32)
    before = resident_bytes()
    begin = time.process_time()
    faces = TreeFaces.of(tree)
    problem = OctreePressure.build(faces, phi)
    if solver == "multigrid":
        _ = problem.multigrid
    setup = time.process_time() - begin
    held = resident_bytes() - before
    if case == "gravity":
        u = np.where(faces.axis == 1, np.float32(-1.0), np.float32(0.0))
    else:
        u = np.random.default_rng(0).standard_normal(faces.count, np.float32)
    begin = time.process_time()
    _, stats = problem.project(u, SolveLimits(TOLERANCE, LIMIT), solver=solver)
    seconds = time.process_time() - begin
    return {**measured.numbers(stats), "setup": setup, "seconds": seconds, "leaves": len(tree), "held": held}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, solver and size, each in its own process; prints the table."""
    threads = max(options.threads)
    sizes = USUAL if options.resolution is None else (options.resolution,)
    rows = []
    lines = [
        ["case", "solver", "n", "leaves", "unknowns", "iterations", "core-us per leaf", "bytes per leaf", "residual"]
    ]
    for case in measured.chosen("case", options.case, CASES, CASES):
        for solver in measured.chosen("solver", options.solver, SOLVERS, SOLVERS):
            for n in sizes:
                r = measured.alone(measure, threads, n=n, case=case, solver=solver)
                each = r["held"] / r["leaves"]
                rows.append(measured.row(f"octree-pressure/{case}", solver, n, threads, r, bytes_per_dof=each))
                cost = (r["setup"] + r["seconds"]) / r["leaves"] * 1e6
                counts = [str(v) for v in (n, r["leaves"], r["unknowns"], r["iterations"])]
                lines.append([case, solver, *counts, f"{cost:.2f}", f"{each:.0f}", f"{r['residual']:.1e}"])
    options.say(aligned(lines))
    return rows
