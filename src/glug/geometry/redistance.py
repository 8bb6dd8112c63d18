"""Turn a field with the right zero level into a signed distance near it.

Samples next to the zero level keep their value, so the surface does not move; the others follow from
|grad phi| = 1 (Zhao 2005), by passes that each advance one sample.
"""

import math

import numpy as np

from glug.geometry import kernels


def redistance(phi: np.ndarray, spacing: float, reach: int, scratch: np.ndarray | None = None) -> None:
    """Make `phi` a signed distance [m] within `reach` samples of its zero level, clamped beyond; in place.

    `scratch` is an array like `phi` that may be overwritten.
    """
    h = np.float32(spacing)
    limit = np.float32(reach * spacing)
    fixed = np.empty(phi.shape, np.bool_)
    distance, other = np.empty_like(phi), np.empty_like(phi) if scratch is None else scratch
    kernels.seed_distance(phi, distance, fixed)
    # Along a diagonal a pass advances by less than one spacing: sqrt(3) passes per sample of reach.
    for _ in range(math.ceil(1.75 * reach)):
        kernels.relax_distance(distance, fixed, h, limit, other)
        distance, other = other, distance
    kernels.sign_distance(distance, phi, limit)
