"""The rigid bodies of a run: what they weigh, how they begin, and how a step moves them."""

from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.mass import mass_properties
from glug.physics.rigid.bodies import Inertia
from glug.scene import Scene
from glug.scene.bodies import Solid
from glug.scene.motions.free import FreeMotion
from glug.scene.shapes.transform import axis_rotation, unit


@dataclass(frozen=True)
class BodyDescription:
    """A rigid body of the scene: what stays the same of it."""

    number: int  # among the scene's solids
    solid: Solid
    mass: float  # [kg]; in 2D of a slab one cell deep
    centre: np.ndarray  # (3,) [m] of mass, as the scene has it
    inertia: np.ndarray  # (3, 3) [kg m2] about it

    @property
    def on_axle(self) -> bool:
        return self.solid.axle is not None

    def begin(self) -> FreeMotion:
        """The body as the scene has it."""
        zero = np.zeros(3)
        launch = np.asarray(self.solid.launch, float)
        spin = np.asarray(self.solid.spin, float)
        if self.solid.axle is not None:
            axis = unit(self.solid.axle)
            launch, spin = zero, axis * float(axis @ spin)
        return FreeMotion(np.eye(3), self.centre.copy(), self.centre, launch, spin)

    def now(self, motion: FreeMotion, dim: int) -> Inertia:
        """The body where it is, for the solves."""
        free = None
        if self.solid.axle is not None:
            m = 3 if dim == 2 else 6
            free = np.zeros((m, 1))
            free[m - 3 if dim == 3 else 2 :, 0] = unit(self.solid.axle) if dim == 3 else [1.0]
        inertia = motion.R @ self.inertia @ motion.R.T
        assert self.solid.density is not None
        return Inertia(self.number, motion.centre, self.solid.density, self.mass, inertia, free)


def body_descriptions(scene: Scene) -> list[BodyDescription]:
    """The scene's rigid bodies."""
    domain, descriptions = scene.domain, []
    for number, solid in enumerate(scene.solids):
        if solid.density is None or solid.shape is None:
            continue
        depth = domain.dx if domain.dim == 2 else None
        found = mass_properties(solid.shape.distance, *solid.shape.bounds(), depth)
        descriptions.append(
            BodyDescription(number, solid, solid.density * found.volume, found.centre, solid.density * found.inertia)
        )
    return descriptions


def reduced(motion: FreeMotion, dim: int) -> np.ndarray:
    """Velocity and rotation as the solves number them: 6, in 2D (x, y, rotation about z)."""
    v, w = motion.velocity_of_centre, motion.spin
    return np.concatenate([v, w]) if dim == 3 else np.array([v[0], v[1], w[2]])


def full(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse: velocity (3,) and rotation (3,)."""
    if len(v) == 6:
        return v[:3].copy(), v[3:].copy()
    return np.array([v[0], v[1], 0.0]), np.array([0.0, 0.0, v[2]])


def coast(description: BodyDescription, motion: FreeMotion, v: np.ndarray, dt: float) -> FreeMotion:
    """Move a body that meets nothing: its momentum and angular momentum stay."""
    velocity, spin = full(v)
    speed = float(np.linalg.norm(spin))
    turn = axis_rotation(spin / speed, speed * dt) if speed > 0.0 else np.eye(3)
    R = turn @ motion.R
    u, _, vt = np.linalg.svd(R)
    R = u @ vt
    if not description.on_axle and speed > 0.0 and len(v) == 6:
        momentum = motion.R @ description.inertia @ motion.R.T @ spin
        spin = R @ np.linalg.solve(description.inertia, R.T @ momentum)
    return replace(motion, R=R, centre=motion.centre + dt * velocity, velocity_of_centre=velocity, spin=spin)
