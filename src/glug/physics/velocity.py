"""The velocity field around the liquid: extrapolated into air and solids."""

import numpy as np

from glug.geometry.solids import SolidField
from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid, Staggered
from glug.physics import kernels


def extend(
    grid: Grid,
    velocity: Staggered,
    solid: SolidField,
    liquid: np.ndarray,
    reached: Staggered,
    layers: int,
    *,
    stick: bool,
) -> None:
    """Continue the liquid's velocity `layers` samples outwards; in place.

    Known are the open faces of liquid cells. One layer around them belongs to the liquid as well, so that particles
    just above the surface move with it; farther out, faces that particles reach keep their own velocity (spray).
    Inside solids the extrapolated velocity keeps only its tangential part (free slip), or with `stick` is the
    solid's own; along a slip wall the liquid slides even then.
    """
    for a in grid.axes:
        known = np.empty(velocity[a].shape, np.uint8)
        kernels.known_faces(a, liquid, solid.area[a], known)
        extrapolate(velocity[a], known, 1)
        kernels.adopt_spray(solid.area[a], reached[a], known)
        extrapolate(velocity[a], known, layers - 1)
        kernels.clear_unknown(known, velocity[a])
    moving = solid.velocity is not None
    wall = solid.velocity if solid.velocity is not None else solid.area
    if stick:
        for a in grid.axes:
            kernels.stick_to_solids(a, solid.holding_area(a), solid.stopping[a], wall[a], moving, velocity[a])
        return
    slipping = tuple(u.copy() for u in velocity)
    for a in grid.axes:
        h = np.float32(grid.dx)
        kernels.slip_at_solids(a, solid.area[a], solid.distance, h, *velocity, *wall, moving, slipping[a])
    for a in grid.axes:
        velocity[a][:] = slipping[a]
