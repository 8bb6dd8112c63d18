"""Walls that let go: pressures push and never pull, and the liquid leaves."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from setups import PRESSURE, HalfSpace

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.velocity import LiquidSurroundings
from glug.simulation.stages.geometry import freed_before
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.separation import Conditions, waves

N = 16
GRID = Grid(1.0 / N, (N + 8, N + 8, N + 8), (-4, -4, -4))
YES, NO = ((True, True),) * 3, ((False, False),) * 3
TOLERANCE = 1e-5


class Slope(HalfSpace):
    walls = "separating"


def container(separating: bool, kind: str = "cut") -> SolidField:
    walls = Walls((0.013, 0.0, 0.007), (0.97, 1.0, 0.981), separating=YES if separating else NO)
    slope = (Slope if separating else HalfSpace)((0.5, 0.21, 0.5), (-0.3, 1.0, 0.2))
    return sample_solids(GRID, walls, [slope] if kind == "cut" else [], 0.0)


def pool(full: bool = False) -> np.ndarray:
    x, y, _ = np.moveaxis(GRID.points(CENTRE), -1, 0)
    level = np.full_like(y, 3.0) if full else 0.6 + 0.1 * np.sin(7 * x)
    return np.clip(y - level, -4 * GRID.dx, 4 * GRID.dx).astype(np.float32)


def copy(velocity: Staggered) -> Staggered:
    return velocity[0].copy(), velocity[1].copy(), velocity[2].copy()


def projected(
    problem: PressureProblem, before: Staggered, solver: str, earlier: np.ndarray | None = None
) -> tuple[np.ndarray, Staggered, np.ndarray]:
    """q, the velocity, and the cells that were let go."""
    after, freed = copy(before), GRID.scalar(dtype=np.uint8)
    limits = SolveLimits(TOLERANCE, 2000)
    q, stats = problem.project(after, limits, earlier=earlier, freed=freed, solver=PRESSURE[solver])
    assert stats.converged
    return q, after, freed


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg", "reference"])
@pytest.mark.parametrize("seed", range(2))
def test_the_conditions_of_the_minimum_hold(seed, solver):
    problem = PressureProblem.build(GRID, pool(), container(True))
    before = waves(GRID, seed)
    q, after, freed = projected(problem, before, solver)
    c = Conditions.measure(problem, q, before, after)
    print(c, "freed", freed.sum())
    assert freed.sum() > 50
    assert c.least_pressure >= -TOLERANCE
    assert c.least_opening >= -TOLERANCE
    assert c.product <= TOLERANCE
    assert c.divergence <= TOLERANCE


def test_ordinary_walls_pull():
    """Negative control."""
    problem = PressureProblem.build(GRID, pool(), container(False))
    before = waves(GRID, 0)
    q, after, _ = projected(problem, before, "multigrid")
    problem = replace(problem, solid=container(True))
    assert Conditions.measure(problem, q, before, after).least_pressure < -0.1


def test_fast_equals_reference():
    before = waves(GRID, 3)
    answers = []
    for solver in ("multigrid", "reference"):
        problem = PressureProblem.build(GRID, pool(), container(True))
        answers.append(projected(problem, before, solver)[1:])
    for a, b in zip(answers[0][0], answers[1][0]):
        assert np.abs(a - b).max() < 1e-3
    assert (answers[0][1] != answers[1][1]).sum() <= 2  # a cell may open by less than the tolerance


@pytest.mark.parametrize("solver", ["multigrid", "reference"])
def test_a_full_closed_box_gives_the_same_answer(solver):
    before = waves(GRID, 1)
    answers = [
        projected(PressureProblem.build(GRID, pool(full=True), container(s)), before, solver) for s in (False, True)
    ]
    for a, b in zip(answers[0][1], answers[1][1]):
        assert np.abs(a - b).max() < 1e-5
    at = container(True).separating > 0
    problem = PressureProblem.build(GRID, pool(full=True), container(True))
    assert answers[1][0][at & (problem.liquid > 0)].min() == pytest.approx(0.0, abs=1e-6)


def test_energy_never_increases():
    problem = PressureProblem.build(GRID, pool(), container(True))
    before = waves(GRID, 2)
    after = projected(problem, before, "multigrid")[1]

    def energy(velocity):
        total = 0.0
        for u, area, link in zip(velocity, problem.solid.area, problem.system.links):
            wet = link > 0
            total += float((area[wet].astype(float) ** 2 / link[wet] * u[wet].astype(float) ** 2).sum())
        return total

    assert energy(after) < energy(before)


def test_rest_is_undisturbed():
    problem = PressureProblem.build(GRID, pool(), container(True))
    velocity = GRID.staggered()
    velocity[1][:] = -0.1
    ordinary = projected(PressureProblem.build(GRID, pool(), container(False)), velocity, "multigrid")[1]
    _, after, freed = projected(problem, velocity, "multigrid")
    assert freed.sum() == 0
    assert max(float(np.abs(a - b).max()) for a, b in zip(after, ordinary)) < 1e-5


def test_a_second_projection_may_take_back_what_the_first_pushed():
    """Both act in one step: their sum must not pull, one alone may."""
    problem = PressureProblem.build(GRID, pool(), container(True))
    down, up = GRID.staggered(), GRID.staggered()
    down[1][:], up[1][:] = -0.2, 0.1
    first, *_ = projected(problem, down, "multigrid")
    second, after, freed = projected(problem, up, "multigrid", first)
    at = (problem.liquid > 0) & (problem.solid.separating > 0)
    assert second[at].min() < -0.01
    assert (first + second)[at].min() >= -1e-6
    assert freed.sum() == 0
    ordinary = projected(PressureProblem.build(GRID, pool(), container(False)), up, "multigrid")[1]
    alone = projected(PressureProblem.build(GRID, pool(), container(True)), up, "multigrid")[1]
    assert max(float(np.abs(a - b).max()) for a, b in zip(after, ordinary)) < 1e-5
    inside = (slice(8, 16), 10, slice(8, 16))
    assert np.abs(alone[1][inside] - 0.1).max() < 1e-3  # alone, all of the liquid leaves the floor
    assert np.abs(ordinary[1][inside]).max() < 0.05


def test_freed_cells_keep_their_place_on_the_lattice_when_the_window_moves():
    cells = np.array([[-4, 0, 3], [5, 6, 7], [11, 3, 0]], np.int32)  # of the first window; the second has lost one
    for window, left in ((GRID, cells), (replace(GRID, lo=(4, -4, -4)), cells[1:])):
        freed = freed_before(window, cells)
        assert freed.shape == window.shape
        found = np.argwhere(freed) + window.lo
        assert np.array_equal(found, left)


@pytest.mark.parametrize("stick", [False, True], ids=["thin", "thick"])
def test_velocity_behind_cells_that_open_leads_away(stick):
    """A pool that is pulled up leaves its floor with the velocity that it has; ordinary walls keep it."""
    for separating, speed in ((True, 0.5), (False, 0.0)):
        problem = PressureProblem.build(GRID, pool(), container(separating, "box"))
        velocity = GRID.staggered()
        velocity[1][:] = 0.5
        _, after, freed = projected(problem, velocity, "multigrid")
        freed = freed if separating else None
        around = LiquidSurroundings(GRID, problem.solid, None, problem.liquid, GRID.staggered())
        around.extend(after, 3, stick=stick, freed=freed)
        floor = after[1][8:16, 4, 8:16]  # the faces on y = 0
        assert np.abs(floor - speed).max() < 1e-4
        into = GRID.staggered()
        into[1][:] = -0.5
        around.extend(into, 3, stick=stick, freed=freed)
        assert np.abs(into[1][8:16, 4, 8:16]).max() == 0.0  # what leads into a wall never does


@dataclass(frozen=True)
class Float:
    """A ball that lets go, half in the pool."""

    walls: str = "separating"
    moving: bool = True
    centre: tuple[float, float, float] = (0.5, 0.6, 0.45)

    def distance(self, points, t):
        return np.linalg.norm(points - np.array(self.centre), axis=-1) - 0.17

    def velocity(self, points, t):
        return np.zeros_like(points)

    def bounds(self, t):
        return np.array(self.centre) - 0.17, np.array(self.centre) + 0.17


def pool_with_body() -> PressureProblem:
    solid = sample_solids(GRID, Walls((0.0,) * 3, (1.0,) * 3, separating=YES), [Float()], 0.0)
    mass = 400.0 * 4 / 3 * np.pi * 0.17**3
    body = Inertia(0, np.array(Float().centre), 400.0, mass, 0.4 * mass * 0.17**2 * np.eye(3))
    return PressureProblem.build(GRID, pool(), solid, RigidBodies.build(GRID, solid, [body], 1000.0))


def test_a_body_moves_with_a_liquid_that_lets_go():
    """The conditions hold with the body's velocity among the unknowns, and the fast solve is the reference's."""
    found = []
    for solver in ("multigrid", "jacobi-cg", "reference"):
        problem, before = pool_with_body(), waves(GRID, 1)
        problem.bodies.velocity[0] = [0.4, -1.0, 0.2, 1.0, 0.0, 0.0]
        q, after, freed = projected(problem, before, solver)
        c = Conditions.measure(problem, q, before, after)
        assert freed.sum() > 50
        assert min(c.least_pressure, c.least_opening) >= -TOLERANCE
        assert max(c.product, c.divergence) <= TOLERANCE
        found.append(problem.bodies.velocity.copy())
    np.testing.assert_allclose(found[0], found[2], atol=1e-3)
    np.testing.assert_allclose(found[1], found[2], atol=1e-3)
    held = pool_with_body()
    held = replace(held, walls=None)
    held.bodies.velocity[0] = [0.4, -1.0, 0.2, 1.0, 0.0, 0.0]
    held.project(waves(GRID, 1), SolveLimits(TOLERANCE, 2000))
    assert np.abs(held.bodies.velocity - found[2]).max() > 0.05  # the control: where the liquid holds on
