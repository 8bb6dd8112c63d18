"""Volume, centre and moments of a shape from its distance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SAMPLES = 64  # along the longest side
LEAST = 16  # along any


@dataclass(frozen=True)
class MassProperties:
    """Of a body of density 1."""

    volume: float  # [m3]
    centre: np.ndarray  # (3,) [m]
    inertia: np.ndarray  # (3, 3) about the centre [m5]


def mass_properties(
    distance: Callable[[np.ndarray], np.ndarray], lower: np.ndarray, upper: np.ndarray, depth: float | None = None
) -> MassProperties:
    """Of what is inside the box from `lower` to `upper`, by the midpoint rule with fractions at the surface.

    With a `depth` [m] the shape is flat: a slab of that depth about z = depth / 2, which is all of its extent in z.
    """
    size = upper - lower
    if depth is not None:
        size = np.array([size[0], size[1], depth])
        lower = np.array([lower[0], lower[1], 0.0])
    longest = float(size[:2].max() if depth is not None else size.max())
    counts = np.maximum(np.ceil(SAMPLES * size / longest).astype(int), LEAST)
    if depth is not None:
        counts[2] = 1
    h = size / counts
    axes = [a + s * (np.arange(n) + 0.5) for a, s, n in zip(lower, h, counts)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    # Samples half a cell inside count whole along every axis: aligned boxes come out exactly.
    width = float(h[:2].min() if depth is not None else h.min())
    share = np.clip(0.5 - distance(points) / width, 0.0, 1.0)
    total = share.sum()
    volume = float(total * h.prod())
    if total == 0.0:
        return MassProperties(0.0, 0.5 * (lower + upper), np.zeros((3, 3)))
    centre = np.einsum("n,ni->i", share, points) / total
    d = points - centre
    second = np.einsum("n,ni,nj->ij", share, d, d) * h.prod() + np.diag(h**2 / 12.0) * volume
    if depth is not None:
        second[2, :] = second[:, 2] = 0.0
    return MassProperties(volume, centre, np.trace(second) * np.eye(3) - second)
