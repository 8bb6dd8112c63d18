"""`glug bench bubbles`: what air costs a pressure solve, and what reduced models save.

What does a projection cost with constraint bubbles, with two phases (1000:1), with two phases and affine regions in the
air, and with a free surface, by multigrid and by the diagonal? `column` is a closed tank of water with a large bubble
and many small ones in it, as in Goldade 2021, section 4.5.2, to 1e-5. `pool` is a free surface over affine tiles, as in
`glug bench tiles`, and `sinking-bubble` a heavy bubble with affine regions. And what do bubbles add to the pressure
solve and to the step of the scene `water-cooler` (section 4.5.1)? There, at moments of one run, a step with bubbles and
one in a vacuum begin with the same particles; the latter's window is the box of the liquid, as in any free-surface run,
the former's is the domain. Finding and naming the air counts as pressure, keeping its volumes as part of the step.
"""

import time

import numpy as np

from glug.errors import InputError
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves import sinking_bubble as sinking_solve
from glug.studies.bench.solves import tiles as tile_solve
from glug.studies.bench.solves.measured import Result, alone, faster, numbers, row
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 128
TOLERANCE, LIMIT = 1e-5, 6000
SMALL = 100  # bubbles
RATIO = 1e-3  # density of air over water
CASES = {
    "free surface, multigrid": ("vacuum", "multigrid"),
    "constraint, coupled multigrid": ("constraint", "multigrid"),
    "constraint, diagonal": ("constraint", "jacobi-cg"),
    "affine, coupled multigrid": ("affine", "multigrid"),
    "affine, diagonal": ("affine", "jacobi-cg"),
    "two-phase, multigrid": ("two-phase", "multigrid"),
    "two-phase, diagonal": ("two-phase", "jacobi-cg"),
}
PARTS = ("column", "pool", "sinking-bubble", "water-cooler")
COOLER, MOMENTS, BETWEEN = 104, 6, 8  # cells, and frames from one moment to the next
AIRS = ("constraint", "vacuum")
# Goldade 2021, section 4.5.2: iterations and seconds of one substep with 13.7 million unknowns, on 16 cores.
PUBLISHED = {"coupled multigrid": (15, 15.9), "diagonal": (750, 98.0), "two-phase, diagonal": (1752, None)}


def column(n: int):  # type: ignore[no-untyped-def]
    """Grid, distance of the water and solids: a closed box of 1 x 2 x 1 at n cells along its height, with bubbles."""
    from glug.geometry.solids.field import Walls, sample_solids
    from glug.grids.regular import CENTRE, Grid

    dx, wide = 2.0 / n, -(-n // 2)
    shape = tuple(-(-(m + 6) // 8) * 8 for m in (wide, n, wide))
    grid = Grid(dx, (shape[0], shape[1], shape[2]), (-3, -3, -3))
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, 2.0, 1.0)), [], 0.0)
    x, y, z = grid.coordinates(CENTRE)
    phi = np.broadcast_to((y - 1.8)[None, :, None], grid.shape).astype(np.float32)
    rng = np.random.default_rng(0)
    centres = rng.uniform((0.1, 0.1, 0.1), (0.9, 1.6, 0.9), (SMALL, 3))
    radii = rng.uniform(1.0, 4.0, SMALL) * dx
    for centre, radius in [((0.5, 0.6, 0.5), 0.25), *zip(centres, radii)]:
        away = (x - centre[0])[:, None, None] ** 2 + (y - centre[1])[None, :, None] ** 2
        bubble = radius - np.sqrt(away + (z - centre[2])[None, None, :] ** 2)
        np.maximum(phi, bubble, out=phi)
    return grid, phi, solid


def _solve(n: int, case: str) -> Result:
    from glug.physics.air.two_phase import affine_air, two_phase_problem
    from glug.physics.pressure.problem import PressureProblem
    from glug.physics.pressure.solvers import SOLVERS

    air, solver = CASES[case]
    grid, phi, solid = column(n)
    begin = time.perf_counter()
    bubbles = 0
    if air in ("two-phase", "affine"):
        projection = two_phase_problem(grid, phi, solid, RATIO)
        if air == "affine":
            projection = projection.with_affine_regions([affine_air(projection)])
            bubbles = projection.regions.regions.count if projection.regions is not None else 0
    else:
        projection = PressureProblem.build(grid, phi, solid)
        if air == "constraint":
            projection = projection.with_closed_air()
            bubbles = len(projection.bubbles or ())
    setup = time.perf_counter() - begin
    velocity = grid.staggered()
    velocity[1][:] = -0.1
    begin = time.perf_counter()
    _, stats = projection.project(velocity, SolveLimits(TOLERANCE, LIMIT), solver=SOLVERS[solver])
    return {
        **numbers(stats),
        "seconds": time.perf_counter() - begin - stats.setup_seconds,
        "setup": setup + stats.setup_seconds,
        "unknowns": stats.unknowns + (bubbles if air == "constraint" else 0),
        "bubbles": bubbles,
    }


def measure(n: int, case: str) -> Result:
    """The faster of two solves in this process, after a small one that loads or compiles the kernels."""
    _solve(32, case)
    return faster(_solve(n, case), _solve(n, case))


def measure_cooler(n: int) -> Result:
    """Seconds of every stage, and iterations, of steps with bubbles and in a vacuum from the same particles."""
    from glug.scene import load
    from glug.simulation import Simulation
    from glug.simulation.state import State

    runs = {air: Simulation(load("water-cooler", {"domain.resolution": n, "solver.air": air})) for air in AIRS}
    simulation = runs["constraint"]
    found: dict[str, list[dict[str, float]]] = {air: [] for air in AIRS}
    while simulation.state.frame < MOMENTS * BETWEEN:
        simulation.step_once()
        if simulation.state.substep != 0 or simulation.state.frame % BETWEEN:
            continue
        moment = simulation.checkpoint()
        for air in reversed(AIRS):  # the run goes on with what bubbles made
            for _ in range(2):  # the first step samples the solids on its window, which later ones need not
                runs[air].state = State.restore(moment)
                if air == "vacuum":
                    runs[air].state.particles.attributes.pop("bubble", None)
                stats = runs[air].step_once()
            solve = {"iterations": stats.solves["pressure"].iterations, "bubbles": len(stats.bubbles)}
            found[air].append({**stats.seconds, "step": sum(stats.seconds.values()), **solve})
    return found


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per measurement, each in its own process; prints the tables of all parts, or of the one that is named."""
    wanted = PARTS if options.case in (None, "all") else (options.case,)
    if wanted[0] not in PARTS:
        raise InputError(f"--case {options.case}: valid are {', '.join(PARTS)} and all")
    rows = _column(options) if "column" in wanted else []
    if "pool" in wanted:
        rows += tile_solve.bench(options)
    if "sinking-bubble" in wanted:
        rows += sinking_solve.bench(options)
    if "water-cooler" in wanted and options.solver in (None, "all"):
        rows += _cooler(options, max(options.threads))
    return rows


def _column(options: BenchOptions) -> list[BenchRow]:
    n = options.resolution or RESOLUTION
    threads = max(options.threads)
    head = ["case", "unknowns", "bubbles", "iterations", "set-up s", "solve s", "GB", "residual"]
    rows, lines = [], [head]
    for case in CASES if options.solver not in CASES else (options.solver,):
        r = alone(measure, threads, n=n, case=case)
        rows.append(row(f"column/{case}", case, n, threads, r))
        seconds = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{r['peak'] / 1e9:.2f}", f"{r['residual']:.1e}"]
        lines.append([case, str(r["unknowns"]), str(r["bubbles"]), str(r["iterations"]), *seconds])
    for name, (iterations, taken) in PUBLISHED.items():
        shown = "-" if taken is None else f"{taken}"
        lines.append([f"published, 16 cores: {name}", "13700000", "-", str(iterations), "-", shown, "-", "-"])
    options.say(aligned(lines))
    if options.solver in (None, "all"):
        options.say(_verdict({row.solver: row for row in rows}))
    return rows


def _verdict(rows: dict[str, BenchRow]) -> str:
    """What the coupled cycles save, and what one pressure per bubble saves against one in every cell."""

    def seconds(case: str) -> float:
        return (rows[case].seconds or 0.0) + (rows[case].setup_seconds or 0.0)

    fewer = {
        air: (rows[f"{air}, diagonal"].iterations or 0) / max(rows[f"{air}, {cycle}"].iterations or 0, 1)
        for air, cycle in (
            ("constraint", "coupled multigrid"),
            ("affine", "coupled multigrid"),
            ("two-phase", "multigrid"),
        )
    }
    faster = seconds("two-phase, diagonal") / seconds("constraint, coupled multigrid")
    same = seconds("two-phase, diagonal") / seconds("constraint, diagonal")
    return (
        f"multigrid takes {fewer['constraint']:.0f}x fewer iterations than the diagonal with constraint bubbles, "
        f"{fewer['affine']:.0f}x with affine air, {fewer['two-phase']:.0f}x with two phases; constraint bubbles are "
        f"{faster:.1f}x faster than two phases by the diagonal ({same:.1f}x by the diagonal too), set-up included"
    )


def _cooler(options: BenchOptions, threads: int) -> list[BenchRow]:
    n = min(options.resolution or COOLER, COOLER)
    found = alone(measure_cooler, threads, n=n)

    def total(air: str, *names: str) -> float:
        return float(sum(moment.get(name, 0.0) for moment in found[air] for name in names))

    stages = dict.fromkeys(name for moment in found["constraint"] for name in moment)
    lines = [["water-cooler, sums", *AIRS]]
    lines += [[name, *(f"{total(air, name):.3f}" for air in AIRS)] for name in stages]
    options.say(aligned(lines))
    with_bubbles, free = total("constraint", "air", "pressure"), total("vacuum", "pressure")
    count = len(found["vacuum"])
    options.say(
        f"water-cooler at {n} cells, {count} moments, up to {max(m['bubbles'] for m in found['constraint'])} bubbles: "
        f"pressure, finding the air included, {with_bubbles / free:.2f}x of the free surface's "
        f"({total('constraint', 'iterations') / count:.1f} against {total('vacuum', 'iterations') / count:.1f} "
        f"iterations), step {total('constraint', 'step') / total('vacuum', 'step'):.2f}x"
    )
    names = {"vacuum": "free surface", "constraint": "constraint"}
    return [
        BenchRow(f"water-cooler/{what}", names[air], n, threads=threads, seconds=total(air, *stage) / count)
        for what, stage in (("pressure", ("air", "pressure")), ("step", ("step",)))
        for air in AIRS
    ]
