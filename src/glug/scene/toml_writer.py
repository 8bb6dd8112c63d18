"""Scenes as TOML text. The standard library reads TOML but does not write it."""

from collections.abc import Mapping
from typing import Any

from glug.scene.schema import Scene

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def to_toml(scene: Scene) -> str:
    """The resolved scene, every value spelled out; loading it gives an equal scene."""
    data = scene.model_dump(by_alias=True, exclude_none=True)
    plain = {key: value for key, value in data.items() if not _is_table(value) and not _is_tables(value)}
    blocks = [_lines(plain)]
    for key, value in data.items():
        if key == "liquids":
            blocks += [f"[liquids.{_key(name)}]\n{_lines(liquid)}" for name, liquid in value.items()]
        elif _is_table(value):
            blocks.append(f"[{key}]\n{_lines(value)}")
        elif _is_tables(value):
            blocks += [f"[[{key}]]\n{_lines(item)}" for item in value]
    return "\n".join(blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(_is_table(item) for item in value)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if key and key.replace("-", "").replace("_", "").isalnum() and key.isascii() else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)  # also inf
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        ordered = sorted(value, key=lambda key: key != "kind")  # the kind comes first
        return "{ " + ", ".join(f"{_key(key)} = {_value(value[key])}" for key in ordered) + " }"
    return "[" + ", ".join(_value(item) for item in value) + "]"


def _text(text: str) -> str:
    def escape(character: str) -> str:
        if character in ESCAPES:
            return ESCAPES[character]
        control = ord(character) < 32 or ord(character) == 127
        return f"\\u{ord(character):04x}" if control else character

    return '"' + "".join(map(escape, text)) + '"'
