"""On any domain, with viscosities that jump and walls that move, the Stokes step is the assembled one."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_projection import GRID, containers, liquids, number, random_velocity, seeds

from glug.geometry.solids.field import SolidField
from glug.grids.regular import copied, mapped
from glug.physics.reference.stokes import reference_stokes
from glug.physics.stokes.saddle import StokesProblem
from glug.solvers.limits import SolveLimits

FEW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
CLOSE = 1e-5  # of the largest velocity
SOLVED = 1e-9  # closed liquid that walls push has an error of 2e-5 at a residual of 4e-8


@FEW
@given(liquids(), containers, seeds, number(-1.0, 5.0), st.booleans(), st.booleans())
def test_velocities(phi: np.ndarray, solid: SolidField, seed: int, power: float, jumps: bool, moving: bool):
    rng = np.random.default_rng(seed)
    diffusion: np.ndarray | float = 10.0**power
    if jumps:  # by a factor of a hundred, in blobs
        diffusion = np.where(rng.random(GRID.shape) < 0.3, diffusion, 0.01 * diffusion).astype(np.float32)
    if moving:
        walls = mapped(lambda area: np.full_like(area, rng.normal()), solid.area)
        solid = replace(solid, velocity=walls, clear=mapped(np.ones_like, solid.area))
    problem = StokesProblem.build(GRID, phi, solid, diffusion)
    fast = random_velocity(seed)
    exact = copied(fast)
    _, stats = problem.solve(fast, SolveLimits(SOLVED, 2000))
    reference_stokes(problem, exact)
    assert stats.converged
    size = max(float(np.abs(u[m > 0]).max(initial=0.0)) for u, m in zip(exact, problem.level.mask))
    assert max(float(np.abs(u - v).max()) for u, v in zip(fast, exact)) <= CLOSE * max(size, 1.0)
