"""Whether a run may begin in a directory. Looks only: nothing is written."""

from pathlib import Path
from typing import Any

from glug.errors import InputError, SceneError
from glug.scene import door

# A run may be continued to a later frame.
_MAY_CHANGE = {"time.frames"}


def check_destination(folder: Path, scene_toml: str, *, resume: bool, overwrite: bool) -> bool:
    """True if `folder` holds a run to continue or to delete, False if it is free; InputError otherwise."""
    folder = folder.resolve()  # `nowhere/../runs` is `runs`, even before there is a `nowhere`
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a directory")
    try:
        contents = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        there = door.read_text(folder / "scene.toml") if "scene.toml" in contents else None
    except OSError as error:
        raise InputError(f"{folder}: cannot read: {error.strerror}") from error
    if there is None:
        if contents:
            raise InputError(f"{folder}: not empty, and holds no glug run; choose another directory with -o")
        return False
    if overwrite:
        return True
    if (key := _difference(there, scene_toml)) is not None:
        raise InputError(
            f"{folder}: already holds another scene's run ({key} differs); choose another directory with -o"
        )
    if not resume:
        raise InputError(f"{folder}: already holds a run of this scene; use --resume, or another directory with -o")
    return True


def _difference(before: str, after: str) -> str | None:
    """The first key in which two scenes differ, None if a run of one may go on as the other."""
    if before == after:
        return None
    try:
        old, new = _flat(door.parse(before)), _flat(door.parse(after))
    except SceneError:
        return "scene.toml"
    keys = sorted((old.keys() | new.keys()) - _MAY_CHANGE)
    missing = object()
    changed = [key for key in keys if old.get(key, missing) != new.get(key, missing)]
    return next((key for key in changed if key == "name"), changed[0]) if changed else None


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by dotted key."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
