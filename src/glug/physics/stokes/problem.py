"""The unified Stokes step: pressure and viscosity in one solve (Batty 2010, chapter 4; eq. 4.40 and 4.41)."""

from __future__ import annotations

import numpy as np

from glug.grids.mesh import Fractions, StrainMesh
from glug.physics.variational import Rows, VariationalProblem, pressure_rows, stress_rows


def stokes_problem(
    mesh: StrainMesh,
    liquid: Fractions,
    fluid: Fractions,
    viscosity: float | tuple[np.ndarray, np.ndarray],
    *,
    density: float | np.ndarray = 1.0,
    dt: float = 1.0,
) -> VariationalProblem:
    """Stresses without a trace and the pressure, together; solved as KKT or in the stress-pressure form."""
    rows = Rows.stack(
        stress_rows(mesh, liquid, fluid, viscosity, trace_free=True), pressure_rows(mesh, liquid.cell, fluid.cell)
    )
    return VariationalProblem(rows, liquid.face, fluid.face, density=density, dt=dt)
