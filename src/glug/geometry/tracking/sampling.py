"""The distance of a tracked surface on a grid, continued into solids as the liquid's distance from particles is."""

import numpy as np

from glug.geometry import kernels_liquid
from glug.geometry.liquid import REACH
from glug.geometry.redistance import redistance
from glug.geometry.tracking import kernels_sampling
from glug.grids.regular import Grid

BESIDE_WALL = 0.75  # cells: nearer to a wall, where the mesh has its rim, the surface goes on as it comes
EXACT = 1.75  # samples around the surface, diagonal neighbours too, whose distance is exact; others follow from them


def surface_distance(
    vertices: np.ndarray, triangles: np.ndarray, grid: Grid, nodes: np.ndarray, refine: int = 1
) -> np.ndarray:
    """Signed distance [m] of a closed mesh at the centres of cells cut `refine` times along each axis.

    `nodes` is the solid distance at cell corners: a sample nearer to a wall than `BESIDE_WALL`, or behind it, has the
    distance found there.
    """
    spacing = grid.dx / refine
    shape = (grid.shape[0] * refine, grid.shape[1] * refine, grid.shape[2] * refine)
    phi = np.full(shape, np.float32(REACH * spacing), np.float32)
    corner = np.asarray(grid.corner, np.float64) + 0.5 * spacing
    if len(triangles):
        kernels_sampling.distance_near(vertices, triangles, corner, spacing, EXACT * spacing, phi)
        kernels_sampling.sign_by_columns(vertices, triangles, corner, spacing, phi)
    other, near = np.empty_like(phi), np.float32(BESIDE_WALL * grid.dx)
    kernels_liquid.extend_into_solid(phi, nodes, np.float32(grid.dx), np.float32(1.0 / refine), near, near, near, other)
    redistance(other, spacing, REACH, phi)
    return other
