"""Liquids: density, look, how thick they are and how their surface pulls."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_serializer, model_validator

from glug.errors import shown
from glug.scene.materials import MATERIALS
from glug.scene.model import Colour, Fraction, Model, NonNegative, Number, Positive, fail, nearest
from glug.scene.shapes.primitives import Direction
from glug.scene.shapes.transform import unit

Table = tuple[tuple[Number, Positive], ...]


def _rising(table: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if len(table) < 2:
        raise fail(f"needs at least 2 pairs, got {len(table)}")
    if any(b[0] <= a[0] for a, b in pairwise(table)):
        raise fail("the first numbers of the pairs must rise")
    return table


def _look_up(table: tuple[tuple[float, float], ...], where: np.ndarray) -> np.ndarray:
    places, values = np.array(table).T
    return np.exp(np.interp(where, places, np.log(values)))


class ConstantViscosity(Model):
    """The same everywhere; written as a plain number."""

    kind: Literal["constant"] = "constant"
    value: NonNegative = Field(description="viscosity [Pa s]")

    def at(self, positions: np.ndarray, temperature: np.ndarray | float | None = None) -> np.ndarray:
        """Viscosity (n,) [Pa s]."""
        return np.full(len(positions), self.value)

    @model_serializer
    def _number(self) -> float:
        return self.value


class TemperatureViscosity(Model):
    """Follows the temperature of each bit of liquid."""

    kind: Literal["temperature"] = "temperature"
    table: Table = Field(description="(temperature [C], viscosity [Pa s]) pairs, log-linear between")

    _check = field_validator("table")(_rising)

    def at(self, positions: np.ndarray, temperature: np.ndarray | float | None = None) -> np.ndarray:
        """Viscosity (n,) [Pa s] at temperatures [C], one per position or one for all."""
        if temperature is None:
            raise ValueError("a viscosity that follows temperature needs temperatures")
        return _look_up(self.table, np.broadcast_to(temperature, len(positions)))


def _named_axis(value: Any) -> Any:
    names = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    if isinstance(value, str) and value not in names:
        raise fail(f"must be 'x', 'y', 'z' or a vector, got {shown(value)}")
    return names[value] if isinstance(value, str) else value


Axis = Annotated[Direction, BeforeValidator(_named_axis)]


class PositionViscosity(Model):
    """Set by where the liquid starts, and carried along."""

    kind: Literal["position"] = "position"
    axis: Axis = Field(default=(1.0, 0.0, 0.0), description="direction of change: 'x', 'y', 'z' or a vector")
    table: Table = Field(description="(position along the axis [m], viscosity [Pa s]) pairs, log-linear between")

    _check = field_validator("table")(_rising)

    def at(self, positions: np.ndarray, temperature: np.ndarray | float | None = None) -> np.ndarray:
        """Viscosity (n,) [Pa s] for liquid that starts at positions (n, 3)."""
        return _look_up(self.table, positions @ unit(self.axis))


def _wrap_number(value: Any) -> Any:
    if isinstance(value, (Mapping, Model)):
        return value
    if isinstance(value, (str, bool)) or not np.isscalar(value):
        raise fail(f"must be a number [Pa s] or a table with kind = 'temperature' or 'position', got {shown(value)}")
    return {"kind": "constant", "value": value}


Viscosity = Annotated[
    Annotated[ConstantViscosity | TemperatureViscosity | PositionViscosity, Field(discriminator="kind")],
    BeforeValidator(_wrap_number),
]


STRONGEST = 10.0  # [N/m]: molten metals have up to 2.5


def _tension(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0.0 <= value <= STRONGEST:
        hint = f" ({value:g} mN/m are {value / 1000.0:g})" if 0.0 < value < 1e6 else ""
        raise fail(f"must be 0 to {STRONGEST:g} N/m (water has 0.0728), got {value:g}{hint}")
    if isinstance(value, str):
        raise fail(f"must be a number [N/m], or 'material' for that of the named one, got {shown(value)}")
    return value


class Liquid(Model):
    """A liquid: a named material, its values replaced where given, or density and viscosity."""

    material: str | None = Field(default=None, description="a named material whose values fill in what is not given")
    density: Positive = Field(description="density [kg/m3]")
    viscosity: Viscosity = Field(description="dynamic viscosity [Pa s], or a law")
    surface_tension: Annotated[Number, BeforeValidator(_tension)] = Field(
        default=0.0, description="surface tension against air [N/m], or 'material' for the named one's; 0 has none"
    )
    temperature: Number = Field(default=20.0, description="initial temperature [C]")
    colour: Colour = Field(default=(0.55, 0.78, 0.92), description="red, green, blue in 0..1")
    clarity: Fraction = Field(default=0.5, description="0 opaque .. 1 clear")

    @model_validator(mode="before")
    @classmethod
    def _from_material(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if data.get("material") is None:
            missing = [key for key in ("density", "viscosity") if key not in data]
            if missing:
                raise fail(f"needs {' and '.join(missing)}, or material = one of {', '.join(MATERIALS)}")
            return data
        name = data["material"]
        if not isinstance(name, str) or name not in MATERIALS:
            hint = nearest(str(name), list(MATERIALS))
            raise fail(f"unknown material {shown(name)}{hint} (valid: {', '.join(MATERIALS)})", "material")
        material = MATERIALS[name]
        values = {key: getattr(material, key) for key in ("density", "viscosity", "colour", "clarity")}
        if data.get("surface_tension") == "material":
            data = {**data, "surface_tension": material.surface_tension}
        return values | dict(data)
