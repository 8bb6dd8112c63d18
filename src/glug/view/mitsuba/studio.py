"""The studio of a Mitsuba render as plain data: a cove (floor that bends up into a wall), soft boxes, a dim room.

Lengths are relative to `reach`, which follows from the camera: what is in the picture is lit alike at any scale.
"""

from dataclasses import dataclass

import numpy as np

from glug.view.camera import Camera

REACH = 1.6  # of half the picture's height, at the camera's target
COVE_START = 2.5  # [reach] behind the middle, at least
COVE_RADIUS = 2.0
COVE_WIDTH = 20.0
COVE_HEIGHT = 14.0
COVE_FRONT = 9.0
COVE_STEPS = 16
COVE_COLOUR = (0.76, 0.755, 0.745)  # linear reflectance
ROOM = (0.15, 0.16, 0.18)  # radiance of what is not lit
# To the right, up and away from the camera; distance, half width and half height [reach]; radiance.
SOFT_BOXES = {
    "key": ((-0.60, 0.80, 0.50), 4.0, 1.5, 1.2, 6.2),
    "rim": ((0.95, 0.50, -0.05), 4.0, 0.7, 1.8, 2.6),
    "fill": ((0.35, 0.55, -1.0), 5.0, 2.2, 2.2, 0.9),
    "top": ((0.0, 1.0, -0.25), 5.0, 2.4, 2.4, 0.8),
}


@dataclass(frozen=True)
class SoftBox:
    """A rectangle of light around `centre` [m] that faces the middle of the studio."""

    centre: np.ndarray
    half_width: float  # [m]
    half_height: float  # [m]
    radiance: float


@dataclass(frozen=True)
class Studio:
    """Everything around the liquid: `middle` [m] is on the floor, `cove` has vertices, triangles."""

    middle: np.ndarray
    reach: float  # [m]
    cove: tuple[np.ndarray, np.ndarray]
    boxes: dict[str, SoftBox]


def build_studio(camera: Camera, floor: float, lower: np.ndarray, upper: np.ndarray) -> Studio:
    """A studio for a camera; the cove's wall stands behind the box from `lower` to `upper` [m]."""
    right = camera.axes()[0]
    ahead = np.cross((0.0, 1.0, 0.0), right)  # level, away from the camera
    distance = float(np.linalg.norm(np.subtract(camera.target, camera.eye)))
    reach = REACH * distance * float(np.tan(np.radians(camera.fov_degrees) / 2))
    middle = np.array([camera.target[0], floor, camera.target[2]])
    corners = np.array([[(lower, upper)[(c >> a) & 1][a] for a in range(3)] for c in range(8)], float)
    behind = float(((corners - middle) @ ahead).max())
    front = max(COVE_FRONT * reach, 1.5 * distance)
    cove = _cove(middle, right, ahead, reach, max(COVE_START * reach, behind + 0.5 * reach), front)
    boxes = {}
    for name, (direction, far, half_width, half_height, radiance) in SOFT_BOXES.items():
        towards = direction[0] * right + np.array([0.0, direction[1], 0.0]) + direction[2] * ahead
        centre = middle + far * reach * towards / np.linalg.norm(towards)
        boxes[name] = SoftBox(centre, half_width * reach, half_height * reach, radiance)
    return Studio(middle, reach, cove, boxes)


def _cove(
    middle: np.ndarray, right: np.ndarray, ahead: np.ndarray, reach: float, start: float, front: float
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a floor from `front` before the middle to `start` behind it, and the wall."""
    radius = COVE_RADIUS * reach
    bend = np.linspace(0.0, np.pi / 2, COVE_STEPS + 1)
    profile = [(-front, 0.0)]
    profile += [(start + radius * np.sin(a), radius * (1.0 - np.cos(a))) for a in bend]
    profile += [(start + radius, COVE_HEIGHT * reach)]
    width = COVE_WIDTH * reach * np.array([-1.0, 1.0])
    vertices = [middle + x * right + away * ahead + (0.0, up, 0.0) for away, up in profile for x in width]
    triangles = [
        corner
        for row in range(0, 2 * len(profile) - 2, 2)
        for corner in ((row, row + 1, row + 3), (row, row + 3, row + 2))
    ]
    return np.array(vertices, np.float32), np.array(triangles, np.int32)
