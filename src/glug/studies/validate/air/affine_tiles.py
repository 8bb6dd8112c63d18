"""Affine tiles against a pressure in every cell (Goldade 2021, section 4.5): where is the liquid after a while?

`ball-in-circle` (Figure 4.11) after 0.4 s, when the water has run up the wall, with tiles and with one whole region,
which is too stiff; `splash-tank` (Figure 4.12) after one second. Reported is the volume of the cells that are liquid in
one run only, over that of the liquid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glug.errors import InputError
from glug.scene import Scene, load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

SECONDS = {"ball-in-circle": 0.4, "splash-tank": 1.0}
COARSEST = 32


def advanced(scene: Scene, seconds: float) -> Simulation:
    """The scene after `seconds`."""
    simulation = Simulation(scene)
    while simulation.state.time < seconds - 1e-9:
        simulation.step_once()
    return simulation


def wet_cells(simulation: Simulation) -> np.ndarray:
    """Which cells of the domain are liquid."""
    scene, distance = simulation.scene, simulation.frame().distance
    wet = np.zeros(scene.domain.shape, bool)
    first = np.rint((np.asarray(distance.corner) - scene.domain.lower) / distance.spacing - 0.5).astype(int)
    first[scene.domain.dim :] = 0
    sizes = zip(first, distance.values.shape, wet.shape)
    own, other = zip(*((slice(max(-f, 0), max(min(n, m - f), 0)), slice(max(f, 0), f + n)) for f, n, m in sizes))
    wet[other] = distance.values[own] < 0.0
    return wet


def differing(one: np.ndarray, other: np.ndarray) -> float:
    """Volume that only one of two runs fills, over the volume of the first."""
    return float(np.count_nonzero(one != other) / np.count_nonzero(one))


def compare(name: str, choices: dict[str, Any], seconds: float, resolution: int | None = None) -> dict[str, float]:
    """Of every choice of `solver.tiles`, the share that differs from the run without."""
    common: dict[str, Any] = {"surface.resolution": 1, "surface.smoothing": 0}
    if resolution is not None:
        common["domain.resolution"] = resolution

    def wet(tiles: Any) -> np.ndarray:
        return wet_cells(advanced(load(name, {**common, "solver.tiles": tiles}), seconds))

    regular = wet(0)
    return {label: differing(regular, wet(tiles)) for label, tiles in choices.items()}


def study(options: StudyOptions) -> list[StudyRow]:
    """One run without tiles, and one for each choice of them."""
    scene = load(options.name)
    resolution = min(options.largest_grid or scene.domain.resolution, scene.domain.resolution)
    if resolution < COARSEST:
        raise InputError(f"--max {options.largest_grid}: tiles need {COARSEST} cells along a side at least")
    tiles = scene.solver.tiles
    choices = {f"tiles of {tiles}": tiles} | ({"whole": "whole"} if options.name == "ball-in-circle" else {})
    found = compare(options.name, choices, SECONDS[options.name], resolution)
    return [
        StudyRow(options.name, label, resolution, "differing_volume", "value", value) for label, value in found.items()
    ]
