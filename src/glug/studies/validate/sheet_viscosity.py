"""A sheet falls on a floor at low, middle and high viscosity, each five times the last (after Batty 2010, Figure 3.3).

Seen from its edge, in 2D: thin liquid runs off, thicker liquid folds, and the thicker it is the longer are the
folds. The sheet's axis is the mean position of the particles in a thin layer above the pile. `folds` counts how often
it turns round, by more than a quarter of the slit's width; `swing` is how far it moves, in widths.
"""

from __future__ import annotations

import numpy as np

from glug.errors import InputError
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.coiling import reversals

VISCOSITIES = {"low": 3.0, "middle": 15.0, "high": 75.0}  # [Pa s]
WIDTH = 0.014  # [m] of the slit
LAYER = (0.04, 0.05)  # [m] above the floor: the highest pile gets there at the end
LEAST = 3  # particles in the layer, or the sheet is torn there
HYSTERESIS = 0.25  # widths
GRIDS = (40, 60, 80)  # cells along the domain's height


def scene(viscosity: float, n: int) -> dict:
    """Batter leaves a slit 16 cm above the floor at 0.25 m/s; 96 frames a second catch every fold."""
    return {
        "name": "sheet-viscosity",
        "domain": {
            "size": [0.16, 0.2],
            "origin": [-0.08, 0.0],
            "resolution": n,
            "sides": {"left": "open", "right": "open", "top": "open"},
        },
        "time": {"fps": 96, "frames": 110},
        "liquids": {"batter": {"density": 1300.0, "viscosity": viscosity}},
        "sources": [
            {
                "liquid": "batter",
                "shape": {"kind": "box", "lower": [-WIDTH / 2, 0.16], "upper": [WIDTH / 2, 0.17]},
                "velocity": [0.0, -0.25],
            }
        ],
    }


def follow(viscosity: float, n: int) -> np.ndarray:
    """The axis of the sheet, in widths, in every frame in which it passes the layer whole."""
    simulation = Simulation(scene(viscosity, n))
    path = []
    while simulation.state.frame < simulation.scene.time.frames:
        simulation.step_once()
        if simulation.state.substep == 0:
            p = simulation.state.particles.position
            inside = (p[:, 1] > LAYER[0]) & (p[:, 1] < LAYER[1])
            if inside.sum() >= LEAST:
                path.append(float(p[inside, 0].mean(dtype=np.float64)) / WIDTH)
    return np.array(path)


def study(options: StudyOptions) -> list[StudyRow]:
    """Folds and swing at every viscosity."""
    numbers = [n for n in GRIDS if n <= (options.largest_grid or GRIDS[-1])]
    if not numbers:
        raise InputError(
            f"--max {options.largest_grid}: the coarsest grid of this study has {GRIDS[0]} cells along a side"
        )
    rows = []
    for n in numbers[-2:]:
        for label, viscosity in VISCOSITIES.items():
            path = follow(viscosity, n)
            values = {"folds": reversals(path, HYSTERESIS), "swing": float(np.ptp(path)) if len(path) else 0.0}
            rows += [StudyRow(options.name, label, n, key, "value", value) for key, value in values.items()]
    return rows
