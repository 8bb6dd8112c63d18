"""Liquids of different densities: how much of every face belongs to which.

The density on a face is sum_l share_l rho_l: of what is liquid on the line between the two cell centres, the part
share_l is liquid l (Goldade 2021, eq. 3.14). That is what the pressure's gradient meets there. One projection then
moves all liquids together.
"""

from collections.abc import Sequence

import numpy as np

from glug.geometry.liquid import LEVEL, IntoSolids, liquid_distance
from glug.geometry.solids.field import SolidField
from glug.grids.regular import Grid, Staggered, mapped
from glug.particles.storage import Particles


def distance_of(
    number: int, particles: Particles, grid: Grid, solid: SolidField, into: IntoSolids = LEVEL
) -> np.ndarray:
    """Signed distance [m] of one liquid at cell centres, continued into solids; particles are sorted by cell."""
    mine = particles.liquid[:, 0] == number
    before = np.concatenate([[0], np.cumsum(mine)])
    start = before[np.minimum(particles.start, len(mine))].astype(particles.start.dtype)  # its last entry is no index
    given = particles.position[mine], particles.volume[mine], start
    return liquid_distance(*given, grid, solid.distance, into=into)


def share_of(phi: np.ndarray, grid: Grid) -> Staggered:
    """The part of the line between the cells beside every face where `phi` is negative."""
    shares = grid.staggered()
    for a in grid.axes:
        value = np.moveaxis(phi, a, 0)
        inner, outer = np.minimum(value[1:], value[:-1]), np.maximum(value[1:], value[:-1])
        depth = np.maximum(-inner, 0.0)
        between = depth / np.maximum(depth + np.maximum(outer, 0.0), np.float32(1e-30))
        np.moveaxis(shares[a], a, 0)[1:-1] = between
    return shares


def mobility_of(
    distances: Sequence[np.ndarray], ratios: Sequence[float], grid: Grid, phi: np.ndarray | None = None
) -> Staggered:
    """rho / sum_l share_l rho_l on every face, with rho that of the first liquid: of what is liquid there.

    `distances` are those of the liquids whose `ratios` of density to the first differ from 1; `phi` is that of all
    liquids together, None where there is nothing else. Shares are of the liquid part of the line between two cells:
    those of particles by themselves need not fit into it.
    """
    density = grid.staggered()
    for d in density:
        d[:] = 1.0
    wet = None if phi is None else share_of(phi, grid)
    left = mapped(np.copy, density) if wet is None else wet
    for own, ratio in zip(distances, ratios):
        share = mapped(np.minimum, share_of(own, grid), left)
        left = mapped(np.subtract, left, share)
        for a, (d, s) in enumerate(zip(density, share)):
            part = s if wet is None else np.divide(s, wet[a], out=np.zeros_like(s), where=wet[a] > 0.0)
            d += np.float32(ratio - 1.0) * part
    return mapped(lambda d: np.float32(1.0) / np.maximum(d, np.float32(1e-12)), density)
