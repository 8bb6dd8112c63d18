"""The run loop against a stand-in for the physics: what is on disk, whatever happens on the way.

The stand-in is a chaotic map, so that one wrong bit after a resume shows in every later file.
"""

import errno
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import glug.simulation.run as run_module
from glug import compiler
from glug.errors import InputError, OutputError
from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.output import RunFolder
from glug.scene import load
from glug.simulation.frame import BodyPose, Frame, SolveStats, StepStats
from glug.simulation.run import run_to_folder

SUBSTEPS = 3
FRAMES = 5
TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)


@dataclass
class FakeState:
    x: np.ndarray
    time: float = 0.0
    step: int = 0
    frame: int = 0


class FakeSimulation:
    """The logistic map in four numbers, three steps a frame."""

    before_step = staticmethod(lambda step: None)
    converged = True

    def __init__(self, scene, threads=None):
        self.scene = scene
        self.state = FakeState(np.array([0.1, 0.2, 0.3, 0.4]))
        self._stats: list[StepStats] = []

    @classmethod
    def restore(cls, scene, data, threads=None):
        simulation = cls(scene, threads)
        simulation.state = FakeState(np.array(data["x"]), float(data["time"]), int(data["step"]), int(data["frame"]))
        return simulation

    def checkpoint(self):
        s = self.state
        return {"x": s.x, "time": np.float64(s.time), "step": np.int64(s.step), "frame": np.int64(s.frame)}

    def step_once(self):
        s = self.state
        self.before_step(s.step + 1)
        s.x = 3.9 * s.x * (1.0 - s.x)
        s.step += 1
        dt = 1.0 / self.scene.time.fps / SUBSTEPS
        s.time += dt
        leads_to = s.frame + 1
        s.frame = s.step // SUBSTEPS
        solve = SolveStats("fake", 4, 7, 1e-6, 0.0, self.converged)
        troubles = [] if self.converged else [f"pressure: not converged in step {s.step}"]
        counts = (4, 8, 1.0, 1.0, 1.0)
        solves = {"pressure": solve}
        stats = StepStats(s.step, leads_to, s.time, dt, *counts, {"pressure": 0.0}, solves, troubles)
        self._stats.append(stats)
        return stats

    def frame(self):
        s = self.state
        assert s.step == s.frame * SUBSTEPS, "a frame was asked for between frames"
        stats, self._stats = self._stats, []
        vertices = (CORNERS * s.x[:, None]).astype(np.float32)
        position = np.tile(vertices, (2, 1))
        grid = np.linalg.norm(np.indices((8, 8, 8)) - 3.5, axis=0).astype(np.float32) - 2.0
        return Frame(
            index=s.frame,
            time=s.time,
            surface=SurfaceMesh(vertices, TRIANGLES, np.zeros_like(vertices)),
            particles={"position": position, "velocity": np.zeros_like(position)},
            distance=SampledDistance(grid * 0.1, (0.0, 0.0, 0.0), 0.1),
            bodies=[BodyPose("paddle", np.eye(3), s.x[:3])],
            stats=stats,
        )


@pytest.fixture
def simulation(monkeypatch):
    """The class of the stand-in, put in the place of the real one; its frames are made here, not beside it."""
    fake = type("Fake", (FakeSimulation,), {})
    monkeypatch.setattr(run_module, "Simulation", fake)
    monkeypatch.setattr(run_module, "SLOW_PICTURE", np.inf)
    return fake


@pytest.fixture
def scene(tiny_scene):
    return load(tiny_scene, {"time.frames": FRAMES})


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the loop may catch it and tidy up."""


def kill_at(step):
    def before(current):
        if current == step:
            raise Killed

    return before


def contents(folder: Path, *kinds: str) -> dict[str, bytes]:
    kinds = kinds or ("surface", "particles")
    return {str(p.relative_to(folder)): p.read_bytes() for kind in kinds for p in sorted((folder / kind).iterdir())}


def stats_without_seconds(folder: Path) -> list[tuple[int, int, float]]:
    return [(line["step"], line["frame"], line["time"]) for line in RunFolder(folder).stats()]


def test_writes_every_frame_and_a_line_per_step(simulation, scene, tmp_path):
    summary = run_to_folder(scene, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    assert folder.frames() == list(range(FRAMES + 1))
    assert [line["step"] for line in folder.stats()] == list(range(1, FRAMES * SUBSTEPS + 1))
    assert [line["frame"] for line in folder.bodies()] == list(range(FRAMES + 1))
    assert folder.manifest()["complete"]
    assert (summary.frame, summary.steps, summary.interrupted) == (FRAMES, FRAMES * SUBSTEPS, False)


def test_makes_pictures_of_every_frame_and_of_the_run(simulation, scene, tmp_path):
    run_to_folder(scene, tmp_path / "run")
    names = [p.name for p in sorted((tmp_path / "run" / "preview").iterdir())]
    assert names == [f"{i:04d}.png" for i in range(FRAMES + 1)]
    assert (tmp_path / "run" / "preview.png").stat().st_size > 0
    assert (tmp_path / "run" / "preview.webp").stat().st_size > 0


@pytest.mark.parametrize("step", [1, 2, 3, 4, 8, 15])
def test_a_killed_run_goes_on_with_the_same_bits(simulation, scene, tmp_path, step):
    run_to_folder(scene, tmp_path / "whole")
    simulation.before_step = staticmethod(kill_at(step))
    with pytest.raises(Killed):
        run_to_folder(scene, tmp_path / "killed")
    simulation.before_step = staticmethod(lambda step: None)
    run_to_folder(scene, tmp_path / "killed", resume=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert stats_without_seconds(tmp_path / "killed") == stats_without_seconds(tmp_path / "whole")
    assert RunFolder(tmp_path / "killed").bodies() == RunFolder(tmp_path / "whole").bodies()


def test_what_came_after_the_checkpoint_is_forgotten(simulation, scene, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "CHECKPOINT_SHARE", 0.0)  # none at the ends of frames
    run_to_folder(scene, tmp_path / "whole")
    seen = []

    def before(step):
        if step == 5:  # within frame 2: make the next checkpoint due
            monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", 0.0)
        elif step == 6:
            monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", 1e9)
        elif step == 13 and not seen:
            seen.append(RunFolder(tmp_path / "killed").frames())
            raise Killed

    simulation.before_step = staticmethod(before)
    with pytest.raises(Killed):
        run_to_folder(scene, tmp_path / "killed")
    assert seen == [[0, 1, 2, 3, 4]]
    checkpoint = RunFolder(tmp_path / "killed").read_checkpoint()
    assert checkpoint is not None
    assert (checkpoint.frame, checkpoint.step) == (1, 5)
    summary = run_to_folder(scene, tmp_path / "killed", resume=True)
    assert summary.steps == FRAMES * SUBSTEPS - 5
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert stats_without_seconds(tmp_path / "killed") == stats_without_seconds(tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_finishes_the_step_and_saves_it(simulation, scene, tmp_path, number, capfd):
    simulation.before_step = staticmethod(lambda step: os.kill(os.getpid(), number) if step == 5 else None)
    summary = run_to_folder(scene, tmp_path / "run")
    assert summary.interrupted
    checkpoint = RunFolder(tmp_path / "run").read_checkpoint()
    assert checkpoint is not None
    assert (checkpoint.frame, checkpoint.step) == (1, 5)
    assert (tmp_path / "run" / "preview.webp").exists()
    assert "once more to stop at once" in capfd.readouterr().err
    simulation.before_step = staticmethod(lambda step: None)
    run_to_folder(scene, tmp_path / "run", resume=True)
    run_to_folder(scene, tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_the_second_signal_aborts(simulation, scene, tmp_path):
    def twice(step):
        if step == 5:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    simulation.before_step = staticmethod(twice)
    with pytest.raises(KeyboardInterrupt):
        run_to_folder(scene, tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert RunFolder(tmp_path / "run").frames() == [0, 1]


def test_going_on_with_other_machine_code_is_said(simulation, scene, tmp_path, monkeypatch, capsys):
    run_to_folder(scene, tmp_path / "run", frames=1)
    assert RunFolder(tmp_path / "run").manifest()["processor"] == compiler.processor()
    run_to_folder(scene, tmp_path / "run", frames=2, resume=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(compiler, "processor", lambda: "another")
    run_to_folder(scene, tmp_path / "run", frames=3, resume=True)
    assert "goes on with those for another" in capsys.readouterr().err


def test_resuming_a_complete_run_touches_nothing(simulation, scene, tmp_path):
    run_to_folder(scene, tmp_path / "run")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")}
    summary = run_to_folder(scene, tmp_path / "run", resume=True)
    assert summary.already_complete
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")} == before


def test_a_complete_run_goes_on_to_more_frames(simulation, scene, tmp_path):
    run_to_folder(scene, tmp_path / "run", frames=2)
    run_to_folder(scene, tmp_path / "run", frames=FRAMES, resume=True)
    run_to_folder(scene, tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert RunFolder(tmp_path / "run").manifest()["frames"] == FRAMES


def test_resuming_without_a_checkpoint_begins(simulation, scene, tmp_path):
    summary = run_to_folder(scene, tmp_path / "run", resume=True)
    assert summary.steps == FRAMES * SUBSTEPS


def test_a_folder_that_is_not_free_is_left_alone(simulation, scene, tmp_path):
    run_to_folder(scene, tmp_path / "run", frames=1)
    before = contents(tmp_path / "run")
    with pytest.raises(InputError, match="--resume"):
        run_to_folder(scene, tmp_path / "run")
    with pytest.raises(InputError, match="another scene"):
        run_to_folder(scene.model_copy(update={"seed": scene.seed + 1}), tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == before


def test_a_scene_that_cannot_start_leaves_no_folder(simulation, scene, tmp_path, monkeypatch):
    def refuse(self, scene, threads=None):
        raise InputError("no")

    monkeypatch.setattr(simulation, "__init__", refuse)
    with pytest.raises(InputError):
        run_to_folder(scene, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_written_valid(simulation, scene, tmp_path, monkeypatch):
    run_to_folder(scene, tmp_path / "whole")
    fsync = os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    simulation.before_step = staticmethod(lambda step: monkeypatch.setattr(os, "fsync", full) if step == 8 else None)
    with pytest.raises(OutputError, match="No space left"):
        run_to_folder(scene, tmp_path / "run")
    monkeypatch.setattr(os, "fsync", fsync)
    folder = RunFolder(tmp_path / "run")
    for index in folder.frames():
        folder.read_surface(index)
        folder.read_particles(index)
    simulation.before_step = staticmethod(lambda step: None)
    run_to_folder(scene, tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_frames_made_beside_the_simulation_have_the_same_bytes(simulation, scene, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "SLOW_PICTURE", -1.0)  # from the second on
    drawn = []
    png = run_module.PictureProcess.png
    monkeypatch.setattr(run_module.PictureProcess, "png", lambda self, *what: drawn.append(what) or png(self, *what))
    run_to_folder(scene, tmp_path / "beside")
    assert len(drawn) == FRAMES - 1
    monkeypatch.setattr(run_module, "SLOW_PICTURE", np.inf)
    run_to_folder(scene, tmp_path / "here")
    assert len(drawn) == FRAMES - 1
    kinds = ("surface", "particles", "preview", "checkpoint")
    assert contents(tmp_path / "beside", *kinds) == contents(tmp_path / "here", *kinds)
    assert RunFolder(tmp_path / "beside").manifest() == RunFolder(tmp_path / "here").manifest()


def test_a_disk_that_fills_up_beside_the_simulation_ends_the_run(simulation, scene, tmp_path, monkeypatch):
    run_to_folder(scene, tmp_path / "whole")
    write = RunFolder.write_frame

    def full(self, frame):
        if frame.index == 3:
            raise OutputError("No space left on device")
        write(self, frame)

    monkeypatch.setattr(RunFolder, "write_frame", full)
    monkeypatch.setattr(run_module, "SLOW_PICTURE", -1.0)
    with pytest.raises(OutputError, match="No space left"):
        run_to_folder(scene, tmp_path / "run")
    assert RunFolder(tmp_path / "run").frames() == [0, 1, 2]
    checkpoint = RunFolder(tmp_path / "run").read_checkpoint()
    assert checkpoint is not None
    assert checkpoint.frame <= 2  # never after a frame that is not there
    monkeypatch.setattr(RunFolder, "write_frame", write)
    monkeypatch.setattr(run_module, "SLOW_PICTURE", np.inf)
    run_to_folder(scene, tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_previews_can_be_thinned(simulation, scene, tmp_path):
    thin = scene.model_copy(update={"output": scene.output.model_copy(update={"preview_every": 2})})
    run_to_folder(thin, tmp_path / "run")
    assert sorted(contents(tmp_path / "run", "preview")) == [f"preview/{n:04d}.png" for n in range(0, FRAMES + 1, 2)]
    assert RunFolder(tmp_path / "run").frames() == list(range(FRAMES + 1))


def test_a_solve_that_does_not_converge_is_said_once_and_counted(simulation, scene, tmp_path, capsys):
    simulation.converged = False
    summary = run_to_folder(scene, tmp_path / "run")
    assert summary.unconverged == FRAMES * SUBSTEPS
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "pressure: not converged in step 1" in lines[0]


def test_on_step_sees_every_step(simulation, scene, tmp_path):
    seen = []
    run_to_folder(scene, tmp_path / "run", on_step=lambda stats: seen.append(stats.step))
    assert seen == list(range(1, FRAMES * SUBSTEPS + 1))


def test_shows_progress_on_a_terminal_and_nothing_elsewhere(simulation, scene, tmp_path, capsys):
    from io import StringIO

    from rich.console import Console

    screen = StringIO()
    run_to_folder(scene, tmp_path / "a", console=Console(file=screen, force_terminal=True, width=100))
    assert f"{FRAMES}/{FRAMES}" in screen.getvalue()
    assert "iterations" in screen.getvalue()
    quiet = StringIO()
    run_to_folder(scene, tmp_path / "b", console=Console(file=quiet, force_terminal=False))
    assert quiet.getvalue() == ""
    assert capsys.readouterr().out == ""
