"""The pressure of surface tension: gamma kappa across the surface, as it enters projections and Stokes solves.

    p_liquid - p_air = gamma kappa      at the surface,  kappa = k1 + k2

A projection with air at p = 0 (or at a bubble's pressure, or with a pressure of its own) meets it where the velocity
begins with what that pressure alone would do to the faces that the surface crosses; a Stokes solve likewise.

Explicit steps are stable while omega dt < 2 for the shortest waves. `held_back` allows about ten times as long ones: a
wave of number k gets

    gamma kappa / (1 + F (y^2 + y^4) / 2),     y = k (gamma dt^2 / (4 rho))^(1/3),

with F what the curvature's filter leaves of it. That is at most what the trapezoidal rule gives it,
1 / (1 + (omega dt / 2)^2) with omega^2 = F gamma k^3 / rho, since y^2 + y^4 >= 2 y^3. So no wave of a flat surface
turns by more than the rule allows, and none is damped; with longer steps a disc at rest still blows up, and why is not
known. (k^2 is the Laplacian of means over neighbours.)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid, Staggered
from glug.physics.tension.surface import RADIUS, SurfacePoints

CONTINUED = 4  # cells around the surface in which a pressure at it is given
ACCURATE = 1e-6  # relative residual of the smoothing solve


def capillary_step(tension: float, density: float, dx: float) -> float:
    """sqrt(rho dx^3 / gamma) [s]."""
    return math.sqrt(density * dx**3 / tension) if tension > 0.0 else math.inf


def held_back(points: SurfacePoints, kappa: np.ndarray, steps: float) -> np.ndarray:
    """Curvature for a time step of `steps` capillary steps, up to about ten times as long as explicit ones."""
    n, dim = len(points), points.grid.dim
    if n == 0:
        return kappa
    spread = RADIUS**2 / (7.0 if dim == 2 else 8.0)  # variance of `mean` along the surface, per axis [dx^2]
    scale = (0.25 * steps**2) ** (2.0 / 3.0)  # y^2 = scale k^2 dx^2
    total = np.sqrt(points.area * (points.nearness @ points.area))  # total S / total is symmetric

    def bent(values: np.ndarray) -> np.ndarray:
        return scale * (2.0 / spread) * (values - points.mean @ values)

    def system(scaled: np.ndarray) -> np.ndarray:
        once = bent(points.filtered(scaled / total))
        return scaled + 0.5 * total * (once + bent(once))

    found, _ = cg(LinearOperator((n, n), matvec=system, dtype=np.float64), total * kappa, rtol=ACCURATE)
    return found / total


def surface_pressure(jump: Staggered, phi: np.ndarray, grid: Grid) -> np.ndarray:
    """q at the surface of a liquid under air at q = 0, in the cells beside it, continued to those around them."""
    total, count = grid.scalar(dtype=np.float64), grid.scalar(dtype=np.float64)
    for a in grid.axes:
        upper = np.argwhere(jump[a] != 0.0)
        lower = upper - np.eye(3, dtype=np.int64)[a]
        q = np.where(phi[tuple(lower.T)] < 0.0, 1.0, -1.0) * jump[a][tuple(upper.T)]
        for cells in (lower, upper):
            np.add.at(total, tuple(cells.T), q)
            np.add.at(count, tuple(cells.T), 1.0)
    field = (total / np.maximum(count, 1.0)).astype(np.float32)
    extrapolate(field, (count > 0).view(np.uint8), CONTINUED)
    return field


def push(velocity: Staggered, jump: Staggered, links: Staggered, area: Staggered) -> None:
    """Add what the pressure across the surface alone does to the velocity of a projection, in place.

    `jump` is q = p dt / (rho dx) of `SurfacePoints.across_faces`; u -= link / area jump.
    """
    for u, q, link, open_ in zip(velocity, jump, links, area):
        at = np.flatnonzero((q != 0.0) & (link > 0.0) & (open_ > 0.0))
        u.reshape(-1)[at] -= (link.reshape(-1)[at] / open_.reshape(-1)[at]) * q.reshape(-1)[at]
