"""`glug bench octree-scenes`: seconds per stage of thick liquids on octrees, beside the published ones.

It answers one question: how much of a step on a tree is viscosity? The scenes, `ketchup` and `pile-of-figures`, follow
the two of Goldade (2021, section 5.6.8, Table 5.8), whose seconds per step are for a level set of 2048^3 cells on trees
of 512^3 and 16 cores: sizes and machines differ, the shares can be compared. `regular` is the same scene with equal
cells. Medians are of the last STEPS steps after FRAMES frames.
"""

import statistics
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

FRAMES = {"ketchup": 18, "pile-of-figures": 4}
RESOLUTION, STEPS = 96, 8
# Ours by published stage.
STAGES = {
    "level set": ("geometry", "free_surface", "surface"),
    "advection": ("time_step", "sort", "reseed", "transfer_to_grid", "forces", "transfer_to_particles", "advect"),
    "viscosity": ("viscosity",),
    "projection": ("project", "pressure", "displace"),
    "extrapolation": ("extrapolate",),
    "adaptation": ("adapt",),
}
PUBLISHED = {
    "ketchup": dict(zip(STAGES, (13.4, 1.9, 18.4, 9.6, 1.2, 3.0), strict=True)),
    "pile-of-figures": dict(zip(STAGES, (35.0, 1.98, 50.3, 22.7, 2.2, 4.2), strict=True)),
}
TOTAL = {"ketchup": 48.0, "pile-of-figures": 117.0}


def measure(scene_name: str, mesh: str, resolution: int, steps: int, threads: int) -> dict[str, Any]:
    """Seconds of the stages in this process."""
    from glug.scene import load
    from glug.simulation import Simulation

    scene = load(scene_name, {"domain.resolution": resolution, "solver.mesh": mesh})
    simulation = Simulation(scene, threads=threads)
    for _ in simulation.run(FRAMES[scene_name]):
        pass
    taken = [simulation.step_once() for _ in range(steps)]
    seconds = {name: statistics.median(stats.seconds.get(name, 0.0) for stats in taken) for name in taken[-1].seconds}
    solve = taken[-1].solves["viscosity"]
    return {
        "stages": {stage: sum(seconds.get(name, 0.0) for name in names) for stage, names in STAGES.items()},
        "step": sum(seconds.values()),
        "unknowns": solve.unknowns,
        "iterations": statistics.fmean(stats.solves["viscosity"].iterations for stats in taken),
        "residual": max(stats.solves["viscosity"].residual for stats in taken),
        "particles": taken[-1].particles,
        "peak": isolated.peak_bytes(),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per scene and mesh; prints the table, shares of a step in brackets."""
    n, steps, threads = options.resolution or RESOLUTION, options.steps or STEPS, max(options.threads)
    rows, lines = [], [["scene", "mesh", "particles", "unknowns", *(f"{stage} s" for stage in STAGES), "step s", "GB"]]
    for name in FRAMES if options.case in (None, "all") else (options.case,):
        for mesh in ("octree", "regular") if options.solver is None else (options.solver,):
            arguments = {"scene_name": name, "mesh": mesh, "resolution": n, "steps": steps, "threads": threads}
            r = isolated.call(f"{__name__}:measure", **arguments)
            counts = [str(r["particles"]), str(r["unknowns"])]
            lines.append([name, mesh, *counts, *_shares(r["stages"], r["step"]), f"{r['peak'] / 1e9:.2f}"])
            solve = {"iterations": r["iterations"], "residual": r["residual"], "stages": r["stages"]}
            seconds = {"seconds": r["step"], "peak_gb": r["peak"] / 1e9}
            rows.append(BenchRow(f"{name}/step", mesh, n, r["unknowns"], threads, **solve, **seconds))
        lines.append([name, "published", "-", "-", *_shares(PUBLISHED[name], TOTAL[name]), "-"])
    options.say(aligned(lines))
    return rows


def _shares(stages: dict[str, float], step: float) -> list[str]:
    """Seconds of every stage with its share of a step, and the step."""
    return [*(f"{seconds:.3g} ({seconds / step:.0%})" for seconds in stages.values()), f"{step:.3g}"]
