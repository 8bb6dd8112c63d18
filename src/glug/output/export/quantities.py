"""Derived quantities that several formats want."""

from collections.abc import Mapping

import numpy as np


def widths(particles: Mapping[str, np.ndarray]) -> np.ndarray:
    """Diameters (n,) float32 [m] of balls that hold what each particle does."""
    return np.cbrt(6.0 / np.pi * particles["volume"].astype(np.float64)).astype(np.float32)


def cell_velocity(fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Velocity [m/s] at cell centres (nx, ny, nz, 3) float32."""
    parts = []
    for axis, name in enumerate("uvw"):
        faces = np.moveaxis(fields[name], axis, 0)
        parts.append(np.moveaxis(0.5 * (faces[1:] + faces[:-1]), 0, axis))
    return np.stack(parts, axis=-1).astype(np.float32)


def average_velocity(
    particles: Mapping[str, np.ndarray], origin: np.ndarray, dx: float
) -> tuple[np.ndarray, np.ndarray]:
    """Velocity [m/s] (nx, ny, nz, 3) float32 at the centres of the cells around the particles, and their corner [m].

    v = sum_p w_p v_p / sum_p w_p with trilinear weights; zero where no particle is within a cell.
    """
    position = particles["position"].astype(np.float64)
    if len(position) == 0:
        return np.zeros((1, 1, 1, 3), np.float32), np.asarray(origin, dtype=float)
    local = (position - origin) / dx - 0.5
    low = np.floor(local).astype(np.int64)
    first = low.min(axis=0)
    shape = low.max(axis=0) - first + 2
    low -= first
    part = local - first - low
    size = int(shape.prod())
    sums = np.zeros((4, size))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
        cell = np.ravel_multi_index(tuple((low + corner).T), tuple(shape))
        sums[0] += np.bincount(cell, weight, size)
        for axis in range(3):
            sums[1 + axis] += np.bincount(cell, weight * particles["velocity"][:, axis], size)
    velocity = np.divide(sums[1:], sums[0], out=np.zeros((3, size)), where=sums[0] > 1e-6)
    return velocity.T.reshape(*shape, 3).astype(np.float32), origin + dx * first
