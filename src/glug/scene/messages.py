"""Validation errors as one line: dotted key, what is wrong, what would be valid."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from glug.errors import shown, shown_path
from glug.scene.model import nearest

EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text in quotes",
    "tuple": "a list",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
    "mapping": "a table",
}


def one_line(error: ValidationError, data: Any) -> str:
    """The first error in words, and how many more there are."""
    errors = error.errors(include_url=False)
    first, more = errors[0], len(errors) - 1
    key = shown_path(dotted_key(first, data))
    text = f"{key}: {reason(first)}" if key else reason(first)
    return f"{text} (and {more} more)" if more else text


def dotted_key(error: Any, data: Any) -> str:
    """The key as the user wrote it: pydantic's location without the names of union members."""
    parts: list[str] = []
    here = data
    location = error["loc"]
    for i, part in enumerate(location):
        last = i == len(location) - 1
        if isinstance(here, BaseModel):
            here = {name: getattr(here, name) for name in type(here).model_fields}
        if isinstance(here, Mapping) and part == here.get("kind") and not last:
            continue
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(part, int) and isinstance(here, Sequence) and not isinstance(here, str):
            here = here[part] if part < len(here) else None
        elif not (last and error["type"] == "missing"):
            continue
        parts.append(str(part))
    inner = error.get("ctx", {}).get("key", "")
    return ".".join([*parts, inner] if inner else parts)


def reason(error: Any) -> str:
    """What is wrong and what would be valid."""
    kind, value, context = error["type"], error.get("input"), error.get("ctx", {})
    if kind == "scene":
        return context["message"]
    if kind == "missing":
        return "missing, but required"
    if kind == "literal_error":
        return f"{shown(value)} is not valid; valid: {context['expected']}"
    if kind == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
        return f"unknown kind {shown(context['tag'])}{nearest(context['tag'], tags)} (valid: {', '.join(tags)})"
    if kind == "union_tag_not_found":
        return 'needs a kind, as in { kind = "..." }'
    if kind == "finite_number":
        return f"must be a finite number, got {value}"
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length") if kind == "too_short" else context.get("max_length")
        word = "at least" if kind == "too_short" else "at most"
        return f"needs {word} {bound} entries, got {context['actual_length']}"
    if kind == "int_from_float":
        return f"must be a whole number, got {shown(value)}"
    expected = EXPECTED.get(kind.split("_")[0]) if kind.endswith(("_type", "_parsing")) else None
    if expected:
        return f"must be {expected}, got {shown(value)}"
    text = error["msg"].replace("Input should be", "must be")
    return f"{text}, got {shown(value)}"
