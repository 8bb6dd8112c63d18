"""The table of formats, and what they share: checks of the run and of the target, and one rename at the end."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import glug
from glug.errors import InputError
from glug.output.export.shot import Shot, open_shot
from glug.output.publish import published, size_of

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
    with published(path, is_folder=not kind.suffixes) as place:
        write(shot, place)
        if not kind.suffixes:
            (place / MARK).write_text(json.dumps(_record(shot, to), indent=1) + "\n")
    return Exported(path, shot.frames, size_of(path))


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
        "offset": shot.offset.tolist(),
    }
