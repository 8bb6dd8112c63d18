"""How much of a control volume is liquid, how much of a face is open.

Fractions are exact where the distance is linear (a plane) and second-order accurate on curved surfaces: each
control volume is a cube whose corner values are interpolated from the samples around it, cut into tetrahedra
on which the function is linear.
"""

import numpy as np

from glug.geometry import kernels, kernels_fractions
from glug.grids.mesh import Fractions
from glug.grids.operators import Operators
from glug.grids.regular import Grid, Offset, Staggered

HALF_DIAGONAL = np.sqrt(3.0) / 2.0
SLACK = 1.05  # sampled distances are not exact
LEAST_FRACTION = 1e-3  # of a level set: what is smaller counts as nothing, sampled distances know no better


def liquid_volume(phi: np.ndarray, grid: Grid, offset: Offset) -> np.ndarray:
    """Liquid fraction of the cubes of side dx centred at `offset`, from the cell-centred distance `phi`."""
    kinds = [0 if o == 0.5 else -1 for o in offset]
    return _volume(phi, grid, offset, kinds)


def solid_volume(nodes: np.ndarray, grid: Grid, offset: Offset) -> np.ndarray:
    """Solid fraction of the cubes of side dx centred at `offset`, from the distance at cell corners."""
    kinds = [1 if o == 0.5 else 0 for o in offset]
    return _volume(nodes, grid, offset, kinds)


def _volume(field: np.ndarray, grid: Grid, offset: Offset, kinds: list[int]) -> np.ndarray:
    out = np.empty(grid.sample_shape(offset), np.float32)
    # A control volume is cut only when the surface is nearer to its centre than its half diagonal; the sample
    # with its index is half a cell away along every axis where they do not coincide.
    apart = 0.5 * np.sqrt(sum(kind != 0 for kind in kinds))
    reach = SLACK * HALF_DIAGONAL * grid.dx
    kernels_fractions.volume_fraction(field, *kinds, np.float32(reach + SLACK * apart * grid.dx), reach, out)
    return out


def open_area(nodes: np.ndarray, grid: Grid) -> Staggered:
    """Non-solid fraction of every face, from the solid distance at cell corners."""
    areas = grid.staggered()
    kernels.open_areas(nodes, *areas)
    return areas


def liquid_fractions(operators: Operators, phi: np.ndarray) -> Fractions:
    """Liquid fractions of all control volumes from the liquid's distance at cell centres [m]."""
    return operators.measure(lambda o: _trimmed(liquid_volume(phi, operators.grid, o)))


def open_fractions(operators: Operators, nodes: np.ndarray) -> Fractions:
    """What is not solid of all control volumes, from the solid's distance at cell corners [m]."""
    return operators.measure(lambda o: _trimmed(1.0 - solid_volume(nodes, operators.grid, o)))


def _trimmed(fraction: np.ndarray) -> np.ndarray:
    return np.where(fraction < LEAST_FRACTION, 0.0, np.minimum(fraction, 1.0))
