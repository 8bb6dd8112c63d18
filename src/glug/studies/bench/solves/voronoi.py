"""`glug bench voronoi`: CPU seconds per stage of the library's scenes on Voronoi cells, beside the published ones.

It answers one question: what does a frame of the source's three liquids take, at its numbers of tetrahedra (Batty 2010,
Table 6.1)? The scenes `thin-sheet`, `liquid-column` and `sphere-splash` are run for some steps, on cells that give
about as many tetrahedra as the source has, one per vertex of the cells (`dofs`). CPU seconds of all threads are what is
given; a step without its first surface counts. The source does not say how many steps a frame of its has: ours are
those of the scene (`time.fps`), at 0.66 cells a step. Its stages are not quite ours: signed distances, which it makes
anew (`redistance`), are not needed where rays find the surface, in `remesh`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from glug.simulation.context import StepContext
from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

STAGES = {"track": "track", "remesh": "remesh", "advect": "advect", "pressure": "solve", "reconstruct": "reconstruct"}
PUBLISHED = {
    "thin-sheet": {"tetrahedra": 141_701, "total": 37.0, "track": 7, "remesh": 15, "advect": 7, "solve": 0.29},
    "liquid-column": {"tetrahedra": 197_911, "total": 127.0, "track": 37, "remesh": 39, "advect": 18, "solve": 1.8},
    "sphere-splash": {"tetrahedra": 313_587, "total": 171.0, "track": 26, "remesh": 69, "advect": 15, "solve": 0.45},
}
REDISTANCE = {"thin-sheet": 5, "liquid-column": 22, "sphere-splash": 42}
RECONSTRUCT = {"thin-sheet": 3, "liquid-column": 8, "sphere-splash": 18}
CELLS = {"thin-sheet": 164, "liquid-column": 52, "sphere-splash": 60}
STEPS, WARM_STEPS = 2, 1


def measure(case: str, n: int, steps: int, threads: int) -> dict[str, Any]:
    """CPU seconds by stage of a step, after some."""
    from glug.scene import load
    from glug.simulation.simulation import Simulation
    from glug.simulation.stages import Stage, Stages

    spent: dict[str, float] = {}

    def timed(name: str, run: Callable[[StepContext], None]) -> Callable[[StepContext], None]:
        def wrapped(context: StepContext) -> None:
            begin = time.process_time()
            run(context)
            spent[name] = spent.get(name, 0.0) + time.process_time() - begin
            if name == "remesh":
                spent["tetrahedra"] = float(len(context.embedded.mesh.vertices))

        return wrapped

    simulation = Simulation(
        load(case, {"domain.resolution": n}),
        threads,
        stages=lambda usual: Stages(Stage(name, timed(name, run)) for name, run in usual),
    )
    for _ in range(WARM_STEPS):
        simulation.step_once()
    spent.clear()
    wall = time.perf_counter()
    for _ in range(steps):
        stats = simulation.step_once()
    surface = simulation.state.surface
    assert surface is not None
    return {
        "tetrahedra": int(spent["tetrahedra"]),
        "sites": stats.cells,
        "triangles": len(surface.triangles),
        "iterations": stats.solves["pressure"].iterations,
        "residual": stats.solves["pressure"].residual,
        "stages": {shown: spent[name] / steps for name, shown in STAGES.items()},
        "seconds": (time.perf_counter() - wall) / steps,
        "steps_per_frame": 1.0 / (simulation.scene.time.fps * stats.dt),
        "peak": isolated.peak_bytes(),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """The three liquids, or one of them by `--case`."""
    rows = []
    lines = [["case", "", "tetrahedra", "steps", "total s", *STAGES.values(), "redistance"]]
    for case in [options.case] if options.case in PUBLISHED else PUBLISHED:
        n, published = options.resolution or CELLS[case], PUBLISHED[case]
        for threads in options.threads:
            given = {"case": case, "n": n, "steps": options.steps or STEPS, "threads": threads}
            found = isolated.call("glug.studies.bench.solves.voronoi:measure", **given)
            stages = found["stages"]
            for name, times in (("a step", 1.0), ("a frame", found["steps_per_frame"])):
                split = [f"{times * seconds:.2f}" for seconds in stages.values()]
                total = f"{times * sum(stages.values()):.2f}"
                lines.append([case, name, str(found["tetrahedra"]), f"{times:.1f}", total, *split, "-"])
            rows.append(
                BenchRow(
                    case, "multigrid", n, found["tetrahedra"], threads, found["iterations"], found["seconds"],
                    peak_gb=found["peak"] / 1e9, residual=found["residual"], stages=stages,
                )
            )  # fmt: skip
        theirs = [f"{published.get(name, RECONSTRUCT[case]):g}" for name in STAGES.values()]
        total = f"{published['total']:g}"
        lines.append([case, "published", f"{published['tetrahedra']}", "?", total, *theirs, f"{REDISTANCE[case]}"])
    options.say(aligned(lines))
    return rows
