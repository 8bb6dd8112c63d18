"""`glug bench memory`: the peak of whole runs beside the budget and the prediction of `glug check`.

It answers one question: does a run fit where it was said to fit? Every scene runs in its own process, frames
included, because peak memory never falls.
"""

from typing import Any

from glug.studies import isolated
from glug.studies.bench.step import BYTES_PER_CELL, BYTES_PER_PARTICLE
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

# Scene, cells along the longest side, frames: until the liquid has spread.
CASES = (("dam-break", 128, 20), ("honey-coil", 96, 60), ("melting", 64, 24), ("water-drop", 80, 16))


def measure(scene_name: str, resolution: int, frames: int) -> dict[str, Any]:
    """Peak bytes of a run above those of a coarse run of the same scene, with the largest window."""
    from glug.scene import load
    from glug.simulation import Simulation, estimate

    coarse = Simulation(load(scene_name, {"domain.resolution": 16}))
    for _ in coarse.run(1):
        pass
    del coarse
    baseline = isolated.resident_bytes()
    scene = load(scene_name, {"domain.resolution": resolution, "time.frames": frames})
    largest = {"cells": 0, "particles": 0}
    for frame in Simulation(scene).run():
        for stats in frame.stats:
            largest["cells"] = max(largest["cells"], stats.cells)
            largest["particles"] = max(largest["particles"], stats.particles)
    return {"used": isolated.peak_bytes() - baseline, "predicted": estimate(scene)["memory"], **largest}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per scene; prints measured, budget and prediction in MB."""
    lines = [["scene", "cells", "particles", "measured MB", "budget MB", "predicted MB", "predicted / measured"]]
    rows = []
    for name, resolution, frames in CASES:
        resolution = options.resolution or resolution
        # In a process of its own, so that the compiler's memory is in no measured peak.
        isolated.call(f"{__name__}:measure", scene_name=name, resolution=16, frames=1)
        r = isolated.call(f"{__name__}:measure", scene_name=name, resolution=resolution, frames=frames)
        budget = BYTES_PER_PARTICLE * r["particles"] + BYTES_PER_CELL * r["cells"]
        numbers = [f"{b / 1e6:.1f}" for b in (r["used"], budget, r["predicted"])]
        lines.append([name, str(r["cells"]), str(r["particles"]), *numbers, f"{r['predicted'] / r['used']:.2f}"])
        rows.append(BenchRow(f"{name}/memory", "none", resolution, dofs=r["particles"], peak_gb=r["used"] / 1e9))
    options.say(aligned(lines))
    return rows
