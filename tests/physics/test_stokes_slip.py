"""Walls along which the liquid slips in a Stokes solve: as the assembled matrix has it, at rest, and sliding."""

import math

import numpy as np
import pytest
from test_slip_length import GRID, TANK, Ball, Slope, apart, stirred

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, FACES
from glug.physics.reference.stokes import reference_stokes
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.solvers.limits import SolveLimits
from glug.studies.validate.slip import block_on_slope

SURFACE = 0.737
SIDES = Walls(TANK.lower, TANK.upper, ((0.02, 0.0), (math.inf, 0.0), (0.0, math.inf)))


def problem(solid: SolidField, diffusion: float) -> StokesProblem:
    phi = np.clip(GRID.points(CENTRE)[..., 1] - SURFACE, -4 * GRID.dx, 4 * GRID.dx).astype(np.float32)
    return StokesProblem.build(ViscousFluid(GRID, phi, solid, diffusion))


@pytest.mark.parametrize(
    ("walls", "solids"), [(TANK, [Slope(math.inf)]), (TANK, [Ball(0.3, spin=5.0)]), (SIDES, [Slope(0.1)])]
)
@pytest.mark.parametrize("diffusion", [0.1, 300.0])
def test_it_is_the_assembled_solve_in_as_few_iterations_as_without_slip(walls, solids, diffusion):
    fast, exact = stirred(), stirred()
    slipping = problem(sample_solids(GRID, walls, solids, 0.0), diffusion)
    _, stats = slipping.solve(fast, SolveLimits(1e-7, 200))
    reference_stokes(slipping, exact)
    print(f"{stats.iterations} iterations, {apart(fast, exact):.1e} apart")
    assert stats.converged and stats.iterations <= 20
    assert apart(fast, exact) <= 1e-5 * max(float(np.abs(u).max()) for u in exact)


def fastest_at_rest(slipping: StokesProblem, solid: SolidField) -> float:
    """The largest velocity in the liquid one step after rest, over g dt."""
    velocity = GRID.staggered()
    velocity[1][:] = -1.0
    slipping.solve(velocity, SolveLimits(1e-5, 200))
    wet = (GRID.points(offset)[..., 1] < SURFACE for offset in FACES)
    return max(float(np.abs(u[w & (area > 0.05)]).max()) for u, w, area in zip(velocity, wet, solid.area))


@pytest.mark.parametrize("diffusion", [0.1, 300.0])
def test_liquid_rests_over_a_slope_along_which_it_slips(diffusion):
    """Masses are those that the pressure pushes on: in open areas, which are not what slip leaves of volumes."""
    solid = sample_solids(GRID, TANK, [Slope(math.inf)], 0.0)
    assert fastest_at_rest(problem(solid, diffusion), solid) <= 1e-5


def test_it_would_creep_with_the_volumes_that_slip_leaves():
    """Negative control: the masses of a split step."""
    solid = sample_solids(GRID, TANK, [Slope(math.inf)], 0.0)
    slipping = problem(solid, 0.1)
    for m, offset in zip(slipping.viscous.mass, FACES):
        m[m > 0] = np.maximum(solid.slip.open_volume(GRID, offset), np.float32(1e-6))[m > 0]
    assert fastest_at_rest(slipping, solid) > 1e-3


def test_a_block_of_honey_slides_down_a_free_slope_as_a_whole():
    speed, spread = block_on_slope(math.inf, 24, 3, "stokes")
    held, _ = block_on_slope(0.0, 24, 3, "stokes")
    print(f"speed over g sin t {speed:.4f}, spread {spread:.4f}; sticking {held:.4f}")
    assert speed == pytest.approx(1.0, abs=0.01)
    assert spread < 0.03
    assert held < 0.05
