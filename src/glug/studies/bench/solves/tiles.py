"""`glug bench tiles`: one projection of a deep pool with affine tiles, and with a pressure in every cell.

It answers one question: what do tiles save? Two balls have just fallen into the pool of `splash-tank`, as in Goldade
2021, section 4.5.5: the same diagonal preconditioner with and without tiles, to 1e-5; and, beside them, multigrid
without tiles, which the source did not have for this scene.
"""

import time

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.measured import Result, alone, faster, numbers, row
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

DEEP, LEAST = 104, 24  # cells of the pool, as in the scene; and the fewest that hold a tile
TOLERANCE, LIMIT = 1e-5, 5000
DT = 1.0 / 48.0  # [s] of a step, in which gravity acts
# Name, cells of a tile (0: none), cells of the band, solver.
CASES = {
    "regular": (0, 0, "jacobi-cg"),
    "tiles 16, band 9": (16, 9, "jacobi-cg"),
    "tiles 32, band 9": (32, 9, "jacobi-cg"),
    "tiles 16, band 3": (16, 3, "jacobi-cg"),
    "tiles 16, band 9, multigrid": (16, 9, "multigrid"),
    "regular, multigrid": (0, 0, "multigrid"),
}


def pool(deep: int):  # type: ignore[no-untyped-def]
    """The pressure problem, and the velocities before the projection."""
    from glug.geometry.solids.field import Walls, sample_solids
    from glug.grids.regular import CENTRE, FACES, Grid
    from glug.physics.pressure.problem import PressureProblem

    dx, wide = 10.4 / deep, -(-96 * deep // 104)
    shape = tuple(-(-(n + 6) // 8) * 8 for n in (wide, deep + 16, wide))
    grid = Grid(dx, (shape[0], shape[1], shape[2]), (-3, -3, -3))
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (wide * dx, np.inf, wide * dx)), [], 0.0)
    balls = [(np.array([3.4, 10.9, 4.0]), 0.9), (np.array([6.3, 11.4, 5.9]), 0.9)]
    points = grid.points(CENTRE)
    phi = points[..., 1] - 10.4 - 0.1 * np.sin(2.0 * points[..., 0]) * np.cos(1.5 * points[..., 2])
    for centre, radius in balls:
        phi = np.minimum(phi, np.linalg.norm(points - centre, axis=-1) - radius)
    problem = PressureProblem.build(grid, np.clip(phi, -4.0 * dx, 4.0 * dx).astype(np.float32), solid)
    velocity = grid.staggered()
    points = grid.points(FACES[1])
    velocity[1][:] = -9.81 * DT
    for centre, radius in balls:
        velocity[1][np.linalg.norm(points - centre, axis=-1) < radius] -= np.float32(6.0)
    return problem, velocity


def measure(deep: int, case: str) -> Result:
    """The faster of two projections in this process, after a small one that loads or compiles the kernels."""
    _run(LEAST, case)
    return faster(_run(deep, case), _run(deep, case))


def _run(deep: int, case: str) -> Result:
    from glug.physics.affine.projection import Depths
    from glug.physics.pressure.solvers import SOLVERS

    tile, band, solver = CASES[case]
    problem, velocity = pool(deep)
    begin = time.perf_counter()
    if tile:
        problem = problem.with_affine_regions([Depths(problem.liquid > 0, band, tile)])
    setup = time.perf_counter() - begin
    _, stats = problem.project(velocity, SolveLimits(TOLERANCE, LIMIT), solver=SOLVERS[solver])
    return {**numbers(stats), "setup": setup + stats.setup_seconds}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, each in its own process; prints the table and what follows from it."""
    deep = max(options.resolution or DEEP, LEAST)
    threads = max(options.threads)
    chosen = [c for c in CASES if options.solver in (None, "all") or options.solver in c] or list(CASES)
    rows, lines = [], [["case", "unknowns", "fewer", "iterations", "set-up s", "solve s", "faster", "GB", "residual"]]
    regular: Result | None = None
    for case in chosen:
        r = alone(measure, threads, deep=deep, case=case)
        regular = r if case == "regular" else regular
        rows.append(row(f"tiles/{case}", CASES[case][2], deep, threads, r))
        gains = [f"{regular[k] / r[k]:.1f}x" if regular else "-" for k in ("unknowns", "seconds")]
        counts = [str(r["unknowns"]), gains[0], str(r["iterations"]), f"{r['setup']:.2f}", f"{r['seconds']:.2f}"]
        lines.append([case, *counts, gains[1], f"{r['peak'] / 1e9:.2f}", f"{r['residual']:.1e}"])
    options.say(aligned(lines))
    fastest = min(rows, key=lambda row: (row.seconds or 0.0) + (row.setup_seconds or 0.0))
    options.say(f"Fastest, set-up included: {fastest.case.removeprefix('tiles/')}. Choose that; tiles save unknowns.")
    return rows
