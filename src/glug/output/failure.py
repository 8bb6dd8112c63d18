"""What to send with a report when a run fails: one small file with all that is needed to see it fail again."""

import json
import platform
import traceback
import zipfile
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from glug.output import atomic

NAME = "failure.zip"
LIBRARIES = ("glug", "numpy", "scipy", "numba", "llvmlite", "mujoco")
MOST_BYTES = 64 << 20  # of a checkpoint that goes in
LAST_LINES = 200  # of the statistics


def write_failure(folder: Path, error: BaseException) -> Path:
    """Pack the scene, the versions, the last statistics, where it arose and the last checkpoint into `folder`."""
    path = folder / NAME

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("traceback.txt", "".join(traceback.format_exception(error)))
            archive.writestr("versions.json", json.dumps(versions(), indent=2) + "\n")
            for name in ("scene.toml", "manifest.json"):
                if (folder / name).is_file():
                    archive.write(folder / name, name)
            stats = folder / "stats.jsonl"
            if stats.is_file():
                archive.writestr("stats.jsonl", b"".join(stats.read_bytes().splitlines(True)[-LAST_LINES:]))
            state = folder / "checkpoint" / "state.npz"
            if state.is_file() and state.stat().st_size <= MOST_BYTES:
                archive.write(state, "checkpoint/state.npz")

    atomic.replace_file(path, write)
    return path


def versions() -> dict[str, str]:
    """Of Python, the machine and the libraries that are there."""
    found = {"python": platform.python_version(), "machine": platform.platform()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
