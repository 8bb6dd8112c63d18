"""A part of `glug bench bubbles`: pressure solves of the scene `sinking-bubble`, from the same velocities.

A bubble ten times as heavy as the liquid around it, as in Goldade 2021, section 4.5.4. The source solves two phases by
the diagonal, and affine regions by its coupled multigrid: 3.1 times faster with regions in the heavy liquid and 4.1
times with tiles in both. Here are all pairs of matrix and preconditioner, so that one sees what each contributes.
"""

import time

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.measured import Result, alone, faster, numbers, row
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION, COARSE, STEPS = 192, 48, 2
# Name: where regions are, cells of a tile, cells of the band, solver.
CASES = {
    "two-phase, diagonal": ("", 0, 0, "jacobi-cg"),
    "affine, coupled multigrid": ("heavy", 0, 3, "multigrid"),
    "affine in both, coupled multigrid": ("both", 16, 6, "multigrid"),
    "affine, diagonal": ("heavy", 0, 3, "jacobi-cg"),
    "affine in both, diagonal": ("both", 16, 6, "jacobi-cg"),
    "two-phase, multigrid": ("", 0, 0, "multigrid"),
}


def measure(n: int) -> Result:
    """Of all `cases` the faster of two projections, after one of a coarse grid that loads or compiles the kernels."""
    _solve_all(COARSE, repeat=1)
    return {"cases": _solve_all(n, repeat=2)}


def _solve_all(n: int, repeat: int) -> dict[str, Result]:
    from glug.grids.regular import copied
    from glug.physics.affine.projection import Depths
    from glug.physics.pressure.problem import PressureProblem
    from glug.physics.pressure.solvers import SOLVERS
    from glug.scene import load
    from glug.simulation import Simulation, StepContext
    from glug.simulation.step import run_stages

    simulation = Simulation(load("sinking-bubble", {"domain.resolution": n, "solver.tiles": 0}))
    for _ in range(STEPS):
        simulation.step_once()
    context = run_stages(StepContext(simulation.setting, simulation.state), simulation.stages.upto("pressure"))
    grid, solid, heavy = context.grid, context.solid, context.liquids[1]
    limits = SolveLimits(simulation.scene.solver.tolerance.pressure, 5000)

    def solve(where: str, tile: int, band: int, solver: str) -> Result:
        problem = PressureProblem.build(grid, context.phi, solid, mobility=context.mobility)
        wet = problem.liquid > 0
        parts = {"heavy": [wet & (heavy < 0)], "both": [wet & (heavy < 0), wet & (heavy >= 0)]}
        velocity = copied(context.velocity)
        begin = time.perf_counter()
        if where:
            problem = problem.with_affine_regions([Depths(cells, band, tile) for cells in parts[where]])
        _, stats = problem.project(velocity, limits, solver=SOLVERS[solver])
        return {**numbers(stats), "setup": time.perf_counter() - begin - stats.seconds}

    runs = [{case: solve(*options) for case, options in CASES.items()} for _ in range(repeat)]
    return {case: faster(*(run[case] for run in runs)) for case in CASES}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case; prints the table."""
    n, threads = options.resolution or RESOLUTION, max(options.threads)
    found = alone(measure, threads, n=n)["cases"]
    slowest = found["two-phase, diagonal"]
    rows, lines = [], [["case", "unknowns", "iterations", "set-up s", "solve s", "faster, set-up included", "residual"]]
    for case, r in found.items():
        rows.append(row(f"sinking-bubble/{case}", CASES[case][3], n, threads, r))
        gain = (slowest["setup"] + slowest["seconds"]) / (r["setup"] + r["seconds"])
        shown = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{gain:.1f}x"]
        lines.append([case, str(r["unknowns"]), str(r["iterations"]), *shown, f"{r['residual']:.1e}"])
    options.say(f"sinking-bubble at {n} cells, 10:1 (published: 3.1x with affine regions, 4.1x in both liquids)")
    options.say(aligned(lines))
    return rows
