"""The door: where text from outside becomes plain data, bounded in every way before anything else looks at it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glug.errors import MOST_SHOWN, SceneError, shown, shown_path

MOST_BYTES = 4 << 20  # of a scene file
DEEPEST = 32  # tables and lists inside each other
LONGEST_TEXT = 4096  # characters of a value
LONGEST_LIST = 100_000  # entries of a list or a table
MOST_VALUES = 1_000_000  # in a whole scene
LARGEST = 1e30  # of any number: products of a few still are finite
MOST_FILES = 100_000  # that a pattern may find

# tomllib takes a time that grows with the square of a key's parts.
_LONG_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{DEEPEST},}}")


def read_text(path: Path) -> str:
    """The text of a file; SceneError where there is none, or too much of it."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise SceneError(f"{shown_path(path)}: not a file")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise SceneError(f"{shown_path(path)}: larger than {MOST_BYTES >> 20} MB, which no scene is")
        return data.decode("utf-8")
    except FileNotFoundError:
        raise SceneError(f"{shown_path(path)}: no such file") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{shown_path(path)}: cannot be read as text (byte {error.start} is not UTF-8)") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SceneError(f"{shown_path(path)}: cannot be read as text ({reason})") from None


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that none can have is no error."""
    try:
        return path.is_file()
    except OSError:
        return False


def parse(text: str) -> dict[str, Any]:
    """Tables and values from TOML; SceneError where it is not TOML or has no reasonable bounds."""
    if _LONG_KEY.search(text):
        raise SceneError(f"not a scene: a key has more than {DEEPEST} parts")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"not valid TOML: {shown(str(error))[1:-1]}") from None
    except RecursionError:
        raise SceneError(f"not a scene: tables and lists are nested more than {DEEPEST} deep") from None
    except ValueError:  # of integers with thousands of digits
        raise SceneError("not a scene: a number has thousands of digits") from None
    check(data)
    return data


def check(data: Any) -> None:
    """SceneError where plain data is deeper, longer or larger than any scene is."""
    stack: list[tuple[str, Any, int]] = [("", data, 0)]
    seen = 0
    while stack:
        key, value, depth = stack.pop()
        seen += 1
        if depth > DEEPEST or seen > MOST_VALUES:
            much = f"nested more than {DEEPEST} deep" if depth > DEEPEST else f"more than {MOST_VALUES:,} values"
            raise SceneError(f"{_shown_key(key)}: {much}, which no scene is")
        if isinstance(value, (Mapping, list, tuple)):
            if len(value) > LONGEST_LIST:
                raise SceneError(f"{_shown_key(key)}: has {len(value):,} entries; valid: up to {LONGEST_LIST:,}")
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            stack += [(f"{key}.{name}" if key else str(name), item, depth + 1) for name, item in pairs]
        elif isinstance(value, (str, bytes)) and len(value) > LONGEST_TEXT:
            raise SceneError(f"{_shown_key(key)}: text of {len(value):,} characters; valid: up to {LONGEST_TEXT:,}")
        elif isinstance(value, (int, float)) and LARGEST < abs(value) < float("inf"):
            raise SceneError(f"{_shown_key(key)}: {shown(value)} is out of range; valid: up to {LARGEST:g}")


def _shown_key(key: str) -> str:
    return shown_path(key[:MOST_SHOWN]) if key else "scene"


def matching_files(pattern: str, folder: Path) -> list[str]:
    """The files that a pattern names, in order; its * stand in the name of the file, not in its folder's."""
    where = folder / Path(pattern).parent
    name = Path(pattern).name
    if "*" in str(Path(pattern).parent) or "**" in name:
        raise SceneError(
            f"files: {shown(pattern)} is no pattern; valid: one like 'spoon/*.obj', with * in the file's name"
        )
    found: list[str] = []
    try:
        for path in where.glob(name):
            found.append(str(path))
            if len(found) > MOST_FILES:
                raise SceneError(f"files: {shown(pattern)} names more than {MOST_FILES:,} files")
    except (OSError, ValueError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SceneError(f"files: {shown(pattern)}: cannot be looked for ({reason})") from None
    return sorted(found)
