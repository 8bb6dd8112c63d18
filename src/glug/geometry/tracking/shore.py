"""Where a tracked surface meets solids: it goes on behind them, so that its edge is not seen at the wall.

An edge at the wall itself would be round, by a part of a cell, and liquid would never come to rest under it. What the
surface encloses outside the solids, with its vertices moved onto them (`outside`), is the liquid.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glug.geometry.liquid import NOWHERE
from glug.grids.mesh import Distance

CLEAR = 2.0  # cells from solids: nearer, where the surface may have its edge, it is moved by the flow alone
NEAR, PULL = 0.25, 0.25  # cells: surfaces this near to a solid go on into it, by so much a step ...
DEEP = {2: 0.75, 3: 1.25}  # ... until they are this deep; in 3D their round rims would be felt before the wall
FILM = 0.5  # cosine: surfaces that face away from a solid by more stay before it, however thin the liquid between is
SIDES = 3  # of solids that a point may be behind
GENTLE, STEEP = 0.25, 0.5  # sines of slopes of solids between which the way out of them turns
LEAST_SLOPE = 0.5  # of a distance that is believed
STEP = 1e-2  # cells, for slopes of distances; those that are sampled have single precision


@dataclass(frozen=True)
class Solids:
    """Solids by their distance, negative inside; `up` (3,) is the unit vector against gravity, zero without."""

    distance: Distance
    dx: float
    up: np.ndarray = field(default_factory=lambda: NOWHERE)

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """The change of the distance along every axis (n, dim)."""
        return slopes(x, self.distance, self.dx)

    def outwards(self, x: np.ndarray) -> np.ndarray:
        """Unit vectors (n, dim) out of the nearest solid."""
        return directions(x, self.distance, self.dx)

    def ways(self, x: np.ndarray) -> np.ndarray:
        """Vectors (n, dim) along which the distance changes by 1: out of a solid, level where that is steep."""
        slope = self.slopes(x)
        size = np.linalg.norm(slope, axis=1)
        up = self.up[: x.shape[1]]
        rise = slope @ up
        level = np.sqrt(np.maximum(size**2 - rise**2, 0.0)) / np.maximum(size, 1e-300)
        off = np.clip((level - GENTLE) / (STEEP - GENTLE), 0.0, 1.0) * rise
        way = slope - off[:, None] * up
        # Beside edges distances that are sampled change by less than 1.
        return way / np.maximum(size**2 - off * rise, LEAST_SLOPE**2 * (1.0 - level**2 + STEEP**2))[:, None]

    def outside(self, x: np.ndarray, reach: float = 0.0) -> np.ndarray:
        """Points (n, dim), those nearer to solids than `reach` [m], or in them, moved to where they are not."""
        out = x.copy()
        for _ in range(SIDES):
            inside = np.flatnonzero(self.distance(out) < reach)
            if len(inside) == 0:
                break
            some = out[inside]
            out[inside] = some + (reach - self.distance(some))[:, None] * self.ways(some)
        return out

    def continued(self, liquid: Distance) -> Distance:
        """The distance of a liquid that goes on DEEP into the solids that it touches."""

        def distance(points: np.ndarray) -> np.ndarray:
            before = self.outside(points, NEAR * self.dx)
            return np.maximum(liquid(before), -self.distance(points) - DEEP[points.shape[1]] * self.dx)

        return distance

    def beside(self, x: np.ndarray, normal: np.ndarray) -> Shore:
        """How vertices x of a surface with normals (n, dim) lie to them."""
        distance, outwards = self.distance(x), self.outwards(x)
        away = (normal * outwards).sum(axis=1) > FILM
        free = (distance > NEAR * self.dx) | (away & (distance > 0.0))
        clear = (distance > CLEAR * self.dx) | (away & free)
        return Shore(distance, outwards, self.ways(x), free, clear, self.dx)


@dataclass(frozen=True)
class Shore:
    """How the vertices (n) of a surface lie to solids."""

    distance: np.ndarray  # (n,) [m]
    outwards: np.ndarray  # (n, dim)
    way: np.ndarray  # (n, dim)
    free: np.ndarray  # (n,): not at a solid, nor behind one
    clear: np.ndarray  # (n,): so far from all that the surface has no edge there
    dx: float

    def before(self, x: np.ndarray) -> np.ndarray:
        """The vertices, those that are not free moved to where the flow beside the solid is read."""
        out = np.where(self.free, 0.0, NEAR * self.dx - self.distance)
        return x + out[:, None] * self.way

    def along(self, flow: np.ndarray, beside: np.ndarray, dt: float) -> np.ndarray:
        """Displacements (n, dim): `flow` where free; else along the solid with the velocity beside it, and deeper."""
        along = beside - (beside * self.outwards).sum(axis=1)[:, None] * self.outwards
        depth = np.clip(self.distance + DEEP[flow.shape[1]] * self.dx, -PULL * self.dx, PULL * self.dx)
        return np.where(self.free[:, None], flow, dt * along - depth[:, None] * self.way)


def slopes(x: np.ndarray, distance: Distance, dx: float) -> np.ndarray:
    """The change of a distance along every axis (n, dim)."""
    out = np.zeros_like(x)
    for a in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[a] = STEP * dx
        out[:, a] = (distance(x + step) - distance(x - step)) / (2.0 * STEP * dx)
    return out


def directions(x: np.ndarray, distance: Distance, dx: float) -> np.ndarray:
    """Unit vectors (n, dim) along which a distance grows."""
    out = slopes(x, distance, dx)
    return out / np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]
