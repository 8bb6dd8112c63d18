"""The ground every scene model stands on: frozen, no unknown keys, plain finite numbers."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from glug.errors import shown


def nearest(word: str, known: list[str]) -> str:
    """'; did you mean ...?' when one of the known words is close, else ''."""
    close = difflib.get_close_matches(word[:40], known, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


def fail(message: str, key: str = "") -> PydanticCustomError:
    """A validation error whose text is ours; `key` is relative to the model that raises it."""
    return PydanticCustomError("scene", "{message}", {"message": message, "key": key})


class Model(BaseModel):
    """A part of a scene, in Python and in TOML alike."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    hint = nearest(str(key), known)
                    raise fail(f"unknown key{hint} (valid: {', '.join(known)})", key=str(key))
        return data


def _plain_number(value: Any) -> Any:
    """NumPy scalars become Python numbers; text and booleans are not numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, bytes, bool)):
        raise fail(f"must be a number, got {shown(value)}")
    return value


def _plain_count(value: Any) -> Any:
    if isinstance(value, (str, bytes, bool)):
        raise fail(f"must be a whole number, got {shown(value)}")
    return _plain_number(value)


def _plain_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def at_least_one(value: Any) -> Any:
    """For lists that cannot be empty (pydantic's own check would also count entries that are wrong)."""
    if isinstance(value, (list, tuple)) and len(value) == 0:
        raise fail("needs at least one entry")
    return value


def two_or_three(value: Any) -> Any:
    """For vectors of a 2D or a 3D scene."""
    value = _plain_list(value)
    if not isinstance(value, (list, tuple)):
        raise fail(f"must be a list of 3 numbers (or 2 in a 2D scene), got {shown(value)}")
    if len(value) not in (2, 3):
        raise fail(f"needs 3 numbers (or 2 in a 2D scene), got {len(value)}")
    return value


def _spatial(value: Any) -> Any:
    """(x, y) means (x, y, 0)."""
    value = two_or_three(value)
    return (*value, 0.0) if len(value) == 2 else value


Number = Annotated[float, BeforeValidator(_plain_number)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Fraction = Annotated[Number, Field(ge=0, le=1)]
Count = Annotated[int, BeforeValidator(_plain_count)]


def _slip_length(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    value = float("inf") if isinstance(value, str) and value == "free" else value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not value >= 0.0:
        raise fail(f"must be a length of at least 0 (no-slip), or 'free', got {shown(value)}")
    return value


SlipLength = Annotated[
    float,
    Field(allow_inf_nan=True, description="slip length [m]; 0 is no-slip, inf or 'free' has no friction"),
    BeforeValidator(_slip_length),
]

Vector = Annotated[tuple[Number, Number, Number], BeforeValidator(_spatial)]
"""Three components; two are completed with z = 0."""

Point = Annotated[tuple[Number, ...], BeforeValidator(two_or_three)]
"""Three coordinates; two make a shape flat."""

Colour = Annotated[tuple[Fraction, Fraction, Fraction], BeforeValidator(_plain_list)]
"""Red, green, blue in 0..1."""
