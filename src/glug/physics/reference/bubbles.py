"""Air that pushes back, assembled in float64, on any mesh: constraint bubbles and two phases.

A constraint bubble is a part of the air whose net outflow is prescribed (Goldade 2021, section 4.1). Its row is the
sum of its cells' net outflows, in which the faces between them cancel, and its multiplier is the one pressure of the
bubble:

    D_liquid u = 0,    B u + b_S = target,    B = Q' V_C D_air,    Q of 1 where a cell belongs to a bubble

Two phases solve for the pressure in the air as well, with the density theta rho_L + (1 - theta) rho_A on the faces
that the surface cuts (section 3.2.2, eq. 3.14).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glug.grids.mesh import Mesh
from glug.physics.reference.pressure import AreaPressure, ghost_distance
from glug.physics.variational import Rows, VariationalProblem

ROUNDING = 1e-9  # of the largest entry of D: what cancelling leaves of the faces inside a bubble


class ConstraintPressure(VariationalProblem):
    """Liquid pressures p and one pressure per bubble; `solution["bubble"]` are the latter.

    `area` is the open fraction of every face, `wet` the liquid cells, `bubble` the number of the bubble of every cell,
    -1 in the liquid, in solids and in air without a pressure of its own, which is at p = 0. `theta` as in
    `AreaPressure`.
    """

    def __init__(
        self,
        mesh: Mesh,
        area: np.ndarray,
        wet: np.ndarray,
        bubble: np.ndarray,
        theta: np.ndarray | float = 1.0,
        *,
        density: float | np.ndarray = 1.0,
        dt: float = 1.0,
    ):
        n, count = len(wet), int(bubble.max(initial=-1)) + 1
        member = np.flatnonzero(bubble >= 0)
        Q = sparse.csr_matrix((np.ones(len(member)), (member, bubble[member])), shape=(n, count))
        unit = mesh.cell_volume.max()  # the volume of a bubble's row, whatever its own
        merged = (Q.T @ sparse.diags(mesh.cell_volume / unit) @ mesh.D).tocsr()
        merged.data[np.abs(merged.data) < ROUNDING * np.abs(mesh.D.data).max()] = 0.0
        merged.eliminate_zeros()
        self.bubbles = count
        rows = Rows(
            mesh,
            -sparse.vstack([mesh.D, merged], format="csr"),
            sparse.csr_matrix((n + count, n + count)),
            np.concatenate([mesh.cell_volume, np.full(count, unit)]),
            np.concatenate([wet.astype(float), np.ones(count)]),
            np.ones(n + count),
            {"p": slice(0, n + count), "bubble": slice(n, n + count)},
        )
        beside = np.abs(mesh.D.T) @ wet.astype(float) > 0
        distance = np.broadcast_to(np.asarray(theta, dtype=float), area.shape)
        # A closed face of a bubble moves nothing, whatever its weight; only faces with liquid beside them move.
        super().__init__(rows, np.where(beside, distance, np.where(area > 0.0, 0.0, 1.0)), area, density=density, dt=dt)


def two_phase_pressure(
    mesh: Mesh,
    area: np.ndarray,
    phi: np.ndarray,
    cells: np.ndarray,
    *,
    density: float,
    air_density: float,
    dt: float = 1.0,
) -> AreaPressure:
    """The projection of liquid and air together in all open `cells`; `phi` is the liquid's distance at cell centres."""
    share = liquid_share(mesh, phi)
    return AreaPressure(mesh, area, cells, density=share * density + (1.0 - share) * air_density, dt=dt)


def liquid_share(mesh: Mesh, phi: np.ndarray) -> np.ndarray:
    """The part of the line between the two cell centres beside every face that is in the liquid."""
    wet = (phi < 0).astype(float)
    D = abs(mesh.D).tocsc()
    D.data[:] = 1.0
    sides = D.T @ np.ones(len(phi))
    count = D.T @ wet
    return np.where(count == sides, 1.0, np.where(count == 0, 0.0, ghost_distance(mesh, phi)))


def centroid_velocity(mesh: Mesh, area: np.ndarray, bubble: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Velocity [m/s] of the centroid of the cells with `bubble` from the flux through their surface.

    d/dt of the integral of x is that of x u.n over the surface; in cells without divergence it is the integral of u.
    """
    flux = (mesh.D.T @ np.where(bubble, mesh.cell_volume, 0.0)) * area * u  # out of it; between its cells it cancels
    volume = mesh.cell_volume[bubble]
    centre = volume @ mesh.cell_position[bubble] / volume.sum()
    return flux @ (mesh.face_position - centre) / volume.sum()
