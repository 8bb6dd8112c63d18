"""A plane jet of thick liquid falls into a round container (Batty 2010, section 4.9): does it buckle?

The library scene `jet-2d` with the Stokes solver, for 1.5 s: at its Reynolds number of 0.4, and with a twentieth of
the viscosity. The jet's axis is the mean position of the particles in a thin layer above the pile, from the frame in
which the liquid reaches the floor. It changes its direction when it comes back by more than a quarter of the inlet's
width; the scatter of the particles is less than that.

The verdict (the thick jet folds, the thin one does not) is that of the source's grid, 150 cells along a side. Its
margin is small: the thin jet's axis moves within 0.0129 m, and 0.015 m back would count. At 100 cells the inlet has 6
cells, and the thin jet wanders once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.coiling import reversals

LANDED = 0.13  # [m] a particle below has landed; the container's lowest point is at 0.1 m
HEIGHT, LAYER = 0.24, 0.02  # [m] of the layer: just above the pile
LEAST = 3  # particles in the layer, or the jet is torn there
HYSTERESIS = 0.06 / 4  # [m]
VISCOSITIES = {"Re 0.4": 0.075, "Re 8": 0.075 / 20}  # [Pa s]
GRIDS = (100, 150)  # the finer one is the source's


def axis(frames: Iterable[np.ndarray]) -> np.ndarray:
    """x [m] of the jet in the layer, in every frame (positions of its particles) after it has landed."""
    landed, path = False, []
    for position in frames:
        landed = landed or bool((position[:, 1] < LANDED).any())
        inside = np.abs(position[:, 1] - HEIGHT - 0.5 * LAYER) < 0.5 * LAYER
        if landed and inside.sum() >= LEAST:
            path.append(float(position[inside, 0].mean(dtype=np.float64)))
    return np.array(path)


def follow(viscosity: float, resolution: int) -> np.ndarray:
    """The axis [m] in a run."""
    scene = load("jet-2d", {"liquids.syrup.viscosity": viscosity, "domain.resolution": resolution})
    return axis(frame.particles["position"] for frame in Simulation(scene).run())


def study(options: StudyOptions) -> list[StudyRow]:
    """Two runs a grid: the thick jet, and the thin one that must not fold."""
    largest = options.largest_grid or GRIDS[-1]
    if largest < GRIDS[0]:
        raise InputError(f"--max {largest}: the coarsest grid of this study has {GRIDS[0]} cells along a side")
    rows = []
    for n in (n for n in GRIDS if n <= largest):
        for label, viscosity in VISCOSITIES.items():
            begin = time.perf_counter()
            path = follow(viscosity, n)
            seconds = time.perf_counter() - begin
            for quantity, value in (
                ("jet_direction_changes", reversals(path, HYSTERESIS)),
                ("jet_axis_span_m", float(np.ptp(path)) if len(path) else 0.0),
                ("frames_followed", len(path)),
            ):
                rows.append(StudyRow(options.name, label, n, quantity, "value", value, seconds=seconds))
    return rows
