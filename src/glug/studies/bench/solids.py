"""`glug bench solids`: what sampling solids takes of a step in which one of them moves.

It answers one question: is what stays sampled once? A still cup, a mesh of 20,000 triangles, holds water that a moving
box, the spoon, stirs. The share is that of all sampling of solids in the steps after the first, in seconds of the
processor; beside it, as a control, is what it takes to sample everything anew.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 64
STEPS = 8
AROUND = 250  # corners of a ring of the cup
# (radius, height) [m] of the cup's rings: below, up outside, down inside.
OUTSIDE = [(0.05 * s, 0.02) for s in (0.25, 0.5, 0.75)] + [
    (0.05 + 0.01 * s, 0.02 + 0.1 * s) for s in np.linspace(0, 1, 17)
]
INSIDE = [(0.056 - 0.009 * s, 0.12 - 0.093 * s) for s in np.linspace(0, 1, 17)] + [
    (0.047 * s, 0.027) for s in (0.75, 0.5, 0.25)
]
LIMIT = 0.10  # of a step


def cup() -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) and triangles (20,000, 3) of a closed mesh, turned around the y axis."""
    rings = OUTSIDE + INSIDE
    angle = np.arange(AROUND) * 2.0 * np.pi / AROUND
    circles = [np.stack([r * np.cos(angle), np.full(AROUND, y), r * np.sin(angle)], axis=1) for r, y in rings]
    ends = [(0.0, rings[0][1], 0.0), (0.0, rings[-1][1], 0.0)]
    corners = np.concatenate([*circles, ends])
    first, after = np.arange(AROUND), np.roll(np.arange(AROUND), -1)
    triangles = []
    for ring in range(len(rings) - 1):
        a, b = first + ring * AROUND, after + ring * AROUND
        triangles += [np.stack([a, a + AROUND, b], axis=1), np.stack([b, a + AROUND, b + AROUND], axis=1)]
    last = (len(rings) - 1) * AROUND
    triangles.append(np.stack([np.full(AROUND, len(corners) - 2), first, after], axis=1))
    triangles.append(np.stack([np.full(AROUND, len(corners) - 1), after + last, first + last], axis=1))
    return corners, np.concatenate(triangles)


def scene(mesh: Path, resolution: int) -> dict[str, Any]:
    """Water in the cup, and a spoon that goes round in it."""
    corners, triangles = cup()
    lines = [f"v {x:.7g} {y:.7g} {z:.7g}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    mesh.write_text("\n".join(lines))
    inside = {"kind": "cylinder", "start": [0.0, 0.03, 0.0], "end": [0.0, 0.09, 0.0], "radius": 0.045}
    spoon = {"kind": "box", "lower": [0.015, 0.045, -0.006], "upper": [0.027, 0.14, 0.006]}
    round_the_axis = {"kind": "rotation", "axis": [0, 1, 0], "point": [0, 0, 0], "rate": 6.0}
    return {
        "name": "cup-and-spoon",
        "domain": {"size": [0.16, 0.16, 0.16], "origin": [-0.08, 0.0, -0.08], "resolution": resolution},
        "time": {"fps": 24, "frames": 24},
        "liquids": {"water": {"material": "water"}},
        "volumes": [{"shape": inside, "liquid": "water"}],
        "solids": [
            {"name": "cup", "shape": {"kind": "mesh", "file": str(mesh)}},
            {"name": "spoon", "shape": spoon, "motion": round_the_axis},
        ],
    }


def measure(resolution: int, steps: int) -> dict[str, Any]:
    """Seconds of the processor for a step, for sampling solids in it, and for sampling all of them once."""
    from glug.scene import load
    from glug.simulation import Simulation

    spent = 0.0
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(load(scene(Path(folder) / "cup.obj", resolution)), threads=1)
        setting: Any = simulation.setting
        usual = setting.solid_field

        def solid_field(*given: Any) -> Any:
            nonlocal spent
            begin = time.process_time()
            field = usual(*given)
            spent += time.process_time() - begin
            return field

        setting.solid_field = solid_field
        simulation.step_once()  # samples what stays, and loads kernels
        spent, begin = 0.0, time.process_time()
        for _ in range(steps):
            stats = simulation.step_once()
        taken, sampled = time.process_time() - begin, spent
        state, spent = simulation.state, 0.0
        setting._still = None
        setting.solid_field(setting.window(state.particles.position, state.bodies), state.time, state.bodies)
    seconds = {"step": taken / steps, "solids": sampled / steps, "anew": spent}
    return {**seconds, "particles": stats.particles, "cells": stats.cells}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row for the step, for its solids and for all solids sampled anew; prints the table."""
    n, steps = options.resolution or RESOLUTION, options.steps or STEPS
    r = isolated.call(f"{__name__}:measure", resolution=n, steps=steps)
    share = r["solids"] / r["step"]
    lines = [["particles", "cells", "CPU s per step", "of it solids", "share", "all solids anew, CPU s"]]
    numbers = [f"{r['step']:.3f}", f"{r['solids']:.3f}", f"{share:.1%}", f"{r['anew']:.3f}"]
    options.say(aligned([*lines, [str(r["particles"]), str(r["cells"]), *numbers]]))
    options.say(f"asked for: at most {LIMIT:.0%} of a step")
    return [
        BenchRow(f"cup-and-spoon/{what}", "none", n, r["particles"], 1, seconds=r[what])
        for what in ("step", "solids", "anew")
    ]
