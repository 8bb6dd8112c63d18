"""Reference pressure projections in float64, 2D and 3D.

`AreaPressure` is the default: open face areas at walls, ghost-fluid distances at the free surface (Ng et al. 2009;
Gibou et al. 2002), second order in the pressure. With areas of 0 and 1 and distances of 1 it is the voxelised
baseline. `volume_pressure` is the published variational form (Batty 2010, eq. 4.19), first order in the pressure.
"""

from __future__ import annotations

import numpy as np

from glug.grids.operators import Operators
from glug.physics.variational import VariationalProblem, pressure_rows
from glug.physics.weights import Fractions

LEAST_DISTANCE = 1e-6  # in cells: a surface nearer to a centre than this is taken at this distance


def volume_pressure(
    operators: Operators, liquid: Fractions, fluid: Fractions, *, density: float | np.ndarray = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """The projection with fractions of volume as weights."""
    rows = pressure_rows(operators, liquid, fluid)
    return VariationalProblem(rows, liquid.face, fluid.face, density=density, dt=dt)


class AreaPressure(VariationalProblem):
    """p such that D (A u + (1 - A) u_wall) = 0 in every cell with liquid at its centre, u = u* - dt/rho G p / theta.

    `area` is the open fraction of every face. `theta` is the distance from a liquid cell's centre to the surface,
    in cells, on the faces towards air, and 1 on others. In the notation of `VariationalProblem` the faces have
    W_F = A and W_L = theta, and the cells W_L = 1 or 0: the same algebra with other weights.
    """

    def __init__(
        self,
        operators: Operators,
        area: np.ndarray,
        wet: np.ndarray,
        theta: np.ndarray | float = 1.0,
        *,
        density: float | np.ndarray = 1.0,
        dt: float = 1.0,
    ):
        rows = pressure_rows(operators, _cells(wet.astype(float), operators), Fractions.full(operators))
        distance = np.broadcast_to(np.asarray(theta, dtype=float), area.shape)
        beside = np.abs(operators.D.T) @ wet.astype(float) > 0
        super().__init__(rows, np.where(beside, distance, 0.0), area, density=density, dt=dt)

    @classmethod
    def voxelised(
        cls, operators: Operators, wet: np.ndarray, walls: np.ndarray, *, dt: float = 1.0, density: float = 1.0
    ) -> AreaPressure:
        """Whole cells are liquid (`wet`) or wall (`walls`), whatever part of them is."""
        closed = np.abs(operators.D.T) @ walls.astype(float) > 0
        return cls(operators, np.where(closed, 0.0, 1.0), wet & ~walls, density=density, dt=dt)


def ghost_distance(operators: Operators, phi: np.ndarray) -> np.ndarray:
    """theta of every face from the liquid's distance at cell centres: 1, or phi_in / (phi_in - phi_out)."""
    D = operators.D.tocsc()
    ahead, behind = (D < 0).astype(float).T @ phi, (D > 0).astype(float).T @ phi
    cut = (ahead < 0) != (behind < 0)
    inner, outer = np.minimum(ahead, behind), np.maximum(ahead, behind)
    theta = np.ones(len(ahead))
    theta[cut] = np.maximum(inner[cut] / (inner[cut] - outer[cut]), LEAST_DISTANCE)
    return theta


def _cells(values: np.ndarray, operators: Operators) -> Fractions:
    full = Fractions.full(operators)
    return Fractions(values, full.face, full.edge)
