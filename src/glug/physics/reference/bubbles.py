"""Air that pushes back, assembled in float64, 2D and 3D: constraint bubbles and two phases.

A constraint bubble is a part of the air whose net outflow is prescribed (Goldade 2021, section 4.1). Its row is the
sum of the divergence rows of its cells, in which the faces between them cancel, and its multiplier is the one pressure
of the bubble:

    D_liquid u = 0,    B u + b_S = target,    B = Q' D_air,    Q of 1 where a cell belongs to a bubble

Two phases solve for the pressure in the air as well, with the density theta rho_L + (1 - theta) rho_A on the faces
that the surface cuts (section 3.2.2, eq. 3.14).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glug.grids.operators import Operators
from glug.grids.regular import CENTRE
from glug.physics.reference.pressure import AreaPressure, ghost_distance
from glug.physics.variational import Rows, VariationalProblem


class ConstraintPressure(VariationalProblem):
    """Liquid pressures p and one pressure per bubble; `solution["bubble"]` are the latter.

    `area` is the open fraction of every face, `wet` the liquid cells, `bubble` the number of the bubble of every cell,
    -1 in the liquid, in solids and in air without a pressure of its own, which is at p = 0. `theta` as in
    `AreaPressure`.
    """

    def __init__(
        self,
        operators: Operators,
        area: np.ndarray,
        wet: np.ndarray,
        bubble: np.ndarray,
        theta: np.ndarray | float = 1.0,
        *,
        density: float = 1.0,
        dt: float = 1.0,
    ):
        n, count = len(wet), int(bubble.max(initial=-1)) + 1
        member = np.flatnonzero(bubble >= 0)
        Q = sparse.csr_matrix((np.ones(len(member)), (member, bubble[member])), shape=(n, count))
        merged = (Q.T @ operators.D).tocsr()
        merged.data[np.abs(merged.data) < 1e-9 / operators.grid.dx] = 0.0
        merged.eliminate_zeros()
        self.bubbles = count
        rows = Rows(
            -sparse.vstack([operators.D, merged], format="csr"),
            sparse.csr_matrix((n + count, n + count)),
            np.concatenate([wet.astype(float), np.ones(count)]),
            np.ones(n + count),
            operators.face_axis,
            {"p": slice(0, n + count), "bubble": slice(n, n + count)},
        )
        beside = np.abs(operators.D.T) @ wet.astype(float) > 0
        distance = np.broadcast_to(np.asarray(theta, dtype=float), area.shape)
        # A closed face of a bubble moves nothing, whatever its weight; only faces with liquid beside them move.
        super().__init__(rows, np.where(beside, distance, np.where(area > 0.0, 0.0, 1.0)), area, density=density, dt=dt)


def two_phase_pressure(
    operators: Operators,
    area: np.ndarray,
    phi: np.ndarray,
    cells: np.ndarray,
    *,
    density: float,
    air_density: float,
    dt: float = 1.0,
) -> AreaPressure:
    """The projection of liquid and air together in all open `cells`; `phi` is the liquid's distance at cell centres."""
    share = liquid_share(operators, phi)
    return AreaPressure(operators, area, cells, density=share * density + (1.0 - share) * air_density, dt=dt)


def liquid_share(operators: Operators, phi: np.ndarray) -> np.ndarray:
    """The part of the line between the two cell centres beside every face that is in the liquid."""
    wet = (phi < 0).astype(float)
    D = abs(operators.D).tocsc()
    D.data[:] = 1.0
    sides = D.T @ np.ones(len(phi))
    count = D.T @ wet
    return np.where(count == sides, 1.0, np.where(count == 0, 0.0, ghost_distance(operators, phi)))


def centroid_velocity(operators: Operators, area: np.ndarray, bubble: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Velocity [m/s] of the centroid of the cells with `bubble` from the flux through their surface.

    d/dt of the integral of x is that of x u.n over the surface; in cells without divergence it is the integral of u.
    """
    flux = (operators.D.T @ bubble.astype(float)) * area * u  # out of the bubble; between its cells it cancels
    where = np.concatenate([operators.points(o) for o in operators.faces])
    return flux @ (where - _centre(operators, bubble)) / bubble.sum()


def _centre(operators: Operators, bubble: np.ndarray) -> np.ndarray:
    return operators.points(CENTRE)[bubble].mean(axis=0)
