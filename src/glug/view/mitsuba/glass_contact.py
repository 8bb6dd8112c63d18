"""Where a liquid's surface touches clear solids: seen through glass, the film of air between two meshes mirrors."""

from collections.abc import Iterable
from typing import Any

import numpy as np

TOUCHING = 0.3  # cells from the solid within which the liquid touches it: surfaces are that exact
APART = 1.0  # cells from which the surface stays as it is
DEEP = 0.2  # cells that what touches goes into the solid


def pressed(
    vertices: np.ndarray, solids: Iterable[Any], time: float, dx: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices of a surface pressed against the solids, the indices of those that touch one, and their normals.

    What lies within TOUCHING cells goes to the depth DEEP below the solid's surface, so that it is as smooth as the
    solid; up to APART cells this fades out.
    """
    moved = vertices.astype(np.float64)
    normals = np.zeros_like(moved)
    touches = np.zeros(len(moved), bool)
    for solid in solids:
        near = np.flatnonzero(solid.distance(moved, time) < APART * dx)
        at = moved[near]
        distance = solid.distance(at, time)
        outward = _gradient(solid, at, time, 0.05 * dx)
        part = np.clip((distance / dx - TOUCHING) / (APART - TOUCHING), 0.0, 1.0)
        moved[near] = at + ((APART + DEEP) * part * dx - DEEP * dx - distance)[:, None] * outward
        normals[near] = -outward
        touches[near] = part == 0.0
    which = np.flatnonzero(touches)
    return moved.astype(vertices.dtype), which, normals[which]


def _gradient(solid: Any, points: np.ndarray, time: float, step: float) -> np.ndarray:
    """Unit vectors away from the solid."""
    found = np.empty_like(points)
    for axis in range(3):
        shift = np.zeros(3)
        shift[axis] = step
        found[:, axis] = solid.distance(points + shift, time) - solid.distance(points - shift, time)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-30)
