"""What small free surfaces under tension do by theory, and what a run did: periods, damping, growth.

Lengths are in units of the domain's longest side, density is 1000 and gamma is 1: only ratios count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from glug.physics.tension.pressure import capillary_step
from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stages

GAMMA, DENSITY = 1.0, 1000.0
SMALL = 1e-4  # step of difference quotients, in radii or domains
Change = Callable[[Stages], Stages]
Potential = Callable[[np.ndarray], np.ndarray]  # of points (n, dim)


def as_it_is(stages: Stages) -> Stages:
    """All of them."""
    return stages


def with_constant_curvature(stages: Stages) -> Stages:
    """Control: the same curvature everywhere, which moves nothing."""
    return stages.replaced("tension", _constant)


def _constant(context: StepContext) -> None:
    context.surface_jump = context.grid.staggered()


@dataclass(frozen=True)
class Method:
    """How tension is solved for: the form, steps in units of sqrt(rho dx^3 / gamma), transfer."""

    form: str = "explicit"
    step: float = 0.25
    transfer: str = "auto"

    def scene(self, cells: int, dx: float) -> dict[str, Any]:
        """The keys of a scene that have to do with it; a frame is a step."""
        dt = self.step * capillary_step(GAMMA, DENSITY, dx)
        return {
            "time": {"fps": 1.0 / dt, "frames": 1, "max_substeps": 1, "capillary": 2.0},
            "liquids": {"water": {"density": DENSITY, "viscosity": 0.0, "surface_tension": GAMMA}},
            "solver": {"tension": self.form, "transfer": self.transfer},
            "gravity": [0.0, 0.0, 0.0],
        }


EXPLICIT = Method()


def set_off(simulation: Simulation, potential: Potential, dim: int) -> None:
    """Give the particles the velocity grad(potential), and its gradient (times dx) where they carry one."""
    particles, dx = simulation.state.particles, simulation.setting.dx
    x = particles.position[:, :dim].astype(float)
    steps = SMALL * np.eye(dim)

    def velocity(points: np.ndarray) -> np.ndarray:
        return np.stack([potential(points + h) - potential(points - h) for h in steps], axis=1) / (2 * SMALL)

    particles.velocity[:, :dim] = velocity(x)
    if particles.has("affine"):
        for b, h in enumerate(steps):
            change = (velocity(x + 10 * h) - velocity(x - 10 * h)) * (dx / (20 * SMALL))
            for a in range(dim):
                particles.affine[:, 3 * a + b] = change[:, a]


@dataclass
class Moments:
    """A moment of the liquid that is proportional to the amplitude, step by step, and its momentum."""

    of: Potential
    dim: int
    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    momentum: float = 0.0  # largest speed of the centre of mass

    def run(self, simulation: Simulation, steps: int) -> Moments:
        """Follow a simulation."""
        for _ in range(steps):
            simulation.step_once()
            particles = simulation.state.particles
            volume = particles.volume[:, 0].astype(float)
            self.times.append(simulation.state.time)
            moment = volume @ self.of(particles.position[:, : self.dim].astype(float))
            self.values.append(float(moment / volume.sum()))
            drift = np.linalg.norm(volume @ particles.velocity.astype(float)) / volume.sum()
            self.momentum = max(self.momentum, float(drift))
        return self

    def oscillation(self, omega: float) -> tuple[float, float]:
        """Period over theory, and the amplitude that a period keeps; nan where nothing oscillates."""
        t, y = omega * np.array(self.times), np.array(self.values)

        def model(t: np.ndarray, *p: float) -> np.ndarray:
            return np.exp(-p[3] * t) * (p[0] * np.sin(p[2] * t) + p[1] * np.cos(p[2] * t)) + p[4]

        scale = np.abs(y - y.mean()).max()
        try:
            p, _ = curve_fit(model, t, (y - y.mean()) / scale, p0=[1.0, 0.0, 1.0, 0.0, 0.0], maxfev=5000)
        except RuntimeError:
            return math.nan, math.nan
        return 1.0 / float(abs(p[2])), float(np.exp(np.clip(-p[3] * 2 * math.pi / abs(p[2]), -50.0, 50.0)))

    def growth(self, rate: float) -> float:
        """The rate of sinh(rate t) over theory."""
        t, y = rate * np.array(self.times), np.array(self.values)
        y = (y - y[0]) / (y[-1] - y[0])
        p, _ = curve_fit(lambda t, a, s: a * np.sinh(s * t), t, y, p0=[1.0 / math.sinh(t[-1]), 1.0], maxfev=5000)
        return float(abs(p[1]))
