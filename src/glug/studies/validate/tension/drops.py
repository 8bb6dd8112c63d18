"""A drop without gravity: at rest, and ringing in one mode (Rayleigh 1879; Lamb 1932, section 275).

    omega^2 = n (n - 1) (n + 2) gamma / (rho R^3)         a ball, in 2D a disc: n (n^2 - 1) gamma / (rho R^3)

It begins round, with the velocity of the mode; the moment of its solid harmonic is its amplitude.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stage
from glug.studies.validate.tension import oscillation
from glug.studies.validate.tension.oscillation import DENSITY, EXPLICIT, GAMMA, Change, Method, Moments, as_it_is

ROOM = {2: 2.0, 3: 1.6}  # half the domain, in radii
DEEP = -0.3  # depth below the surface, in radii, where pressures are read
AT_POLE = {2: 2.0, 3: 2.0, 4: 8.0}  # the solid harmonics below at (0, 0, 1)


def solid_harmonic(x: np.ndarray, n: int) -> np.ndarray:
    """r^n cos(n angle) in 2D, r^n P_n(cos(angle)) in 3D, which is 1 at distance 1 on its axis."""
    if x.shape[1] == 2:
        return ((x[:, 0] + 1j * x[:, 1]) ** n).real
    z, s = x[:, 2], x[:, 0] ** 2 + x[:, 1] ** 2
    values = {2: 2 * z**2 - s, 3: z * (2 * z**2 - 3 * s), 4: 8 * z**4 - 24 * z**2 * s + 3 * s**2}
    return values[n] / AT_POLE[n]


@dataclass(frozen=True)
class Drop:
    """A drop whose radius is `cells` cells."""

    cells: float
    dim: int = 2
    method: Method = EXPLICIT

    @property
    def dx(self) -> float:
        return 1.0 / math.ceil(2 * ROOM[self.dim] * self.cells)

    @property
    def radius(self) -> float:
        return self.cells * self.dx

    @property
    def speed(self) -> float:
        """sqrt(gamma / (rho R)), by which spurious currents are measured."""
        return math.sqrt(GAMMA / (DENSITY * self.radius))

    def omega(self, n: int) -> float:
        number = n * (n * n - 1) if self.dim == 2 else n * (n - 1) * (n + 2)
        return math.sqrt(number * GAMMA / (DENSITY * self.radius**3))

    def scene(self) -> dict[str, Any]:
        size, cells = [1.0] * self.dim, math.ceil(2 * ROOM[self.dim] * self.cells)
        ball = {"kind": "sphere", "centre": [0.5] * self.dim, "radius": self.radius}
        return self.method.scene(cells, self.dx) | {
            "name": "drop",
            "domain": {"size": size, "resolution": cells, "sides": "open"},
            "volumes": [{"liquid": "water", "shape": ball}],
        }

    def ring(self, n: int, periods: float = 1.3, amplitude: float = 0.05, change: Change = as_it_is) -> Moments:
        """Mode n, from its motion through the round shape on."""
        simulation, omega = Simulation(self.scene(), stages=change), self.omega(n)
        strength = amplitude * omega * self.radius**2 / n

        def harmonic(x: np.ndarray) -> np.ndarray:
            return solid_harmonic((x - 0.5) / self.radius, n)

        oscillation.set_off(simulation, lambda x: strength * harmonic(x), self.dim)
        dt = 1.0 / simulation.scene.time.fps
        return Moments(harmonic, self.dim).run(simulation, math.ceil(periods * 2 * math.pi / omega / dt))

    def at_rest(self, steps: int, change: Change = as_it_is) -> Rest:
        """What a round drop does, which should be nothing."""
        pressures: list[float] = []

        def read(context: StepContext) -> None:
            inside = context.phi < DEEP * self.radius
            assert context.q is not None
            to_pascal = DENSITY * context.grid.dx / context.acting
            pressures.append(float(context.q[inside].mean()) * to_pascal)

        simulation = Simulation(self.scene(), stages=lambda s: change(s).after("pressure", Stage("read", read)))
        for _ in range(steps):
            simulation.step_once()
        fastest = float(np.linalg.norm(simulation.state.particles.velocity, axis=1).max())
        jump = pressures[0] / ((self.dim - 1) * GAMMA / self.radius)
        return Rest(jump, fastest / self.speed)


@dataclass(frozen=True)
class Rest:
    """A round drop after some steps."""

    jump: float  # pressure inside over Laplace's, in the first step
    speed: float  # of the fastest particle over sqrt(gamma / (rho R))
