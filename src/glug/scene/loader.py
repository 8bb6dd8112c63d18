"""Scenes from library names, TOML files and dicts; every mistake becomes one SceneError line."""

import difflib
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from glug.errors import InputError, MeshError, SceneError, sentence, shown, shown_path
from glug.scene import door
from glug.scene.motions.moved_scene import is_far, moved_by
from glug.scene.schema import Scene

LIBRARY = files("glug.scene") / "library"


def load(what: "str | Path | Mapping[str, Any] | Scene", overrides: Mapping[str, Any] | None = None) -> Scene:
    """A validated scene from a library name, a .toml file, a dict or another scene.

    overrides: values by dotted key, such as {"domain.resolution": 96, "sources.0.velocity": [0, -1, 0]}
    """
    if isinstance(what, Scene):
        if not overrides:
            return _near(what)
        origin, data = what.name, _editable(what.model_dump(by_alias=True, exclude_none=True))
    elif isinstance(what, Mapping):
        door.check(what)
        origin, data = shown_path(str(what.get("name", "scene"))), _editable(what)
    else:
        origin, data = _read(what)
    try:
        for key, value in (overrides or {}).items():
            _override(data, key, value)
        door.check(data)
        return _near(Scene(**data))
    except MeshError as error:
        raise MeshError(sentence(f"{origin}: {error}")) from None
    except SceneError as error:
        raise SceneError(sentence(f"{origin}: {error}")) from None


def _near(scene: Scene) -> Scene:
    """The scene; one that is far from the point 0 moved there."""
    if not is_far(scene.domain):
        return scene
    data = _editable(scene.model_dump(by_alias=True, exclude_none=True))
    return Scene(**moved_by(data, -scene.domain.lower))


def scenes() -> list[tuple[str, str]]:
    """(name, one-line description) of every scene in the library."""
    return [(name, tomllib.loads(library_text(name))["description"]) for name in _library_names()]


def starter_scene() -> str:
    """Text of a short commented scene to begin from."""
    return library_text("_starter")


def parse_override(text: str) -> tuple[str, Any]:
    """("domain.resolution", 96) from "domain.resolution=96"; what is not TOML is taken as text."""
    key, separator, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not separator or not key or not value:
        raise InputError(f"{shown(text)} is not of the form key=value, such as domain.resolution=96")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return key, value


def _library_names() -> list[str]:
    files = (item.name for item in LIBRARY.iterdir())
    return sorted(name[:-5] for name in files if name.endswith(".toml") and not name.startswith("_"))


def library_text(name: str) -> str:
    """The file of a library scene."""
    return (LIBRARY / f"{name}.toml").read_text(encoding="utf-8")


def _read(what: str | Path) -> tuple[str, dict[str, Any]]:
    """Where the scene is from, and its data with file names made absolute."""
    names = _library_names()
    if str(what) in names:
        return str(what), {"name": str(what)} | tomllib.loads(library_text(str(what)))
    path = Path(what)
    if path.suffix != ".toml" and not door.is_file(path):
        close = difflib.get_close_matches(str(what), names, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"the library has {', '.join(names)}"
        raise SceneError(f"{shown_path(what)}: no such scene in the library and no such file; {hint}")
    origin = shown_path(path)
    text = door.read_text(path)
    try:
        data = door.parse(text)
        _resolve_files(data, path.resolve().parent)
    except SceneError as error:
        raise SceneError(f"{origin}: {error}") from None
    return origin, {"name": path.stem} | data


def _resolve_files(node: Any, folder: Path) -> None:
    """Make mesh files relative to the scene file absolute, in place; a pattern with * becomes its files."""
    if isinstance(node, dict):
        if node.get("kind") == "mesh" and isinstance(node.get("file"), str):
            node["file"] = str(folder / node["file"])
        if isinstance(node.get("files"), str) and "*" in node["files"]:
            node["files"] = door.matching_files(node["files"], folder)
        elif isinstance(node.get("files"), list):
            node["files"] = [str(folder / name) if isinstance(name, str) else name for name in node["files"]]
        for value in node.values():
            _resolve_files(value, folder)
    elif isinstance(node, list):
        for value in node:
            _resolve_files(value, folder)


def _editable(node: Any) -> Any:
    """A copy whose tables are dicts and whose sequences are lists."""
    if isinstance(node, Mapping):
        return {key: _editable(value) for key, value in node.items()}
    return [_editable(value) for value in node] if isinstance(node, (list, tuple)) else node


def _override(data: dict[str, Any], key: str, value: Any) -> None:
    """Set one value by dotted key; missing tables are made, list entries are addressed by number."""
    *parents, last = key.split(".")
    if len(parents) > door.DEEPEST:
        raise SceneError(f"{shown_path(key)}: a key of more than {door.DEEPEST} parts")
    node: Any = data
    for part in parents:
        if isinstance(node, dict):
            node = node.setdefault(part, {})
        else:
            node = node[_entry(node, part, key)]
    if isinstance(node, dict):
        node[last] = value
    else:
        node[_entry(node, last, key)] = value


def _entry(node: Any, part: str, key: str) -> int:
    if not isinstance(node, list):
        raise SceneError(f"{key}: '{part}' is below a value that is not a table")
    if not part.isdigit() or int(part) >= len(node):
        raise SceneError(f"{key}: '{part}' is not an entry; valid: 0 to {len(node) - 1}")
    return int(part)
