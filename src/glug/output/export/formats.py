"""The table of formats, and what they share: checks, a temporary place, and one rename at the end.

An export is whole or absent: it is written into a hidden folder beside its target, `.NAME.<process>.partial`,
and takes its name when the last frame is in. What a killed export left is removed by the next one.
"""

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import glug
from glug.errors import InputError, OutputError
from glug.output import atomic
from glug.output.export.shot import Shot, open_shot

MARK = "export.json"  # in every exported folder


@dataclass(frozen=True)
class Format:
    """A format; `writer` is the function `write(shot, path)`, imported when it is needed."""

    writer: str
    summary: str
    suffixes: tuple[str, ...] = ()  # of the file; none for a folder of files


FORMATS: Mapping[str, Format] = {
    "usd": Format("usd:write", "one .usdc file for Houdini, Blender, Maya, Omniverse", (".usdc", ".usd")),
    "abc": Format("alembic:write", "one Alembic file for Houdini, Blender, Maya, Cinema 4D", (".abc",)),
    "vtk": Format("vtk:write", "a folder of time series for ParaView"),
    "vdb": Format("vdb:write", "a folder of OpenVDB files: distance and velocity"),
    "ply": Format("mesh_files:ply_files", "a folder of meshes with velocities"),
    "obj": Format("mesh_files:obj_files", "a folder of meshes that every program reads"),
}


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    frames: range
    bytes: int

    def text(self) -> str:
        """One line for the user."""
        return f"{self.path}: frames {self.frames[0]} to {self.frames[-1]}, {self.bytes / 1e6:.1f} MB"


def export_run(
    folder: str | Path,
    to: str,
    target: str | Path | None = None,
    first: int | None = None,
    last: int | None = None,
    overwrite: bool = False,
    on_frame: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the frames `first` to `last` (all of the run when None) of a run folder in the format `to`.

    target     a file or a folder, as the format has it; below `export/` in the run's folder when None
    overwrite  replace an earlier export there
    on_frame   called with (frames done, frames in all) after every frame

    InputError, with nothing written, if a frame that is asked for is missing or damaged.
    """
    if to not in FORMATS:
        raise InputError(f"unknown format '{to}'; valid: {', '.join(FORMATS)}")
    kind = FORMATS[to]
    module, function = kind.writer.split(":")
    shot = open_shot(Path(folder), first, last, on_frame)
    path = _target(shot, to, target, overwrite)
    write = getattr(import_module(f"glug.output.export.{module}"), function)
    partial = path.with_name(f".{path.name}.{os.getpid()}{atomic.SUFFIX}")
    made = partial / path.name if kind.suffixes else partial
    _remove_leftovers(path)
    fresh = not path.parent.exists()
    try:
        atomic.make_folder(partial)
        write(shot, made)
        if not kind.suffixes:
            (partial / MARK).write_text(json.dumps(_record(shot, to), indent=1) + "\n")
        size = _sync(partial)
        _move(made, path)
    except (OSError, RuntimeError) as error:  # the libraries' own errors are RuntimeErrors
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{path}: cannot be written: {reason}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if fresh and not path.exists():
            _remove_if_empty(path.parent)
    return Exported(path, shot.frames, size)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _target(shot: Shot, to: str, target: str | Path | None, overwrite: bool) -> Path:
    suffixes = FORMATS[to].suffixes
    if target is None:
        name = f"{shot.name}{suffixes[0]}" if suffixes else f"{shot.name}-{to}"
        path = shot.run.path / "export" / name
    else:
        path = Path(os.path.abspath(target))
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{path}: the file of --to {to} must end in {' or '.join(suffixes)}")
    if path.exists():
        if suffixes and not path.is_file():
            raise InputError(f"{path}: is a folder; --to {to} writes a file")
        if not suffixes and _mark(path) != to:
            raise InputError(f"{path}: exists already, and is no export to {to}; choose another with -o")
        if not overwrite:
            raise InputError(f"{path}: exists already; replace it with --overwrite, or choose another with -o")
    return path


def _mark(path: Path) -> str | None:
    """The format of an exported folder."""
    try:
        found = json.loads((path / MARK).read_text())
        return found["format"] if isinstance(found, dict) else None
    except (OSError, ValueError, KeyError):
        return None


def _record(shot: Shot, to: str) -> dict[str, object]:
    return {
        "format": to,
        "glug": glug.__version__,
        "scene": shot.scene.name,
        "fps": shot.fps,
        "first": shot.frames[0],
        "last": shot.frames[-1],
        "units": "m, s",
        "up_axis": "y",
    }


def _sync(folder: Path) -> int:
    """Bring all files to disk; their size [bytes]."""
    size = 0
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
            size += path.stat().st_size
    return size


def _move(made: Path, path: Path) -> None:
    if path.is_dir():
        old = path.with_name(f".{path.name}.{os.getpid()}.old{atomic.SUFFIX}")
        os.rename(path, old)
        os.rename(made, path)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(made, path)


def _remove_leftovers(path: Path) -> None:
    """Delete what exports to `path` left that no longer run."""
    import psutil

    if not path.parent.is_dir():
        return
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d+)(\.old)?{re.escape(atomic.SUFFIX)}")
    for other in path.parent.iterdir():
        match = pattern.fullmatch(other.name)
        if match and (int(match[1]) == os.getpid() or not psutil.pid_exists(int(match[1]))):
            shutil.rmtree(other, ignore_errors=True)
