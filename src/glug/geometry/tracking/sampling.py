"""The distance of a tracked surface on a grid."""

import numpy as np

from glug.geometry.liquid import REACH
from glug.geometry.redistance import redistance
from glug.geometry.tracking import kernels_sampling
from glug.grids.regular import Grid

EXACT = 1.75  # samples around the surface, diagonal neighbours too, whose distance is exact; others follow from them


def surface_distance(vertices: np.ndarray, triangles: np.ndarray, grid: Grid, refine: int = 1) -> np.ndarray:
    """Signed distance [m] of a closed mesh at the centres of cells cut `refine` times along each axis."""
    spacing = grid.dx / refine
    shape = (grid.shape[0] * refine, grid.shape[1] * refine, grid.shape[2] * refine)
    phi = np.full(shape, np.float32(REACH * spacing), np.float32)
    corner = np.asarray(grid.corner, np.float64) + 0.5 * spacing
    if len(triangles):
        kernels_sampling.distance_near(vertices, triangles, corner, spacing, EXACT * spacing, phi)
        kernels_sampling.sign_by_columns(vertices, triangles, corner, spacing, phi)
    redistance(phi, spacing, REACH, np.empty_like(phi))
    return phi
