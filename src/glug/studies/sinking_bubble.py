"""A bubble ten times as heavy as the liquid around it sinks (Goldade 2021, section 4.5.4): affine against two phases.

Runs of the library scene `sinking-bubble` until the bubble has fallen by most of its diameter, with a pressure in every
cell and with affine regions, each by the diagonal and by multigrid. Reported are how far the bubble's centroid is from
that of two phases, over how far that has fallen, at the worst frame; and of the pressure solves the median of their
seconds, and mean iterations and unknowns.

With the same preconditioner a region can save no more than its cells. The heavy liquid is 22% of all in this scene, so
that with regions in it alone there are at best 1.28 times fewer unknowns, however fine the grid is: 1.1 at 96 cells.
The source reports a factor of 3.1, and for affine regions 1274 iterations with the diagonal against 50 with its coupled
multigrid. Two phases by multigrid are faster than affine regions by either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

SECONDS = 1.0 / 3.0  # eight frames
COARSEST, FINEST = 48, 96
ABOVE = 0.45  # [m] the pool of heavy liquid is lower, the bubble higher
RUNS: dict[str, dict[str, Any]] = {
    "two-phase, diagonal": {"solver.tiles": 0, "solver.pressure": "jacobi-cg"},
    "two-phase, multigrid": {"solver.tiles": 0, "solver.pressure": "multigrid"},
    "affine, diagonal": {"solver.pressure": "jacobi-cg"},
    "affine, multigrid": {"solver.pressure": "multigrid"},
    "affine in both liquids, multigrid": {
        "solver.pressure": "multigrid",
        "solver.tile_liquid": "all",
        "solver.tiles": 16,
        "solver.tile_band": 6,
    },
}


@dataclass
class Run:
    """What was followed: the bubble's height [m] at every frame, and the pressure solves: median seconds, and means."""

    height: np.ndarray
    seconds: float
    iterations: float
    unknowns: float


def follow(resolution: int, changes: dict[str, Any]) -> Run:
    """A run of the scene."""
    simulation = Simulation(load("sinking-bubble", {"domain.resolution": resolution, **changes}))
    solves, height = [], []
    while simulation.state.time < SECONDS - 1e-9:
        stats = simulation.step_once().solves["pressure"]
        solves.append((stats.seconds + stats.setup_seconds, stats.iterations, stats.unknowns))
        if simulation.state.substep == 0:
            particles = simulation.state.particles
            bubble = (particles.liquid[:, 0] == 1) & (particles.position[:, 1] > ABOVE)
            height.append(float(particles.position[bubble, 1].mean(dtype=np.float64)))
    _, iterations, unknowns = np.array(solves).mean(axis=0)
    return Run(np.array(height), float(np.median(solves, axis=0)[0]), float(iterations), float(unknowns))


def study(options: StudyOptions) -> list[StudyRow]:
    """Five rows a run."""
    resolution = min(options.largest_grid or FINEST, FINEST)
    if resolution < COARSEST:
        raise InputError(f"--max {options.largest_grid}: the bubble needs {COARSEST} cells along the tank at least")
    start = 1.4  # [m] in the scene
    rows, truth = [], None
    for label, changes in RUNS.items():
        run = follow(resolution, changes)
        truth = truth or run
        off = float((np.abs(run.height - truth.height) / (start - truth.height)).max())
        for quantity, value in (
            ("centroid_off", off),
            ("solve_seconds", run.seconds),
            ("iterations", run.iterations),
            ("unknowns", run.unknowns),
            ("fallen_m", start - float(run.height[-1])),
        ):
            rows.append(StudyRow(options.name, label, resolution, quantity, "value", value))
    return rows
