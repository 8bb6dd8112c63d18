"""A capillary wave in a tank, and a thread that breaks (Lamb 1932, sections 267 and 273; Rayleigh 1878).

    omega^2 = gamma k^3 / rho tanh(k h)                          a wave of number k on water of depth h
    rate^2  = gamma / (rho R^3) x (1 - x^2) I1(x) / I0(x)        a thread of radius R, x = k R < 1

Both begin flat or straight with the velocity of the mode, between slip walls at its crests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import i0, i1

from glug.simulation import Simulation
from glug.studies.validate.tension import oscillation
from glug.studies.validate.tension.oscillation import DENSITY, EXPLICIT, GAMMA, Change, Method, Moments, as_it_is

DEPTH, HEIGHT = 0.5, 0.75  # of the water and of the tank, in wavelengths
ROOM = 2.0  # half the width of a thread's domain, in radii
BULGE = 0.02  # amplitude that a thread begins to grow from, in radii; at the left wall, where it is negative a neck


@dataclass(frozen=True)
class CapillaryWave:
    """A wave `cells` long, between its crests."""

    cells: int
    method: Method = EXPLICIT

    @property
    def omega(self) -> float:
        k = 2 * math.pi
        return math.sqrt(GAMMA * k**3 / DENSITY * math.tanh(k * DEPTH))

    def swing(self, periods: float = 1.3, amplitude: float = 0.01, change: Change = as_it_is) -> Moments:
        """The wave from its flat moment on; `amplitude` in wavelengths."""
        water = {"kind": "box", "lower": [-1.0, -1.0], "upper": [2.0, DEPTH]}
        scene = self.method.scene(self.cells, 1.0 / self.cells) | {
            "name": "wave",
            "domain": {"size": [1.0, HEIGHT], "resolution": self.cells, "sides": "slip"},
            "volumes": [{"liquid": "water", "shape": water}],
        }
        simulation, k = Simulation(scene, stages=change), 2 * math.pi
        strength = amplitude * self.omega / (k * math.sinh(k * DEPTH))
        oscillation.set_off(simulation, lambda x: strength * np.cosh(k * x[:, 1]) * np.cos(k * x[:, 0]), 2)
        steps = math.ceil(periods * 2 * math.pi / self.omega * simulation.scene.time.fps)
        return Moments(lambda x: x[:, 1] * np.cos(k * x[:, 0]), 2).run(simulation, steps)


@dataclass(frozen=True)
class Thread:
    """Half a wave of a thread with a radius of `cells` cells, and k R = `number`."""

    cells: float
    number: float
    method: Method = EXPLICIT

    @property
    def length(self) -> float:
        """Of half a wave, in radii."""
        return math.pi / self.number

    @property
    def rate(self) -> float:
        """Of growth, times sqrt(rho R^3 / gamma)."""
        x = self.number
        return math.sqrt(x * (1 - x * x) * i1(x) / i0(x))

    def grow(self, times: float = 2.0, amplitude: float = BULGE, change: Change = as_it_is) -> float:
        """The rate over theory, over some times of 1 / rate; the amplitude would begin as one in radii."""
        resolution = math.ceil(max(self.length, 2 * ROOM) * self.cells)
        radius = self.length**-1 if self.length > 2 * ROOM else 1 / (2 * ROOM)
        dx = max(self.length, 2 * ROOM) * radius / resolution
        wide = 2 * ROOM * radius
        thread = {"kind": "cylinder", "start": [-1, 0, 0], "end": [2, 0, 0], "radius": radius}
        sides = dict.fromkeys(("bottom", "top", "back", "front"), "open") | {"left": "slip", "right": "slip"}
        domain = {"size": [self.length * radius, wide, wide], "origin": [0, -wide / 2, -wide / 2]}
        scene = self.method.scene(resolution, dx) | {
            "name": "thread",
            "domain": domain | {"resolution": resolution, "sides": sides},
            "volumes": [{"liquid": "water", "shape": thread}],
        }
        simulation = Simulation(scene, stages=change)
        k, rate = self.number / radius, self.rate * math.sqrt(GAMMA / (DENSITY * radius**3))
        strength = amplitude * radius * rate / (k * i1(self.number))

        def potential(x: np.ndarray) -> np.ndarray:
            return strength * i0(k * np.hypot(x[:, 1], x[:, 2])) * np.cos(k * x[:, 0])

        oscillation.set_off(simulation, potential, 3)
        steps = math.ceil(times / rate * simulation.scene.time.fps)
        return Moments(lambda x: np.cos(k * x[:, 0]), 3).run(simulation, steps).growth(rate)
