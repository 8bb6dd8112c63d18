"""Does a bottle on its head glug?

The library scene `water-cooler`, with constraint bubbles and with a vacuum: the rate at which water has left the neck,
frame by frame, averaged over WINDOW frames. A glug is a minimum of that rate with a prominence above a fifth of its
mean. Air that comes in stops the water; in a vacuum it pours without a break.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

NECK = 0.18  # [m] height of the plane in the neck through which the water leaves
WINDOW = 3  # frames
PROMINENCE = 0.2  # of the mean outflow
GRID, COARSEST = 104, 40
LEFT = 0.1  # of the water: what happens to the last tenth does not count


@dataclass(frozen=True)
class Outflow:
    """Volume [m3] below the neck in every frame, and the frames' interval [s]."""

    below: np.ndarray
    total: float
    interval: float
    seconds: dict[str, float]  # spent on pressure and on whole steps

    @property
    def rate(self) -> np.ndarray:
        """[m3/s], from the first frame in which water leaves to the one in which all but a tenth has left."""
        begin = int(np.argmax(self.below > 0.0))
        end = int(np.argmax(self.below > (1.0 - LEFT) * self.total)) or len(self.below)
        flow = np.diff(self.below[begin:end]) / self.interval
        return np.convolve(flow, np.full(WINDOW, 1.0 / WINDOW), mode="valid")

    @property
    def glugs(self) -> int:
        """Minima of the rate."""
        from scipy.signal import find_peaks

        rate = self.rate
        return len(find_peaks(-rate, prominence=PROMINENCE * rate.mean())[0]) if len(rate) > 2 else 0


def follow(air: str, resolution: int, frames: int | None = None) -> Outflow:
    """A run of the scene."""
    changes = {"solver.air": air, "domain.resolution": resolution}
    scene = load("water-cooler", changes if frames is None else {**changes, "time.frames": frames})
    simulation = Simulation(scene)
    particles, below = simulation.state.particles, [0.0]
    total, seconds = float(particles.volume.sum(dtype=np.float64)), {"pressure": 0.0, "step": 0.0}
    while simulation.state.frame < scene.time.frames:
        stats = simulation.step_once()
        seconds["pressure"] += stats.solves["pressure"].seconds + stats.solves["pressure"].setup_seconds
        seconds["step"] += sum(stats.seconds.values())
        if simulation.state.substep == 0:
            out = particles.position[:, 1] < NECK
            below.append(float(particles.volume[out].sum(dtype=np.float64)))
    return Outflow(np.array(below), total, 1.0 / scene.time.fps, seconds)


def rows_of(name: str, label: str, grid: int, outflow: Outflow) -> Iterable[StudyRow]:
    rate = outflow.rate
    for quantity, value in (
        ("outflow_minima", outflow.glugs),
        ("mean_outflow_ml_s", 1e6 * float(rate.mean())),
        ("emptied_percent", 100.0 * float(outflow.below[-1]) / outflow.total),
        ("pressure_seconds", outflow.seconds["pressure"]),
        ("step_seconds", outflow.seconds["step"]),
    ):
        yield StudyRow(name, label, grid, quantity, "value", value)


def study(options: StudyOptions) -> list[StudyRow]:
    """Two runs: bubbles, and the vacuum that must not glug."""
    resolution = min(options.largest_grid or GRID, GRID)
    if resolution < COARSEST:
        raise InputError(f"--max {options.largest_grid}: the neck needs {COARSEST} cells along the bottle at least")
    rows: list[StudyRow] = []
    for air in ("constraint", "vacuum"):
        rows += rows_of(options.name, air, resolution, follow(air, resolution))
    return rows
