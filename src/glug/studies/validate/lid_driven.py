"""`glug validate lid-driven`: a full square box whose lid slides, in 2D, until the flow is steady.

Ghia, Ghia and Shin 1982 (J. Comput. Phys. 48, Table I) give the velocity on the centre lines; its smallest value along
the lid on the vertical one is what numerical viscosity takes from. The box stays full: particles per cell are counted
as solves see them, in every step of the second half. `3d` is the same flow in a slab between slip walls.

`flip-1` is FLIP without PIC, `apic` APIC; in the rows `pushed-once`, the controls, pressure pushes particles at one end
of their paths only (`docs/theory/motion.md`): what they lack of the others is the viscosity of the time step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
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
SECONDS = {100: 15.0, 400: 30.0}  # of a unit box and a unit speed: steady to 1%
LID = 4  # cells: how thick it is
SLAB = 4  # cells: how thick the box is in 3D
NOMINAL = {2: 4, 3: 8}  # particles per cell
FAR = 200.0  # [m]: the lid is long enough to slide all the time


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

    def run(self, seconds: float) -> tuple[Simulation, tuple[float, float]]:
        """The box after some seconds; fewest and most particles in a cell as solves saw them in the second half."""
        fewest, most = [np.inf], [0.0]

        def count(context: StepContext) -> None:
            if context.state.time > 0.5 * seconds:
                low, high = self.per_cell(context.state.particles)
                fewest[0], most[0] = min(fewest[0], low), max(most[0], high)

        def stages(usual: Stages) -> Stages:
            counted = usual.after("reseed", Stage("count", count))
            return counted.after("volumes", Stage("once", _once)) if self.pushed_once else counted

        simulation = Simulation(self.scene(), stages=stages)
        while simulation.state.time < seconds - 1e-9:
            simulation.step_once()
        return simulation, (fewest[0], most[0])

    def smallest(self, simulation: Simulation) -> float:
        """The smallest velocity along the lid on the vertical centre line, between samples by a parabola [m/s]."""
        fields = simulation.state.fields
        corner, u = fields["corner"], fields["u"].astype(float)
        middle = round(-corner[2] / self.dx) + SLAB // 2 if self.dim == 3 else 0  # of the slab
        u = u[:, :, middle]
        place = (0.5 - corner[0]) / self.dx
        i = int(np.floor(place))
        line = (1 - place + i) * u[i] + (place - i) * u[i + 1]
        y = corner[1] + (np.arange(len(line)) + 0.5) * self.dx
        j = int(np.argmin(np.where((y > 0) & (y < 1), line, np.inf)))
        below, here, above = line[j - 1 : j + 2]
        bend = below - 2 * here + above
        return float(here - (above - below) ** 2 / (8 * bend)) if bend > 0 else float(here)

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
    simulation, (fewest, most) = box.run(SECONDS[box.reynolds])
    ours, published = box.smallest(simulation), GHIA[box.reynolds]
    table, took = name, time.perf_counter() - began
    return [
        StudyRow(STUDY, table, box.cells, "u_smallest", "value", ours, published, ours / published, seconds=took),
        StudyRow(STUDY, table, box.cells, "fewest_in_a_cell", "value", fewest, seconds=took),
        StudyRow(STUDY, table, box.cells, "most_in_a_cell", "value", most, seconds=took),
    ]
