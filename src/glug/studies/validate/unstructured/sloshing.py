"""`glug validate sloshing-tetrahedra`: water swings in a tank, on the regular grid and on triangles of every kind.

A surface tilted by a tenth of the tank is let go. The first swing has the period of a small wave to a few percent, and
meshes must agree: uniform, graded and irregular ones, with a mesh of every step, of every fifth and of the first (the
experiment of Batty 2010, chapter 5). Beside the period, over 2 pi / sqrt(g k tanh(k H)), are the amplitude of the
fourth swing over that of the first, how far the surface has sunk by then, and the largest distance of the surface from
that on the regular grid at the end (columns of two cells), both in cells. Barycentres are the control.
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
    """Times [s], what the water does, and where its surface is at the end (columns)."""

    time: np.ndarray
    height: np.ndarray  # of the middle of the water, over its first [m]
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

    def kept(self) -> float:
        """The largest moment of the last swing over that of the first."""
        swing = exact_period()
        first, last = self.time <= swing, self.time >= self.time[-1] - swing
        return float(np.abs(self.slosh[last]).max() / np.abs(self.slosh[first]).max())

    def sunk(self) -> float:
        """How far the surface has sunk in the mean of the last swing [m], as the middle of the water shows it."""
        last = self.time >= self.time[-1] - exact_period()
        return float(-2.0 * self.height[last].mean())


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
        p = simulation.state.particles
        (x, y), volume = p.position[:, :2].T.astype(np.float64), p.volume[:, 0].astype(np.float64)
        volume /= volume.sum()
        rows.append((stats.time, float(volume @ y), float(volume @ (x - 0.5 * LENGTH))))
    time, height, slosh = np.array(rows).T
    # A wave of moment m lifts the middle of the water by 6 m^2 / depth: what is left is sinking.
    still = height - 6.0 * slosh**2 * DEPTH / LENGTH**2
    return Swing(time, still - still[0], slosh, heights(simulation.state.particles, cells))


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
            "amplitude": found.kept(),
            "sunk": found.sunk() * cells / LENGTH,
            "surface_off": float(np.abs(found.surface - grid.surface).max()) * DEPTH * cells / LENGTH,
        }
        rows += [StudyRow("sloshing-tetrahedra", name, cells, q, "value", v) for q, v in values.items()]
    return rows
