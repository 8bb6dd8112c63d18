"""Where a tracked surface meets solids: it goes on behind them, so that its edge is not seen at the wall.

An edge at the wall itself would be round, by a part of a cell, and liquid would never come to rest under it. What the
surface encloses outside the solids, with its vertices moved onto them (`outside`), is the liquid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.grids.mesh import Distance

CLEAR = 2.0  # cells from solids: nearer, where the surface may have its edge, it is moved by the flow alone
NEAR, PULL = 0.25, 0.25  # cells: surfaces this near to a solid go on into it, by so much a step ...
DEEP = {2: 0.75, 3: 1.25}  # ... until they are this deep; in 3D their round rims would be felt before the wall
FILM = 0.5  # cosine: surfaces that face away from a solid by more stay before it, however thin the liquid between is
SIDES = 3  # of solids that a point may be behind
FLAT = 0.25  # least square of a distance's slope that is believed
STEP = 1e-2  # cells, for gradients of distances; those that are sampled have single precision


def gradients(x: np.ndarray, solid: Distance, dx: float) -> np.ndarray:
    """The change of a distance along every axis (n, dim)."""
    out = np.zeros_like(x)
    for a in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[a] = STEP * dx
        out[:, a] = (solid(x + step) - solid(x - step)) / (2.0 * STEP * dx)
    return out


def directions(x: np.ndarray, solid: Distance, dx: float) -> np.ndarray:
    """Unit vectors (n, dim) out of the nearest solid."""
    out = gradients(x, solid, dx)
    return out / np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]


def outside(x: np.ndarray, solid: Distance, dx: float) -> np.ndarray:
    """Points (n, dim), those in solids moved onto their surfaces."""
    out = x.copy()
    for _ in range(SIDES):
        inside = np.flatnonzero(solid(out) < 0.0)
        if len(inside) == 0:
            break
        some = out[inside]
        slope = gradients(some, solid, dx)  # less than 1 beside edges, where distances are sampled
        out[inside] = some - (solid(some) / np.maximum((slope**2).sum(axis=1), FLAT))[:, None] * slope
    return out


def continued(liquid: Distance, solid: Distance, dx: float, dim: int) -> Distance:
    """The distance of a liquid that goes on DEEP into the solids that it touches."""

    def distance(points: np.ndarray) -> np.ndarray:
        before = outside(points, lambda p: solid(p) - NEAR * dx, dx)
        return np.maximum(liquid(before), -solid(points) - DEEP[dim] * dx)

    return distance


@dataclass(frozen=True)
class Shore:
    """How the vertices (n) of a surface lie to solids."""

    distance: np.ndarray  # (n,) [m]
    outwards: np.ndarray  # (n, dim)
    free: np.ndarray  # (n,): not at a solid, nor behind one
    clear: np.ndarray  # (n,): so far from all that the surface has no edge there
    dx: float

    @classmethod
    def of(cls, x: np.ndarray, normal: np.ndarray, solid: Distance, dx: float) -> Shore:
        """Of vertices x with normals (n, dim)."""
        distance, outwards = solid(x), directions(x, solid, dx)
        away = (normal * outwards).sum(axis=1) > FILM
        free = (distance > NEAR * dx) | (away & (distance > 0.0))
        clear = (distance > CLEAR * dx) | (away & free)
        return cls(distance, outwards, free, clear, dx)

    def before(self, x: np.ndarray) -> np.ndarray:
        """The vertices, those that are not free moved to where the flow beside the solid is read."""
        out = np.where(self.free, 0.0, NEAR * self.dx - self.distance)
        return x + out[:, None] * self.outwards

    def along(self, flow: np.ndarray, beside: np.ndarray, dt: float) -> np.ndarray:
        """Displacements (n, dim): `flow` where free; else along the solid with the velocity beside it, and deeper."""
        along = beside - (beside * self.outwards).sum(axis=1)[:, None] * self.outwards
        depth = np.clip(self.distance + DEEP[flow.shape[1]] * self.dx, -PULL * self.dx, PULL * self.dx)
        return np.where(self.free[:, None], flow, dt * along - depth[:, None] * self.outwards)
