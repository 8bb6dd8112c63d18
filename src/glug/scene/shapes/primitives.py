"""Shapes and their exact signed distances.

Every shape is a region with a distance d(p) [m], negative inside. It may be placed by

    p = translate + pivot + scale R (q - pivot),      d(p) = scale d_shape(q)

with R from `rotate` (degrees about x, then y, then z) and the pivot at the shape's centre.

Points and centres given as two numbers make a flat shape: it extends without end along z.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from glug.scene.model import Model, NonNegative, Point, Positive, Vector, fail
from glug.scene.shapes.transform import Bounds, moved_bounds, rotation_matrix, unit

BLOCK = 16384
"""Points evaluated together, so that the intermediate columns stay in the processor's cache."""


def _not_zero(direction: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(direction):
        raise fail("must be a direction, got a vector of length 0")
    return direction


Direction = Annotated[Vector, AfterValidator(_not_zero)]


class Placed(Model):
    """What all shapes share: where they are put. Subclasses supply `_field`, `_box` and `_centre`."""

    translate: Vector = Field(default=(0.0, 0.0, 0.0), description="shift [m]")
    rotate: Vector = Field(default=(0.0, 0.0, 0.0), description="turn about x, then y, then z [degrees]")
    scale: Positive = Field(default=1.0, description="uniform scale factor")
    pivot: Vector | None = Field(default=None, description="fixed point of rotate and scale [m]; default the centre")

    def distance(self, points: np.ndarray, R: np.ndarray | None = None, x: np.ndarray | None = None) -> np.ndarray:
        """Signed distance [m] at points (n, 3); with a pose (R, x), of the shape moved to R shape + x."""
        points = np.asarray(points)
        result = np.empty(len(points))
        for start in range(0, len(points), BLOCK):
            block = points[start : start + BLOCK]
            columns = tuple(block[:, axis].astype(np.float64) for axis in range(3))
            if R is not None and x is not None:
                columns = _into_frame(columns, R, x)
            result[start : start + BLOCK] = self.field(*columns)
        return result

    def bounds(self) -> Bounds:
        """Corners of a box around the shape [m]; infinite where the shape is."""
        lower, upper = self._box()
        if self._is_placed():
            R, shift = self._placement()
            return moved_bounds((lower, upper), R * self.scale, shift)
        return lower, upper

    def centre_point(self) -> np.ndarray:
        """The centre of the placed shape [m]."""
        return self.place(self._centre())

    def place(self, points: np.ndarray) -> np.ndarray:
        """Where points (..., 3) [m] of the shape itself are once it is placed."""
        if not self._is_placed():
            return points
        R, shift = self._placement()
        return self.scale * (points @ R.T) + shift

    def field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The distance for columns of coordinates, which are left unchanged."""
        if not self._is_placed():
            return self._field(x, y, z)
        R, shift = self._placement()
        x, y, z = _into_frame((x, y, z), R, shift)
        if self.scale != 1.0:
            for column in (x, y, z):
                column /= self.scale
        d = self._field(x, y, z)
        if self.scale != 1.0:
            d *= self.scale
        return d

    def require_files(self, key: str) -> None:
        """Read the files the shape needs; MeshError, naming the key, when one cannot be used."""

    def _is_placed(self) -> bool:
        return self.scale != 1.0 or any(self.translate) or any(self.rotate)

    def _placement(self) -> tuple[np.ndarray, np.ndarray]:
        """R and the shift in p = shift + scale R q."""
        R = rotation_matrix(self.rotate)
        pivot = self._centre() if self.pivot is None else np.asarray(self.pivot)
        return R, np.asarray(self.translate) + pivot - self.scale * (R @ pivot)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _box(self) -> Bounds:
        raise NotImplementedError

    def _centre(self) -> np.ndarray:
        lower, upper = self._box()
        finite = np.isfinite(lower) & np.isfinite(upper)
        return np.where(finite, 0.5 * np.add(lower, upper, where=finite, out=np.zeros(3)), 0.0)


def _into_frame(
    columns: tuple[np.ndarray, ...], R: np.ndarray, shift: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R' (p - shift), columnwise."""
    x, y, z = (column - offset for column, offset in zip(columns, shift))
    if R[0, 0] == R[1, 1] == R[2, 2] == 1.0:
        return x, y, z
    return tuple(R[0, j] * x + R[1, j] * y + R[2, j] * z for j in range(3))  # type: ignore[return-value]


def is_flat(point: tuple[float, ...] | None) -> bool:
    """Whether a point given by two numbers makes its shape endless along z."""
    return point is not None and len(point) == 2


def in_space(point: tuple[float, ...]) -> np.ndarray:
    """(x, y, z), with z = 0 for a flat point."""
    return np.array(point if len(point) == 3 else (*point, 0.0), dtype=np.float64)


def open_along_z(bounds: Bounds, flat: bool) -> Bounds:
    """The bounds, without end along z when flat."""
    if flat:
        bounds[0][2], bounds[1][2] = -np.inf, np.inf
    return bounds


def corner_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distance to the corner region a <= 0 and b <= 0 from the distances to its two sides; reuses both."""
    d = np.maximum(a, b)
    np.minimum(d, 0.0, out=d)
    np.maximum(a, 0.0, out=a)
    np.maximum(b, 0.0, out=b)
    d += root_of_squares(a, b)
    return d


def root_of_squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """sqrt(a^2 + b^2), in place of both (np.hypot takes five times as long)."""
    a *= a
    b *= b
    a += b
    return np.sqrt(a, out=a)


class Box(Placed):
    """A box: centre and size, or two opposite corners; edges may be rounded."""

    kind: Literal["box"] = "box"
    centre: Point | None = Field(default=None, description="centre [m]")
    size: Point | None = Field(default=None, description="edge lengths [m]")
    lower: Point | None = Field(default=None, description="corner with the smallest coordinates [m]")
    upper: Point | None = Field(default=None, description="corner with the largest coordinates [m]")
    rounding: NonNegative = Field(default=0.0, description="radius of the edges [m]")

    @model_validator(mode="after")
    def _complete(self) -> "Box":
        by_centre, by_corner = (self.centre, self.size), (self.lower, self.upper)
        given = by_centre if None in by_corner else by_corner
        if None in given or by_centre.count(None) + by_corner.count(None) != 2:
            raise fail("a box needs either centre and size, or lower and upper")
        if len(given[0] or ()) != len(given[1] or ()):
            raise fail("both vectors of a box need as many numbers")
        half = self._half()
        if not np.all(half > 0.0):
            raise fail("must have a positive size along every axis", "size" if self.size else "upper")
        if self.rounding > half.min():
            raise fail(f"must be at most half the shortest edge, {half.min():g}", "rounding")
        return self

    def _half(self) -> np.ndarray:
        if self.size is not None:
            half = 0.5 * in_space(self.size)
        else:
            assert self.lower is not None and self.upper is not None
            half = 0.5 * (in_space(self.upper) - in_space(self.lower))
        if is_flat(self.size) or is_flat(self.lower):
            half[2] = np.inf
        return half

    def _centre(self) -> np.ndarray:
        if self.centre is not None:
            return in_space(self.centre)
        assert self.lower is not None and self.upper is not None
        return 0.5 * (in_space(self.lower) + in_space(self.upper))

    def _box(self) -> Bounds:
        centre, half = self._centre(), self._half()
        return centre - half, centre + half

    def corners(self) -> np.ndarray:
        """The corners (8, 3) [m] before the box is placed, x varying fastest; infinite if the box is flat."""
        lower, upper = self._box()
        return np.where(np.arange(8)[:, None] >> np.arange(3) & 1, upper, lower)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        centre, half = self._centre(), self._half() - self.rounding
        sides = []
        for column, middle, extent in zip((x, y, z), centre, half):
            if np.isfinite(extent):
                q = column - middle
                np.abs(q, out=q)
                q -= extent
                sides.append(q)
        d = corner_distance(sides[0], sides[1])
        if len(sides) == 3:
            d = corner_distance(d, sides[2])
        d -= self.rounding
        return d


class Sphere(Placed):
    """A sphere; with a centre of two numbers, a disc."""

    kind: Literal["sphere"] = "sphere"
    centre: Point = Field(description="centre [m]")
    radius: Positive = Field(description="radius [m]")

    def _box(self) -> Bounds:
        centre = in_space(self.centre)
        return open_along_z((centre - self.radius, centre + self.radius), is_flat(self.centre))

    def _centre(self) -> np.ndarray:
        return in_space(self.centre)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        d = x - self.centre[0]
        d *= d
        for column, middle in zip((y, z), self.centre[1:]):
            q = column - middle
            q *= q
            d += q
        np.sqrt(d, out=d)
        d -= self.radius
        return d


class Torus(Placed):
    """A ring: a tube whose centre line is a circle about an axis."""

    kind: Literal["torus"] = "torus"
    centre: Vector = Field(description="centre [m]")
    axis: Direction = Field(default=(0.0, 1.0, 0.0), description="direction of the axis")
    radius: Positive = Field(description="radius of the centre line [m]")
    tube: Positive = Field(description="radius of the tube [m]")

    def _box(self) -> Bounds:
        across = np.sqrt(np.maximum(0.0, 1.0 - unit(self.axis) ** 2))
        reach = self.radius * across + self.tube
        return in_space(self.centre) - reach, in_space(self.centre) + reach

    def _centre(self) -> np.ndarray:
        return in_space(self.centre)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        along, radial = axial_coordinates(x, y, z, in_space(self.centre), unit(self.axis))
        radial -= self.radius
        d = root_of_squares(radial, along)
        d -= self.tube
        return d


def axial_coordinates(
    x: np.ndarray, y: np.ndarray, z: np.ndarray, origin: np.ndarray, axis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Height along the axis and distance from it."""
    x, y, z = x - origin[0], y - origin[1], z - origin[2]
    along = axis[0] * x + axis[1] * y + axis[2] * z
    radial = np.zeros_like(along)
    for column, component in zip((x, y, z), axis):
        column -= component * along
        column *= column
        radial += column
    return along, np.sqrt(radial, out=radial)


class Plane(Placed):
    """What a plane bounds or is the middle of."""

    point: Vector = Field(description="a point of the plane [m]")
    normal: Direction = Field(description="direction across the plane; that out of a half-space")

    def _centre(self) -> np.ndarray:
        return in_space(self.point)

    def _height(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """n . (p - point)"""
        n = unit(self.normal)
        h = n[0] * x
        for column, component in zip((y, z), n[1:]):
            if component != 0.0:
                h += component * column
        h -= float(n @ np.asarray(self.point))
        return h


class Slab(Plane):
    """An unbounded sheet of the given thickness, centred on a plane."""

    kind: Literal["plane"] = "plane"
    thickness: Positive = Field(description="thickness [m]")

    def _box(self) -> Bounds:
        return np.full(3, -np.inf), np.full(3, np.inf)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        d = self._height(x, y, z)
        np.abs(d, out=d)
        d -= 0.5 * self.thickness
        return d


class HalfSpace(Plane):
    """Everything behind a plane: on the side its normal points away from."""

    kind: Literal["half-space"] = "half-space"

    def _box(self) -> Bounds:
        lower, upper = np.full(3, -np.inf), np.full(3, np.inf)
        normal = unit(self.normal)
        for axis in range(3):
            if abs(normal[axis]) == 1.0:
                (upper if normal[axis] > 0 else lower)[axis] = self.point[axis]
        return lower, upper

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self._height(x, y, z)
