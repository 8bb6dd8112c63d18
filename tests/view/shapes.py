"""Distances of simple bodies for the tests of pictures."""

import numpy as np

from glug.geometry.sampled import SampledDistance


def sphere(radius: float = 0.3, centre=(0.0, 0.5, 0.0), h: float = 1 / 48, clamp: float = 4.0) -> SampledDistance:
    """A sphere whose distance is clamped `clamp` samples from its surface, as those of frames are."""
    n = int(np.ceil(radius / h)) + 4
    corner = np.asarray(centre) - n * h
    axes = [c + h * np.arange(2 * n + 1) for c in corner]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = np.linalg.norm(points - centre, axis=-1) - radius
    values = np.clip(values, -clamp * h, clamp * h).astype(np.float32)
    return SampledDistance(values, tuple(float(c) for c in corner), h)


def nothing() -> SampledDistance:
    return SampledDistance(np.ones((8, 8, 8), np.float32), (0.0, 0.0, 0.0), 0.1)


def disc(radius: float = 0.3, n: int = 64) -> SampledDistance:
    """A disc in the middle of the unit square, one layer of samples."""
    x = (np.arange(n) + 0.5) / n
    values = np.hypot(x[:, None] - 0.5, x[None, :] - 0.5) - radius
    return SampledDistance(values[:, :, None].astype(np.float32), (0.5 / n, 0.5 / n, 0.5 / n), 1 / n)
