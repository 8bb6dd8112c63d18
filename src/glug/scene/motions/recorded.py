"""Motion as a run has recorded it, instead of as a scene scripts it: bodies that the liquid moves have no script.

Between two recorded poses T (4 x 4) a body turns and slides along one screw,

    T(t) = T_k exp(s L),   L = log(T_k^-1 T_k+1),   s = (t - t_k) / (t_k+1 - t_k)

which is exact for a body that turns steadily about a fixed axis. Before the first pose and after the last it goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm, logm

from glug.scene.motions.scripted import Pose
from glug.scene.schema import Scene

SAME = 1e-9  # [s]


@dataclass(frozen=True)
class Recorded:
    """Poses at rising times [s]; answers what a scripted motion does."""

    times: Sequence[float]
    poses: Sequence[Pose]
    kind: str = "recorded"

    def pose(self, t: float) -> Pose:
        """Rotation R (3, 3) and shift x (3,) [m] at time t [s]; a recorded one to the bit."""
        k = int(np.argmin(np.abs(np.subtract(self.times, t))))
        if len(self.times) == 1 or abs(self.times[k] - t) < SAME:
            return self.poses[k]
        k = self._interval(t)
        s = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        moved = self._matrix(k) @ expm(s * self._screw(k))
        return moved[:3, :3], moved[:3, 3]

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the body at points (n, 3); at a recorded time the mean of before and after."""
        if len(self.times) == 1:
            return np.zeros((len(points), 3))
        rates = [self._rate(self._interval(t - SAME)), self._rate(self._interval(t + SAME))]
        rate = 0.5 * (rates[0] + rates[1])
        return np.asarray(points, dtype=np.float64) @ rate[:3, :3].T + rate[:3, 3]

    def _interval(self, t: float) -> int:
        return int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2))

    def _rate(self, k: int) -> np.ndarray:
        """dT/dt T^-1 (4, 4) [1/s] in the interval after pose k: v(q) = rate q."""
        T = self._matrix(k)
        return T @ self._screw(k) @ np.linalg.inv(T) / (self.times[k + 1] - self.times[k])

    def _matrix(self, k: int) -> np.ndarray:
        R, x = self.poses[k]
        return np.block([[R, np.reshape(x, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])

    def _screw(self, k: int) -> np.ndarray:
        return np.real(logm(np.linalg.inv(self._matrix(k)) @ self._matrix(k + 1)))


def with_motions(scene: Scene, motions: Mapping[str, Recorded]) -> Scene:
    """The scene with these motions of solids, by name, in place of its own."""
    solids = tuple(
        solid.model_copy(update={"motion": motions[solid.name]}) if solid.name in motions else solid
        for solid in scene.solids
    )
    return scene.model_copy(update={"solids": solids})
