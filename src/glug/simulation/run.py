"""The run loop: a scene into a run folder, with progress, checkpoints and a way to stop and go on.

Frames that take long are made beside the simulation, in order: pictures in a process of their own, files in a thread.

The files of a run are a function of the scene alone. A checkpoint is written only after every frame before it
is whole on disk; going on from it forgets all that came later and computes it again, with the same bits.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from glug import compiler
from glug.errors import SolverError
from glug.output import RunFolder
from glug.output.backlog import Backlog
from glug.output.destination import check_destination
from glug.output.failure import write_failure
from glug.scene import Scene, load, to_toml
from glug.simulation.frame import Frame, StepStats
from glug.simulation.interrupts import Interrupts
from glug.simulation.progress import Bar, Display, Quiet, Warnings
from glug.simulation.simulation import Simulation
from glug.view import ScenePictures, assemble
from glug.view.picture_process import PictureProcess
from glug.view.preview import png_bytes, write_png

CHECKPOINT_SECONDS = 30.0  # of wall time between checkpoints, at most
CHECKPOINT_SHARE = 0.05  # of the run's time may go into checkpoints at the ends of frames
SLOW_PICTURE = 0.3  # seconds of computing that a picture may take before others are drawn beside the simulation


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    folder: Path
    frame: int  # the last frame on disk
    frames: int  # the last frame asked for
    steps: int  # taken now
    seconds: float  # wall time, now
    interrupted: bool = False
    already_complete: bool = False  # nothing was left to do, and nothing was touched
    unconverged: int = 0  # solves, now
    left: dict[str, float] = field(default_factory=dict)  # mass [kg] by the way that it took, now


def run_to_folder(
    scene: Scene,
    path: str | Path,
    frames: int | None = None,
    resume: bool = False,
    on_step: Callable[[StepStats], None] | None = None,
    console: Console | None = None,
    **options: Any,
) -> RunSummary:
    """Simulate up to frame `frames` (the scene's own number when None) and write everything to `path`.

    resume   go on from the checkpoint in `path`; without one, begin. Only the number of frames may have
             changed since.
    on_step  called after every step
    console  shows a progress bar if it is a terminal
    options  `threads`, `stages` and `forces` of the `Simulation`; the folder has none of them, so going on with
             stages or forces needs them again

    Ctrl-C or SIGTERM ends the run after the step in work, with a checkpoint (`interrupted` in the summary).
    InputError, before anything is written, if `path` is not free or holds another scene's run.
    """
    scene = load(scene)
    if frames is not None:
        scene = scene.model_copy(update={"time": scene.time.model_copy(update={"frames": frames})})
    last = scene.time.frames
    there = earlier_run(scene, Path(path), resume)
    if there is not None and there.manifest().get("complete") and there.manifest().get("frames", -1) >= last:
        return RunSummary(Path(path), last, last, steps=0, seconds=0.0, already_complete=True)
    with Interrupts() as interrupts:
        run = _Run(scene, Path(path), there, options)
        try:
            with run.display(console) as display:
                return run.loop(interrupts, display, on_step)
        except SolverError as error:
            kept = write_failure(run.folder.path, error)
            raise SolverError(f"{error} ({kept} has what a report needs)") from error
        finally:
            run.close()


def earlier_run(scene: Scene, path: Path, resume: bool) -> RunFolder | None:
    """The run in `path` to go on with, None to begin one; InputError if neither is possible."""
    there = check_destination(path, to_toml(scene), resume=resume, overwrite=False)
    # A run that was killed while it made its folder has a scene, but no manifest yet.
    return RunFolder(path) if there and (path / "manifest.json").exists() else None


def _say_if_changed(before: str, now: str) -> None:
    """A run that goes on with other machine code has other bits from there on."""
    if before != now:
        text = f"this run began with kernels for {before} and goes on with those for {now}: other bits from here on"
        print(f"glug: warning: {text}", file=sys.stderr)


class _Run:
    """A simulation and the folder it fills. The folder is touched only once the simulation stands."""

    def __init__(self, scene: Scene, path: Path, there: RunFolder | None, options: dict[str, Any]):
        self.last = scene.time.frames
        checkpoint = there.read_checkpoint() if there is not None else None
        if checkpoint is None:
            self.simulation = Simulation(scene, **options)
        else:
            self.simulation = Simulation.restore(scene, checkpoint.data, **options)
        kept_frame, kept_step = (checkpoint.frame, checkpoint.step) if checkpoint is not None else (-1, -1)
        processor = compiler.processor()
        if checkpoint is not None and there is not None:
            _say_if_changed(there.manifest().get("processor", processor), processor)
        manifest = {"scene": scene.name, "fps": scene.time.fps, "frames": self.last, "processor": processor}
        self.folder = RunFolder.create(path, to_toml(scene), manifest, resume=True)
        self.folder.truncate_to(kept_frame, kept_step)
        self.next_frame = self.first_frame = kept_frame + 1
        self.scene = scene
        self.pictures = ScenePictures(scene) if scene.output.preview else None
        self.beside: tuple[PictureProcess, Backlog] | None = None
        self.saved = time.monotonic()
        self.cost = 0.0  # seconds that the last checkpoint took

    def display(self, console: Console | None) -> Display:
        if console is None or not console.is_terminal:
            return Quiet()
        return Bar(console, max(0, self.next_frame - 1), self.last)

    def loop(self, interrupts: Interrupts, display: Display, on_step: Callable[[StepStats], None] | None) -> RunSummary:
        """Step until the last frame is written or a stop is asked for."""
        state = self.simulation.state
        warnings = Warnings()
        begun, steps = time.monotonic(), 0
        left: dict[str, float] = {}
        if self.next_frame == 0:
            self.write(self.simulation.frame())
        display.frame(state.frame)
        while state.frame < self.last and not interrupts.asked:
            stats = self.simulation.step_once()
            steps += 1
            self.folder.write_step(stats)
            warnings.step(stats)
            for way, amounts in stats.left.items():
                left[way] = left.get(way, 0.0) + amounts.mass
            display.step(stats)
            if on_step is not None:
                on_step(stats)
            state = self.simulation.state
            frame_done = state.frame >= self.next_frame
            if frame_done:
                self.write(self.simulation.frame())
                display.frame(state.frame)
            self.save_if_due(frame_done)
        self.save()
        if self.beside is not None:
            self.beside[1].finish()
        if self.pictures is not None:
            assemble(self.folder, self.scene.time.fps / self.scene.output.preview_every)
        complete = state.frame >= self.last
        if complete:
            self.folder.finish()
        return RunSummary(
            folder=self.folder.path,
            frame=state.frame,
            frames=self.last,
            steps=steps,
            seconds=time.monotonic() - begun,
            interrupted=not complete,
            unconverged=warnings.unconverged,
            left=left,
        )

    def write(self, frame: Frame) -> None:
        """Write the frame, now or beside the simulation: a picture that takes long takes no time of the next ones."""
        self.next_frame = frame.index + 1
        drawn = self.pictures is not None and frame.index % self.scene.output.preview_every == 0
        poses = {body.name: (body.rotation, body.translation) for body in frame.bodies}
        if self.beside is not None:
            process, backlog = self.beside
            kept = own_copy(frame)
            picture = partial(process.png, kept.distance, kept.time, poses) if drawn else None
            backlog.add(lambda: self.write_files(kept, picture() if picture is not None else None))
            return
        begun = time.process_time()
        png = None
        if self.pictures is not None and drawn:
            png = png_bytes(self.pictures.picture(frame.distance, frame.time, poses))
        if time.process_time() - begun > SLOW_PICTURE and frame.index > self.first_frame:  # the first loads kernels
            self.beside = PictureProcess(self.scene), Backlog()
        self.write_files(frame, png)

    def write_files(self, frame: Frame, png: bytes | None) -> None:
        """The surface comes last, as the sign that all of the frame is there."""
        if png is not None:
            write_png(self.folder, frame.index, png)
        self.folder.write_frame(frame if self.scene.output.particles else replace(frame, particles={}))

    def close(self) -> None:
        """Leave nothing running."""
        if self.beside is not None:
            process, backlog = self.beside
            process.close()
            backlog.drop()

    def save_if_due(self, frame_done: bool) -> None:
        """At the end of a frame as often as the share allows, within one when it takes long."""
        since = time.monotonic() - self.saved
        if since >= CHECKPOINT_SECONDS or (frame_done and since * CHECKPOINT_SHARE >= self.cost):
            self.save()

    def save(self) -> None:
        """Write a checkpoint, after the frames before it."""
        state = self.simulation.state
        data, frame, step = self.simulation.checkpoint(), state.frame, state.step
        self.saved = time.monotonic()
        if self.beside is None:
            self.write_checkpoint(data, frame, step)
            self.saved = time.monotonic()
        else:
            kept = {
                name: np.copy(values) if isinstance(values, np.ndarray) else values for name, values in data.items()
            }
            self.beside[1].add(lambda: self.write_checkpoint(kept, frame, step))

    def write_checkpoint(self, data: dict[str, np.ndarray], frame: int, step: int) -> None:
        begun = time.monotonic()
        self.folder.write_checkpoint(data, frame=frame, step=step)
        self.cost = time.monotonic() - begun


def own_copy(frame: Frame) -> Frame:
    """A frame that later steps do not change: particles are moved in place."""
    particles = {name: values.copy() for name, values in frame.particles.items()}
    fields = {name: values.copy() for name, values in frame.fields.items()}
    return replace(frame, particles=particles, fields=fields)
