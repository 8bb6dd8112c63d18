"""Files and folders that take long to make and are whole or absent.

They are written into a hidden folder beside their target, `.NAME.<process>.partial`, and take their name when all is
there. What a killed process left is removed by the next one with the same target.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from glug.errors import OutputError
from glug.output import atomic

_FULL = 1 << 20  # bytes: a disk with fewer is full
_LONGEST = 200  # characters of a library's message


@contextlib.contextmanager
def published(path: Path, is_folder: bool) -> Iterator[Path]:
    """Yields where to write: a folder that exists, or a file's name in one. After the block it is `path`.

    An error inside the block removes it, and what was at `path` before is as it was. Errors of the system, and the
    RuntimeErrors of libraries, become OutputErrors.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}{atomic.SUFFIX}")
    made = partial if is_folder else partial / path.name
    _remove_leftovers(path)
    fresh = not path.parent.exists()
    try:
        atomic.make_folder(partial)
        yield made
        _sync(partial)
        _move(made, path)
    except (OSError, RuntimeError) as error:
        raise OutputError(f"{path}: cannot be written: {_reason(error, path.parent)}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if fresh and not path.exists():
            with contextlib.suppress(OSError):
                path.parent.rmdir()


def _reason(error: OSError | RuntimeError, folder: Path) -> str:
    """What the system says; libraries wrap it in pages of their own."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    with contextlib.suppress(OSError):
        if shutil.disk_usage(folder).free < _FULL:
            return "no space left on the disk"
    first = str(error).strip().partition("\n")[0]
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}..."


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(p.stat().st_size for p in ([path] if path.is_file() else path.rglob("*")) if p.is_file())


def _sync(folder: Path) -> None:
    """Bring all files to disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())


def _move(made: Path, path: Path) -> None:
    if path.is_dir():
        old = path.with_name(f".{path.name}.{os.getpid()}.old{atomic.SUFFIX}")
        os.rename(path, old)
        os.rename(made, path)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(made, path)


def _remove_leftovers(path: Path) -> None:
    """Delete what processes that no longer run left."""
    import psutil

    if not path.parent.is_dir():
        return
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d+)(\.old)?{re.escape(atomic.SUFFIX)}")
    for other in path.parent.iterdir():
        match = pattern.fullmatch(other.name)
        if match and (int(match[1]) == os.getpid() or not psutil.pid_exists(int(match[1]))):
            shutil.rmtree(other, ignore_errors=True)
