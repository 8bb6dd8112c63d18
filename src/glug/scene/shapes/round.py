"""Shapes swept along a segment from `start` to `end`: cylinder, capsule and cone."""

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from glug.scene.model import NonNegative, Point, Positive, fail
from glug.scene.shapes.primitives import (
    Placed,
    axial_coordinates,
    corner_distance,
    in_space,
    is_flat,
    open_along_z,
    root_of_squares,
)
from glug.scene.shapes.transform import Bounds


class Swept(Placed):
    """A segment and what lies around it."""

    start: Point = Field(description="first end of the axis [m]")
    end: Point = Field(description="second end of the axis [m]")

    @model_validator(mode="after")
    def _has_length(self) -> "Swept":
        if len(self.start) != len(self.end):
            raise fail("start and end need as many numbers", "end")
        if self.start == self.end:
            raise fail("must differ from start", "end")
        return self

    def _axis(self) -> tuple[np.ndarray, np.ndarray, float]:
        """First end, direction and length."""
        start, end = in_space(self.start), in_space(self.end)
        length = float(np.linalg.norm(end - start))
        return start, (end - start) / length, length

    def _axial(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Height above `start`, distance from the axis, and the length of the axis."""
        start, axis, length = self._axis()
        if is_flat(self.start):
            z = np.zeros_like(x)
        return *axial_coordinates(x, y, z, start, axis), length

    def _disc_box(self, start_radius: float, end_radius: float) -> Bounds:
        """The box around two discs across the axis."""
        start, axis, _ = self._axis()
        across = np.sqrt(np.maximum(0.0, 1.0 - axis**2))
        discs = ((start, start_radius * across), (in_space(self.end), end_radius * across))
        lower = np.minimum(*(middle - reach for middle, reach in discs))
        upper = np.maximum(*(middle + reach for middle, reach in discs))
        return open_along_z((lower, upper), is_flat(self.start))

    def _centre(self) -> np.ndarray:
        return 0.5 * (in_space(self.start) + in_space(self.end))


class Cylinder(Swept):
    """A cylinder with flat ends."""

    kind: Literal["cylinder"] = "cylinder"
    radius: Positive = Field(description="radius [m]")

    def _box(self) -> Bounds:
        return self._disc_box(self.radius, self.radius)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        along, radial, length = self._axial(x, y, z)
        along -= 0.5 * length
        np.abs(along, out=along)
        along -= 0.5 * length
        radial -= self.radius
        return corner_distance(along, radial)


class Capsule(Swept):
    """A cylinder with a half ball on each end."""

    kind: Literal["capsule"] = "capsule"
    radius: Positive = Field(description="radius [m]")

    def _box(self) -> Bounds:
        ends = np.array([in_space(self.start), in_space(self.end)])
        box = ends.min(axis=0) - self.radius, ends.max(axis=0) + self.radius
        return open_along_z(box, is_flat(self.start))

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        along, radial, length = self._axial(x, y, z)
        along -= np.clip(along, 0.0, length)
        d = root_of_squares(along, radial)
        d -= self.radius
        return d


class Cone(Swept):
    """A cone, truncated when neither radius is 0."""

    kind: Literal["cone"] = "cone"
    start_radius: NonNegative = Field(description="radius at `start` [m]")
    end_radius: NonNegative = Field(default=0.0, description="radius at `end` [m]")

    @model_validator(mode="after")
    def _has_width(self) -> "Cone":
        if self.start_radius == self.end_radius == 0.0:
            raise fail("start_radius and end_radius cannot both be 0", "start_radius")
        return self

    def _box(self) -> Bounds:
        return self._disc_box(self.start_radius, self.end_radius)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """In the half plane (radial, along) the cone is a trapezium: nearest of two caps and the flank."""
        h, r, length = self._axial(x, y, z)
        slope = self.end_radius - self.start_radius
        inside = (h > 0.0) & (h < length) & (r * length < self.start_radius * length + slope * h)
        d = root_of_squares(h.copy(), np.maximum(r - self.start_radius, 0.0))
        np.minimum(d, root_of_squares(h - length, np.maximum(r - self.end_radius, 0.0)), out=d)
        r -= self.start_radius
        s = r * (slope / (slope**2 + length**2))
        s += h * (length / (slope**2 + length**2))
        np.clip(s, 0.0, 1.0, out=s)
        r -= s * slope
        h -= s * length
        np.minimum(d, root_of_squares(r, h), out=d)
        return np.negative(d, out=d, where=inside)
