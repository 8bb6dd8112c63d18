"""`glug bench voronoi`: seconds per stage of liquids on Voronoi cells, beside the published ones.

It answers one question: what does a frame of the source's three liquids take, at its numbers of tetrahedra (Batty 2010,
Table 6.1: 37, 127 and 171 s, of which remeshing 15, 39 and 69)? CPU seconds of all threads are what is given. `n` is
cells of dx along the box; `dofs` are tetrahedra, one per vertex of the cells. Cells are chosen for about as many as the
source has: compare by what the row says.
"""

from __future__ import annotations

import time
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

PUBLISHED = {"thin-sheet": (141_701, 37.0), "liquid-column": (197_911, 127.0), "sphere-splash": (313_587, 171.0)}
CELLS = {"thin-sheet": 64, "liquid-column": 48, "sphere-splash": 45}
STEPS, WARM_STEPS = 3, 2


def measure(case: str, n: int, steps: int, threads: int) -> dict[str, Any]:
    """CPU seconds by stage of a step, after some."""
    from glug import jit
    from glug.geometry.embedded.cells import EmbeddedCells
    from glug.studies.problems.splashes import CFL, FRAME, Splash

    jit.set_threads(threads)
    dx = 1.0 / n
    liquid = Splash(case, dx).begin()
    liquid.settle_velocity()
    stages: dict[str, float] = {}
    dt, wall = CFL * dx / 1.2, 0.0

    def timed(name: str, begin: float) -> None:
        stages[name] = stages.get(name, 0.0) + time.process_time() - begin

    for step in range(WARM_STEPS + steps):
        if step == WARM_STEPS:
            stages.clear()
            wall = time.perf_counter()
        begin = time.process_time()
        liquid.move(dt)
        timed("track", begin)
        begin = time.process_time()
        cells = EmbeddedCells.around(liquid.elements, liquid.normals(), liquid.method.placement)
        timed("remesh", begin)
        begin = time.process_time()
        u = liquid.brought(cells, dt)
        timed("advect", begin)
        begin = time.process_time()
        liquid.project(cells, u, dt)
        timed("solve and reconstruct", begin)
    assert liquid.cells is not None and liquid.stats is not None
    return {
        "tetrahedra": len(liquid.cells.mesh.vertices),
        "sites": len(liquid.cells.wet),
        "triangles": len(liquid.surface.triangles),
        "iterations": liquid.stats.iterations,
        "residual": liquid.stats.residual,
        "stages": {name: seconds / steps for name, seconds in stages.items()},
        "seconds": (time.perf_counter() - wall) / steps,
        "steps_per_frame": FRAME / dt,
        "peak": isolated.peak_bytes(),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """The three liquids, or one of them by `--case`."""
    rows, lines = (
        [],
        [["case", "tetrahedra", "CPU s a step", "steps a frame", "CPU s a frame", "published s", "stages"]],
    )
    for case in [options.case] if options.case in PUBLISHED else PUBLISHED:
        n = options.resolution or CELLS[case]
        for threads in options.threads:
            given = {"case": case, "n": n, "steps": options.steps or STEPS, "threads": threads}
            found = isolated.call("glug.studies.bench.solves.voronoi:measure", **given)
            cpu = sum(found["stages"].values())
            frame = cpu * found["steps_per_frame"]
            split = ", ".join(f"{name} {seconds:.2f}" for name, seconds in found["stages"].items())
            shown = f"{cpu:.2f}", f"{found['steps_per_frame']:.1f}", f"{frame:.1f}", f"{PUBLISHED[case][1]:g}", split
            lines.append([case, str(found["tetrahedra"]), *shown])
            rows.append(
                BenchRow(
                    case, "multigrid", n, found["tetrahedra"], threads, found["iterations"], found["seconds"],
                    peak_gb=found["peak"] / 1e9, residual=found["residual"], stages=found["stages"],
                )
            )  # fmt: skip
    options.say(aligned(lines))
    return rows
