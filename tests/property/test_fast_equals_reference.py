"""On any domain the matrix-free kernels apply the assembled matrices, to the rounding of float32."""

import numpy as np
from hypothesis import given
from test_projection import FEW, GRID, containers, liquids, number, seeds

from glug.geometry.solids.field import SolidField
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.scenes import assemble_pressure
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.cg import zeros_like

CLOSE = 1e-5  # of the largest entry


@FEW
@given(liquids(), containers, seeds)
def test_pressure(phi: np.ndarray, solid: SolidField, seed: int):
    problem = PressureProblem.build(GRID, phi, solid)
    wet = problem.liquid > 0
    d, q = GRID.scalar(), GRID.scalar()
    d[wet] = np.random.default_rng(seed).normal(size=wet.sum())
    problem.system.apply((d,), (q,))
    exact = assemble_pressure(problem) @ d[wet].astype(np.float64)
    assert np.abs(q[wet] - exact).max(initial=0.0) <= CLOSE * np.abs(exact).max(initial=0.0)


@FEW
@given(liquids(), containers, seeds, number(0.1, 100.0))
def test_viscosity(phi: np.ndarray, solid: SolidField, seed: int, diffusion: float):
    rng = np.random.default_rng(seed)
    field = (diffusion * np.exp(rng.normal(size=GRID.shape))).astype(np.float32)
    problem = ViscosityProblem.build(GRID, phi, solid, field)
    rows = strain_rows(GRID, solid, problem.solid_faces, problem.weights, every=True)
    matrix, diagonal = rows.assemble(problem.mass)
    system = problem.system()
    d, q = zeros_like(system), zeros_like(system)
    for component, g in zip(d, diagonal):
        component[g > 0] = rng.normal(size=int((g > 0).sum()))
    system.apply(d, q)
    x, y = (np.concatenate([v[g > 0] for v, g in zip(w, diagonal)]).astype(np.float64) for w in (d, q))
    exact = matrix @ x
    assert np.abs(y - exact).max(initial=0.0) <= CLOSE * np.abs(exact).max(initial=0.0)
