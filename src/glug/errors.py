"""Errors a user can cause. The command line prints them on one line, without a traceback."""


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
