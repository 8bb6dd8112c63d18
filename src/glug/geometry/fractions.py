"""How much of a control volume is liquid, how much of a face is open.

Fractions are exact where the distance is linear (a plane) and second-order accurate on curved surfaces: each
control volume is a cube whose corner values are interpolated from the samples around it, cut into tetrahedra
on which the function is linear.
"""

import numpy as np

from glug.geometry import kernels
from glug.grids.regular import Grid, Offset, Staggered

# A control volume can only be cut when the sample next to it is closer to the surface than this many cells.
CUT_REACH = 2.0


def liquid_volume(phi: np.ndarray, grid: Grid, offset: Offset) -> np.ndarray:
    """Liquid fraction of the cubes of side dx centred at `offset`, from the cell-centred distance `phi`."""
    kinds = [0 if o == 0.5 else -1 for o in offset]
    return _volume(phi, grid, offset, kinds)


def solid_volume(nodes: np.ndarray, grid: Grid, offset: Offset) -> np.ndarray:
    """Solid fraction of the cubes of side dx centred at `offset`, from the distance at cell corners."""
    kinds = [1 if o == 0.5 else 0 for o in offset]
    return _volume(nodes, grid, offset, kinds)


def _volume(field: np.ndarray, grid: Grid, offset: Offset, kinds: list[int]) -> np.ndarray:
    out = grid.scalar(offset)
    kernels.volume_fraction(field, *kinds, np.float32(CUT_REACH * grid.dx), out)
    return out


def open_area(nodes: np.ndarray, grid: Grid) -> Staggered:
    """Non-solid fraction of every face, from the solid distance at cell corners."""
    areas = grid.staggered()
    kernels.open_areas(nodes, *areas)
    return areas
