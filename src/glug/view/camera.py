"""Where a picture is taken from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Vector = tuple[float, float, float]

# A three-quarter view from slightly above, through a long lens: little distortion, the floor well visible.
AZIMUTH = 28.0  # [degrees] from the z axis towards x
ELEVATION = 17.0  # [degrees] above the horizon
FIELD_OF_VIEW = 26.0  # [degrees]
MARGIN = 1.04


@dataclass(frozen=True)
class Camera:
    """A pinhole at `eye` [m] that looks at `target` [m]; `fov_degrees` is the vertical angle of view."""

    eye: Vector
    target: Vector
    up: Vector = (0.0, 1.0, 0.0)
    fov_degrees: float = FIELD_OF_VIEW

    def axes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unit vectors to the right, up and forward in the picture."""
        forward = np.subtract(self.target, self.eye)
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, self.up)
        if np.linalg.norm(right) < 1e-6:  # looking straight up or down
            right = np.cross(forward, (0.0, 0.0, -1.0))
        right = right / np.linalg.norm(right)
        return right, np.cross(right, forward), forward

    def project(self, points: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Pixel coordinates (n, 2), x to the right and y down, of points (n, 3) in front of the camera."""
        width, height = size
        offset = np.asarray(points, dtype=float) - self.eye
        x, y, z = (offset @ axis for axis in self.axes())
        focal = 0.5 * height / np.tan(np.radians(self.fov_degrees) / 2)
        return np.stack([width / 2 + focal * x / z, height / 2 - focal * y / z], axis=-1)


def automatic_camera(lower: Sequence[float], upper: Sequence[float], aspect: float) -> Camera:
    """A camera that sees the whole box from `lower` to `upper` [m], large; `aspect` is width / height."""
    corners = np.array([[(lower, upper)[(c >> a) & 1][a] for a in range(3)] for c in range(8)], dtype=float)
    centre = corners.mean(0)
    azimuth, elevation = np.radians(AZIMUTH), np.radians(ELEVATION)
    backward = np.array([np.sin(azimuth) * np.cos(elevation), np.sin(elevation), np.cos(azimuth) * np.cos(elevation)])
    right, up, forward = Camera(tuple(centre + backward), tuple(centre)).axes()
    slope = np.tan(np.radians(FIELD_OF_VIEW) / 2) / MARGIN
    target = centre
    for _ in range(8):  # distance for the present target, then centre the box in the picture
        offset = corners - target
        x, y, z = offset @ right, offset @ up, offset @ forward
        distance = float(max((np.abs(y) / slope - z).max(), (np.abs(x) / (slope * aspect) - z).max()))
        seen_x, seen_y = x / (z + distance), y / (z + distance)
        target = target + 0.5 * distance * ((seen_x.min() + seen_x.max()) * right + (seen_y.min() + seen_y.max()) * up)
    eye = target - distance * forward
    return Camera(_vector(eye), _vector(target))


def _vector(values: np.ndarray) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
