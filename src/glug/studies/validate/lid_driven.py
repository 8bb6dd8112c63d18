"""`glug validate lid-driven`: a full square box whose lid slides, in 2D, until the flow is steady.

Ghia, Ghia and Shin 1982 (J. Comput. Phys. 48, Table I) give the velocity on the centre lines; its smallest value along
the lid on the vertical one is what numerical viscosity takes from. The box stays full: particles per cell are counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

STUDY = "lid-driven"
GHIA = {100: -0.21090, 400: -0.32726}  # smallest u on the vertical centre line, by Reynolds number
USUAL_LARGEST = 32  # cells
SECONDS = {100: 15.0, 400: 30.0}  # of a unit box and a unit speed: steady to 1%
LID = 4  # cells: how thick it is
NOMINAL = 4  # particles per cell
FAR = 200.0  # [m]: the lid is long enough to slide all the time


@dataclass(frozen=True)
class Box:
    """A unit box on n cells under a lid of unit speed."""

    cells: int
    reynolds: int
    transfer: str = "auto"

    @property
    def dx(self) -> float:
        return 1.0 / self.cells

    def scene(self) -> dict[str, Any]:
        lid = {"kind": "box", "lower": [-FAR, 1.0], "upper": [FAR, 2.0]}
        return {
            "name": "lid",
            "domain": {"size": [1, 1 + LID * self.dx], "resolution": self.cells + LID},
            "time": {"fps": 10, "frames": 1},
            "gravity": [0, 0, 0],
            "liquids": {"oil": {"density": 1.0, "viscosity": 1.0 / self.reynolds}},
            "volumes": [{"liquid": "oil", "shape": {"kind": "box", "lower": [-1, -1], "upper": [2, 1]}}],
            "solids": [{"name": "lid", "shape": lid, "motion": {"kind": "linear", "velocity": [1, 0, 0]}}],
            "solver": {"transfer": self.transfer, "viscosity": "reference"},
            "output": {"fields": True},
        }

    def run(self, seconds: float) -> Simulation:
        simulation = Simulation(self.scene())
        while simulation.state.time < seconds - 1e-9:
            simulation.step_once()
        return simulation

    def smallest(self, simulation: Simulation) -> float:
        """The smallest velocity along the lid on the vertical centre line, between samples by a parabola [m/s]."""
        fields = simulation.state.fields
        corner, u = fields["corner"], fields["u"][:, :, 0].astype(float)
        place = (0.5 - corner[0]) / self.dx
        i = int(np.floor(place))
        line = (1 - place + i) * u[i] + (place - i) * u[i + 1]
        y = corner[1] + (np.arange(len(line)) + 0.5) * self.dx
        j = int(np.argmin(np.where((y > 0) & (y < 1), line, np.inf)))
        below, here, above = line[j - 1 : j + 2]
        bend = below - 2 * here + above
        return float(here - (above - below) ** 2 / (8 * bend)) if bend > 0 else float(here)

    def per_cell(self, simulation: Simulation) -> tuple[float, float]:
        """Fewest and most particles in a cell of the box, over the nominal number."""
        index = np.floor(simulation.state.particles.position[:, :2] / self.dx).astype(int)
        index = np.clip(index, 0, self.cells - 1)
        count = np.bincount(index[:, 0] * self.cells + index[:, 1], minlength=self.cells**2)
        return float(count.min()) / NOMINAL, float(count.max()) / NOMINAL


def study(options: StudyOptions) -> list[StudyRow]:
    """The smallest velocity beside the published one, and particles per cell, for two Reynolds numbers."""
    cells = min(USUAL_LARGEST, options.largest_grid or USUAL_LARGEST)
    return [row for reynolds in GHIA for row in box_rows(Box(cells, reynolds), SECONDS[reynolds])]


def box_rows(box: Box, seconds: float) -> list[StudyRow]:
    began = time.perf_counter()
    simulation = box.run(seconds)
    ours, published = box.smallest(simulation), GHIA[box.reynolds]
    fewest, most = box.per_cell(simulation)
    table, took = f"Re {box.reynolds}", time.perf_counter() - began
    return [
        StudyRow(STUDY, table, box.cells, "u_smallest", "value", ours, published, ours / published, seconds=took),
        StudyRow(STUDY, table, box.cells, "fewest_in_a_cell", "value", fewest, seconds=took),
        StudyRow(STUDY, table, box.cells, "most_in_a_cell", "value", most, seconds=took),
    ]
