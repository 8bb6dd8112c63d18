"""Optional dependencies: imported when they are needed, and when missing, the one command that adds them is said."""

from importlib import import_module
from typing import Any

from glug.errors import InputError


def require(module: str, extra: str, purpose: str) -> Any:
    """The optional `module`, which the extra `extra` of glug installs; `purpose` begins the message without it.

    require("pxr.Usd", "usd", "exporting to USD")
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise InputError(f"{purpose} needs {module}, which is installed but lacks {error.name}") from error
        raise InputError(f"{purpose} needs an extra; add it with: pip install 'glug[{extra}]'") from None
    except ImportError as error:
        raise InputError(f"{purpose} needs {module}, which cannot be imported: {error}") from error
