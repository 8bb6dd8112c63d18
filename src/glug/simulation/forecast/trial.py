"""How long a run will take: the scene itself, coarse, to its end, and a few steps of it finer on the way.

The coarse run says how much liquid there is at every moment, how fast it is and so how many steps a frame will have.
What a step costs is measured twice at the same moments: on the coarse grid, and on a grid `FINER` times as fine, whose
particles are those of the coarse one, each split. The two give what a step takes however small it is, and what a
particle adds to that; both hold for this scene, with its air, bodies and solvers, on this machine.

What comes before the first step is measured, too: imports in a new process, kernels as they are loaded here.
Times are those of one processor core, which other programs hardly change.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from glug.particles.storage import Particles
from glug.precompile import missing
from glug.scene import Scene, load
from glug.simulation.forecast.size import estimate
from glug.simulation.frame import Frame
from glug.simulation.progress import clock
from glug.simulation.run import SLOW_PICTURE
from glug.simulation.setting import Setting
from glug.simulation.simulation import Simulation
from glug.simulation.stages.motion import choose_time_step
from glug.simulation.state import State
from glug.simulation.voronoi import refined
from glug.simulation.warm_up.compiling import FEW
from glug.simulation.warm_up.needs import needed
from glug.view import ScenePictures

FINER = 2  # times as many cells along a side
COARSEST, FINEST = 16, 32  # cells along the longest side of the coarse grid
MOST_PARTICLES = 150_000  # of the finer grid, where coarser ones than the coarsest are not needed for it
COARSE_SECONDS = 5.0  # for the coarse run; frames that it does not reach are as its last one, but for what is poured
LOOKS = (0.5, 1.0)  # shares of the time at which finer steps are taken
WARM, STEPS = 3, 2  # finer steps in which split particles settle, and those that count
GAIN = 0.6  # of a further core, up to four: grids that are small are left to one
FACTOR = 1.5  # by which the truth may differ (tests/simulation/test_forecast.py)
UNSEEN = 1.5  # and by how much more for what the coarse run did not reach


@dataclass(frozen=True)
class RunTime:
    """How long a run takes, and how well that is known."""

    steps: int
    seconds: float  # on `cores`
    cpu_seconds: float  # on one
    factor: float  # the truth is between seconds / factor and seconds * factor
    cores: int

    def text(self) -> str:
        low, high = clock(self.seconds / self.factor), clock(self.seconds * self.factor)
        return f"about {clock(self.seconds)} on {self.cores} cores when they are free ({low} to {high})"


def time_lines(scene: Scene) -> str:
    """Steps and time of a run, as `glug check` prints them; without a trial where that had to compile kernels first."""
    uncompiled = len(missing(needed(scene)))
    if uncompiled > FEW:
        return f"time       not known: {uncompiled} kernels are to be compiled first, by a run or 'glug warm-up'"
    found = run_time(scene)
    return f"steps      about {found.steps:,} for {scene.time.frames} frames\ntime       {found.text()}"


@dataclass(frozen=True)
class Moment:
    """One step of the coarse run."""

    frame: int
    steps: float  # of the run that it stands for
    particles: float
    seconds: float  # that it took


@dataclass(frozen=True)
class Look:
    """The end of a frame on both grids: particles, seconds of a step and seconds of a frame, coarse and fine."""

    at: int  # the frame
    particles: tuple[float, float]
    step: tuple[float, float]
    frame: tuple[float, float]

    def step_seconds(self, coarse: float, particles: float) -> float:
        """Of a step with `particles`, where the coarse one of the same moment takes `coarse` seconds."""
        return coarse + self._slope(self.step) * max(particles - self.particles[0], 0.0)

    def frame_seconds(self, particles: float) -> float:
        return self.frame[0] + self._slope(self.frame) * max(particles - self.particles[0], 0.0)

    def _slope(self, seconds: tuple[float, float]) -> float:
        """Seconds that a particle adds."""
        more = self.particles[1] - self.particles[0]
        return max(seconds[1] - seconds[0], 0.0) / more if more > 0.0 else 0.0


def run_time(scene: Scene, cores: int | None = None) -> RunTime:
    """Try `scene`, and say how long it will take."""
    trial = _Trial(scene)
    trial.run()
    return trial.forecast(cores or os.cpu_count() or 1)


class _Trial:
    def __init__(self, scene: Scene):
        self.scene, self.full = scene, Setting(scene)
        resolution = scene.domain.resolution
        few = (MOST_PARTICLES / estimate(scene)["particles"]) ** (1.0 / self.full.dim) / FINER
        coarse = int(np.clip(resolution * min(few, 1.0 / FINER), COARSEST, FINEST))
        self.coarse = Simulation(self._at(min(coarse, resolution)), threads=1)
        self.ratio = (self.coarse.setting.dx / self.full.dx) ** self.full.dim  # particles of the run over the trial's
        self.moments: list[Moment] = []
        self.looks: list[Look] = []
        self.picture = 0.0  # seconds for one, of the finest frame so far
        self.imports = import_seconds()
        self.loading = [0.0, 0.0]  # of kernels: those of a step, those that draw

    def _at(self, resolution: int) -> Scene:
        """The scene on another grid, with the solvers that it has on its own."""
        keys: dict[str, Any] = {"domain.resolution": resolution}
        if self.scene.solver.viscosity == "auto" and not self.full.viscous:
            keys["solver.viscosity"] = "none"
        elif self.scene.solver.viscosity == "auto" and not Setting(load(self.scene, keys)).viscous:
            keys["solver.viscosity"] = "multigrid"
        if self.scene.solver.transfer == "auto":
            keys["solver.transfer"] = "apic" if self.full.apic else "flip"
        return load(self.scene, keys)

    def run(self) -> None:
        """The coarse run, with looks at a finer one."""
        frames, spent = self.scene.time.frames, 0.0
        first, again = (cpu_seconds(lambda: _warm(self.coarse.scene)) for _ in range(2))
        self.loading[0] = max(first - again, 0.0)
        looks = sorted({max(1, round(share * frames)) for share in LOOKS})
        state = self.coarse.state
        while state.frame < frames and (spent < COARSE_SECONDS or state.substep > 0):
            spent += self._step()
            if state.substep == 0 and state.frame in looks:
                self._look()
        if state.frame not in looks:
            self._look()

    def _step(self) -> float:
        """A step of the coarse run, and the seconds that it takes."""
        state = self.coarse.state
        frame, before = state.frame + 1, state.time
        expected = choose_time_step(self.full, replace(state, substep=0)) if len(state.particles) else np.inf
        seconds = cpu_seconds(self.coarse.step_once)
        steps = (state.time - before) / min(expected, 1.0 / self.scene.time.fps)
        self.moments.append(Moment(frame, steps, len(state.particles), seconds))
        return seconds

    def _look(self) -> None:
        """Take some steps on the finer grid, from where the coarse run is."""
        coarse, state = self.coarse, self.coarse.state
        if len(state.particles) == 0:
            return
        scene = self._at(FINER * coarse.scene.domain.resolution)
        if scene.solver.mesh == "voronoi":
            finer = refined(Setting(scene), coarse.setting, state)
        else:
            finer = split(state, coarse.setting)
        fine = Simulation(scene, 1, state=finer)
        for _ in range(WARM):
            fine.step_once()
        step = sum(cpu_seconds(fine.step_once) for _ in range(STEPS)) / STEPS
        recent = [moment.seconds for moment in self.moments[-5:]]
        particles = len(state.particles), len(fine.state.particles)
        frames = cpu_seconds(coarse.frame), cpu_seconds(fine.frame)
        self.picture = self._picture_seconds(fine.frame())
        self.looks.append(Look(state.frame, particles, (float(np.median(recent)), step), frames))

    def forecast(self, cores: int) -> RunTime:
        """What the run takes, on one core and on some."""
        frames, last = self.scene.time.frames, max(moment.frame for moment in self.moments)
        poured = self._poured_later() if last < frames else 0.0
        in_frame = np.bincount([m.frame for m in self.moments], [m.steps for m in self.moments])
        steps = alone = shared = 0.0
        for m, coarse in zip(self.moments, steadied([moment.seconds for moment in self.moments])):
            look, now = self._nearest_look(m.frame), m.particles * self.ratio
            later = [(frames - last, now + 0.5 * poured)] if m.frame == last else []
            for times, particles in [(1, now), *later]:
                count = times * m.steps
                steps += count
                alone += count * (coarse + look.frame_seconds(particles) / in_frame[m.frame])
                shared += count * (look.step_seconds(coarse, particles) - coarse)
        pictures = self.picture * frames / self.scene.output.preview_every
        pictures += self.imports if self.picture > SLOW_PICTURE else 0.0  # a process of its own draws
        pictures += self.loading[1]
        start = self.imports + self.loading[0]
        gain = 1.0 + GAIN * (min(cores, 4) - 1)
        seconds = start + max(alone + shared / gain, (alone + shared + pictures) / cores)
        factor = FACTOR if last >= frames else FACTOR * UNSEEN
        return RunTime(round(steps), float(seconds), float(start + alone + shared + pictures), factor, cores)

    def _poured_later(self) -> float:
        """Particles that the run will have gained when it ends, beyond what the trial has seen."""
        seen = self.moments[-1].particles * self.ratio
        return max(estimate(self.scene)["particles"] - seen, 0.0) if self.scene.sources else 0.0

    def _nearest_look(self, frame: int) -> Look:
        nothing = Look(0, (0, 0), (0.0, 0.0), (0.0, 0.0))
        return min(self.looks, key=lambda look: abs(look.at - frame), default=nothing)

    def _picture_seconds(self, frame: Frame) -> float:
        if not self.scene.output.preview:
            return 0.0
        pictures = ScenePictures(self.scene)
        poses = {body.name: (body.rotation, body.translation) for body in frame.bodies}
        first, again = (cpu_seconds(lambda: pictures.picture(frame.distance, frame.time, poses)) for _ in range(2))
        self.loading[1] = max(self.loading[1], first - again)
        return again


def import_seconds() -> float:
    """Of a core, that a new process takes to import what a run needs."""
    before = os.times()
    subprocess.run([sys.executable, "-c", f"import {Simulation.__module__}, {ScenePictures.__module__}"], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _warm(scene: Scene) -> None:
    """Load the kernels."""
    simulation = Simulation(scene, threads=1)
    for _ in range(2):
        simulation.step_once()
    simulation.frame()


def steadied(seconds: list[float]) -> np.ndarray:
    """Medians of nine in a row: without the steps that happened to load a kernel."""
    around = np.pad(np.array(seconds), 4, mode="reflect") if len(seconds) > 4 else np.array(seconds)
    return np.median(np.lib.stride_tricks.sliding_window_view(around, 9), axis=1) if len(seconds) > 4 else around


def cpu_seconds(run: Callable[[], Any]) -> float:
    """Of this process while something runs."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def split(state: State, setting: Setting) -> State:
    """The same liquid in FINER times as many particles along every axis; nothing else changes but what cells know."""
    offsets = [(n + 0.5) / FINER - 0.5 for n in range(FINER)]
    spacing = setting.particle_volume ** (1 / 3) if setting.dim == 3 else (setting.particle_volume / setting.dx) ** 0.5
    places = np.array(list(product(offsets, offsets, offsets if setting.dim == 3 else [0.0]))) * spacing
    old = state.particles.attributes
    new = {name: np.repeat(values, len(places), axis=0) for name, values in old.items()}
    new["position"] = (old["position"][:, None] + places.astype(np.float32)).reshape(-1, 3)
    new["volume"] = new["volume"] / np.float32(len(places))
    new["id"] = np.arange(len(new["position"]), dtype=np.int32)[:, None]
    if "affine" in new:
        new["affine"] = new["affine"] / np.float32(FINER)  # it is times dx
    if setting.dim == 2:  # particles are dx deep, and lie in its middle
        new["position"][:, 2] /= FINER
        new["volume"] = new["volume"] / np.float32(FINER)
    found = State.restore(state.save())
    found.particles, found.freed = Particles(new, len(new["position"])), np.zeros((0, 3), np.int32)
    return found
