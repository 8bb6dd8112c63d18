"""`glug bench octree-step`: whole steps of a liquid on an octree, beside the regular grid, and in a huge domain.

It answers two questions. What do a step of `deep-pool` and its memory cost on the tree and on the regular grid, and do
both hold the same volume (case `pool`; `--n` is the number of cells across, 96 by default)? And what does a block of
liquid take in a domain of 512^3 and of 4096^3 cells, per leaf and per particle (case `domain`; `--n` is the block's
side, 128 by default)? Times are core-seconds of the last steps; memory is what a run has at its peak, frames included,
above that of a coarse run.
"""

from __future__ import annotations

import time
from typing import Any

from glug.studies import isolated
from glug.studies.bench.solves.measured import alone
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

ACROSS, BLOCK, STEPS = 96, 128, 4
DOMAINS = 512, 4096
PER_LEAF, PER_PARTICLE, BASE = 400.0, 110.0, 0.2e9  # bytes that a step may take


def pool(n: int, mesh: str) -> dict[str, Any]:
    """Changes of `deep-pool`: a domain n cells wide, and cells of as many sizes as fit its depth."""
    return {"domain.resolution": 5 * n // 4, "solver.mesh": mesh, "refine.levels": 6 if n % 32 == 0 else 5}


def block(side: int, domain: int) -> dict[str, Any]:
    """A block of water in a corner of a cube of `domain` cells a side, a cell being a centimetre."""
    return {
        "name": "block",
        "domain": {"size": [0.01 * domain] * 3, "resolution": domain},
        "time": {"fps": 48, "frames": 1},
        "liquids": {"water": {"material": "water"}},
        "volumes": [{"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [0.01 * side] * 3}, "liquid": "water"}],
        "solver": {"mesh": "octree"},
        "refine": {"levels": 6, "band": 4},
    }


def measure(scene: Any, changes: dict[str, Any], coarse: Any, coarse_changes: dict[str, Any], steps: int) -> dict:
    """Core-seconds of a step, cells, particles, volumes, and bytes above those of a coarse run."""
    import numpy as np

    from glug.scene import load
    from glug.simulation import Simulation

    small = Simulation(load(coarse, coarse_changes))
    for _ in range(2):
        small.step_once()
    small.frame()
    del small
    baseline = isolated.resident_bytes()
    simulation = Simulation(load(scene, changes))
    seconds, stages = [], {}
    for _ in range(steps):
        begin = time.process_time()
        stats = simulation.step_once()
        seconds.append(time.process_time() - begin)
        stages = stats.seconds
    at_step = isolated.peak_bytes() - baseline
    surface = simulation.frame().surface
    return {
        "seconds": float(np.median(seconds)),
        "stages": {name: round(s, 3) for name, s in stages.items()},
        "cells": stats.cells,
        "particles": stats.particles,
        "liquid": stats.liquid_volume,
        "surface": surface.volume(),
        "iterations": stats.solves["pressure"].iterations,
        "step_bytes": at_step,
        "frame_bytes": isolated.peak_bytes() - baseline,
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per mesh, or per domain."""
    threads, steps = max(options.threads), options.steps or STEPS
    rows = []
    if options.case in (None, "pool", "all"):
        rows += bench_pool(options, options.resolution or ACROSS, threads, steps)
    if options.case in (None, "domain", "all"):
        rows += bench_domain(options, options.resolution or BLOCK, threads, steps)
    return rows


def bench_pool(options: BenchOptions, n: int, threads: int, steps: int) -> list[BenchRow]:
    """The deep pool on meshes; the solver option picks one."""
    meshes = [options.solver] if options.solver else ["octree", "regular"]
    found, lines = {}, [["mesh", "cells", "particles", "core-s a step", "step MB", "with a frame MB", "volume"]]
    for mesh in meshes:
        small = {"coarse": "deep-pool", "coarse_changes": pool(32, mesh)}
        r = found[mesh] = alone(measure, threads, scene="deep-pool", changes=pool(n, mesh), steps=steps, **small)
        lines.append(
            [mesh, str(r["cells"]), str(r["particles"]), f"{r['seconds']:.2f}", *_megabytes(r), f"{r['liquid']:.5f}"]
        )
    options.say(aligned(lines))
    for mesh, r in found.items():
        options.say(f"{mesh}: {r['iterations']} iterations; seconds of stages: {r['stages']}")
    if len(found) == 2:
        o, g = found["octree"], found["regular"]
        times = [f"{g[name] / o[name]:.2f}x" for name in ("seconds", "step_bytes", "frame_bytes")]
        off = o["liquid"] / g["liquid"] - 1.0
        options.say(f"octree: {times[0]} faster, memory {times[1]} less, {times[2]} with a frame; volume {off:+.4%}")
    return [_row("pool", mesh, n, threads, r) for mesh, r in found.items()]


def bench_domain(options: BenchOptions, side: int, threads: int, steps: int) -> list[BenchRow]:
    """The same block in two domains, beside what it may take."""
    lines = [["domain", "leaves", "particles", "core-s a step", "step MB", "with a frame MB", "may take MB"]]
    rows = []
    for domain in DOMAINS:
        small = {"coarse": block(16, 64), "coarse_changes": {}}
        r = alone(measure, threads, scene=block(side, domain), changes={}, steps=steps, **small)
        allowed = PER_LEAF * r["cells"] + PER_PARTICLE * r["particles"] + BASE
        counts = [f"{domain}^3", str(r["cells"]), str(r["particles"]), f"{r['seconds']:.2f}"]
        lines.append([*counts, *_megabytes(r), f"{allowed / 1e6:.0f}"])
        rows.append(_row("domain", f"{domain}^3", side, threads, r))
    options.say(aligned(lines))
    return rows


def _megabytes(r: dict) -> list[str]:
    return [f"{r[name] / 1e6:.0f}" for name in ("step_bytes", "frame_bytes")]


def _row(case: str, kind: str, n: int, threads: int, r: dict) -> BenchRow:
    return BenchRow(case, kind, n, r["cells"], threads, seconds=r["seconds"], peak_gb=r["frame_bytes"] / 1e9)
