"""`glug validate lid-driven`: a full square box whose lid slides, in 2D, until the flow is steady, and as long again.

Ghia, Ghia and Shin 1982 (J. Comput. Phys. 48, Table I) give the velocity on the centre lines; its smallest value along
the lid on the vertical one is what numerical viscosity takes from. Theirs is steady, ours has the noise of particles:
it is the smallest of the mean over the second half, and `u_scatter` the standard deviation of single moments' over it.
The box stays full: particles per cell are counted as solves see them, in every step of the second half. `3d` is the
same flow in a slab between slip walls.

`flip-1` is FLIP without PIC, `apic` APIC; in the rows `pushed-once`, the controls, pressure pushes particles at one end
of their paths only (`docs/theory/motion.md`): what they lack of the others is the viscosity of the time step.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from glug.particles.storage import Particles
from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stage, Stages
from glug.studies.registry import StudyOptions, chosen_cases
from glug.studies.rows import StudyRow

STUDY = "lid-driven"
GHIA = {100: -0.21090, 400: -0.32726}  # smallest u on the vertical centre line, by Reynolds number
USUAL_LARGEST = 32  # cells
SECONDS = {100: 30.0, 400: 60.0}  # of a unit box and a unit speed: steady to 1% in half of it
LID = 4  # cells: how thick it is
SLAB = 4  # cells: how thick the box is in 3D
NOMINAL = {2: 4, 3: 8}  # particles per cell
FAR = 200.0  # [m]: the lid is long enough to slide all the time


@dataclass
class Watched:
    """Centre lines of steps, and the fewest and most particles in a cell, over the nominal number."""

    lines: list[np.ndarray] = field(default_factory=list)
    fewest: float = math.inf
    most: float = 0.0

    def smallest(self) -> float:
        """Of the mean line [m/s]."""
        return smallest_of(np.mean(self.lines, axis=0))

    def scatter(self) -> float:
        """Standard deviation of the smallest of single lines, over that of their mean."""
        return float(np.std([smallest_of(line) for line in self.lines]) / abs(self.smallest()))


def smallest_of(line: np.ndarray) -> float:
    """The smallest value on a line of samples, between them by a parabola."""
    j = int(np.clip(np.argmin(line), 1, len(line) - 2))
    below, here, above = line[j - 1 : j + 2]
    bend = below - 2 * here + above
    return float(here - (above - below) ** 2 / (8 * bend)) if bend > 0 else float(here)


@dataclass(frozen=True)
class Box:
    """A unit box on n cells under a lid of unit speed."""

    cells: int
    reynolds: int
    transfer: str = "auto"
    flip_ratio: float = 0.99
    pushed_once: bool = False  # True is a control
    dim: int = 2

    @property
    def dx(self) -> float:
        return 1.0 / self.cells

    def scene(self) -> dict[str, Any]:
        dim, thick = self.dim, SLAB * self.dx
        lid = {"kind": "box", "lower": [-FAR, 1.0, -1.0][:dim], "upper": [FAR, 2.0, 2.0][:dim]}
        box = {"kind": "box", "lower": [-1.0, -1.0, -1.0][:dim], "upper": [2.0, 1.0, 2.0][:dim]}
        across = {"back": "slip", "front": "slip"} if dim == 3 else {}
        return {
            "name": "lid",
            "domain": {
                "size": [1, 1 + LID * self.dx, thick][:dim],
                "resolution": self.cells + LID,
                "sides": across,
            },
            "time": {"fps": 10, "frames": 1},
            "gravity": [0, 0, 0],
            "liquids": {"oil": {"density": 1.0, "viscosity": 1.0 / self.reynolds}},
            "volumes": [{"liquid": "oil", "shape": box}],
            "solids": [{"name": "lid", "shape": lid, "motion": {"kind": "linear", "velocity": [1, 0, 0]}}],
            "solver": {"transfer": self.transfer, "flip_ratio": self.flip_ratio},
            "output": {"fields": True},
        }

    def run(self, seconds: float) -> Watched:
        """What the second half of some seconds shows."""
        found = Watched()

        def count(context: StepContext) -> None:
            if context.state.time > 0.5 * seconds:
                low, high = self.per_cell(context.state.particles)
                found.fewest, found.most = min(found.fewest, low), max(found.most, high)

        def stages(usual: Stages) -> Stages:
            counted = usual.after("reseed", Stage("count", count))
            return counted.after("volumes", Stage("once", _once)) if self.pushed_once else counted

        simulation = Simulation(self.scene(), stages=stages)
        while simulation.state.time < seconds - 1e-9:
            simulation.step_once()
            if simulation.state.time > 0.5 * seconds:
                found.lines.append(self.centre_line(simulation))
        return found

    def centre_line(self, simulation: Simulation) -> np.ndarray:
        """The velocity along the lid on the vertical centre line, from the bottom up [m/s]."""
        fields = simulation.state.fields
        corner, u = fields["corner"], fields["u"].astype(float)
        middle = round(-corner[2] / self.dx) + SLAB // 2 if self.dim == 3 else 0  # of the slab
        place = (0.5 - corner[0]) / self.dx
        i, bottom = int(np.floor(place)), round(-corner[1] / self.dx)
        line = (1 - place + i) * u[i, :, middle] + (place - i) * u[i + 1, :, middle]
        return np.asarray(line[bottom : bottom + self.cells])

    def per_cell(self, particles: Particles) -> tuple[float, float]:
        """Fewest and most particles in a cell of the box, over the nominal number."""
        shape = np.array([self.cells, self.cells, SLAB if self.dim == 3 else 1])
        index = np.clip(np.floor(particles.position / self.dx).astype(int), 0, shape - 1)
        count = np.bincount(np.ravel_multi_index(tuple(index.T), shape), minlength=int(shape.prod()))
        return float(count.min()) / NOMINAL[self.dim], float(count.max()) / NOMINAL[self.dim]


def _once(context: StepContext) -> None:
    context.full = False


CASES = {
    "re-100": Box(USUAL_LARGEST, 100),
    "re-400": Box(USUAL_LARGEST, 400),
    "re-400-3d": Box(USUAL_LARGEST, 400, dim=3),
    "re-400-flip-1": Box(USUAL_LARGEST, 400, "flip", 1.0),
    "re-400-apic": Box(USUAL_LARGEST, 400, "apic"),
    "re-400-pushed-once": Box(USUAL_LARGEST, 400, pushed_once=True),
    "re-400-apic-pushed-once": Box(USUAL_LARGEST, 400, "apic", pushed_once=True),
}
USUAL = ("re-100", "re-400")


def study(options: StudyOptions) -> list[StudyRow]:
    """The smallest velocity beside the published one, and particles per cell: the usual cases, one, or all."""
    cells = min(USUAL_LARGEST, options.largest_grid or USUAL_LARGEST)
    chosen = chosen_cases(STUDY, options.case, USUAL, CASES)
    return [row for name in chosen for row in box_rows(name, replace(CASES[name], cells=cells))]


def box_rows(name: str, box: Box) -> list[StudyRow]:
    began = time.perf_counter()
    found, published = box.run(SECONDS[box.reynolds]), GHIA[box.reynolds]
    ours = found.smallest()
    table, took = name, time.perf_counter() - began
    return [
        StudyRow(STUDY, table, box.cells, "u_smallest", "value", ours, published, ours / published, seconds=took),
        StudyRow(STUDY, table, box.cells, "u_scatter", "value", found.scatter(), seconds=took),
        StudyRow(STUDY, table, box.cells, "fewest_in_a_cell", "value", found.fewest, seconds=took),
        StudyRow(STUDY, table, box.cells, "most_in_a_cell", "value", found.most, seconds=took),
    ]
