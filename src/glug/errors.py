"""Errors a user can cause, and how they quote what is wrong. The command line prints them on one line, no traceback."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

INTERRUPTED = 130  # exit code: what shells report for a program that SIGINT ended
LONGEST_SENTENCE = 290  # characters of a message
MOST_SHOWN = 80  # characters of a value in a message


class GlugError(Exception):
    """Root of all errors that glug raises on purpose; `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(GlugError):
    """Bad usage or bad input: names the file, the key and what would be valid. Nothing was written."""

    exit_code = 2


class SceneError(InputError):
    """A scene that does not validate."""


class MeshError(InputError):
    """An imported mesh that is missing, empty or not closed."""


class MemoryLimitError(InputError):
    """A scene that needs more memory than the machine has."""


class OutputError(GlugError):
    """Output that cannot be written, for example because the disk is full."""


class SolverError(GlugError):
    """A solve that got impossible input, such as NaN in the right-hand side."""


def shown(value: Any) -> str:
    """A value as a message quotes it: on one line, cut where it is long."""
    if isinstance(value, Mapping):
        return "a table" if value else "an empty table"
    if isinstance(value, (list, tuple)):
        text = "[" + ", ".join(shown(item) for item in value[:5]) + (", ...]" if len(value) > 5 else "]")
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**MOST_SHOWN:
        return f"a number of {value.bit_length() * 3 // 10} digits"
    else:
        text = repr(value[:MOST_SHOWN] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 4] + " ..."


def sentence(text: str) -> str:
    """A message on one line of bounded length."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_SENTENCE else text[: LONGEST_SENTENCE - 4] + " ..."


def shown_path(path: Path | str) -> str:
    """A file's name on one line; of a long one, its end."""
    text = "".join(c if c.isprintable() else "?" for c in str(path))
    return text if len(text) <= 2 * MOST_SHOWN else "..." + text[-2 * MOST_SHOWN :]
