"""A standing wave in a tank, long enough for particles to line up: frequency, energy, voids and crowds.

To first order in its amplitude a the wave of wavelength 2 L in water of depth h has the potential

    phi = a omega / (k sinh(k h)) cosh(k y) cos(k x) cos(omega t),     k = pi / L,    omega^2 = g k tanh(k h),

and the energy g a^2 L / 4 for every unit of density and width, which the particles begin with as motion. Nothing gives
it more. The potential energy is that of the present amplitude, from the first moment of the liquid with cos(k x): the
mean height of all particles would be no measure, since a hundredth of a cell of it has more than the wave. Velocities
are half a step ahead of places, so it is the product of the amplitudes at a step's begin and end: leapfrog keeps that
sum of an oscillation exactly, at any step. What collapses shows in the kinetic energy, which counts all motion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glug.particles.momenta import Groups, momenta_of
from glug.particles.transfer import to_cells
from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stage, Stages

LENGTH, DEPTH, HEIGHT = 1.0, 0.5, 0.75  # of the tank, of the water, of the tank again [m]
AMPLITUDE = 0.01  # [m]: slope 0.03, so that the formula is off by 1e-3
GRAVITY = 9.81
NUMBER = math.pi / LENGTH  # of the wave [1/m]
FREQUENCY = math.sqrt(GRAVITY * NUMBER * math.tanh(NUMBER * DEPTH))  # omega [1/s]
SLAB = 8  # cells: the depth of the tank in 3D
LEAST_LEFT = 0.1  # of the amplitude, for a frequency
MARGIN = 2  # cells below the lowest surface, from where on all cells must be full


@dataclass(frozen=True)
class Wave:
    """A tank with `cells` along its length."""

    cells: int
    fps: float = 120.0
    cfl: float = 2.0
    transfer: str = "flip"
    dim: int = 2
    volume_correction: float = 1.0  # 0 is a control
    even: bool = True  # False is another: crowds are left as they are
    seed: int = 0

    @property
    def dx(self) -> float:
        return LENGTH / self.cells

    @property
    def width(self) -> float:
        """Of the tank across the wave [m]."""
        return self.dx if self.dim == 2 else SLAB * self.dx

    def scene(self) -> dict[str, Any]:
        size, upper = [LENGTH, HEIGHT, SLAB * self.dx], [2 * LENGTH, DEPTH, 2 * LENGTH]
        water = {"kind": "box", "lower": [-LENGTH] * self.dim, "upper": upper[: self.dim]}
        return {
            "name": "wave",
            "seed": self.seed,
            "domain": {"size": size[: self.dim], "resolution": self.cells, "sides": "slip"},
            "time": {"fps": self.fps, "frames": 1, "cfl": self.cfl},
            "gravity": [0, -GRAVITY, 0],
            "liquids": {"water": {"density": 1000.0, "viscosity": 0.0}},
            "volumes": [{"liquid": "water", "shape": water}],
            "solver": {"transfer": self.transfer, "volume_correction": self.volume_correction},
        }

    def start(self, simulation: Simulation) -> None:
        """Give the particles the velocity of the wave through its flat moment, and its gradient (times dx)."""
        particles = simulation.state.particles
        x, y = NUMBER * particles.position[:, 0].astype(float), NUMBER * particles.position[:, 1].astype(float)
        speed = AMPLITUDE * FREQUENCY / math.sinh(NUMBER * DEPTH)
        particles.velocity[:, 0] = -speed * np.cosh(y) * np.sin(x)
        particles.velocity[:, 1] = speed * np.sinh(y) * np.cos(x)
        if particles.has("affine"):
            change = speed * NUMBER * self.dx
            stretch, shear = change * np.cosh(y) * np.cos(x), change * np.sinh(y) * np.sin(x)
            particles.affine[:, 0], particles.affine[:, 4] = -stretch, stretch
            particles.affine[:, 1] = particles.affine[:, 3] = -shear


@dataclass
class Watch:
    """What a wave has done so far, step by step."""

    wave: Wave
    void: int = 0  # cells from the surface down to the deepest cell that a solve took for air
    fewest: int = 10**9  # particles in a cell that must be full
    most: int = 0
    thinnest: float = math.inf  # what such a cell carries off the walls, shared between centres, over what it holds
    fullest: float = 0.0
    times: list[float] = field(default_factory=list)
    amplitudes: list[float] = field(default_factory=list)  # [m]
    kinetic: list[float] = field(default_factory=list)  # energy per unit of density
    heights: list[float] = field(default_factory=list)  # mean of all particles [m]

    def cells(self, context: StepContext) -> None:
        """A stage after the liquid is known: the deepest void, the fewest and the most particles in a cell."""
        grid, wave = context.grid, self.wave
        lo = np.array(grid.lo)
        shape = np.round(np.array([LENGTH, HEIGHT, wave.width]) / wave.dx).astype(int)
        begin, end = np.maximum(-lo, 0), np.minimum(shape - lo, grid.shape)
        tank = tuple(slice(b, e) for b, e in zip(begin, end))
        wet = context.wet[tank] > 0
        top = wet.shape[1] - 1 - np.argmax(wet[:, ::-1], axis=1)  # of every column
        depth = top[:, None] - np.arange(wet.shape[1])[None, :, None]
        self.void = max(self.void, int(np.where(wet, 0, depth).max()))
        count = np.diff(context.state.particles.start[: grid.cells + 1]).reshape(grid.shape)[tank]
        full = math.floor((DEPTH - AMPLITUDE) / wave.dx) - MARGIN
        deep = count[:, : full - (begin[1] + lo[1])]
        self.fewest, self.most = min(self.fewest, int(deep.min())), max(self.most, int(deep.max()))
        particles = context.state.particles
        carried = to_cells(particles.volume * np.float32(grid.dx**-3), particles, grid)[tank]
        across = slice(1, -1) if wave.dim == 3 else slice(None)
        inner = carried[1:-1, 1 : full - (begin[1] + lo[1]), across]
        self.thinnest, self.fullest = min(self.thinnest, float(inner.min())), max(self.fullest, float(inner.max()))

    def measure(self, simulation: Simulation) -> None:
        """Amplitude, kinetic energy and mean height."""
        particles, setting = simulation.state.particles, simulation.setting
        grid = setting.window(particles.position, [])
        mass, x = particles.volume[:, 0].astype(float), particles.position.astype(float)
        moment = float(mass @ (x[:, 1] * np.cos(NUMBER * x[:, 0])))
        self.times.append(simulation.state.time)
        self.amplitudes.append(2.0 * moment / (DEPTH * LENGTH * self.wave.width))
        self.kinetic.append(float(momenta_of(particles, particles.volume, grid, Groups.one(particles)).energy[0]))
        self.heights.append(float(mass @ x[:, 1]) / float(mass.sum()))

    def frequency(self) -> float:
        """omega of the mode over that of the formula, from where it passes its mean upwards; nan before two periods.

        While it has LEAST_LEFT of its first amplitude: what is left of a damped wave passes zero as its noise has it.
        """
        t, a = np.array(self.times), np.array(self.amplitudes) - np.mean(self.amplitudes)
        large = np.flatnonzero(np.abs(a) >= LEAST_LEFT * AMPLITUDE)
        t, a = (values[: large[-1] + 1] if len(large) else values for values in (t, a))
        up = np.flatnonzero((a[:-1] < 0) & (a[1:] >= 0))
        crossed = t[up] - a[up] * (t[up + 1] - t[up]) / (a[up + 1] - a[up])
        return 2 * math.pi / float(np.diff(crossed).mean()) / FREQUENCY if len(crossed) > 2 else math.nan

    def energy(self) -> float:
        """The largest energy of the wave so far, over the first; nan before a period.

        Amplitudes count from where the mode rests, their mean over the period around: a hundredth of a cell by which
        particles and their surface differ would be some percent of it. So half a period at both ends is left out.
        """
        times, amplitudes, half = np.array(self.times), np.array(self.amplitudes), math.pi / FREQUENCY
        inner = (times >= half) & (times <= times[-1] - half)
        if inner.sum() < 2:
            return math.nan
        summed = np.append(0.0, np.cumsum(0.5 * (amplitudes[1:] + amplitudes[:-1]) * np.diff(times)))
        ends = (np.interp(times[inner] + side, times, summed) for side in (half, -half))
        amplitude = amplitudes[inner] - (next(ends) - next(ends)) / (2.0 * half)
        kinetic = np.array(self.kinetic)[inner]
        potential = 0.25 * GRAVITY * LENGTH * self.wave.width * amplitude[1:] * amplitude[:-1]
        return float((kinetic[1:] + potential).max() / self.kinetic[0])

    def left(self) -> float:
        """The amplitude of the last period over the first: what the wave has kept."""
        last = np.array(self.amplitudes)[np.array(self.times) >= self.times[-1] - 2 * math.pi / FREQUENCY]
        return float(last.max() - last.min()) / (2.0 * AMPLITUDE)

    def sunk(self) -> float:
        """The largest change of the mean height so far, in cells."""
        return float(np.abs(np.array(self.heights) - self.heights[0]).max()) / self.wave.dx

    def motion(self) -> float:
        """The largest kinetic energy so far over the first: all motion counts, that of what collapses too."""
        return max(self.kinetic) / self.kinetic[0]


def uneven(stages: Stages) -> Stages:
    """Control: crowds and gaps between particles are left as they are."""

    def leave(context: StepContext) -> None:
        context.evenness = None

    return stages.after("volumes", Stage("uneven", leave))


def watch(wave: Wave, seconds: float) -> Watch:
    """The wave for some seconds; one that blows up ends early."""
    found = Watch(wave)

    def stages(usual: Stages) -> Stages:
        watched = usual.after("free_surface", Stage("watch", found.cells))
        return watched if wave.even else uneven(watched)

    simulation = Simulation(wave.scene(), stages=stages)
    wave.start(simulation)
    found.measure(simulation)
    while simulation.state.time < seconds - 1e-9 and found.kinetic[-1] < 10.0 * found.kinetic[0]:
        simulation.step_once()
        found.measure(simulation)
    return found
