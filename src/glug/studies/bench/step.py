"""`glug bench step`: where the time and the memory of a step go, on `dam-break`.

It answers one question: does a step keep to its budget? Stages that are not linear solves are counted per
particle, and must gain from a second thread; memory is counted per particle and per cell of the window.
"""

import os
import statistics
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

SCENE = "dam-break"
RESOLUTION = 128  # cells along the longest side
STEPS = 20
WARM_STEPS = 2  # not measured: they load kernels and touch memory for the first time
SOLVES = ("project", "viscosity", "pressure")

# What the project asks of a step on two threads.
TARGET_NS_PER_PARTICLE = {"transfer_to_grid": 40.0, "transfer_to_particles": 25.0, "non-solve": 400.0}
TARGET_SPEEDUP = 1.6  # two threads over one, on the sum of the stages that are not solves
BYTES_PER_PARTICLE = 160
BYTES_PER_CELL = 250


def measure(resolution: int, steps: int, threads: int) -> dict[str, Any]:
    """Run `steps` steps in this process: the median seconds of each stage, the solves, and the memory.

    Memory is the peak above a baseline taken after a coarse run of the same scene, when the libraries and
    the kernels are loaded but the fields are small.
    """
    import psutil

    from glug.scene import load
    from glug.simulation import Simulation, estimate

    coarse = Simulation(load(SCENE, {"domain.resolution": 16}), threads=threads)
    for _ in range(WARM_STEPS):
        coarse.step_once()
    del coarse
    baseline = psutil.Process().memory_info().rss

    scene = load(SCENE, {"domain.resolution": resolution})
    simulation = Simulation(scene, threads=threads)
    for _ in range(WARM_STEPS):
        simulation.step_once()
    taken = [simulation.step_once() for _ in range(steps)]

    stages = list(taken[-1].seconds)
    solves = {}
    for name in taken[-1].solves:
        each = [stats.solves[name] for stats in taken if name in stats.solves]
        solves[name] = {
            "solver": each[-1].solver,
            "unknowns": each[-1].unknowns,
            "iterations": statistics.fmean(solve.iterations for solve in each),
            "residual": max(solve.residual for solve in each),
        }
    return {
        "particles": round(statistics.fmean(stats.particles for stats in taken)),
        "cells": round(statistics.fmean(stats.cells for stats in taken)),
        "seconds": {s: statistics.median(stats.seconds.get(s, 0.0) for stats in taken) for s in stages},
        "solves": solves,
        "peak": isolated.peak_bytes(),
        "baseline": baseline,
        "estimate": estimate(scene)["memory"],
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """Measure once per thread count, each in its own process; print tables, return a row per stage."""
    resolution = options.resolution or RESOLUTION
    steps = options.steps or STEPS
    options.say("compiling or loading kernels ...")
    # In a process of its own, so that the compiler's memory is in no measured peak.
    isolated.call(f"{__name__}:measure", resolution=16, steps=1, threads=1)

    rows: list[BenchRow] = []
    results: dict[int, dict[str, Any]] = {}
    cores = os.cpu_count() or 1
    for threads in options.threads:
        if threads > cores:
            reason = f"this machine has {cores} core(s)"
            rows.append(BenchRow(SCENE, "all", resolution, threads=threads, skipped=reason))
            options.say(f"{threads} threads skipped: {reason}")
            continue
        options.say(f"{SCENE} at {resolution} cells, {steps} steps, {threads} thread(s) ...")
        results[threads] = isolated.call(f"{__name__}:measure", resolution=resolution, steps=steps, threads=threads)
        rows += _rows(results[threads], resolution, threads)
    if results:
        options.say("\n" + _stage_table(results) + "\n\n" + _target_table(results))
    return rows


def _rows(result: dict[str, Any], resolution: int, threads: int) -> list[BenchRow]:
    rows = []
    for stage, seconds in {**result["seconds"], "non-solve": _non_solve(result)}.items():
        solve = result["solves"].get(stage, {})
        rows.append(
            BenchRow(
                case=f"{SCENE}/{stage}",
                solver=solve.get("solver", "none"),
                n=resolution,
                dofs=solve.get("unknowns", result["particles"]),
                threads=threads,
                iterations=solve.get("iterations"),
                seconds=seconds,
                peak_gb=result["peak"] / 1e9,
                residual=solve.get("residual"),
                ns_per_particle=seconds / result["particles"] * 1e9,
                ns_per_cell=seconds / result["cells"] * 1e9,
            )
        )
    return rows


def _non_solve(result: dict[str, Any]) -> float:
    """Seconds of all stages that are not linear solves."""
    return sum(seconds for stage, seconds in result["seconds"].items() if stage not in SOLVES)


def _stage_table(results: dict[int, dict[str, Any]]) -> str:
    """Stages down, thread counts across, and how much faster the last count is than the first."""
    counts = list(results)
    head = ["stage"]
    for threads in counts:
        head += [f"s/step x{threads}", f"ns/particle x{threads}", f"ns/cell x{threads}"]
    if len(counts) > 1:
        head.append(f"x{counts[-1]} over x{counts[0]}")
    lines = [head]
    for stage in [*results[counts[0]]["seconds"], "non-solve"]:
        line, taken = [stage], []
        for result in results.values():
            seconds = _non_solve(result) if stage == "non-solve" else result["seconds"].get(stage, 0.0)
            taken.append(seconds)
            line += [
                f"{seconds:.4f}",
                f"{seconds / result['particles'] * 1e9:.1f}",
                f"{seconds / result['cells'] * 1e9:.1f}",
            ]
        if len(counts) > 1:
            line.append(f"{taken[0] / taken[-1]:.2f}" if taken[-1] > 0 else "-")
        lines.append(line)
    some = results[counts[0]]
    return f"{some['particles']} particles, {some['cells']} cells in the window\n" + aligned(lines)


def _target_table(results: dict[int, dict[str, Any]]) -> str:
    """What was asked beside what was measured, at the largest thread count (the targets are for two)."""
    threads = max(results)
    result = results[threads]
    particles, cells = result["particles"], result["cells"]
    lines = [["budget", "threads", "measured", "target", "met"]]

    def add(name: str, measured: float, target: float, unit: str, at_most: bool = True) -> None:
        met = measured <= target if at_most else measured >= target
        bound = "<=" if at_most else ">="
        verdict = "yes" if met else "no"
        lines.append([name, str(threads), f"{measured:.4g} {unit}", f"{bound} {target:.4g} {unit}", verdict])

    for stage, target in TARGET_NS_PER_PARTICLE.items():
        seconds = _non_solve(result) if stage == "non-solve" else result["seconds"].get(stage, 0.0)
        add(stage, seconds / particles * 1e9, target, "ns/particle")
    if 1 in results and threads > 1:
        add(
            "non-solve speedup over 1 thread",
            _non_solve(results[1]) / _non_solve(result),
            TARGET_SPEEDUP,
            "x",
            False,
        )
    used = (result["peak"] - result["baseline"]) / 1e6
    add(
        "memory above the baseline",
        used,
        (BYTES_PER_PARTICLE * particles + BYTES_PER_CELL * cells) / 1e6,
        "MB",
    )
    predicted = result["estimate"] / 1e6
    lines.append(["memory predicted by glug check", "", f"{predicted:.4g} MB", f"{used:.4g} MB measured", "-"])
    return aligned(lines)
