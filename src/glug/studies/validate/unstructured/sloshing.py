"""`glug validate sloshing-tetrahedra`: water swings in a tank, on the regular grid and on simplices of every kind.

A surface tilted by a tenth of the tank is let go. The first swing has the period of a small wave to a few percent, and
meshes must agree: uniform, graded and irregular ones, with a mesh of every step, of every fifth and of the first (the
experiment of Batty 2010, chapter 5). Beside the period, over 2 pi / sqrt(g k tanh(k H)), are the amplitude and the
energy of the last swing over those of the first, how far the surface has sunk by then, and the distance of the surface
from that on the regular grid at the end (columns of two cells; in the mean and at most), in cells. Barycentres are the
control. A picture has the curves of energy and the surfaces side by side.

The energy is that of the wave: kinetic, and 6 M g m^2 H / L^2 for water whose middle is m off that of the tank, by
which a tilted surface lifts it. What the water sinks by is not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

STUDY = "sloshing-tetrahedra"
CELLS, LENGTH, DEPTH, TILT = {2: 64, 3: 32}, 1.0, 0.4, 0.05  # across; [m]; height of the tilt over half the tank [m]
SWINGS, WIDTH = {2: 4.0, 3: 2.0}, 0.25  # of tanks in space [m]
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


IN_SPACE = ("regular grid", "uniform", "graded, every step", "graded, every fifth", "irregular")


@dataclass(frozen=True)
class Swing:
    """Times [s], what the water does, and where its surface is at the end (columns)."""

    time: np.ndarray
    energy: np.ndarray  # of the wave, over its first
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

    def energy_kept(self) -> float:
        """The mean energy of the last swing over that of the first."""
        swing = exact_period()
        first, last = self.time <= swing, self.time >= self.time[-1] - swing
        return float(self.energy[last].mean() / self.energy[first].mean())

    def sunk(self) -> float:
        """How far the surface has sunk in the mean of the last swing [m], as the middle of the water shows it."""
        last = self.time >= self.time[-1] - exact_period()
        return float(-2.0 * self.height[last].mean())


def exact_period() -> float:
    k = math.pi / LENGTH
    return 2.0 * math.pi / math.sqrt(9.81 * k * math.tanh(k * DEPTH))


def tank(solver: dict[str, Any], dim: int, cells: int, swings: float) -> dict[str, Any]:
    """The scene: below a tilted line and above the floor."""
    below = {"kind": "half-space", "point": [0.5 * LENGTH, DEPTH, 0.0], "normal": [-2.0 * TILT / LENGTH, 1.0, 0.0]}
    size = [LENGTH, 0.75, WIDTH][:dim]
    box = {"kind": "box", "lower": [0.0] * dim, "upper": size}
    return {
        "name": "sloshing",
        "domain": {"size": size, "resolution": cells},
        "time": {"fps": 60, "frames": math.ceil(60 * swings * exact_period())},
        "liquids": {"water": {"material": "water"}},
        "volumes": [{"liquid": "water", "shape": {"kind": "intersection", "parts": [box, below]}}],
        "solver": solver,
        "output": {"preview": False},
    }


def swing(solver: dict[str, Any], dim: int, cells: int, swings: float) -> Swing:
    """A run of so many periods."""
    from glug.scene import load
    from glug.simulation import Simulation

    scene = load(tank(solver, dim, cells, swings))
    simulation, rows = Simulation(scene), []
    while simulation.state.frame < scene.time.frames:
        stats = simulation.step_once()
        assert stats.liquid is not None
        p = simulation.state.particles
        (x, y), volume = p.position[:, :2].T.astype(np.float64), p.volume[:, 0].astype(np.float64)
        volume /= volume.sum()
        moment = float(volume @ (x - 0.5 * LENGTH))
        rows.append((stats.time, float(volume @ y), moment, stats.liquid.kinetic / stats.liquid.mass))
    time, height, slosh, kinetic = np.array(rows).T
    lift = 6.0 * slosh**2 * DEPTH / LENGTH**2  # of the middle of the water, by a wave; what is left is sinking
    still, energy = height - lift, kinetic + 9.81 * lift
    surface = heights(simulation.state.particles, cells)
    return Swing(time, energy / energy[0], still - still[0], slosh, surface)


def heights(particles: Any, cells: int) -> np.ndarray:
    """How much water stands over every second cell of the floor, over the mean."""
    columns = cells // 2
    column = np.clip((particles.position[:, 0] * columns / LENGTH).astype(int), 0, columns - 1)
    volume = np.bincount(column, particles.volume[:, 0].astype(np.float64), columns)
    return volume / volume.mean()


def study(options: StudyOptions) -> list[StudyRow]:
    """A row per mesh and quantity, in the plane and in space."""
    rows = []
    for dim in (2, 3):
        cells = min(CELLS[dim], options.largest_grid or CELLS[dim])
        found = {
            name: swing(solver, dim, cells, SWINGS[dim])
            for name, solver in MESHES.items()
            if dim == 2 or name in IN_SPACE
        }
        for name, run in found.items():
            off = np.abs(run.surface - found["regular grid"].surface) * DEPTH * cells / LENGTH
            values = {
                "period": run.period() / exact_period(),
                "amplitude": run.kept(),
                "energy": run.energy_kept(),
                "most_energy": float(run.energy.max()),
                "sunk": run.sunk() * cells / LENGTH,
                "surface_off": float(off.mean()),
                "surface_off_most": float(off.max()),
            }
            rows += [StudyRow(STUDY, f"{dim}D {name}", cells, q, "value", v) for q, v in values.items()]
        if options.pictures is not None:
            picture(found, options.pictures / f"{STUDY}-{dim}d.png")
    return rows


def picture(found: dict[str, Swing], path: Path) -> None:
    """Curves of energy, and surfaces at the end."""
    from PIL import Image

    from glug.view.plot import Line, Panel, plot

    kept = {name: run for name, run in found.items() if name not in ("graded, the first", "irregular, barycentres")}
    energy = [Line(name, list(run.time), list(_smooth(run.energy))) for name, run in kept.items()]
    columns = {name: (np.arange(len(r.surface)) + 0.5) * LENGTH / len(r.surface) for name, r in kept.items()}
    surfaces = [Line(name, list(columns[name]), list(DEPTH * run.surface)) for name, run in kept.items()]
    panels = [
        Panel("energy of the wave, over its first", "time [s]", "", energy),
        Panel("height of the surface at the end [m]", "x [m]", "", surfaces),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(plot(panels)).save(path, optimize=True)


def _smooth(values: np.ndarray, over: int = 9) -> np.ndarray:
    """Means of a few values."""
    return np.convolve(np.pad(values, over // 2, mode="edge"), np.full(over, 1.0 / over), mode="valid")
