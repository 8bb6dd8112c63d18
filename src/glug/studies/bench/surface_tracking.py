"""`glug bench surface-tracking`: what a step of a tracked surface costs, per triangle and by stage.

A ball in Enright's deformation, where hardly anything meets, and a crowd of balls in a random flow, where meetings have
to be undone in every step. Beside it, what ipctk (an extra) takes for one collision query of the same motion; the
tracker does not use it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

STEPS = 10
CASES = ("deformation", "crowd")
STAGES = ("improve", "join", "settle", "displacements", "move")


def measure(case: str, steps: int, threads: int) -> dict[str, Any]:
    """CPU seconds by stage over some steps, after kernels are compiled and the case has developed."""
    from glug import jit
    from glug.geometry.tracking.surface import TrackedSurface
    from glug.studies.validate.surfaces.tracking import DT, Crowd, ball, deformation

    jit.set_threads(threads)
    if case == "crowd":
        crowd = Crowd(0, edge=0.02)
        surface, velocity, dt, before = crowd.surface, crowd.velocity, DT / 3, 75
    else:
        surface = TrackedSurface(*ball((0.35, 0.35, 0.35), 0.15, 0.005), 0.005)
        velocity, dt, before = deformation, DT / 4, 5
    seconds: defaultdict[str, float] = defaultdict(float)
    triangles, meetings, last = 0.0, 0.0, (surface.vertices, surface.vertices)

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin, wall = time.process_time(), time.perf_counter()
        done = work()
        seconds[name] += time.process_time() - begin
        seconds["wall"] += time.perf_counter() - wall
        return done

    for n in range(before + steps):
        if n == before:
            seconds.clear()
            triangles, meetings = 0.0, surface.events["shortened"]
        timed("improve", surface.improve)
        timed("join", surface.join)
        timed("settle", surface.settle)
        other = timed("displacements", lambda: surface.smoothing() + surface.correction())
        last = surface.vertices, dt * velocity(surface.vertices, n * dt) + other  # the velocity is the caller's time
        timed("move", partial(surface.move, last[1]))
        triangles += len(surface.triangles)
    wall = seconds.pop("wall")
    result = {
        "stages": {k: v / steps for k, v in seconds.items()},
        "triangles": triangles / steps,
        "wall": wall / steps,
    }
    return result | {
        "meetings": (surface.events["shortened"] - meetings) / steps,
        "ipctk": ipctk_seconds(*last, surface.triangles),
        "peak": isolated.peak_bytes(),
    }


def ipctk_seconds(x: Any, d: Any, triangles: Any) -> float | None:
    """CPU seconds of one query for the earliest collision; None where it is not installed."""
    if find_spec("ipctk") is None:
        return None
    import ipctk

    mesh = ipctk.CollisionMesh(x, ipctk.edges(triangles), triangles)
    begin = time.process_time()
    ipctk.compute_collision_free_stepsize(mesh, x, x + d)
    return time.process_time() - begin


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and number of threads; `dofs` are triangles, `seconds` those of the CPU in a step."""
    lines = [["case", "threads", "triangles", "passes", *STAGES, "all [us/triangle]", "wall", "ipctk, one query"]]
    rows = []
    for case in CASES:
        for threads in options.threads:
            r = isolated.call(f"{__name__}:measure", case=case, steps=options.steps or STEPS, threads=threads)
            scale = 1e6 / r["triangles"]
            total = sum(r["stages"].values())
            other = "-" if r["ipctk"] is None else f"{r['ipctk'] * scale:.2f}"
            parts = [f"{r['stages'][name] * scale:.2f}" for name in STAGES]
            numbers = [f"{r['triangles']:.0f}", f"{1 + r['meetings']:.1f}", *parts]
            lines.append([case, str(threads), *numbers, f"{total * scale:.2f}", f"{r['wall'] * scale:.2f}", other])
            count = int(r["triangles"])
            rows.append(
                BenchRow(
                    f"surface-tracking/{case}",
                    "own",
                    count,
                    dofs=count,
                    threads=threads,
                    iterations=1 + r["meetings"],
                    seconds=total,
                    peak_gb=r["peak"] / 1e9,
                    stages=r["stages"],
                )
            )
    options.say(aligned(lines))
    return rows
