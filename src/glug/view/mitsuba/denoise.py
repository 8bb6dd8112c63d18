"""Means of independent noisy pictures without their grain: non-local means guided by the noise itself.

A pixel becomes the weighted mean of the pixels around it whose neighbourhoods look the same up to the noise, which
the passes tell: Rousselle, Knaus and Zwicker, "Adaptive rendering with non-local means filtering" (2012), eq. 4.
"""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import uniform_filter

STRAY = 4.0  # times the median of the passes, from which radiance is cut
WINDOW = 6  # pixels to each side whose neighbourhoods are compared
PATCH = 5  # pixels across a neighbourhood
STRENGTH = 0.7  # how different, in units of the noise, what is averaged may be
FLOOR = 1e-8


def clean_mean(passes: Sequence[np.ndarray]) -> np.ndarray:
    """The mean of passes (height, width, 3) of equal quality, strays cut and grain averaged away."""
    stacked = np.stack(passes)
    if len(stacked) > 2:
        stacked = np.minimum(stacked, STRAY * np.median(stacked, axis=0) + 0.25)
    mean = stacked.mean(axis=0)
    if len(stacked) < 2:
        return mean
    noise = stacked.var(axis=0, ddof=1) / len(stacked)
    noise = uniform_filter(noise, (PATCH, PATCH, 0), mode="nearest")  # few passes: a rough estimate
    return _non_local_mean(mean, noise)


def _non_local_mean(picture: np.ndarray, noise: np.ndarray) -> np.ndarray:
    total, weights = np.zeros_like(picture), np.zeros(picture.shape[:2], picture.dtype)
    padded = np.pad(picture, ((WINDOW, WINDOW), (WINDOW, WINDOW), (0, 0)), mode="edge")
    padded_noise = np.pad(noise, ((WINDOW, WINDOW), (WINDOW, WINDOW), (0, 0)), mode="edge")
    height, width, _ = picture.shape
    for dy in range(2 * WINDOW + 1):
        for dx in range(2 * WINDOW + 1):
            there = padded[dy : dy + height, dx : dx + width]
            other = padded_noise[dy : dy + height, dx : dx + width]
            difference = (picture - there) ** 2 - (noise + np.minimum(noise, other))
            distance = (difference / (FLOOR + STRENGTH**2 * (noise + other))).mean(axis=2)
            alike = np.exp(-np.maximum(uniform_filter(distance, PATCH, mode="nearest"), 0.0))
            total += alike[..., None] * there
            weights += alike
    return total / weights[..., None]
