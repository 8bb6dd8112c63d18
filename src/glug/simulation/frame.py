"""What a run hands over: statistics of a step, and a frame."""

from dataclasses import dataclass, field

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.solvers.stats import SolveStats


@dataclass(frozen=True)
class Amounts:
    """What some liquid has, or the change of it. A 2D scene is a sheet `dx` thick."""

    mass: float = 0.0  # [kg]
    kinetic: float = 0.0  # energy [J]
    potential: float = 0.0  # energy by gravity [J], 0 at the origin of coordinates
    momentum: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [kg m/s]
    angular: tuple[float, float, float] = (0.0, 0.0, 0.0)  # momentum about the origin of coordinates [kg m2/s]

    def __add__(self, other: "Amounts") -> "Amounts":
        (px, py, pz), (lx, ly, lz) = other.momentum, other.angular
        return Amounts(
            self.mass + other.mass,
            self.kinetic + other.kinetic,
            self.potential + other.potential,
            (self.momentum[0] + px, self.momentum[1] + py, self.momentum[2] + pz),
            (self.angular[0] + lx, self.angular[1] + ly, self.angular[2] + lz),
        )

    def __neg__(self) -> "Amounts":
        (px, py, pz), (lx, ly, lz) = self.momentum, self.angular
        return Amounts(-self.mass, -self.kinetic, -self.potential, (-px, -py, -pz), (-lx, -ly, -lz))

    def __sub__(self, other: "Amounts") -> "Amounts":
        return self + -other


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
    liquid: Amounts | None = None  # at the end of the step
    came: dict[str, Amounts] = field(default_factory=dict)  # from sources: what they poured and drove
    left: dict[str, Amounts] = field(default_factory=dict)  # through open sides (by name), into sinks, or squeezed out
    by_stage: dict[str, Amounts] = field(default_factory=dict)  # what each stage changed, with `output.budget`


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
