"""What is put into the domain: initial volumes, sources, sinks and solids."""

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from glug.scene.model import Colour, Fraction, Model, NonNegative, Positive, SlipLength, Vector, fail
from glug.scene.motions.scripted import Motion, Static
from glug.scene.shapes.combined import Shape
from glug.scene.shapes.primitives import Direction
from glug.scene.shapes.sequence import MeshSequence
from glug.scene.shapes.transform import Bounds, moved_bounds


class Volume(Model):
    """Liquid that is there at the beginning."""

    shape: Shape
    liquid: str = Field(description="name of the liquid")
    velocity: Vector = Field(default=(0.0, 0.0, 0.0), description="initial velocity [m/s]")
    spin: Vector = Field(default=(0.0, 0.0, 0.0), description="initial rotation about the shape's centre [rad/s]")

    def velocity_at(self, points: np.ndarray) -> np.ndarray:
        """velocity + spin x (p - centre), (n, 3) [m/s]"""
        if not any(self.spin):
            return np.tile(np.asarray(self.velocity), (len(points), 1))
        return np.cross(self.spin, points - self.shape.centre_point()) + self.velocity


class Source(Model):
    """Where liquid comes in while `start` <= t < `stop`."""

    shape: Shape
    liquid: str = Field(description="name of the liquid")
    velocity: Vector = Field(default=(0.0, 0.0, 0.0), description="velocity of the liquid relative to the source [m/s]")
    start: NonNegative = Field(default=0.0, description="when it opens [s]")
    stop: NonNegative = Field(default=np.inf, allow_inf_nan=True, description="when it closes [s]")
    motion: Motion = Static()

    @model_validator(mode="after")
    def _ordered(self) -> "Source":
        if not self.stop > self.start:
            raise fail(f"must be later than start, {self.start:g}", "stop")
        return self

    @property
    def moving(self) -> bool:
        """Whether the source changes place."""
        return self.motion.kind != "static"

    def active(self, t: float) -> bool:
        """Whether liquid comes in at time t [s]."""
        return self.start <= t < self.stop

    def distance(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Signed distance (n,) [m] at time t."""
        return self.shape.distance(points, *self.motion.pose(t)) if self.moving else self.shape.distance(points)

    def velocity_at(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the liquid that comes in: of the source, plus its own turned with it."""
        R, _ = self.motion.pose(t)
        return self.motion.velocity(points, t) + R @ np.asarray(self.velocity)

    def bounds(self, t: float = 0.0) -> Bounds:
        """Corners of a box around the source at time t [m]."""
        return moved_bounds(self.shape.bounds(), *self.motion.pose(t))


class Sink(Model):
    """Where liquid is taken away."""

    shape: Shape

    def distance(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Signed distance (n,) [m]."""
        return self.shape.distance(points)


class Solid(Model):
    """A solid: a shape, at rest, with a scripted motion or (with a density) a rigid body; or a sequence of meshes."""

    name: str = Field(min_length=1, description="name, different from the other solids'")
    shape: Shape | None = None
    sequence: MeshSequence | None = None
    motion: Motion = Static()
    walls: Literal["sticking", "separating"] = Field(
        default="sticking", description="whether it holds a liquid that moves away, or lets it go"
    )
    slip_length: SlipLength = 0.0
    colour: Colour = Field(default=(0.75, 0.75, 0.75), description="red, green, blue in 0..1")
    clarity: Fraction = Field(default=0.0, description="0 opaque .. 1 clear as glass, in pictures")
    density: Positive | None = Field(
        default=None, description="makes it a rigid body, which liquid and collisions move [kg/m3]"
    )
    launch: Vector = Field(default=(0.0, 0.0, 0.0), alias="velocity", description="a body's initial velocity [m/s]")
    spin: Vector = Field(default=(0.0, 0.0, 0.0), description="a body's initial rotation about its centre [rad/s]")
    axle: Direction | None = Field(
        default=None, description="a body only turns about this direction through its centre"
    )
    friction: NonNegative | None = Field(default=None, description="Coulomb's coefficient between solids")
    restitution: Fraction | None = Field(default=None, description="share of the speed with which bodies rebound")

    @model_validator(mode="after")
    def _one_geometry(self) -> "Solid":
        if (self.shape is None) == (self.sequence is None):
            raise fail("a solid needs either shape or sequence")
        return self

    @model_validator(mode="after")
    def _moves_one_way(self) -> "Solid":
        if self.density is None:
            for key, given in (("velocity", any(self.launch)), ("spin", any(self.spin)), ("axle", self.axle)):
                if given:
                    raise fail(f"only a body has a {key}: give the solid a density, or a motion", key)
        elif self.sequence is not None:
            raise fail("a sequence of meshes cannot be a rigid body", "density")
        elif self.motion.kind != "static":
            raise fail("a solid with a density moves by itself and takes no motion", "motion")
        elif self.axle is not None and any(self.launch):
            raise fail("a body on an axle stays where it is", "velocity")
        return self

    @property
    def free(self) -> bool:
        """Whether it is a rigid body, which liquid and collisions move."""
        return self.density is not None

    @property
    def moving(self) -> bool:
        """Whether the solid changes place or form."""
        return self.motion.kind != "static" or self.sequence is not None or self.free

    def distance(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Signed distance (n,) [m] at time t."""
        if self.shape is not None:
            if self.motion.kind == "static":
                return self.shape.distance(points)
            return self.shape.distance(points, *self.motion.pose(t))
        assert self.sequence is not None
        R, x = self.motion.pose(t)
        return self.sequence.distance((points - x) @ R, t)

    def velocity(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the solid at time t, continued into its surroundings."""
        velocity = self.motion.velocity(points, t)
        if self.sequence is not None:
            R, x = self.motion.pose(t)
            velocity += self.sequence.velocity((points - x) @ R, t) @ R.T
        return velocity

    def bounds(self, t: float = 0.0) -> Bounds:
        """Corners of a box around the solid at time t [m]."""
        box = self.shape.bounds() if self.shape is not None else self.sequence.bounds(t)  # type: ignore
        return moved_bounds(box, *self.motion.pose(t))
