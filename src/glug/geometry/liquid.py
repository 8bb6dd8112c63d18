"""The liquid's signed distance from its particles.

A kernel-weighted mean of particle positions (Zhu and Bridson 2005): phi(x) = |x - mean(x)| - level. For a half
space filled evenly, the mean at its border lies 0.246 radii inside (the first moment of the kernel
(1 - s^2)^3), so with level = 0.246 radius the zero level of a flat surface is where the liquid ends.
"""

import numpy as np

from glug.geometry import kernels
from glug.geometry.redistance import redistance
from glug.geometry.sampled import SampledDistance
from glug.grids.regular import Grid

RADIUS = 2.0  # support of the kernel, in cells
LEVEL_3D = 0.24609375 * RADIUS  # 63/256: distance of the mean from the border of a half space, in cells
LEVEL_2D = 256 / (315 * np.pi) * RADIUS  # the same in the plane
NEAR_WALL = 0.25  # where the distance is read off next to a wall, in cells: keeps thin films ...
FAR_FROM_WALL = 1.0  # ... and removes the mean's bias towards the liquid's side
REACH = 4  # samples on each side of the surface where phi is a distance


def band_of(start: np.ndarray, grid: Grid) -> np.ndarray:
    """0 where no particle is near a cell, 2 where particles are all around it, 1 in between."""
    band = np.empty(grid.shape, np.int8)
    kernels.occupancy_band(start, grid.shape, int(np.ceil(RADIUS)), band)
    return band


def liquid_distance(
    position: np.ndarray, start: np.ndarray, grid: Grid, nodes: np.ndarray, refine: int = 1, smoothing: int = 0
) -> np.ndarray:
    """Signed distance [m] of the liquid at the centres of cells cut `refine` times along each axis.

    `position` is sorted by cell, `start` the first particle of every cell; `nodes` is the solid distance at
    cell corners, into which the liquid is continued.
    """
    h = np.float32(grid.dx)
    corner = grid.corner.astype(np.float32)
    level = np.float32((LEVEL_3D if grid.dim == 3 else LEVEL_2D) * grid.dx)
    nx, ny, nz = grid.shape
    phi = np.empty((nx * refine, ny * refine, nz * refine if grid.dim == 3 else 1), np.float32)
    spacing = np.float32(grid.dx / refine)
    radius = np.float32(RADIUS * grid.dx)
    kernels.kernel_distance(
        position, start, band_of(start, grid), corner, h, grid.shape, np.float32(0.5), spacing, radius, level, phi
    )
    other = np.empty_like(phi)
    kernels.extend_into_solid(
        phi,
        nodes,
        h,
        np.float32(1.0 / refine),
        np.float32(NEAR_WALL * grid.dx),
        np.float32(FAR_FROM_WALL * grid.dx),
        other,
    )
    phi, other = other, phi
    for _ in range(smoothing):
        kernels.smooth(phi, other)
        phi, other = other, phi
    redistance(phi, float(spacing), REACH)
    return phi


def cut_solid(phi: np.ndarray, grid: Grid, nodes: np.ndarray, refine: int) -> SampledDistance:
    """The liquid outside the solid, for surfaces: max(phi, -solid distance), as samples in the world."""
    kernels.subtract_solid(phi, nodes, np.float32(1.0 / refine))
    spacing = grid.dx / refine
    x, y, z = grid.corner + 0.5 * spacing
    return SampledDistance(phi, (float(x), float(y), float(z)), spacing)
