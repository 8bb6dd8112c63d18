"""Slip along solids and sides: friction as the slip length says, and none where it is infinite."""

import math

import numpy as np
import pytest
from setups import NO_WALLS, HalfSpace

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.geometry.solids.slip import LEAST_SLIP, NEAREST
from glug.grids.regular import CENTRE, FACES, Grid, Staggered
from glug.physics.reference.scenes import reference_viscosity
from glug.physics.viscosity.preconditioners import SOLVERS
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits
from glug.studies.validate.slip import TaylorCouetteSlip, block_on_slope, sticking_error

N = 12
GRID = Grid(1.0 / N, (N + 8, N + 8, N + 8), (-4, -4, -4))
FULL = np.full(GRID.shape, np.float32(-1.0))
TILT = np.array([-0.3, 1.0, 0.2]) / np.linalg.norm([-0.3, 1.0, 0.2])


class Slope(HalfSpace):
    def __init__(self, slip_length: float, normal=TILT, point=(0.5, 0.35, 0.5)):
        super().__init__(point, normal)
        self.slip_length = slip_length


class Ball:
    """Turns about its centre."""

    def __init__(self, slip_length: float, spin: float = 0.0):
        self.slip_length, self.spin, self.moving = slip_length, spin, spin != 0.0
        self.centre = np.array([0.5, 0.45, 0.52])

    def distance(self, points, t=0.0):
        return np.linalg.norm(points - self.centre, axis=1) - 0.21

    def velocity(self, points, t=0.0):
        return np.cross([0.0, 0.0, self.spin], points - self.centre)

    def bounds(self, t=0.0):
        return self.centre - 0.21, self.centre + 0.21


def stirred() -> Staggered:
    """A smooth velocity and noise."""
    rng = np.random.default_rng(3)
    u = [
        (np.sin(3 * GRID.points(o)[..., 0] + a) + 0.1 * rng.standard_normal(GRID.sample_shape(o))).astype(np.float32)
        for a, o in enumerate(FACES)
    ]
    return u[0], u[1], u[2]


def solved(
    solid: SolidField, diffusion=30.0, surface: float = 0.737, solver: str = "multigrid"
) -> tuple[Staggered, Staggered, int]:
    """The stirred tank by the solver asked for and by the reference, and the iterations."""
    phi = np.clip(GRID.points(CENTRE)[..., 1] - surface, -4 * GRID.dx, 4 * GRID.dx).astype(np.float32)
    ours, reference = stirred(), stirred()
    problem = ViscosityProblem.build(GRID, phi, solid, diffusion)
    stats = problem.solve(ours, SolveLimits(1e-6, 4000), solver=SOLVERS[solver])
    reference_viscosity(problem, reference)
    assert stats.converged
    return ours, reference, stats.iterations


def apart(one: Staggered, other: Staggered) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other))


TANK = Walls((0.013, 0.0, 0.007), (0.97, 1.0, 0.981))


@pytest.mark.parametrize("solid", [Slope(0.1), Slope(math.inf), Ball(0.2 / N), Ball(0.3, spin=5.0)])
def test_multigrid_gives_the_references_answer_as_fast_as_without_slip(solid):
    ours, reference, iterations = solved(sample_solids(GRID, TANK, [solid], 0.0))
    print(f"{apart(ours, reference):.1e} apart after {iterations} iterations")
    assert apart(ours, reference) < 1e-4
    assert iterations <= 15


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg"])
def test_where_viscosity_jumps_the_answer_is_the_references_too(solver):
    diffusion = np.where(GRID.points(CENTRE)[..., 0] < 0.45, np.float32(300.0), np.float32(3.0))
    ours, reference, _ = solved(sample_solids(GRID, TANK, [Ball(0.1, spin=5.0)], 0.0), diffusion, solver=solver)
    assert apart(ours, reference) < 1e-3


def test_a_slip_length_that_cells_do_not_resolve_is_none_to_the_bit():
    none, tiny, large = (sample_solids(GRID, TANK, [Ball(b, spin=5.0)], 0.0) for b in (0.0, 0.9 * LEAST_SLIP / N, 0.1))
    assert apart(solved(none)[0], solved(tiny)[0]) == 0.0
    assert apart(solved(none)[0], solved(large)[0]) > 0.1


def forces(solid: SolidField, velocity: Staggered) -> np.ndarray:
    """What the operator without mass does to a velocity, on faces around the middle that have mass."""
    problem = ViscosityProblem.build(GRID, FULL, solid, 1.0)
    r = GRID.staggered()
    problem.system().residual(GRID.staggered(), tuple(u.astype(np.float64) for u in velocity), r)
    middle = (slice(8, 12), slice(5, 12), slice(8, 12))
    pulls = [(f + m * u)[middle] for f, m, u in zip(r, problem.mass, velocity)]
    return np.array([p.ravel() for p in pulls])


def shear_flow(along: np.ndarray, normal: np.ndarray, point: np.ndarray, length: float) -> Staggered:
    """Along a plane, at rest `length` behind it."""
    u = [((length + (GRID.points(o) - point) @ normal) * along[a]).astype(np.float32) for a, o in enumerate(FACES)]
    return u[0], u[1], u[2]


@pytest.mark.parametrize("cells", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("height", [0.31, 0.35, 0.375])
def test_a_shear_flow_along_a_level_solid_is_in_equilibrium_with_its_friction(cells, height):
    up, point, length = np.array([0.0, 1.0, 0.0]), np.array([0.5, height, 0.5]), cells * GRID.dx
    velocity = shear_flow(np.array([1.0, 0.0, 0.0]), up, point, length)
    left, free = (
        np.abs(forces(sample_solids(GRID, NO_WALLS, [Slope(b, up, point)], 0.0), velocity)).max() / GRID.dx
        for b in (length, math.inf)
    )
    print(f"{left:.1e} left of {free:.2f}")
    assert left < 1e-5
    assert free > 0.5


def test_on_a_slope_the_friction_has_the_right_sum():
    along = np.cross(TILT, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(TILT, [0.0, 0.0, 1.0]))
    length = 2.0 * GRID.dx
    velocity = shear_flow(along, TILT, np.array([0.5, 0.35, 0.5]), length)
    left, free = (
        along @ forces(sample_solids(GRID, NO_WALLS, [Slope(b)], 0.0), velocity).sum(axis=1) for b in (length, math.inf)
    )
    print(f"{left / free:.4f} left")
    assert abs(left / free) < 0.02


@pytest.mark.parametrize("cells", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("offset", [0.0, 0.37, 0.9])
def test_couette_flow_along_a_side_that_slips_is_exact(cells, offset):
    """A face nearer than NEAREST to where the flow would be at rest, or behind it, stands for one at that distance."""
    length, floor = cells * GRID.dx, offset * GRID.dx
    walls = Walls((-np.inf, floor, -np.inf), (np.inf,) * 3, ((0.0, 0.0), (length, 0.0), (0.0, 0.0)))
    velocity = shear_flow(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, floor, 0.0]), length)
    np.maximum(velocity[0], np.float32(NEAREST * GRID.dx), out=velocity[0])
    solid = sample_solids(GRID, walls, [], 0.0)
    problem = ViscosityProblem.build(GRID, FULL, solid, 1.0)
    r = GRID.staggered()
    problem.system().residual(GRID.staggered(), tuple(u.astype(np.float64) for u in velocity), r)
    inside = (slice(8, 12), slice(5, 12), slice(8, 12))
    left = (r[0] + problem.mass[0] * velocity[0])[inside]
    assert np.abs(left).max() < 1e-5 * GRID.dx
    assert (problem.mass[0][inside] > 0).all()


@pytest.mark.parametrize("gaps", [0.1, 0.25, 1.0])
def test_oil_slips_along_turning_cylinders_as_the_formula_says(gaps):
    worst = TaylorCouetteSlip(16, gaps, gaps).worst()
    print(f"b = {gaps} gaps: largest error {worst:.4f} of the wall's speed at 16 cells across")
    assert worst < 0.02


def test_oil_that_sticks_does_not():
    """Negative control."""
    assert sticking_error(16) > 0.2


def test_a_free_wall_moves_nothing_and_one_free_wall_holds_nothing():
    assert TaylorCouetteSlip(16, math.inf, 0.0).worst() < 0.01
    assert TaylorCouetteSlip(16, 0.0, math.inf).worst() < 0.02


@pytest.mark.parametrize(("dim", "resolution"), [(2, 40), (3, 32)])
def test_a_block_of_honey_slides_down_a_free_slope_as_a_whole(dim, resolution):
    speed, spread = block_on_slope(math.inf, resolution, dim)
    held, _ = block_on_slope(0.0, resolution, dim)
    print(f"{dim}D: speed over g sin t {speed:.4f}, spread {spread:.4f}; sticking {held:.4f}")
    assert speed == pytest.approx(1.0, abs=0.01)
    assert spread < 0.03
    assert held < 0.05
