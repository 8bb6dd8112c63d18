"""Slip walls: they stop what moves towards them and let pass what moves along, wherever they cut a cell."""

import numpy as np
import pytest

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.reference.scenes import reference_viscosity
from glug.physics.velocity import LiquidSurroundings
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits

SLIP, STICK = (np.inf, np.inf), (0.0, 0.0)
DIFFUSION = 0.05  # viscosity times dt over density [m2]


def box(n: int, slip: tuple, offset: float = 0.37) -> tuple[Grid, SolidField, float]:
    """A closed box, 1 m by 1 m and four cells deep, whose walls lie `offset` cells behind cell borders."""
    dx = 1.0 / n
    grid = Grid(dx, (n + 8, n + 8, 16), (-4, -4, -4))
    x = offset * dx
    solid = sample_solids(grid, Walls((x, x, 0.0), (x + 1.0, x + 1.0, 4 * dx), slip), [], 0.0)
    return grid, solid, x


def cell_of_flow(grid: Grid, x0: float) -> tuple[Staggered, list[np.ndarray]]:
    """One cell of Taylor and Green's vortices, which fills the box, and the faces of each axis inside it."""
    velocity, inside = grid.staggered(), []
    for a in range(2):
        p = np.moveaxis(grid.points(FACES[a]), -1, 0) - x0
        s, c = np.sin(np.pi * p[a]), np.cos(np.pi * p[1 - a])
        velocity[a][:] = s * c if a == 0 else -s * c
        depth = p[2] + x0
        inside.append(((p[:2] > 0) & (p[:2] < 1)).all(axis=0) & (depth > 0) & (depth < 4 * grid.dx))
    return velocity, inside


def decay_error(n: int, slip: tuple, reference: bool = False) -> float:
    """The vortex is an eigenfunction: an implicit step divides it by 1 + 2 pi^2 DIFFUSION."""
    grid, solid, x0 = box(n, slip)
    velocity, inside = cell_of_flow(grid, x0)
    exact = [u / (1 + 2 * np.pi**2 * DIFFUSION) for u in velocity]
    problem = ViscosityProblem.build(grid, np.full(grid.shape, np.float32(-1.0)), solid, DIFFUSION / grid.dx**2)
    if reference:
        reference_viscosity(problem, velocity)
    else:
        assert problem.solve(velocity, SolveLimits(1e-5, 4000)).converged
    return max(float(np.abs(velocity[a] - exact[a])[inside[a]].max()) for a in range(2))


def test_vortices_between_slip_walls_decay_at_their_rate():
    errors = [decay_error(n, (SLIP,) * 3) for n in (8, 16, 32)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    print("errors", errors, "orders", orders)
    assert errors[-1] < 5e-4
    assert orders.min() > 1.8


def test_vortices_between_sticking_walls_do_not():
    assert decay_error(16, (STICK,) * 3) > 0.1


def test_the_assembled_matrix_slips_as_the_kernels_do():
    assert abs(decay_error(8, (SLIP,) * 3, reference=True) - decay_error(8, (SLIP,) * 3)) < 1e-5


@pytest.mark.parametrize(("slip", "slides"), [((SLIP, STICK, SLIP), True), ((STICK, STICK, SLIP), False)])
def test_velocity_continues_along_a_slip_wall_only(slip, slides):
    grid, solid, _ = box(8, slip, offset=0.0)
    velocity = grid.staggered()
    velocity[1][:] = 1.0
    liquid = np.zeros(grid.shape, np.uint8)
    liquid[4:-4, 4:-4, 4:8] = 1
    LiquidSurroundings(grid, solid, solid.velocity, liquid, grid.staggered()).extend(velocity, 2, stick=True)
    assert velocity[1][4, 8, 5] == 1.0
    assert velocity[1][3, 8, 5] == (1.0 if slides else 0.0)  # the first face behind the wall at x = 0
    assert velocity[1][4, 4, 5] == 0.0  # nothing passes through the wall at y = 0
