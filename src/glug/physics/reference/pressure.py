"""Reference pressure projections in float64, 2D and 3D.

`AreaPressure` is the default: open face areas at walls, ghost-fluid distances at the free surface (Ng et al. 2009;
Gibou et al. 2002), second order in the pressure. With areas of 0 and 1 and distances of 1 it is the voxelised
baseline. `volume_pressure` is the published variational form (Batty 2010, eq. 4.19), first order in the pressure.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glug.grids.mesh import Fractions, Mesh
from glug.physics.variational import VariationalProblem, pressure_rows

LEAST_DISTANCE = 1e-6  # between two pressures: a surface nearer to one in the liquid is taken at this distance


def volume_pressure(
    mesh: Mesh, liquid: Fractions, fluid: Fractions, *, density: float | np.ndarray = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """The projection with fractions of volume as weights."""
    rows = pressure_rows(mesh, liquid.cell, fluid.cell)
    return VariationalProblem(rows, liquid.face, fluid.face, density=density, dt=dt)


class AreaPressure(VariationalProblem):
    """D (area u + (1 - area) u_wall) = 0 in every cell with liquid at its pressure, u = u* - dt/rho G p / theta.

    `area` is the open fraction of every face. On the faces between liquid and air `theta` is the part of the way from
    the liquid's pressure to the air's that is in the liquid, and 1 on others. In the notation of `VariationalProblem`
    the faces have W_F = area and W_L = theta, and the cells W_L = 1 or 0: the same algebra with other weights.
    """

    def __init__(
        self,
        mesh: Mesh,
        area: np.ndarray,
        wet: np.ndarray,
        theta: np.ndarray | float = 1.0,
        *,
        density: float | np.ndarray = 1.0,
        dt: float = 1.0,
    ):
        rows = pressure_rows(mesh, wet.astype(float), np.ones(len(wet)))
        distance = np.broadcast_to(np.asarray(theta, dtype=float), area.shape)
        beside = np.abs(mesh.D.T) @ wet.astype(float) > 0
        super().__init__(rows, np.where(beside, distance, 0.0), area, density=density, dt=dt)

    @classmethod
    def voxelised(
        cls, mesh: Mesh, wet: np.ndarray, walls: np.ndarray, *, dt: float = 1.0, density: float | np.ndarray = 1.0
    ) -> AreaPressure:
        """Whole cells are liquid (`wet`) or wall (`walls`), whatever part of them is."""
        closed = np.abs(mesh.D.T) @ walls.astype(float) > 0
        return cls(mesh, np.where(closed, 0.0, 1.0), wet & ~walls, density=density, dt=dt)


def ghost_distance(mesh: Mesh, phi: np.ndarray, wet: np.ndarray | None = None) -> np.ndarray:
    """theta of every face from the liquid's distance at the pressures: what of G phi the pressures in the liquid give.

    Those are the `wet` ones, where phi < 0 if None.

    Between two pressures that is phi_in / (phi_in - phi_out); with p = -phi a plane surface has G p / theta = -n . grad
    phi, on any mesh whose G is exact for linear pressures. It is 1 where the surface does not pass, and where a face
    with several pressures on a side leaves no positive part.
    """
    flow = (sparse.diags(mesh.cell_volume) @ mesh.D).tocsc()
    behind, ahead = _mean(flow.maximum(0.0)), _mean((-flow).maximum(0.0))
    wet = phi < 0 if wet is None else wet
    difference, liquid = ((ahead - behind) @ values for values in (phi, np.where(wet, phi, 0.0)))
    beside = abs(ahead - behind)
    cut = (beside @ wet.astype(float) > 0) & (beside @ (~wet).astype(float) > 0)
    cut &= liquid * difference > 0.0
    theta = np.ones(len(difference))
    theta[cut] = np.maximum(liquid[cut] / difference[cut], LEAST_DISTANCE)
    return theta


def _mean(flow: sparse.csc_matrix) -> sparse.csr_matrix:
    """The mean over the cells on one side of every face, weighed by what each takes of its flow."""
    flow = sparse.csc_matrix(flow)
    total = np.asarray(flow.sum(axis=0)).ravel()
    flow.data /= np.repeat(total, np.diff(flow.indptr))
    return flow.T.tocsr()
