"""Does a bottle on its head glug?

The library scene `water-cooler`, with constraint bubbles and with a vacuum: the rate at which water has left the neck,
frame by frame, averaged over three frames. A glug is a minimum of that rate with a prominence above a fifth of its
mean. Air that comes in stops the water; in a vacuum it pours without a break. The pictures have the bottle with bubbles
above, in a vacuum below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.view.plot import Line, Panel, plot
from glug.view.scene_pictures import ScenePictures

NECK = 0.18  # [m] height of the plane in the neck through which the water leaves
WINDOW = 3  # frames
PROMINENCE = 0.2  # of the mean outflow
GRID, COARSEST = 104, 40
SHOWN, SIZE = (8, 20, 32, 48, 72), (220, 320)  # frames that are drawn, and pixels
LEFT = 0.1  # of the water: what happens to the last tenth does not count


@dataclass(frozen=True)
class Outflow:
    """Volume [m3] below the neck in every frame, and the frames' interval [s]."""

    below: np.ndarray
    total: float
    interval: float
    seconds: dict[str, float]  # spent on pressure and on whole steps
    pictures: list[np.ndarray] = field(default_factory=list)

    @property
    def begin(self) -> int:
        """The first frame in which water leaves."""
        return int(np.argmax(self.below > 0.0))

    @property
    def rate(self) -> np.ndarray:
        """[m3/s], from the first frame in which water leaves to the one in which all but a tenth has left."""
        end = int(np.argmax(self.below > (1.0 - LEFT) * self.total)) or len(self.below)
        flow = np.diff(self.below[self.begin : end]) / self.interval
        return np.convolve(flow, np.full(WINDOW, 1.0 / WINDOW), mode="valid")

    @property
    def glugs(self) -> int:
        """Minima of the rate."""
        from scipy.signal import find_peaks

        rate = self.rate
        return len(find_peaks(-rate, prominence=PROMINENCE * rate.mean())[0]) if len(rate) > 2 else 0


def follow(air: str, resolution: int, frames: int | None = None, shown: tuple[int, ...] = ()) -> Outflow:
    """A run of the scene, with pictures of the frames `shown`."""
    changes = {"solver.air": air, "domain.resolution": resolution}
    scene = load("water-cooler", changes if frames is None else {**changes, "time.frames": frames})
    simulation, drawn, pictures = Simulation(scene), ScenePictures(scene, SIZE), []
    particles, below = simulation.state.particles, [0.0]
    total, seconds = float(particles.volume.sum(dtype=np.float64)), {"pressure": 0.0, "step": 0.0}
    while simulation.state.frame < scene.time.frames:
        stats = simulation.step_once()
        seconds["pressure"] += stats.solves["pressure"].seconds + stats.solves["pressure"].setup_seconds
        seconds["step"] += sum(stats.seconds.values())
        if simulation.state.substep == 0:
            out = particles.position[:, 1] < NECK
            below.append(float(particles.volume[out].sum(dtype=np.float64)))
            if simulation.state.frame in shown:
                pictures.append(drawn.picture(simulation.frame().distance, simulation.state.time))
    return Outflow(np.array(below), total, 1.0 / scene.time.fps, seconds, pictures)


def illustrate(runs: dict[str, Outflow], name: str, folder: Path) -> None:
    """Pictures of the rates, and of the bottle."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for air, run in runs.items():
        times = (run.begin + 0.5 * WINDOW + np.arange(len(run.rate))) * run.interval
        lines.append(Line(f"{air}, {run.glugs} minima", list(times), list(1e6 * run.rate)))
    panel = Panel("outflow [ml/s]", "time [s]", "", lines)
    Image.fromarray(plot([panel], (800, 320))).save(folder / f"{name}-outflow.png", optimize=True)
    bottles = np.concatenate([np.concatenate(run.pictures, axis=1) for run in runs.values()])
    Image.fromarray(bottles).save(folder / f"{name}-frames.png", optimize=True)


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
    shown = SHOWN if options.pictures is not None else ()
    runs = {air: follow(air, resolution, shown=shown) for air in ("constraint", "vacuum")}
    if options.pictures is not None:
        illustrate(runs, options.name, options.pictures)
    return [row for air, run in runs.items() for row in rows_of(options.name, air, resolution, run)]
