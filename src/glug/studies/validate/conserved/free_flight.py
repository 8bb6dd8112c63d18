"""Honey in free space: a ball that turns, two balls that collide. Nothing touches it, so its momenta stay.

A ball that turns at omega is pulled apart by rho omega^2 R^2 and spreads at about that over its viscosity mu: in one
turn by a few times rho omega R^2 / mu. That is 1e-3 at most here, so that the ball stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.grids.extrapolate import extrapolate
from glug.particles.momenta import Groups, Momenta, momenta_of
from glug.physics import kernels
from glug.physics.velocity import OPEN
from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stages
from glug.simulation.stages.transfer import fastest

DENSITY = 1400.0
MIDDLE = np.array([0.5, 0.5, 0.5])  # of the domain, a metre wide

Change = Callable[[Stages], Stages]


def as_it_is(stages: Stages) -> Stages:
    """All of them."""
    return stages


def without_keeping(stages: Stages) -> Stages:
    """Control: nothing gives back what a step loses."""
    return stages.without("weigh", "keep_momentum")


def with_constants_beyond(stages: Stages) -> Stages:
    """Control: the same, and velocities are continued beyond the surface as constants."""
    return without_keeping(stages).replaced("extrapolate", _constants_beyond)


def _constants_beyond(context: StepContext) -> None:
    """Known faces, one layer, spray, and further layers, where no solid is near."""
    layers = math.ceil(context.setting.scene.time.cfl) + 2
    for a, u in enumerate(context.velocity):
        known = np.empty(u.shape, np.uint8)
        kernels.known_faces(a, context.wet, context.solid.area[a], OPEN, OPEN, known)
        extrapolate(u, known, 1)
        kernels.adopt_spray(context.solid.area[a], context.reached[a], OPEN, known)
        extrapolate(u, known, layers - 1)
        kernels.clear_unknown(known, u)
    context.speed = fastest(context.velocity)


def momenta(simulation: Simulation) -> Momenta:
    """Of all the liquid, as one group."""
    particles = simulation.state.particles
    grid = simulation.setting.window(particles.position, [])
    return momenta_of(particles, particles.volume, grid, Groups.one(particles))


@dataclass(frozen=True)
class InSpace:
    """Honey in open space, without gravity."""

    cells: int
    viscosity: float = 10.0
    transfer: str = "auto"

    def scene_of(self, name: str, volumes: list[dict[str, Any]], time: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "domain": {"size": [1, 1, 1], "resolution": self.cells, "sides": "open"},
            "gravity": [0, 0, 0],
            "liquids": {"honey": {"density": DENSITY, "viscosity": self.viscosity}},
            "volumes": [{"liquid": "honey"} | volume for volume in volumes],
            "time": time,
            "solver": {"transfer": self.transfer},
        }


@dataclass(frozen=True)
class Turned:
    """A ball after some turns."""

    angular: float  # angular momentum over that of the beginning
    tilt: float  # of its direction [degrees]
    shape: float  # largest change of the semi-axes and of the outermost particle's distance [cells]
    centre: float  # from its line [cells]; seeding leaves the ball a little momentum


@dataclass(frozen=True)
class Ball(InSpace):
    """A ball in the middle of open space that turns about an axis which is none of the grid's."""

    steps_per_turn: int = 60
    spreading: float = 1e-3  # rho omega R^2 / mu
    radius: float = 0.25
    axis: tuple[float, float, float] = (0.36, 0.48, 0.8)

    @property
    def spin(self) -> float:
        """[rad/s]"""
        return self.spreading * self.viscosity / (DENSITY * self.radius**2)

    def scene(self) -> dict[str, Any]:
        sphere = {"kind": "sphere", "centre": MIDDLE.tolist(), "radius": self.radius}
        turning = {"shape": sphere, "spin": (self.spin * np.array(self.axis)).tolist()}
        fps = self.spin / (2 * math.pi) * self.steps_per_turn
        return self.scene_of("ball", [turning], {"fps": fps, "frames": 1, "max_substeps": 1})

    def turned(self, turns: float, change: Change = as_it_is) -> Turned:
        """After some turns, with the stages that `change` leaves."""
        simulation = Simulation(self.scene(), stages=change)
        begin, axes, reach = momenta(simulation), semi_axes(simulation), outermost(simulation)
        for _ in range(round(turns * self.steps_per_turn)):
            simulation.step_once()
        end = momenta(simulation)
        before, after = begin.angular[0], end.angular[0]
        size = float(np.linalg.norm(after) / np.linalg.norm(before))
        across = np.linalg.norm(np.cross(before, after))
        line = begin.centre[0] + simulation.state.time * begin.momentum[0] / begin.mass[0]
        moved = max(np.abs(semi_axes(simulation) - axes).max(), abs(outermost(simulation) - reach))
        return Turned(
            size,
            math.degrees(math.atan2(across, before @ after)),
            float(moved) * self.cells,
            float(np.linalg.norm(end.centre[0] - line)) * self.cells,
        )


def semi_axes(simulation: Simulation) -> np.ndarray:
    """Those of the ellipsoid with the liquid's second moments [m]."""
    particles = simulation.state.particles
    mass, x = particles.volume[:, 0].astype(float), particles.position.astype(float)
    from_centre = x - mass @ x / mass.sum()
    return np.sqrt(5.0 * np.linalg.eigvalsh((from_centre.T * mass) @ from_centre / mass.sum()))


def outermost(simulation: Simulation) -> float:
    """Distance of the farthest particle from the centre of mass [m]."""
    particles = simulation.state.particles
    mass, x = particles.volume[:, 0].astype(float), particles.position.astype(float)
    return float(np.linalg.norm(x - mass @ x / mass.sum(), axis=1).max())


@dataclass(frozen=True)
class Collided:
    """The largest departures while two balls meet."""

    momentum: float  # over that of the beginning
    angular: float  # the same, about the middle of the domain
    centre: float  # from its line [cells]
    energy: float  # that is left in the end, of that of the beginning


@dataclass(frozen=True)
class Collision(InSpace):
    """Two balls meet off their centres and stick together."""

    fps: float = 60.0

    def scene(self) -> dict[str, Any]:
        balls = [
            {"shape": {"kind": "sphere", "centre": [0.3, 0.46, 0.5], "radius": 0.12}, "velocity": [0.4, 0, 0.05]},
            {"shape": {"kind": "sphere", "centre": [0.7, 0.54, 0.5], "radius": 0.12}, "velocity": [-0.3, 0, 0]},
        ]
        return self.scene_of("collision", balls, {"fps": self.fps, "frames": 1})

    def collided(self, seconds: float, change: Change = as_it_is) -> Collided:
        """After some seconds, with the stages that `change` leaves."""
        simulation = Simulation(self.scene(), stages=change)
        begin = momenta(simulation)
        speed = begin.momentum[0] / begin.mass[0]
        spin = begin.angular_about(MIDDLE)[0]
        momentum = angular = centre = 0.0
        left = 1.0
        while simulation.state.time < seconds - 1e-9:
            simulation.step_once()
            now = momenta(simulation)
            line = begin.centre[0] + simulation.state.time * speed
            momentum = max(momentum, _relative(now.momentum[0], begin.momentum[0]))
            angular = max(angular, _relative(now.angular_about(MIDDLE)[0], spin))
            centre = max(centre, float(np.linalg.norm(now.centre[0] - line)) * self.cells)
            left = float(now.energy[0] / begin.energy[0])
        return Collided(momentum, angular, centre, left)


def _relative(now: np.ndarray, begin: np.ndarray) -> float:
    """Length of a change over that of what has changed."""
    return float(np.linalg.norm(now - begin) / np.linalg.norm(begin))
