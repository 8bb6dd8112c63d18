"""The motion of a solid that no script moves: where liquid and collisions have brought it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from glug.scene.bodies import Solid

Pose = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FreeMotion:
    """A rigid body at one moment; answers as a scripted motion does, whatever the time.

    The rest shape's point p is at R (p - rest) + centre, where `rest` is its centre of mass.
    """

    R: np.ndarray  # (3, 3)
    centre: np.ndarray  # (3,) [m] of mass
    rest: np.ndarray  # (3,) [m] centre of mass of the shape as the scene has it
    velocity_of_centre: np.ndarray  # (3,) [m/s]
    spin: np.ndarray  # (3,) [rad/s]
    kind: str = "free"

    def pose(self, t: float = 0.0) -> Pose:
        """Rotation R (3, 3) and shift x (3,) [m]: p -> R p + x."""
        return self.R, self.centre - self.R @ self.rest

    def twist(self, t: float = 0.0) -> Pose:
        """omega [rad/s] and dx/dt [m/s]."""
        _, x = self.pose(t)
        return self.spin, self.velocity_of_centre + np.cross(self.spin, x - self.centre)

    def velocity(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the body at points (n, 3)."""
        return self.velocity_of_centre + np.cross(self.spin, np.asarray(points, np.float64) - self.centre)

    def moved(self, solid: "Solid") -> "Solid":
        """`solid` with this motion."""
        return solid.model_copy(update={"motion": self})
