"""`glug bench viscous-scenes`: seconds per viscosity solve and per step of whole viscous scenes.

It answers one question: how long does an artist wait for a step of a viscous scene, and how much of it is viscosity?
Beside it is the share of a step that all its linear solves take, with their set-up.
Scenes run from their beginning for a number of steps; the medians are of the last half, when most liquid is there.
"""

import statistics
from typing import TYPE_CHECKING, Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

if TYPE_CHECKING:
    from glug.simulation.frame import StepStats

RESOLUTION = 128
STEPS = 12
SCENES = ("honey-coil", "chocolate", "figure-on-cake")


def measure(scene_name: str, resolution: int, steps: int, threads: int) -> dict[str, Any]:
    """Medians over the last half of the steps, in this process."""
    from glug.scene import load
    from glug.simulation import Simulation

    for _ in Simulation(load(scene_name, {"domain.resolution": 24}), threads=threads).run(1):
        pass  # loads or compiles the kernels
    simulation = Simulation(load(scene_name, {"domain.resolution": resolution}), threads=threads)
    taken = [simulation.step_once() for _ in range(steps)]
    late = taken[steps // 2 :]
    solves = [stats.solves["viscosity"] for stats in late]
    return {
        "unknowns": solves[-1].unknowns,
        "iterations": statistics.median(s.iterations for s in solves),
        "solve": statistics.median(s.seconds + s.setup_seconds for s in solves),
        "stage": statistics.median(stats.seconds["viscosity"] for stats in late),
        "step": statistics.median(sum(stats.seconds.values()) for stats in late),
        "solves": statistics.median(share_of_solves(stats) for stats in late),
        "residual": max(s.residual for s in solves),
        "peak": isolated.peak_bytes(),
    }


def share_of_solves(stats: "StepStats") -> float:
    """Of a step, the share of all linear solves with their set-up."""
    solves = sum(s.seconds + s.setup_seconds for s in stats.solves.values())
    return solves / sum(stats.seconds.values())


def bench(options: BenchOptions) -> list[BenchRow]:
    """Two rows per scene, the solve and the step; prints the table."""
    n, steps, threads = options.resolution or RESOLUTION, options.steps or STEPS, max(options.threads)
    lines = [["scene", "unknowns", "iterations", "s per solve", "s per viscous stage", "s per step", "solves", "GB"]]
    rows = []
    for name in SCENES if options.case in (None, "all") else (options.case,):
        r = isolated.call(f"{__name__}:measure", scene_name=name, resolution=n, steps=steps, threads=threads)
        times = [f"{r[k]:.2f}" for k in ("solve", "stage", "step")]
        lines.append(
            [name, str(r["unknowns"]), f"{r['iterations']:g}", *times, f"{r['solves']:.0%}", f"{r['peak'] / 1e9:.2f}"]
        )
        peak = r["peak"] / 1e9
        solve = {"iterations": r["iterations"], "seconds": r["solve"], "residual": r["residual"]}
        rows.append(BenchRow(f"{name}/viscosity", "multigrid", n, r["unknowns"], threads, peak_gb=peak, **solve))
        rows.append(BenchRow(f"{name}/step", "multigrid", n, r["unknowns"], threads, seconds=r["step"], peak_gb=peak))
    options.say(aligned(lines))
    return rows
