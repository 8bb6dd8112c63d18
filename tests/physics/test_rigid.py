"""Rigid bodies in the fast projection: as the assembled matrix has it, at rest when neutral, never gaining energy."""

import numpy as np
import pytest
from setups import PRESSURE

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import Grid
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.scene.bodies import Solid
from glug.scene.motions.free import FreeMotion
from glug.solvers.limits import SolveLimits

CELLS, DX, WATER = 24, 1.0 / 18.0, 1000.0  # the window reaches three cells beyond a box of 1 m


def ball(name: str, centre: tuple[float, float, float], radius: float) -> Solid:
    solid = Solid(name=name, shape={"kind": "sphere", "centre": centre, "radius": radius})
    where, zero = np.array(centre), np.zeros(3)
    return FreeMotion(np.eye(3), where, where, zero, zero).moved(solid)


def inertia(number: int, solid: Solid, density: float) -> Inertia:
    radius, centre = solid.shape.radius, np.array(solid.shape.centre)
    mass = density * 4 / 3 * np.pi * radius**3
    return Inertia(number, centre, density, mass, 0.4 * mass * radius**2 * np.eye(3))


def tank(densities: list[float], level: float = 2.0) -> PressureProblem:
    """A closed box of 1 m with liquid up to `level` [m] and one or two balls."""
    grid = Grid(DX, (CELLS, CELLS, CELLS), (-3, -3, -3))
    solids = [ball("a", (0.35, 0.4, 0.45), 0.2), ball("b", (0.72, 0.55, 0.6), 0.15)][: len(densities)]
    field = sample_solids(grid, Walls((0.0,) * 3, (1.0,) * 3), solids, 0.0)
    bodies = RigidBodies.build(
        grid, field, [inertia(n, s, d) for n, (s, d) in enumerate(zip(solids, densities))], WATER
    )
    y = grid.coordinates((0.5, 0.5, 0.5))[1].astype(np.float32)
    phi = np.broadcast_to((y - level)[None, :, None], grid.shape).astype(np.float32)
    return PressureProblem.build(grid, np.ascontiguousarray(phi), field, bodies)


def energy(problem: PressureProblem, velocity: tuple[np.ndarray, ...]) -> float:
    """Kinetic energy of the liquid in the norm of the projection, and of the bodies, over rho dx^3."""
    total = problem.bodies.energy()
    for u, link, area in zip(velocity, problem.system.links, problem.solid.area):
        wet = link > 0
        total += 0.5 * float((area[wet].astype(float) ** 2 / link[wet] * u[wet].astype(float) ** 2).sum())
    return total


def random_velocity(problem: PressureProblem, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    problem.bodies.velocity[:] = rng.normal(size=problem.bodies.velocity.shape)
    return tuple(rng.normal(size=a.shape).astype(np.float32) for a in problem.solid.area)


@pytest.mark.parametrize("level", [2.0, 0.55])
def test_as_the_assembled_matrix_has_it(level: float) -> None:
    problem = tank([700.0, 3000.0], level)
    results = []
    for solver in ("reference", "multigrid", "jacobi-cg"):
        velocity = random_velocity(problem)
        start = problem.bodies.velocity.copy()
        _, stats = problem.project(velocity, SolveLimits(1e-6, 500), solver=PRESSURE[solver])
        assert stats.converged
        assert np.abs(problem.bodies.velocity - start).max() > 0.1
        results.append((problem.bodies.velocity.copy(), np.concatenate([u.ravel() for u in velocity])))
    for v, u in results[1:]:
        np.testing.assert_allclose(v, results[0][0], atol=1e-4)
        np.testing.assert_allclose(u, results[0][1], atol=1e-3)


@pytest.mark.parametrize("density", [WATER, 1.1 * WATER])
def test_only_a_body_as_heavy_as_the_liquid_rests(density: float) -> None:
    problem = tank([density])
    fall = np.float32(-9.81 * 0.01)
    velocity = tuple(np.full(a.shape, fall if n == 1 else 0.0, np.float32) for n, a in enumerate(problem.solid.area))
    problem.bodies.velocity[0, 1] = fall
    problem.project(velocity, SolveLimits(1e-6, 200))
    speed = np.abs(problem.bodies.velocity).max()
    assert (speed < 1e-5 * abs(fall)) == (density == WATER)


@pytest.mark.parametrize("ratio", [0.01, 0.1, 1.0, 10.0])
def test_kinetic_energy_never_increases(ratio: float) -> None:
    for level in (2.0, 0.55):
        problem = tank([ratio * WATER, ratio * WATER], level)
        velocity = random_velocity(problem, 3)
        before = energy(problem, velocity)
        problem.project(velocity, SolveLimits(1e-6, 300))
        after = energy(problem, velocity)
        assert after < before
        problem.project(velocity, SolveLimits(1e-6, 300))
        assert energy(problem, velocity) == pytest.approx(after, rel=1e-5)


def test_mass_is_that_of_the_body() -> None:
    problem = tank([500.0])
    matrix = problem.bodies.M_v[0] * WATER * DX**3
    mass = 500.0 * 4 / 3 * np.pi * 0.2**3
    np.testing.assert_allclose(np.diag(matrix)[:3], mass, rtol=0.06)
    np.testing.assert_allclose(np.diag(matrix)[3:], 0.4 * mass * 0.2**2, rtol=0.1)


def test_an_axle_leaves_its_own_rotation_alone() -> None:
    problem = tank([500.0])
    bodies = problem.bodies
    free = np.zeros((6, 1))
    free[5] = 1.0
    only = RigidBodies(
        bodies.grid,
        [Inertia(b.number, b.centre, b.density, b.mass, b.inertia, free) for b in bodies.bodies],
        bodies.faces,
        bodies.beside,
        bodies.M_v,
        np.zeros((1, 6)),
        np.zeros(1),
        bodies.scripted,
    )
    problem = PressureProblem(problem.grid, problem.solid, problem.liquid, problem.components, problem.system, only)
    velocity = random_velocity(problem)
    only.velocity[:] = 0.0
    only.velocity[0, 5] = 2.0
    problem.project(velocity, SolveLimits(1e-6, 300))
    assert np.abs(only.velocity[0, :5]).max() < 1e-12
