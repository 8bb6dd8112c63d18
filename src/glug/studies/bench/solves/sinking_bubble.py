"""A part of `glug bench bubbles`: pressure solves of the scene `sinking-bubble`, from the same velocities.

A bubble ten times as heavy as the liquid around it, as in Goldade 2021, section 4.5.4. The source solves two phases by
the diagonal, and affine regions by its coupled multigrid: 3.1 times faster with regions in the heavy liquid and 4.1
times with tiles in both. Here are all pairs of matrix and preconditioner, so that one sees what each contributes.
"""

import time
from typing import Any

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies import isolated
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


def measure(n: int, threads: int) -> dict[str, dict[str, float]]:
    """Of every case the faster of two projections, after one of a coarse grid that loads or compiles the kernels."""
    from glug.jit import set_threads

    set_threads(threads)
    _solve_all(COARSE, repeat=1)
    return _solve_all(n, repeat=2)


def _solve_all(n: int, repeat: int) -> dict[str, dict[str, float]]:
    from glug.grids.regular import copied
    from glug.particles import transfer
    from glug.physics.affine.projection import TiledPressure
    from glug.physics.densities import distance_of, mobility_of
    from glug.physics.pressure.problem import PressureProblem
    from glug.scene import load
    from glug.simulation import Simulation
    from glug.simulation.step import Step

    simulation = Simulation(load("sinking-bubble", {"domain.resolution": n, "solver.tiles": 0}))
    for _ in range(STEPS):
        dt = simulation.step_once().dt
    setting, state = simulation.setting, simulation.state
    step, grid = Step(setting, state), setting.window(state.particles.position)
    state.particles.sort(grid)
    solid, phi, _ = step.geometry(grid)
    heavy = distance_of(1, state.particles, grid, solid)
    mobility = mobility_of([heavy], [setting.density_ratios[1]], grid)
    start, reached = transfer.to_grid(state.particles, grid, setting.particle_volume, step.masses())
    step.fill_gaps(grid, start, reached)
    start[1][:] += np.float32(dt * setting.gravity[1])
    tolerance = setting.scene.solver.tolerance.pressure

    def solve(where: str, tile: int, band: int, solver: str) -> dict[str, float]:
        problem = PressureProblem.build(grid, phi, solid, mobility=mobility)
        wet = problem.liquid > 0
        parts = {"heavy": [wet & (heavy < 0)], "both": [wet & (heavy < 0), wet & (heavy >= 0)]}
        velocity = copied(start)
        begin = time.perf_counter()
        projection = TiledPressure.build(problem, tile, band, parts[where]) if where else problem
        _, stats = projection.project(velocity, SolveLimits(tolerance, 5000), solver=solver)
        total = time.perf_counter() - begin
        found = {"iterations": stats.iterations, "unknowns": stats.unknowns, "residual": stats.residual}
        return {**found, "seconds": stats.seconds, "setup": total - stats.seconds, "total": total}

    runs = [{case: solve(*options) for case, options in CASES.items()} for _ in range(repeat)]
    return {case: min((run[case] for run in runs), key=lambda r: r["total"]) for case in CASES}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case; prints the table."""
    n, threads = options.resolution or RESOLUTION, max(options.threads)
    found: dict[str, dict[str, Any]] = isolated.call(f"{__name__}:measure", n=n, threads=threads)
    slowest = found["two-phase, diagonal"]
    rows, lines = [], [["case", "unknowns", "iterations", "set-up s", "solve s", "faster, set-up included", "residual"]]
    for case, r in found.items():
        counts = {"dofs": int(r["unknowns"]), "threads": threads, "iterations": r["iterations"]}
        seconds = {"seconds": r["seconds"], "setup_seconds": r["setup"], "residual": r["residual"]}
        rows.append(BenchRow(f"sinking-bubble/{case}", CASES[case][3], n, **counts, **seconds))
        shown = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{slowest['total'] / r['total']:.1f}x"]
        lines.append([case, str(int(r["unknowns"])), str(int(r["iterations"])), *shown, f"{r['residual']:.1e}"])
    options.say(f"sinking-bubble at {n} cells, 10:1 (published: 3.1x with affine regions, 4.1x in both liquids)")
    options.say(aligned(lines))
    return rows
