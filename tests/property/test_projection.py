"""Projections of any liquid in any container: energy never grows, divergence vanishes, threads do not matter."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glug import jit
from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.jit import threads
from glug.physics.pressure.problem import PressureProblem
from glug.solvers.limits import SolveLimits

GRID = Grid(1.0 / 12, (16, 16, 16), (-2, -2, -2))
TOLERANCE = 1e-6
FEW = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


class Slope:
    """A solid below a plane."""

    moving = False

    def __init__(self, height: float, tilt: tuple[float, float]):
        self.normal = np.array([tilt[0], 1.0, tilt[1]]) / np.hypot(1.0, np.hypot(*tilt))
        self.offset = float(self.normal @ (0.5, height, 0.5))

    def distance(self, points, t=0.0):
        return points @ self.normal - self.offset

    def velocity(self, points, t=0.0):
        return np.zeros_like(points)

    def bounds(self, t=0.0):
        return np.full(3, -np.inf), np.full(3, np.inf)


def number(low: float, high: float):
    return st.floats(low, high, allow_nan=False)


tilts = st.tuples(number(-0.6, 0.6), number(-0.6, 0.6))
slopes = st.builds(Slope, number(0.0, 0.3), tilts)
walls = st.tuples(*[number(0.0, 0.09)] * 6).map(lambda w: Walls(tuple(w[:3]), tuple(1.0 - x for x in w[3:])))
containers = st.builds(lambda w, s: sample_solids(GRID, w, [s], 0.0), walls, slopes)
balls = st.tuples(number(0.1, 0.9), number(0.1, 0.9), number(0.1, 0.9), number(0.1, 0.35))


@st.composite
def liquids(draw) -> np.ndarray:
    """The distance of some balls, and sometimes of a pool below a level."""
    points = GRID.points(CENTRE)
    parts = [np.linalg.norm(points - b[:3], axis=-1) - b[3] for b in draw(st.lists(balls, min_size=1, max_size=4))]
    if draw(st.booleans()):
        parts.append(points[..., 1] - draw(number(0.3, 1.2)))  # above 1 the container is full
    return np.clip(np.minimum.reduce(parts), -3 * GRID.dx, 3 * GRID.dx).astype(np.float32)


seeds = st.integers(0, 2**32 - 1)


def random_velocity(seed: int) -> Staggered:
    rng = np.random.default_rng(seed)
    u, v, w = (rng.normal(size=f.shape).astype(np.float32) for f in GRID.staggered())
    return u, v, w


def energy(problem: PressureProblem, velocity: Staggered) -> float:
    """u' M u with M = area theta, the mass for which the projection is orthogonal; link = area / theta."""
    total = 0.0
    for u, link, area in zip(velocity, problem.system.links, problem.solid.area):
        wet = link > 0
        mass = area[wet].astype(np.float64) ** 2 / link[wet]
        total += float((mass * u[wet].astype(np.float64) ** 2).sum())
    return total


def projected(phi: np.ndarray, solid: SolidField, seed: int) -> tuple[PressureProblem, Staggered, Staggered]:
    """The problem, and a random velocity before and after."""
    problem = PressureProblem.build(GRID, phi, solid)
    before = random_velocity(seed)
    after = (before[0].copy(), before[1].copy(), before[2].copy())
    _, stats = problem.project(after, SolveLimits(TOLERANCE, 3000))
    assert stats.converged
    return problem, before, after


@FEW
@given(liquids(), containers, seeds)
def test_energy_never_increases(phi, solid, seed):
    problem, before, after = projected(phi, solid, seed)
    assert energy(problem, after) <= energy(problem, before) * (1 + 1e-6)


@FEW
@given(liquids(), containers, seeds)
def test_the_divergence_vanishes(phi, solid, seed):
    problem, before, after = projected(phi, solid, seed)
    size = np.abs(problem.right_hand_side(before)).max()
    # The velocity is rounded to float32 after the solve: each of six faces by 6e-8 of its size.
    rounding = 6 * 6e-8 * max(float(np.abs(u).max()) for u in after)
    assert np.abs(problem.right_hand_side(after)).max() <= 2 * TOLERANCE * size + 2 * rounding


@FEW
@given(liquids(), containers, seeds)
def test_a_second_projection_changes_nothing(phi, solid, seed):
    problem, _, once = projected(phi, solid, seed)
    twice = tuple(u.copy() for u in once)
    problem.project(twice, SolveLimits(TOLERANCE, 3000, 1.0))
    speed = max(float(np.abs(u).max()) for u in once)
    assert max(float(np.abs(a - b).max()) for a, b in zip(once, twice)) <= 1e-3 * speed


@FEW
@given(liquids(), containers, seeds)
def test_the_result_does_not_depend_on_the_number_of_threads(phi, solid, seed):
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "SMALL", 0)  # or such small solves take one thread always
        for count in (1, 2):
            with threads(count):
                answers.append(projected(phi, solid, seed)[2])
    for a, b in zip(*answers):
        assert np.array_equal(a, b)
