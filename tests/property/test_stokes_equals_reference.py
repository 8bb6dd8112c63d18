"""On any domain, with viscosities that jump, walls that move and bodies, the Stokes step is the assembled one."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_projection import GRID, containers, liquids, number, random_velocity, seeds

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import Grid, copied, mapped
from glug.physics.reference.stokes import reference_stokes
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.solvers.limits import SolveLimits

FEW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
CLOSE = 1e-5  # of the largest velocity
TANK = Grid(0.1, (14, 14, 14), (-2, -2, -2))
BOX = Walls((0.03, 0.0, 0.01), (0.97, 1.0, 0.98))
SOLVED = 1e-9  # closed liquid that walls push has an error of 2e-5 at a residual of 4e-8


class Ball:
    """A rigid ball."""

    moving = True

    def __init__(self, centre: np.ndarray, radius: float):
        self.centre, self.radius = centre, radius

    def distance(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        return np.linalg.norm(points - self.centre, axis=-1) - self.radius

    def velocity(self, points: np.ndarray, t: float = 0.0) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        return self.centre - self.radius, self.centre + self.radius


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
    problem = StokesProblem.build(ViscousFluid(GRID, phi, solid, diffusion))
    fast = random_velocity(seed)
    exact = copied(fast)
    _, stats = problem.solve(fast, SolveLimits(SOLVED, 2000))
    reference_stokes(problem, exact)
    assert stats.converged
    size = max(float(np.abs(u[m > 0]).max(initial=0.0)) for u, m in zip(exact, problem.level.mask))
    assert max(float(np.abs(u - v).max()) for u, v in zip(fast, exact)) <= CLOSE * max(size, 1.0)


@FEW
@given(
    seeds, number(-1.0, 4.0), number(0.05, 8.0), number(0.12, 0.25), number(0.3, 0.7), number(0.45, 1.5), st.booleans()
)
def test_velocities_of_bodies(
    seed: int, power: float, ratio: float, radius: float, height: float, surface: float, walls: bool
):
    """A ball anywhere in a box or in free liquid, from wholly under the surface to floating on it."""
    rng = np.random.default_rng(seed)
    centre = np.array([0.5, height, 0.5]) + 0.05 * rng.normal(size=3)
    around = BOX if walls else Walls((-np.inf,) * 3, (np.inf,) * 3)
    solid = Ball(centre, radius)
    field = sample_solids(TANK, around, [solid], 0.0)
    mass = 4.0 / 3.0 * np.pi * radius**3 * ratio
    found = []
    for solve in (reference_stokes, lambda p, u: p.solve(u, SolveLimits(SOLVED, 2000))):
        bodies = RigidBodies.build(
            TANK, field, [Inertia(0, centre, ratio, mass, 0.4 * mass * radius**2 * np.eye(3))], 1.0
        )
        x = TANK.points((0.5, 0.5, 0.5))
        phi = np.maximum(x[..., 1] - surface, np.abs(x - 0.5).max(axis=-1) - 0.45).astype(np.float32)
        problem = StokesProblem.build(ViscousFluid(TANK, phi, field, 10.0**power, bodies=bodies))
        rng = np.random.default_rng(seed)
        bodies.velocity[:] = rng.normal(size=bodies.velocity.shape)
        velocity = mapped(lambda u, rng=rng: rng.normal(size=u.shape).astype(np.float32), TANK.staggered())
        _, stats = solve(problem, velocity)
        assert stats.converged
        found.append((bodies.velocity.copy(), velocity))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=CLOSE)
    assert max(float(np.abs(u - v).max()) for u, v in zip(found[0][1], found[1][1])) <= CLOSE
