"""Which camera a run is seen through: the scene's own, or one that frames what moves."""

from collections.abc import Iterable

import numpy as np

from glug.scene import Scene
from glug.view.camera import Camera, automatic_camera

Box = tuple[np.ndarray, np.ndarray]
ROOM = 0.06  # of the box's longest side, left free around it


def scene_camera(scene: Scene, size: tuple[int, int], box: Box | None = None) -> Camera:
    """The scene's camera; without one, a camera that sees `box` (lower and upper corner [m]), or the whole domain."""
    given = scene.camera
    if given is not None:
        return Camera(given.eye, given.target, given.up, given.fov)
    lower, upper = box if box is not None else (scene.domain.lower, scene.domain.upper)
    return automatic_camera(list(lower), list(upper), size[0] / size[1])


def motion_box(scene: Scene, surfaces: Iterable[np.ndarray], times: Iterable[float]) -> Box | None:
    """A box around all liquid and all solids at the given times, no larger than the domain; None if there is nothing.

    surfaces  vertices (n, 3) [m] of each frame
    """
    lowers = [v.min(axis=0) for v in surfaces if len(v)]
    uppers = [v.max(axis=0) for v in surfaces if len(v)]
    for time in times:
        for solid in scene.solids:
            lower, upper = solid.bounds(time)
            lowers.append(np.asarray(lower, float))
            uppers.append(np.asarray(upper, float))
    if not lowers:
        return None
    lower, upper = np.min(lowers, axis=0), np.max(uppers, axis=0)
    room = ROOM * float((upper - lower).max())
    lower = np.maximum(lower - room, scene.domain.lower)
    upper = np.minimum(upper + room, scene.domain.upper)
    return (lower, upper) if (upper > lower).all() else None
