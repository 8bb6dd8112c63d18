"""Scripted motion of solids and sources: a rigid pose and its exact rate of change.

A body point p at rest is at R(t) p + x(t); the velocity of the point that is now at q is

    v(q) = dx/dt + omega x (q - x)
"""

from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from glug.scene.model import Model, NonNegative, Number, Vector, at_least_one, fail
from glug.scene.shapes.primitives import Direction
from glug.scene.shapes.transform import axis_rotation, rotation_matrix, unit

Pose = tuple[np.ndarray, np.ndarray]


class Moving(Model):
    """A motion; subclasses supply `pose` and `twist`."""

    def pose(self, t: float) -> Pose:
        """Rotation R (3, 3) and shift x (3,) [m] at time t [s]."""
        raise NotImplementedError

    def twist(self, t: float) -> Pose:
        """omega [rad/s] and dx/dt [m/s]."""
        raise NotImplementedError

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the body at points (n, 3)."""
        omega, rate = self.twist(t)
        if not omega.any():
            return np.tile(rate, (len(points), 1))
        _, x = self.pose(t)
        turning = np.cross(omega, np.eye(3))  # q' turning = omega x q
        velocity = np.asarray(points, dtype=np.float64) @ turning
        velocity += rate - x @ turning
        return velocity


class Static(Moving):
    """No motion."""

    kind: Literal["static"] = "static"

    def pose(self, t: float) -> Pose:
        return np.eye(3), np.zeros(3)

    def twist(self, t: float) -> Pose:
        return np.zeros(3), np.zeros(3)


class Timed(Moving):
    """A motion that begins at `start`, ends at `stop` and holds its pose before and after."""

    start: NonNegative = Field(default=0.0, description="when it begins [s]")
    stop: NonNegative = Field(default=np.inf, allow_inf_nan=True, description="when it ends [s]")

    @model_validator(mode="after")
    def _ordered(self) -> "Timed":
        if not self.stop > self.start:
            raise fail(f"must be later than start, {self.start:g}", "stop")
        return self

    def _elapsed(self, t: float) -> float:
        return float(np.clip(t, self.start, self.stop)) - self.start

    def _active(self, t: float) -> bool:
        return self.start <= t < self.stop


class Linear(Timed):
    """x = velocity t"""

    kind: Literal["linear"] = "linear"
    drift: Vector = Field(alias="velocity", description="velocity [m/s]")

    def pose(self, t: float) -> Pose:
        return np.eye(3), np.asarray(self.drift) * self._elapsed(t)

    def twist(self, t: float) -> Pose:
        return np.zeros(3), np.asarray(self.drift) * float(self._active(t))


class Rotation(Timed):
    """A turn by rate t about an axis through a point: x = point - R point."""

    kind: Literal["rotation"] = "rotation"
    axis: Direction = Field(description="direction of the axis")
    point: Vector = Field(description="a point on the axis [m]")
    rate: Number = Field(description="angular speed [rad/s], right-handed about the axis")

    def pose(self, t: float) -> Pose:
        R = axis_rotation(unit(self.axis), self.rate * self._elapsed(t))
        point = np.asarray(self.point)
        return R, point - R @ point

    def twist(self, t: float) -> Pose:
        omega = unit(self.axis) * self.rate * float(self._active(t))
        _, x = self.pose(t)
        return omega, np.cross(omega, x - np.asarray(self.point))


class Oscillation(Timed):
    """x = amplitude sin(2 pi frequency t + phase)"""

    kind: Literal["oscillation"] = "oscillation"
    amplitude: Vector = Field(description="largest shift to one side [m]")
    frequency: NonNegative = Field(description="periods per second [Hz]")
    phase: Number = Field(default=0.0, description="phase at the start [rad]")

    def pose(self, t: float) -> Pose:
        angle = 2.0 * np.pi * self.frequency * self._elapsed(t) + self.phase
        return np.eye(3), np.asarray(self.amplitude) * np.sin(angle)

    def twist(self, t: float) -> Pose:
        rate = 2.0 * np.pi * self.frequency
        speed = rate * np.cos(rate * self._elapsed(t) + self.phase) * float(self._active(t))
        return np.zeros(3), np.asarray(self.amplitude) * speed


class Key(Model):
    """One keyframe."""

    time: NonNegative = Field(description="when [s]")
    position: Vector = Field(default=(0.0, 0.0, 0.0), description="shift from the rest position [m]")
    rotation: Vector = Field(default=(0.0, 0.0, 0.0), description="turn about x, then y, then z [degrees]")


class Keyframes(Moving):
    """Poses at given times; shifts and angles follow curves between them and hold before and after.

    "smooth" curves are monotone cubics (no overshoot); angles are curves too, so 0 to 720 is two turns.
    """

    kind: Literal["keyframes"] = "keyframes"
    keys: Annotated[tuple[Key, ...], BeforeValidator(at_least_one)] = Field(description="in order of time")
    pivot: Vector = Field(default=(0.0, 0.0, 0.0), description="point the rotation leaves in place [m]")
    interpolation: Literal["smooth", "linear"] = Field(default="smooth", description="curves between the keys")

    @model_validator(mode="after")
    def _in_order(self) -> "Keyframes":
        for i in range(1, len(self.keys)):
            if self.keys[i].time <= self.keys[i - 1].time:
                raise fail(f"must be later than {self.keys[i - 1].time:g}", f"keys.{i}.time")
        return self

    @cached_property
    def _curve(self) -> Any:
        """(shift, angles) as one curve of six components."""
        from scipy.interpolate import PchipInterpolator, PPoly

        times = np.array([key.time for key in self.keys])
        values = np.array([(*key.position, *key.rotation) for key in self.keys])
        if self.interpolation == "smooth":
            return PchipInterpolator(times, values)
        steps = np.diff(times)[:, None]
        return PPoly(np.stack([np.diff(values, axis=0) / steps, values[:-1]]), times)

    def _at(self, t: float, order: int) -> np.ndarray:
        """The curve or its derivative; zero derivative outside the keys."""
        first, last = self.keys[0], self.keys[-1]
        if t < first.time or t >= last.time:
            key = first if t < first.time else last
            return np.array([*key.position, *key.rotation]) if order == 0 else np.zeros(6)
        return self._curve(t, order)

    def pose(self, t: float) -> Pose:
        values, pivot = self._at(t, 0), np.asarray(self.pivot)
        R = rotation_matrix(tuple(values[3:]))
        return R, values[:3] + pivot - R @ pivot

    def twist(self, t: float) -> Pose:
        values, rates = self._at(t, 0), self._at(t, 1)
        a, b, c = np.radians(rates[3:])
        Rz = rotation_matrix((0.0, 0.0, values[5]))
        Rzy = rotation_matrix((0.0, values[4], values[5]))
        omega = a * Rzy[:, 0] + b * Rz[:, 1] + c * np.array([0.0, 0.0, 1.0])
        _, x = self.pose(t)
        return omega, rates[:3] + np.cross(omega, x - values[:3] - np.asarray(self.pivot))


Motion = Annotated[Static | Linear | Rotation | Oscillation | Keyframes, Field(discriminator="kind")]
