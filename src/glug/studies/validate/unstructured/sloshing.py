"""`glug validate sloshing-tetrahedra`: water swings in a tank, on the regular grid and on triangles of every kind.

A surface tilted by a tenth of the tank is let go. The first swing has the period of a small wave to a few percent, and
meshes must agree: uniform, graded and irregular ones, with a mesh of every step, of every fifth and of the first (the
experiment of Batty 2010, chapter 5). Beside the period, over 2 pi / sqrt(g k tanh(k H)), are the energy that is left
after four swings and the largest distance of the surface, in cells, from that on the regular grid at the end (columns
of two cells). Barycentres are the control.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

CELLS, LENGTH, DEPTH, TILT = 64, 1.0, 0.4, 0.05  # across; [m]; height of the tilt over half the tank [m]
SWINGS = 4.0
MESHES: dict[str, dict[str, Any]] = {
    "regular grid": {"mesh": "regular"},
    "uniform": {"mesh": "tetrahedra", "tetrahedra": {"levels": 1}},
    "graded, every step": {"mesh": "tetrahedra", "tetrahedra": {"levels": 3, "band": 2}},
    "graded, every fifth": {"mesh": "tetrahedra", "tetrahedra": {"levels": 3, "band": 2, "remesh": 5}},
    "graded, the first": {"mesh": "tetrahedra", "tetrahedra": {"levels": 3, "band": 2, "remesh": 0}},
    "irregular": {"mesh": "tetrahedra", "tetrahedra": {"levels": 1, "shift": 0.2}},
    "irregular, barycentres": {
        "mesh": "tetrahedra",
        "tetrahedra": {"levels": 1, "shift": 0.2, "pressure": "barycentre"},
    },
}


@dataclass(frozen=True)
class Swing:
    """Times [s], energies above rest over the first, and where the surface is at the end (columns) [m]."""

    time: np.ndarray
    energy: np.ndarray
    slosh: np.ndarray  # the first moment of the heights along x
    surface: np.ndarray

    def period(self) -> float:
        """From the first to the third time that the moment changes its sign."""
        change = np.flatnonzero(np.diff(np.sign(self.slosh)) != 0)[:3]
        at = [
            self.time[i] - self.slosh[i] * (self.time[i + 1] - self.time[i]) / (self.slosh[i + 1] - self.slosh[i])
            for i in change
        ]
        return at[2] - at[0]


def exact_period() -> float:
    k = math.pi / LENGTH
    return 2.0 * math.pi / math.sqrt(9.81 * k * math.tanh(k * DEPTH))


def tank(solver: dict[str, Any], cells: int, swings: float) -> dict[str, Any]:
    """The scene: below a tilted line and above the floor."""
    below = {"kind": "half-space", "point": [0.5 * LENGTH, DEPTH, 0.0], "normal": [-2.0 * TILT / LENGTH, 1.0, 0.0]}
    box = {"kind": "box", "lower": [0.0, 0.0], "upper": [LENGTH, 0.75]}
    return {
        "name": "sloshing",
        "domain": {"size": [LENGTH, 0.75], "resolution": cells},
        "time": {"fps": 60, "frames": math.ceil(60 * swings * exact_period())},
        "liquids": {"water": {"material": "water"}},
        "volumes": [{"liquid": "water", "shape": {"kind": "intersection", "parts": [box, below]}}],
        "solver": solver,
        "output": {"preview": False},
    }


def swing(solver: dict[str, Any], cells: int, swings: float = SWINGS) -> Swing:
    """A run of so many periods."""
    from glug.scene import load
    from glug.simulation import Simulation

    scene = load(tank(solver, cells, swings))
    simulation, rows = Simulation(scene), []
    while simulation.state.frame < scene.time.frames:
        stats = simulation.step_once()
        p, liquid = simulation.state.particles, stats.liquid
        assert liquid is not None
        x, volume = p.position[:, 0].astype(np.float64), p.volume[:, 0].astype(np.float64)
        height = volume.sum() / (simulation.setting.dx * LENGTH)
        rest = liquid.mass * 9.81 * 0.5 * height
        energy = liquid.kinetic + liquid.potential - rest
        rows.append((stats.time, energy, float((volume * (x - 0.5 * LENGTH)).sum())))
    time, energy, slosh = np.array(rows).T
    return Swing(time, energy / energy[0], slosh, heights(simulation.state.particles, cells))


def heights(particles: Any, cells: int) -> np.ndarray:
    """How much water stands over every second cell of the floor, over the mean."""
    columns = cells // 2
    column = np.clip((particles.position[:, 0] * columns / LENGTH).astype(int), 0, columns - 1)
    volume = np.bincount(column, particles.volume[:, 0].astype(np.float64), columns)
    return volume / volume.mean()


def study(options: StudyOptions) -> list[StudyRow]:
    """A row per mesh and quantity."""
    cells = min(CELLS, options.largest_grid or CELLS)
    rows, grid = [], None
    for name, solver in MESHES.items():
        found = swing(solver, cells)
        grid = grid or found
        values = {
            "period": found.period() / exact_period(),
            "energy": float(found.energy[-1]),
            "surface_off": float(np.abs(found.surface - grid.surface).max()) * DEPTH * cells / LENGTH,
        }
        rows += [StudyRow("sloshing-tetrahedra", name, cells, q, "value", v) for q, v in values.items()]
    return rows
