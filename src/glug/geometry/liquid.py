"""The liquid's signed distance from its particles.

Every particle spreads its volume over a kernel (1 - s^2)^3; the surface is where the kernels fill half of what
they fill in the core next to it.
A half space is met exactly, volumes are kept to second order in the kernel's size over the surface's radius,
and liquid that has been compressed shows larger instead of vanishing.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from glug.geometry import kernels, kernels_liquid
from glug.geometry.box import box_sum
from glug.geometry.redistance import redistance
from glug.geometry.sampled import SampledDistance
from glug.grids.regular import Grid

RADIUS = 1.5  # support of the kernel, in cells
# One over the kernel's integral, in units of radius^-3 (3D) and radius^-2 (2D, particles being dx deep), and
# the density of its marginal along an axis at the centre.
NORM_3D, SLOPE_3D = 315 / (64 * np.pi), 315 / 256
NORM_2D, SLOPE_2D = 4 / np.pi, 1.16410
DENSE = 0.95  # of the core that a half space has, from which on one is whole: particles are not quite even
FRACTIONS = 257  # of a half space, for which that core is tabulated
SPARSE = 0.4  # least filled fraction of a core: fewer particles than that are spray, not liquid
NEAR_WALL = 0.25  # where the distance is read off next to a wall, in cells: keeps thin films ...
FAR_FROM_WALL = RADIUS  # ... and has the whole kernel in the liquid
BEYOND = RADIUS + 1.0  # where it is read off besides, for a surface that is curved at the wall
LEAST_OPEN = 0.05  # of a kernel in a gap: in less there is hardly a particle
NOWHERE = np.zeros(3, np.float32)  # up, where nothing falls: level is at right angles to walls
ON_SOLID = 1e-4  # cells: corners that near to a solid lie on it
FILLED = -0.3  # distance in a hole that is none, in cells
REACH = 4  # samples on each side of the surface where phi is a distance


class IntoSolids(NamedTuple):
    """How a liquid goes on in solids."""

    up: np.ndarray = NOWHERE  # the unit vector against gravity, float32: along it nothing is read
    beyond: float = FAR_FROM_WALL  # level; or BEYOND: as curved as it is


LEVEL = IntoSolids()


def band_of(start: np.ndarray, grid: Grid, nodes: np.ndarray, reach: int) -> np.ndarray:
    """0 where no particle is within `reach` cells, 2 where particles and solids fill every cell that near, else 1.

    `nodes` is the solid distance at cell corners: beside a wall there is nothing to occupy. As many cells as in the
    corner of a box hold particles at least: a thread in a narrow slot is not the inside of anything.
    """
    filled = grid.scalar()
    kernels_liquid.filled_cells(start, nodes, np.float32(ON_SOLID * grid.dx), filled)
    band = np.empty(grid.shape, np.int8)
    full, corner = np.float32((2 * reach + 1) ** grid.dim), np.float32((reach + 1) ** grid.dim)
    kernels_liquid.classify_band(box_sum(filled, reach), full, corner, band)
    return band


@cache
def whole_cores(dim: int) -> np.ndarray:
    """What the core of a half space fills, one cell deeper than where its kernel is filled to evenly spaced fractions.

    A level surface has its core one cell below a sample, a tilted one deeper: no half space is taken for a thread.
    In 2D it is that of full liquid for all: waves, whose faces have slopes there, would be 1.2 percent fast otherwise.
    """
    if dim == 2:
        return np.full(FRACTIONS, DENSE, np.float32)
    depth = np.linspace(-1.0, 1.0, 16 * FRACTIONS)  # in radii
    marginal = (1.0 - depth**2) ** 4  # of (1 - s^2)^3 along an axis
    filled = np.concatenate([[0.0], np.cumsum(marginal[1:] + marginal[:-1])])
    filled /= filled[-1]
    depths = np.interp(np.linspace(0.0, 1.0, FRACTIONS), filled, depth)
    return (DENSE * np.interp(depths + 1.0 / RADIUS, depth, filled)).astype(np.float32)


def liquid_distance(
    position: np.ndarray,
    volume: np.ndarray,
    start: np.ndarray,
    grid: Grid,
    nodes: np.ndarray,
    refine: int = 1,
    into: IntoSolids = LEVEL,
) -> np.ndarray:
    """Signed distance [m] of the liquid at the centres of cells cut `refine` times along each axis.

    `position` and `volume` are sorted by cell, `start` the first particle of every cell; `nodes` is the solid
    distance at cell corners, `into` how the liquid is continued into solids.
    """
    h = np.float32(grid.dx)
    nx, ny, nz = grid.shape
    phi = np.empty((nx * refine, ny * refine, nz * refine if grid.dim == 3 else 1), np.float32)
    spacing = np.float32(grid.dx / refine)
    radius = RADIUS * grid.dx
    norm = NORM_3D / radius**3 if grid.dim == 3 else NORM_2D / (radius**2 * grid.dx)
    slope = SLOPE_3D if grid.dim == 3 else SLOPE_2D
    fraction = np.empty_like(phi)
    band, corner = band_of(start, grid, nodes, math.ceil(RADIUS)), grid.corner.astype(np.float32)
    cells = position, volume, start, band, corner, h, grid.shape
    kernels_liquid.filled_fraction(*cells, spacing, np.float32(radius), np.float32(norm), fraction)
    far, spread = np.float32(FAR_FROM_WALL * grid.dx), np.float32(radius)
    kernels_liquid.fill_gaps(fraction, nodes, h, np.float32(1.0 / refine), far, spread, np.float32(LEAST_OPEN))
    kernels_liquid.distance_from_fraction(
        fraction, refine, whole_cores(grid.dim), np.float32(SPARSE), np.float32(slope), np.float32(radius), phi
    )
    other = fraction
    walls = (np.float32(cells * grid.dx) for cells in (NEAR_WALL, FAR_FROM_WALL, into.beyond))
    kernels_liquid.extend_into_solid(phi, nodes, h, np.float32(1.0 / refine), *walls, into.up, other)
    phi, other = other, phi
    redistance(phi, float(spacing), REACH, other)
    return phi


def smoothed(phi: np.ndarray, passes: int) -> np.ndarray:
    """For frames, once it is a distance: flat parts stay where they are and kinks of the eikonal stencil go."""
    other = np.empty_like(phi)
    for _ in range(passes):
        kernels.smooth(phi, other)
        phi, other = other, phi
    return phi


def fill_hidden(phi: np.ndarray, hidden: np.ndarray) -> None:
    """Cells split by a thin solid are as deep in the liquid as their deepest neighbour: the solid is no air."""
    if len(hidden) == 0:
        return
    deepest = phi[tuple(hidden.T)]
    for a in range(3):
        for side in (-1, 1):
            other = hidden.copy()
            other[:, a] = np.clip(other[:, a] + side, 0, phi.shape[a] - 1)
            deepest = np.minimum(deepest, phi[tuple(other.T)])
    phi[tuple(hidden.T)] = deepest


def fill_holes(phi: np.ndarray, openness: np.ndarray, dx: float) -> None:
    """Holes that liquid and solids enclose within two cells are liquid: no air could have come there.

    They open where particles happen to lie apart, and a projection would take them for a free surface that collapses.
    """
    dry = ((phi >= 0.0) & (openness > 0.0)).astype(np.float32)
    hole = (dry > 0.0) & (box_sum(dry.copy(), 2) == box_sum(dry.copy(), 1))
    phi[hole] = np.float32(FILLED * dx)


def cut_solid(phi: np.ndarray, grid: Grid, nodes: np.ndarray, refine: int) -> SampledDistance:
    """The liquid outside the solid, for surfaces: max(phi, -solid distance), as samples in the world."""
    kernels_liquid.subtract_solid(phi, nodes, np.float32(1.0 / refine))
    spacing = grid.dx / refine
    x, y, z = grid.corner + 0.5 * spacing
    return SampledDistance(phi, (float(x), float(y), float(z)), spacing)
