"""Sums over boxes of cells, one axis at a time."""

import numpy as np

from glug.grids import kernels


def box_sum(values: np.ndarray, reach: int) -> np.ndarray:
    """Sum over the cells within `reach` along every axis (nothing outside the grid); overwrites `values`."""
    other = np.empty_like(values)
    kernels.sum_along_z(values, reach, other)
    kernels.sum_along_y(other, reach, values)
    kernels.sum_along_x(values, reach, other)
    return other
