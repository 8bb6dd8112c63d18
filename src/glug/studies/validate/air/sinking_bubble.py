"""A bubble ten times as heavy as the liquid around it sinks (Goldade 2021, section 4.5.4): affine against two phases.

Runs of the library scene `sinking-bubble` until the bubble has fallen by most of its diameter, with a pressure in every
cell and with affine regions, in the bubble and its pool or in both liquids. Reported are how far the bubble's centroid
is from that of two phases, over how far that has fallen, at the worst frame; of the pressure solves the median of their
seconds (all set-up included), how many times faster that is than two phases by the diagonal, and mean iterations and
unknowns.

The source solves two phases by the diagonal and affine regions by its coupled multigrid, because the bubble's unknowns
are too few for their absence to count: 3.1 and 4.1 times faster. Those are the rows `affine, multigrid` and `affine in
both liquids, multigrid` here. With the diagonal for both, regions save their cells and some iterations; the heavy
liquid is 22% of all. Two phases by multigrid, which the source does not have, are faster than either: choose that.

What regions save grows with the grid: nothing at 48 cells, little at 64. The source has 400 along the tank; `glug bench
bubbles --case sinking-bubble` times the solves alone at 192, where both are more than six times faster.
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
START = 1.4  # [m] the bubble's height in the scene
ABOVE = 0.45  # [m] the pool of heavy liquid is lower, the bubble higher
BOTH = {"solver.tile_liquid": "all", "solver.tiles": 16, "solver.tile_band": 6}
RUNS: dict[str, dict[str, Any]] = {
    "two-phase, diagonal": {"solver.tiles": 0, "solver.pressure": "jacobi-cg"},
    "affine, multigrid": {"solver.pressure": "multigrid"},
    "affine in both liquids, multigrid": {"solver.pressure": "multigrid", **BOTH},
    "affine, diagonal": {"solver.pressure": "jacobi-cg"},
    "affine in both liquids, diagonal": {"solver.pressure": "jacobi-cg", **BOTH},
    "two-phase, multigrid": {"solver.tiles": 0, "solver.pressure": "multigrid"},
}
PUBLISHED = {"affine, multigrid": 3.1, "affine in both liquids, multigrid": 4.1}  # times faster, Table 4.1


@dataclass
class Run:
    """What was followed: the bubble's height [m] at every frame, and the pressure solves: median seconds, and means."""

    height: np.ndarray
    seconds: float
    iterations: float
    unknowns: float


def follow(resolution: int, changes: dict[str, Any]) -> Run:
    """A run of the scene, after a step of a coarse one that loads or compiles the kernels."""
    Simulation(load("sinking-bubble", {"domain.resolution": COARSEST, **changes})).step_once()
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
    """Six rows a run."""
    resolution = min(options.largest_grid or FINEST, FINEST)
    if resolution < COARSEST:
        raise InputError(f"--max {options.largest_grid}: the bubble needs {COARSEST} cells along the tank at least")
    rows, truth = [], None
    for label, changes in RUNS.items():
        run = follow(resolution, changes)
        truth = truth or run
        off = float((np.abs(run.height - truth.height) / (START - truth.height)).max())
        for quantity, value in (
            ("centroid_off", off),
            ("solve_seconds", run.seconds),
            ("times_faster", truth.seconds / run.seconds),
            ("iterations", run.iterations),
            ("unknowns", run.unknowns),
            ("fallen_m", START - float(run.height[-1])),
        ):
            published = PUBLISHED.get(label) if quantity == "times_faster" else None
            rows.append(StudyRow(options.name, label, resolution, quantity, "value", value, published))
    return rows
