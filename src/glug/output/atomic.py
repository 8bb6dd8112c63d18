"""Files that are whole or absent: written under a temporary name beside the target, then renamed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from glug.errors import OutputError

SUFFIX = ".partial"
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Make `path` hold what `write(file)` writes. If that fails, `path` is as it was before.

    Raises OutputError when the file system refuses; a full disk leaves no temporary file behind.
    """
    temporary = path.with_name(f".{path.name}{SUFFIX}")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if (cause := _system_error(error)) is not None:
            raise _refusal(path, cause) from cause
        raise


def append_bytes(path: Path, data: bytes) -> None:
    """Add `data` at the end of `path`. If that fails, `path` is as it was before.

    A process killed inside may leave a part of `data`: readers of line files skip an unfinished last line.
    """
    before = path.stat().st_size if path.exists() else 0
    try:
        with open(path, "ab", buffering=0) as file:
            remaining = memoryview(data)
            while remaining:
                remaining = remaining[file.write(remaining) :]
            os.fsync(file.fileno())
    except OSError as error:
        if path.exists():
            os.truncate(path, before)
        raise _refusal(path, error) from error


def make_folder(path: Path) -> None:
    """Create `path` and its parents; OutputError where the file system refuses."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(path, error) from error


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed writer left under temporary names, below `folder`."""
    for path in sorted(folder.rglob(f".*{SUFFIX}")):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make renames in `folder` survive a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _system_error(error: BaseException) -> OSError | None:
    """The system's error behind `error`: closing a half-written archive hides it behind others."""
    found = None
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError):
            found = seen
        seen = seen.__context__
    return found


def _refusal(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        return OutputError(f"{path}: {reason}; free some space, then continue with --resume")
    return OutputError(f"{path}: cannot write: {reason}")
