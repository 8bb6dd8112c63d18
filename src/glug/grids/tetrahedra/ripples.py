"""A surface without the ripples that a mesh of wider cells cannot level.

Particles leave ripples on a surface, down to a wavelength of two cells. A mesh whose faces are two cells apart sees
them as longer ones, pushes the liquid to level those, and does not move what is there: the push stays.
"""

from __future__ import annotations

import numpy as np

KERNEL = np.array([-1.0, 4.0, 10.0, 4.0, -1.0]) / 16.0  # 1 - sin^4(k dx / 2): keeps cubics, nothing is left at 2 dx
MOST = 0.1  # cells: ripples are lower, what is higher is a sheet or an edge; distances change by a quarter of it


def without_ripples(phi: np.ndarray, dx: float) -> np.ndarray:
    """A distance [m] on a regular grid without what waves of two cells have in it; sheets, edges and drops stay."""
    from scipy.ndimage import correlate1d

    smooth = phi
    for axis in range(phi.ndim):
        if phi.shape[axis] > 1:
            smooth = correlate1d(smooth, KERNEL, axis=axis, mode="nearest")
    ripple = phi - smooth
    return phi - ripple * np.maximum(np.float32(1.0) - np.abs(ripple) / np.float32(MOST * dx), np.float32(0.0))
