"""One writer per run: a lock that the system releases when the process ends, however it ends."""

from pathlib import Path
from typing import IO

from glug.errors import InputError


def lock_folder(folder: Path) -> IO[bytes] | None:
    """Keep other processes from writing to `folder` for as long as the result is alive.

    None where the system or the file system has no locks. InputError if another process holds it.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        file = open(folder / ".lock", "ab")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror}") from error
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        raise InputError(f"{folder}: another process is writing this run; wait for it or stop it") from None
    except OSError:
        file.close()
        return None
    return file
