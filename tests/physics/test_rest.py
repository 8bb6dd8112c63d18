"""A liquid at rest stays at rest: geometry held fixed, surface and floor at arbitrary sub-cell positions."""

import numpy as np
import pytest
from setups import tank

from glug.physics.pressure import PressureProblem
from glug.physics.velocity import extend
from glug.physics.viscosity import ViscosityProblem

DT, G = 0.01, 9.81


def residual_speeds(steps: int, implicit_number: float | None, ghost: bool = True) -> list[float]:
    """Largest speed after each step, in units of g dt."""
    grid, phi, solid = tank()
    if not ghost:
        phi = np.where(phi < 0, np.float32(-0.5 * grid.dx), np.float32(0.5 * grid.dx))
    problem = PressureProblem.build(grid, phi, solid)
    viscous = None if implicit_number is None else ViscosityProblem.build(grid, phi, solid, implicit_number)
    velocity, reached = grid.staggered(), grid.staggered()
    options = {"tolerance": 1e-8, "max_iterations": 2000, "floor": 1e-2 * G * DT}
    speeds = []
    for _ in range(steps):
        velocity[1][:] -= np.float32(G * DT)
        if viscous is not None:
            problem.project(velocity, **options)
            extend(grid, velocity, solid, problem.liquid, reached, 2, stick=True)
            viscous.solve(velocity, **options)
        _, stats = problem.project(velocity, **options)
        assert stats.converged
        extend(grid, velocity, solid, problem.liquid, reached, 2, stick=viscous is not None)
        wet = np.zeros(velocity[1].shape, bool)
        wet[:, :-1] |= problem.liquid > 0
        wet &= solid.area[1] > 0
        speeds.append(float(np.abs(velocity[1][wet]).max()) / (G * DT))
    return speeds


@pytest.mark.parametrize("implicit_number", [None, 10.0], ids=["water", "honey"])
def test_speed_stays_below_1e_5_g_dt(implicit_number):
    speeds = residual_speeds(50, implicit_number)
    print(f"largest speed over 50 steps: {max(speeds):.1e} g dt")
    assert max(speeds) < 1e-5


def test_without_the_sub_cell_surface_the_liquid_moves():
    """Negative control: the surface at cell borders instead of where it is."""
    grid, phi, solid = tank(surface=0.537, slope=0.2)
    tilted = phi + (0.3 * (grid.points((0.5, 0.5, 0.5))[..., 0] - 0.5)).astype(np.float32)
    problem = PressureProblem.build(grid, tilted, solid)
    velocity = grid.staggered()
    velocity[1][:] -= np.float32(G * DT)
    problem.project(velocity, tolerance=1e-8, max_iterations=2000)
    assert np.abs(velocity[0]).max() > 1e-2 * G * DT
