"""The velocity field around the liquid: extrapolated into air and solids."""

from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.extrapolate import extrapolate, extrapolate_linearly
from glug.grids.regular import Grid, Staggered, copied
from glug.physics import kernels

OPEN, ANY = np.float32(0.0), np.float32(-1.0)  # faces more open than that
WIDE = np.float32(0.1)  # and that, at the end of the liquid: what slivers let out there is fast, and hardly anything
DISPLACED_LAYERS = 2  # beyond the liquid that a displacement reaches


@dataclass(frozen=True)
class LiquidSurroundings:
    """What the liquid's velocity is continued into."""

    grid: Grid
    solid: SolidField
    walls: Staggered | None  # the solids' velocity on the faces near them; None when nothing moves
    liquid: np.ndarray  # uint8: liquid cells
    reached: Staggered  # how much of every face particles reach

    def extend(self, velocity: Staggered, layers: int, *, stick: bool, freed: np.ndarray | None = None) -> None:
        """Continue the liquid's velocity `layers` samples outwards; in place.

        Known are the open faces of liquid cells, at the liquid's end those more open than WIDE. One layer around them
        belongs to the liquid as well, where it sticks as many as there are axes: a particle just outside a corner of
        the liquid reads faces that far away, and must not fall past it. Farther out, faces that particles reach keep
        their own velocity (spray).
        Inside solids the extrapolated velocity keeps only its tangential part (free slip), or with `stick` is the
        solid's own; along a slip wall the liquid slides even then. Behind cells that a separating wall has `freed` it
        stays as it is, where it leads away from the wall.
        """
        grid, solid, liquid, reached = self.grid, self.solid, self.liquid, self.reached
        for a in grid.axes:
            known = np.empty(velocity[a].shape, np.uint8)
            kernels.known_faces(a, liquid, solid.area[a], OPEN, WIDE, known)
            own = grid.dim if stick else 1
            extrapolate_linearly(velocity[a], known, own)
            kernels.adopt_spray(solid.area[a], reached[a], WIDE, known)
            extrapolate_linearly(velocity[a], known, max(0, 2 - own))
            extrapolate(velocity[a], known, max(0, layers - max(2, own)))
            kernels.clear_unknown(known, velocity[a])
        moving = self.walls is not None
        wall = solid.area if self.walls is None else self.walls
        outside = copied(velocity)
        h = np.float32(grid.dx)
        for a in grid.axes:
            if stick:
                held = solid.holding_faces[a]
                velocity[a].reshape(-1)[held] = wall[a].reshape(-1)[held] if moving else 0.0
                if solid.slip is not None and solid.slip.closes is not None:
                    open_ = np.float32(1.0) - solid.slip.closes[a]
                    kernels.slip_at_solids(a, open_, solid.slip.sliding, h, *outside, *wall, moving, velocity[a])
            else:
                kernels.slip_at_solids(a, solid.area[a], solid.distance, h, *outside, *wall, moving, velocity[a])
        if freed is not None and freed.any():
            beside = np.empty_like(freed)
            kernels.beside_freed(freed, liquid, beside)
            for a in grid.axes:
                fields = *outside, *wall, moving, outside[a]
                kernels.let_go(a, solid.area[a], solid.distance, beside, *fields, velocity[a])


def extend_displacement(w: Staggered, grid: Grid, liquid: np.ndarray, area: Staggered) -> None:
    """Continue what moves the liquid and has no velocity, in place: constant beyond the surface and along solids.

    It passes no solid: the closed faces of liquid cells, where it is zero, are known as well.
    """
    for a in grid.axes:
        known = np.empty(w[a].shape, np.uint8)
        kernels.known_faces(a, liquid, area[a], ANY, ANY, known)
        extrapolate(w[a], known, DISPLACED_LAYERS)
