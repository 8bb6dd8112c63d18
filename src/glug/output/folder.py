"""The directory of a run: what the viewer, the renderer and the exporters read.

    scene.toml         the resolved scene
    manifest.json      format, versions, frames asked for and written, units
    surface/0001.ply   x y z [m], vx vy vz [m/s], triangles
    particles/0001.npz position, velocity, id, age, ...
    fields/0001.npz    phi, u, v, w, p (when asked for)
    bodies.jsonl       pose of every moving solid, a line per frame
    stats.jsonl        a line per step
    checkpoint/        the state to resume from
    preview/0001.png   a small picture per frame; preview.png, preview.webp, preview.mp4

Every file appears by rename, except the two line files, which grow by whole lines.
"""

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import glug
from glug.errors import InputError
from glug.geometry.sampled import SurfaceMesh
from glug.output import arrays, atomic, lines, ply
from glug.output.arrays import Checkpoint
from glug.output.destination import check_destination
from glug.output.lock import lock_folder

if TYPE_CHECKING:
    from glug.simulation.frame import Frame, StepStats

FORMAT = 1
KINDS = (("frames", int), ("frames_written", int), ("fps", (float, int)), ("complete", bool), ("scene", str))
MOST_FRAMES = 10_000_000  # of a run
LONGEST_NUMBER = 8  # digits of a frame
MOST_TEXT = 64 << 20  # bytes of a scene or a manifest
_FRAME_FILES = {"surface": ".ply", "particles": ".npz", "fields": ".npz", "preview": ".png"}
_PREVIEWS = ("preview.png", "preview.webp", "preview.mp4")
_OWN_FILES = ("scene.toml", "manifest.json", "bodies.jsonl", "stats.jsonl", *_PREVIEWS)
_FIXED = {
    "format": FORMAT,
    "glug": glug.__version__,
    "units": {"length": "m", "time": "s", "mass": "kg", "temperature": "C"},
    "up_axis": "y",
}


class RunFolder:
    """A run on disk. `RunFolder(path)` reads one and changes nothing; `RunFolder.create` writes one."""

    def __init__(self, path: str | Path):
        """Open an existing run; InputError if there is none or if a newer glug wrote it."""
        self.path = Path(path)
        self._lock: Any = None
        self._last_step: int | None = None
        if not self.path.is_dir():
            raise InputError(f"{self.path}: no such directory; give one that glug run wrote, such as out/honey-coil")
        found = self.manifest().get("format")
        if not isinstance(found, int) or found > FORMAT:
            raise InputError(f"{self.path}: its format is {found}, this version of glug reads up to {FORMAT}")

    @classmethod
    def create(
        cls,
        path: str | Path,
        scene_toml: str,
        manifest: Mapping[str, Any],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> "RunFolder":
        """Begin a run in `path`, or go on with the one there.

        scene_toml  the resolved scene
        manifest    at least `scene` (name), `fps` [1/s] and `frames` (index of the last frame)
        resume      keep what an earlier run of this scene wrote (call `truncate_to` next); `time.frames` may
                    differ, all else must be the same. Where there is no run, a new one begins.
        overwrite   delete the run that is there, whatever its scene

        InputError, and nothing is written, if the directory holds a run and neither is asked, another
        scene's run, something that is no run, or if another process is writing to it.
        """
        folder = Path(path)
        there = check_destination(folder, scene_toml, resume=resume, overwrite=overwrite)
        atomic.make_folder(folder)
        lock = lock_folder(folder)
        atomic.remove_leftovers(folder)
        if there and overwrite:
            _clear(folder)
        for name in ("surface", "particles", "checkpoint"):
            atomic.make_folder(folder / name)
        atomic.replace_file(folder / "scene.toml", lambda file: file.write(scene_toml.encode()))
        written = len(_indices(folder / "surface", ".ply"))
        record = {**_FIXED, **manifest, "frames_written": written, "complete": False}
        _write_json(folder / "manifest.json", record)
        run = cls(folder)
        run._lock = lock
        return run

    # What the run is

    def manifest(self) -> dict[str, Any]:
        """The contents of manifest.json."""
        try:
            found = json.loads(read_text(self.path / "manifest.json"))
        except FileNotFoundError:
            raise InputError(f"{self.path}: not the directory of a glug run (no manifest.json)") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path / 'manifest.json'}: damaged or not readable") from error
        if not isinstance(found, dict) or any(key in found and not isinstance(found[key], kind) for key, kind in KINDS):
            raise InputError(f"{self.path / 'manifest.json'}: damaged or not readable")
        return found

    def scene_toml(self) -> str:
        """The resolved scene as it was written."""
        try:
            return read_text(self.path / "scene.toml")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise InputError(f"{self.path / 'scene.toml'}: cannot read: {reason}") from error

    def frames(self) -> list[int]:
        """Indices of the complete frames, ascending. The surface of a frame is written last."""
        return _indices(self.path / "surface", ".ply")

    def faults(self) -> dict[int, str]:
        """What is wrong with frames that should be there, by index: absent, truncated, not a surface of glug's.

        Reads headers only. A run that is not complete may end early, but has no gaps.
        """
        there = self.frames()
        manifest = self.manifest()
        last = max(there, default=-1)
        if manifest.get("complete"):
            last = max(last, int(manifest.get("frames", last)))
        self.require_reasonable()
        found = {}
        for index in range(last + 1):
            try:
                ply.check_ply(self.file("surface", index))
            except InputError as error:
                found[index] = str(error)
        return found

    def require_reasonable(self) -> None:
        """InputError where the manifest or a file's name speaks of more frames than any run has."""
        last = max([int(self.manifest().get("frames", 0)), *self.frames()])
        if last > MOST_FRAMES:
            raise InputError(f"{self.path}: its last frame would be {last}; no run has more than {MOST_FRAMES:,}")

    def file(self, kind: str, index: int) -> Path:
        """Where a frame's `surface`, `particles`, `fields` or `preview` is, or would be."""
        return self.path / kind / f"{index:04d}{_FRAME_FILES[kind]}"

    # Frames

    def write_frame(self, frame: "Frame") -> None:
        """Write all of a frame; lines of steps that `write_step` wrote already are not repeated."""
        for step in frame.stats:
            self.write_step(step)
        if frame.bodies:
            poses = {"frame": frame.index, "time": frame.time, "bodies": frame.bodies}
            lines.append_lines(self.path / "bodies.jsonl", [poses])
        if frame.particles:
            self._write_arrays("particles", frame.index, frame.particles)
        if frame.fields:
            self._write_arrays("fields", frame.index, frame.fields)
        atomic.replace_file(self.file("surface", frame.index), lambda file: ply.write_ply(file, frame.surface))
        self._update_manifest(frames_written=len(self.frames()))

    def write_step(self, stats: "StepStats") -> None:
        """Add a step's line to stats.jsonl, unless it is there already."""
        if self._last_step is None:
            self._last_step = max((line["step"] for line in self.stats()), default=-1)
        if stats.step > self._last_step:
            lines.append_lines(self.path / "stats.jsonl", [stats])
            self._last_step = stats.step

    def write_file(self, name: str, data: bytes) -> Path:
        """Write a whole file of the run, such as a preview, and return its path."""
        path = self.path / name
        atomic.make_folder(path.parent)
        atomic.replace_file(path, lambda file: file.write(data))
        return path

    def finish(self) -> None:
        """Mark the run as complete: all frames asked for are there."""
        self._update_manifest(frames_written=len(self.frames()), complete=True)

    def read_surface(self, index: int) -> SurfaceMesh:
        """A frame's surface; InputError if it is missing or truncated."""
        return ply.read_ply(self._existing("surface", index))

    def read_particles(self, index: int, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """A frame's particles: position (n, 3) [m], velocity (n, 3) [m/s], id (n,), age (n,), ...

        All arrays, or those of `names` that are there.
        """
        return arrays.read_arrays(self._existing("particles", index), names)

    def names(self, kind: str, index: int) -> list[str]:
        """Names of the arrays of a frame's `particles` or `fields`; none if there is no such file."""
        path = self.file(kind, index)
        return arrays.array_names(path) if path.exists() else []

    def read_fields(self, index: int, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """A frame's grid fields, if the scene asked for them: all, or those of `names` that are there."""
        return arrays.read_arrays(self._existing("fields", index), names)

    def stats(self) -> list[dict[str, Any]]:
        """One dictionary per step (see `StepStats`)."""
        return lines.read_lines(self.path / "stats.jsonl")

    def bodies(self) -> list[dict[str, Any]]:
        """One dictionary per frame: frame, time [s], bodies (name, rotation, translation [m])."""
        return lines.read_lines(self.path / "bodies.jsonl")

    # Checkpoints

    def write_checkpoint(self, data: Mapping[str, Any], *, frame: int, step: int) -> None:
        """Replace the checkpoint: arrays and plain values, after `step` steps and frame `frame` written."""
        checkpoint = Checkpoint(frame, step, dict(data))
        atomic.replace_file(self._checkpoint, lambda file: arrays.write_checkpoint(file, checkpoint))

    def read_checkpoint(self) -> Checkpoint | None:
        """The last checkpoint, None if there is none; InputError if it is damaged."""
        return arrays.read_checkpoint(self._checkpoint) if self._checkpoint.exists() else None

    def truncate_to(self, frame: int, step: int) -> None:
        """Forget all frames after `frame` and all steps after `step`; (-1, -1) forgets everything."""
        for kind, suffix in _FRAME_FILES.items():
            for index in _indices(self.path / kind, suffix):
                if index > frame:
                    self.file(kind, index).unlink()
        for name in _PREVIEWS:
            (self.path / name).unlink(missing_ok=True)
        lines.keep_lines(self.path / "bodies.jsonl", lambda line: line["frame"] <= frame)
        lines.keep_lines(self.path / "stats.jsonl", lambda line: line["step"] <= step)
        self._last_step = None
        self._update_manifest(frames_written=len(self.frames()), complete=False)

    @property
    def _checkpoint(self) -> Path:
        return self.path / "checkpoint" / "state.npz"

    def _write_arrays(self, kind: str, index: int, data: Mapping[str, np.ndarray]) -> None:
        path = self.file(kind, index)
        atomic.make_folder(path.parent)
        atomic.replace_file(path, lambda file: arrays.write_arrays(file, data))

    def _existing(self, kind: str, index: int) -> Path:
        path = self.file(kind, index)
        if path.exists():
            return path
        there = _indices(self.path / kind, _FRAME_FILES[kind])
        known = f"it has {there[0]} to {there[-1]}" if there else "it has none"
        raise InputError(f"{self.path}: no {kind} of frame {index}; {known}")

    def _update_manifest(self, **changes: Any) -> None:
        _write_json(self.path / "manifest.json", {**self.manifest(), **changes})


def read_text(path: Path) -> str:
    """The text of one of a run's files; OSError or ValueError where it is no file, no text, or far too long."""
    if path.exists() and not path.is_file():  # a pipe or a device may never end
        raise ValueError("not a file")
    with open(path, "rb") as file:
        data = file.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise ValueError("too long")
    return data.decode("utf-8")


def _indices(folder: Path, suffix: str) -> list[int]:
    """Frame numbers of the files in `folder`, ascending."""
    stems = (path.stem for path in folder.glob(f"*{suffix}"))
    return sorted(int(stem) for stem in stems if stem.isascii() and stem.isdigit() and len(stem) <= LONGEST_NUMBER)


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    text = json.dumps(record, indent=2, sort_keys=True) + "\n"
    atomic.replace_file(path, lambda file: file.write(text.encode()))


def _clear(folder: Path) -> None:
    """Delete the files of a run and nothing else; the manifest goes first, so that a half is no run."""
    for name in ("manifest.json", *_OWN_FILES):
        (folder / name).unlink(missing_ok=True)
    for kind, suffix in _FRAME_FILES.items():
        for index in _indices(folder / kind, suffix):
            (folder / kind / f"{index:04d}{suffix}").unlink()
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
