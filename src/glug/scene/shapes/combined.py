"""Shapes made of shapes, and the union of all kinds of shape.

The distances of union, intersection and difference are exact outside respectively inside, and bounds
elsewhere: the sign and the surface are always right.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from glug.scene.model import Positive, at_least_one
from glug.scene.shapes.lettering import Text
from glug.scene.shapes.mesh import Mesh
from glug.scene.shapes.primitives import Box, HalfSpace, Placed, Slab, Sphere, Torus
from glug.scene.shapes.round import Capsule, Cone, Cylinder
from glug.scene.shapes.transform import Bounds

Column = np.ndarray


class Combination(Placed):
    """Several shapes made one."""

    parts: "Parts"

    def require_files(self, key: str) -> None:
        for i, part in enumerate(self.parts):
            part.require_files(f"{key}.parts.{i}")

    def _field(self, x: Column, y: Column, z: Column) -> Column:
        d = self.parts[0].field(x, y, z)
        for part in self.parts[1:]:
            self._join(d, part.field(x, y, z))
        return d

    def _join(self, d: Column, other: Column) -> None:
        """Make d, the distance of the parts before, that of them and of one more; may spoil `other`."""
        raise NotImplementedError


class Union(Combination):
    """Where any of the parts is: min(d1, d2, ...)."""

    kind: Literal["union"] = "union"

    def _box(self) -> Bounds:
        return _around(self.parts)

    def _join(self, d: Column, other: Column) -> None:
        np.minimum(d, other, out=d)


class Intersection(Combination):
    """Where all of the parts are: max(d1, d2, ...)."""

    kind: Literal["intersection"] = "intersection"

    def _box(self) -> Bounds:
        lower, upper = zip(*(part.bounds() for part in self.parts))
        return np.max(lower, axis=0), np.min(upper, axis=0)

    def _join(self, d: Column, other: Column) -> None:
        np.maximum(d, other, out=d)


class Difference(Combination):
    """The first part without the others: max(d1, -d2, ...)."""

    kind: Literal["difference"] = "difference"

    def _box(self) -> Bounds:
        return self.parts[0].bounds()

    def _join(self, d: Column, other: Column) -> None:
        np.maximum(d, np.negative(other, out=other), out=d)


class SmoothUnion(Combination):
    """A union whose creases are filled: min(d1, d2) - h^2 / (4 radius), h = max(radius - |d1 - d2|, 0)."""

    kind: Literal["smooth-union"] = "smooth-union"
    radius: Positive = Field(description="size of the fillet [m]")

    def _box(self) -> Bounds:
        lower, upper = _around(self.parts)
        swell = 0.25 * self.radius * (len(self.parts) - 1)
        return lower - swell, upper + swell

    def _join(self, d: Column, other: Column) -> None:
        h = d - other
        np.abs(h, out=h)
        np.subtract(self.radius, h, out=h)
        np.maximum(h, 0.0, out=h)
        h *= h
        h *= 0.25 / self.radius
        np.minimum(d, other, out=d)
        d -= h


class Shell(Placed):
    """A skin centred on the surface of a shape: |d| - thickness / 2."""

    kind: Literal["shell"] = "shell"
    part: "Shape"
    thickness: Positive = Field(description="thickness of the skin [m]")

    def require_files(self, key: str) -> None:
        self.part.require_files(f"{key}.part")

    def _box(self) -> Bounds:
        lower, upper = self.part.bounds()
        return lower - 0.5 * self.thickness, upper + 0.5 * self.thickness

    def _field(self, x: Column, y: Column, z: Column) -> Column:
        d = self.part.field(x, y, z)
        np.abs(d, out=d)
        d -= 0.5 * self.thickness
        return d


def _around(parts: "tuple[Placed, ...]") -> Bounds:
    lower, upper = zip(*(part.bounds() for part in parts))
    return np.min(lower, axis=0), np.max(upper, axis=0)


Shape = Annotated[
    Box
    | Sphere
    | Cylinder
    | Capsule
    | Cone
    | Torus
    | Slab
    | HalfSpace
    | Text
    | Mesh
    | Union
    | Intersection
    | Difference
    | SmoothUnion
    | Shell,
    Field(discriminator="kind"),
]
Parts = Annotated[tuple[Shape, ...], BeforeValidator(at_least_one)]

for _combination in (Combination, Union, Intersection, Difference, SmoothUnion, Shell):
    _combination.model_rebuild()
