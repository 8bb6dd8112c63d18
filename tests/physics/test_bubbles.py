"""Constraint bubbles of the fast path: equal to the reference, volumes kept, pistons that push through air."""

from dataclasses import replace

import numpy as np
import pytest
from setups import PRESSURE

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.reference.bubbles import ConstraintPressure
from glug.physics.reference.pressure import ghost_distance
from glug.solvers.limits import SolveLimits

N = 24
SIDES = (0.013, 0.0, 0.007), (0.97, 1.0, 0.981)
WIDE, DEEP = 10 / N, 11 / N  # of the tube [m]


def pool(open_top: bool, bubbles: bool = True) -> tuple[Grid, np.ndarray, PressureProblem]:
    """A pool with a large bubble that holds a drop, some small ones, and air above; the window holds all of it."""
    grid = Grid(1.0 / N, (N + 8,) * 3, (-4,) * 3)
    lower, upper = SIDES
    solid = sample_solids(grid, Walls(lower, (upper[0], np.inf if open_top else 1.0, upper[2])), [], 0.0)
    x = grid.points(CENTRE)
    phi = x[..., 1] - 0.8
    if bubbles:
        small = [(np.add((0.14, 0.13, 0.15), np.multiply((0.61, 0.5, 0.63), c)), 0.06) for c in np.ndindex(2, 2, 2)]
        for centre, radius in [((0.45, 0.4, 0.5), 0.2), *small]:
            phi = np.maximum(phi, radius - np.linalg.norm(x - centre, axis=-1))
        phi = np.minimum(phi, np.linalg.norm(x - (0.45, 0.4, 0.5), axis=-1) - 0.1)
    phi = np.clip(phi, -4 * grid.dx, 4 * grid.dx).astype(np.float32)
    return grid, phi, PressureProblem.build(grid, phi, solid)


def stirred(grid: Grid, seed: int = 0) -> Staggered:
    """Falling, and stirred at random."""
    rng = np.random.default_rng(seed)
    u, v, w = (0.05 * rng.normal(size=a.shape).astype(np.float32) for a in grid.staggered())
    return u, v - np.float32(0.4), w


def project(problem: PressureProblem, velocity: Staggered, solver: str, tolerance: float = 1e-5):
    u, v, w = (a.copy() for a in velocity)
    q, stats = problem.project((u, v, w), SolveLimits(tolerance, 2000), solver=PRESSURE[solver])
    assert stats.converged
    return (u, v, w), q, stats


def passing(problem: PressureProblem, velocity: Staggered) -> np.ndarray:
    """What passes the surface of every bubble, either way, over dx^2 [m/s]."""
    assert problem.bubbles is not None
    size = tuple(np.abs(u) for u in velocity)
    liquid, label = problem.liquid, problem.bubbles.regions.label
    total = np.zeros(len(problem.bubbles.regions))
    for a in range(3):
        flux = np.moveaxis(problem.solid.area[a] * size[a], a, 0)[1:-1]
        wet, air = np.moveaxis(liquid, a, 0), np.moveaxis(label, a, 0)
        for inside, outside in ((air[1:], wet[:-1]), (air[:-1], wet[1:])):
            here = (inside >= 0) & (outside > 0)
            total += np.bincount(inside[here], flux[here], len(total))
    return total[problem.bubbles.number]


@pytest.mark.parametrize("open_top", [True, False])
def test_every_bubble_keeps_its_volume(open_top: bool):
    grid, _, problem = pool(open_top)
    without, _, _ = project(problem, stirred(grid), "multigrid")
    problem = problem.with_closed_air()
    assert len(problem.bubbles) == (9 if open_top else 10)
    velocity, _, _ = project(problem, stirred(grid), "multigrid")
    through = passing(problem, velocity)
    assert (np.abs(problem.bubbles.outflow(velocity)) <= 1e-5 * through).all()
    lost = np.abs(problem.bubbles.outflow(without))
    assert (lost >= 1e-2 * passing(problem, without)).any()  # the control: without bubbles, volumes change


@pytest.mark.parametrize("open_top", [True, False])
def test_fast_equals_assembled(open_top: bool):
    grid, _, problem = pool(open_top)
    problem = problem.with_closed_air()
    fast, _, stats = project(problem, stirred(grid), "multigrid", 1e-6)
    exact, _, _ = project(problem, stirred(grid), "reference")
    apart = max(np.abs(a - b).max() for a, b in zip(fast, exact))
    assert apart <= 1e-4 * max(np.abs(b).max() for b in exact)
    _, _, diagonal = project(problem, stirred(grid), "jacobi-cg", 1e-6)
    assert stats.iterations <= 25 and diagonal.iterations > 4 * stats.iterations


def test_assembled_equals_the_reference_problem():
    grid, phi, problem = pool(True)
    problem = problem.with_closed_air()
    velocity = stirred(grid)
    ours, _, _ = project(problem, velocity, "reference")
    operators = Operators(grid)
    theta = np.clip(ghost_distance(operators, phi.ravel().astype(float)), 0.01, 1.0)
    area = np.concatenate([a.ravel() for a in problem.solid.area]).astype(float)
    number = np.full(len(problem.bubbles.regions) + 1, -1)
    number[problem.bubbles.number] = np.arange(len(problem.bubbles))
    wet = problem.liquid.ravel() > 0
    exact = ConstraintPressure(operators, area, wet, number[problem.bubbles.regions.label].ravel(), theta)
    u = exact.solve(np.concatenate([a.ravel() for a in velocity]).astype(float)).u
    beside = exact.moves
    flat = np.concatenate([a.ravel() for a in ours])
    assert np.abs(flat - u)[beside].max() <= 1e-4 * np.abs(u[beside]).max()


def test_without_closed_air_nothing_changes():
    grid, _, problem = pool(True, bubbles=False)
    free, q, _ = project(problem, stirred(grid), "multigrid")
    problem = problem.with_closed_air()
    assert len(problem.bubbles) == 0
    same, other, _ = project(problem, stirred(grid), "multigrid")
    assert all(np.array_equal(a, b) for a, b in zip(free, same))
    assert np.array_equal(q, other)


def test_bubbles_grow_as_asked():
    """By a displacement, for a liquid that has its own volume."""
    grid, _, problem = pool(True)
    problem = problem.with_closed_air()
    bubbles, full = problem.bubbles, np.ones(grid.shape, np.float32)
    growth = np.zeros(len(bubbles.regions))
    growth[bubbles.number] = 1e-3 * (1 + np.arange(len(bubbles)))  # m3/s
    w, stats = problem.displacement(VolumeCorrection(full, full, 0.1, 1.0), growth, SolveLimits(1e-5, 500))
    assert stats.converged
    np.testing.assert_allclose(bubbles.outflow(w) * grid.dx**2, growth[bubbles.number], rtol=1e-4)


class Piston:
    """A solid to the left of a plane that moves along x."""

    moving = True

    def __init__(self, speed: float):
        self.speed = speed

    def distance(self, points, t=0.0):
        return points[:, 0] - 0.217

    def velocity(self, points, t=0.0):
        return np.broadcast_to([self.speed, 0.0, 0.0], points.shape)

    def bounds(self, t=0.0):
        return np.array([-1.0, -1.0, -1.0]), np.array([0.217, 2.0, 2.0])


@pytest.mark.parametrize("solver, tolerance", [("multigrid", 1e-6), ("reference", 0.0)])
@pytest.mark.parametrize("speed", [0.3, -0.3])
def test_a_piston_moves_liquid_through_air(speed: float, solver: str, tolerance: float):
    """Piston, air, a slug of liquid, air, another slug, open end: the same flux passes everywhere."""
    grid = Grid(1.0 / N, (N + 8, N // 2 + 8, N // 2 + 8), (-4,) * 3)
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (np.inf, WIDE, DEEP)), [Piston(speed)], 0.0)
    x = grid.points(CENTRE)
    phi = np.minimum(np.abs(x[..., 0] - 0.5) - 0.11, np.abs(x[..., 0] - 0.83) - 0.09)
    problem = PressureProblem.build(grid, phi.astype(np.float32), solid)
    driven = speed * WIDE * DEEP

    def flux(x: float) -> float:
        i = round((x - grid.corner[0]) / grid.dx)
        return float((velocity[0][i].astype(float) * solid.area[0][i]).sum()) * grid.dx**2

    velocity = grid.staggered()
    problem = problem.with_closed_air()
    problem.project(velocity, SolveLimits(tolerance, 500), solver=PRESSURE[solver])
    assert [flux(x) for x in (0.5, 0.83)] == pytest.approx([driven] * 2, rel=1e-6)
    problem = replace(problem, bubbles=None)
    velocity = grid.staggered()
    problem.project(velocity, SolveLimits(1e-6, 500), solver=PRESSURE[solver])
    assert abs(flux(0.5)) < 1e-6 * abs(driven)  # the control: in a vacuum nothing reaches the liquid
