"""What a run hands over: statistics of a step, and a frame."""

from dataclasses import dataclass, field

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.solvers.stats import SolveStats


@dataclass
class StepStats:
    """One step of the simulation, one line of `stats.jsonl`."""

    step: int
    frame: int  # the frame this step leads to
    time: float  # [s] at the end of the step
    dt: float  # [s]
    particles: int
    cells: int  # in the window
    liquid_volume: float  # [m3], the sum of the solver's fractions
    target_volume: float  # [m3], what the particles carry
    max_speed: float  # [m/s]
    seconds: dict[str, float] = field(default_factory=dict)  # wall time by stage
    solves: dict[str, SolveStats] = field(default_factory=dict)  # by stage: pressure, viscosity, ...
    warnings: list[str] = field(default_factory=list)
    bubbles: list[dict[str, float]] = field(default_factory=list)  # id, volume and rest volume [m3], cells: closed air
    air_lost: float = 0.0  # [m3] that bubbles had lost by the step before, until their surfaces were moved


@dataclass(frozen=True)
class BodyPose:
    """Where a moving solid is: x -> rotation x + translation maps its rest shape into the world."""

    name: str
    rotation: np.ndarray  # (3, 3)
    translation: np.ndarray  # (3,) [m]


@dataclass(frozen=True)
class Frame:
    """The liquid at a frame's time. Frame 0 is the initial state."""

    index: int
    time: float  # [s]
    surface: SurfaceMesh
    particles: dict[str, np.ndarray]  # position, velocity (n, 3); id, age (n,); temperature, viscosity if used
    distance: SampledDistance  # the surface's signed distance
    bodies: list[BodyPose]
    stats: list[StepStats]  # the steps since the frame before
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # phi, u, v, w, p when asked for
