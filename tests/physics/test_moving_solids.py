"""Moving solids push exactly what they displace, carry a liquid along, and never have a particle inside."""

import numpy as np
import pytest
from setups import NO_WALLS

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.pressure.problem import PressureProblem
from glug.physics.viscosity.problem import ViscosityProblem
from glug.simulation import Simulation
from glug.solvers.limits import SolveLimits

N = 16
GRID = Grid(1.0 / N, (N + 8, N + 8, N + 8), (-4, -4, -4))
SPEED = 0.7


class Piston:
    """All that is left of x = face, moving right."""

    def __init__(self, face: float, speed: float = SPEED):
        self.face, self.moving, self.speed = face, True, speed

    def distance(self, points, t=0.0):
        return points[:, 0] - self.face

    def velocity(self, points, t=0.0):
        return np.tile([self.speed, 0.0, 0.0], (len(points), 1))

    def bounds(self, t=0.0):
        return np.full(3, -np.inf), np.array([self.face, np.inf, np.inf])


def pushed(face: float, walls: Walls, speed: float = SPEED) -> tuple[PressureProblem, Staggered]:
    """Liquid at rest in a tank with a free surface, projected while a piston pushes from the left."""
    solid = sample_solids(GRID, walls, [Piston(face, speed)], 0.0)
    phi = (GRID.points(CENTRE)[..., 1] - 0.7137).astype(np.float32)
    problem = PressureProblem.build(GRID, np.clip(phi, -3 * GRID.dx, 3 * GRID.dx), solid)
    velocity = GRID.staggered()
    _, stats = problem.project(velocity, SolveLimits(1e-7, 3000))
    assert stats.converged
    return problem, velocity


def flux_up(problem: PressureProblem, velocity: Staggered, row: int) -> float:
    """Liquid that rises through the plane between two rows of cells [m3/s]."""
    return float((problem.solid.area[1] * velocity[1])[:, row].sum(dtype=np.float64)) * GRID.dx**2


ALIGNED = Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
CUT = Walls((0.0, 0.0213, 0.0271), (0.981, 1.0, 0.969))
FACES = pytest.mark.parametrize("face", [0.25, 0.2501, 0.27, 0.2817, 0.311])


@FACES
def test_the_liquid_rises_as_fast_as_the_piston_displaces_it(face):
    problem, velocity = pushed(face, ALIGNED)
    # The plane between lattice rows 7 and 8 is at y = 0.5, well below the surface; the tank is 1 deep.
    assert flux_up(problem, velocity, 12) == pytest.approx(SPEED * 0.5 * 1.0, rel=1e-4)


@FACES
def test_the_same_between_walls_that_cut_cells(face):
    problem, velocity = pushed(face, CUT)
    area = (0.5 - 0.0213) * (0.969 - 0.0271)
    # A face has one velocity: one that wall and piston share counts as the wall's when its centre is behind it.
    assert flux_up(problem, velocity, 12) == pytest.approx(SPEED * area, rel=0.01)


def test_a_piston_that_stands_still_displaces_nothing():
    """Negative control."""
    problem, velocity = pushed(0.27, ALIGNED, speed=0.0)
    assert flux_up(problem, velocity, 12) == 0.0


@FACES
def test_the_divergence_with_the_solid_in_it_vanishes(face):
    problem, velocity = pushed(face, CUT)
    assert np.abs(problem.right_hand_side(velocity)).max() < 1e-5 * SPEED


@pytest.mark.parametrize("speed", [SPEED, 0.0])
def test_what_a_piston_cannot_displace_in_a_full_box_is_reported(speed):
    solid = sample_solids(GRID, ALIGNED, [Piston(0.25, speed)], 0.0)
    problem = PressureProblem.build(GRID, np.full(GRID.shape, np.float32(-1.0)), solid)
    _, stats = problem.project(GRID.staggered(), SolveLimits(1e-6, 100))
    assert stats.converged
    unmet = stats.imbalance * np.abs(problem.right_hand_side(GRID.staggered())).max()
    assert unmet == pytest.approx(speed / (0.75 * N), rel=1e-4)  # of every cell: the flux is shared along x


# -- viscosity --------------------------------------------------------------------------------------------

DRIFT = np.array([0.3, -0.2, 0.5])


class Tub:
    """A tilted box open at the top, liquid inside, drifting as a whole."""

    moving = True

    def __init__(self, speed=DRIFT):
        c, s = np.cos(0.3), np.sin(0.3)
        self.turn, self.speed = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), np.asarray(speed)

    def distance(self, points, t=0.0):
        x, y, z = ((points - 0.5) @ self.turn).T
        return np.minimum.reduce([0.341 - np.abs(x), y + 0.337, 0.329 - np.abs(z)])

    def velocity(self, points, t=0.0):
        return np.tile(self.speed, (len(points), 1))

    def bounds(self, t=0.0):
        return np.full(3, -np.inf), np.full(3, np.inf)


def after_a_viscous_step(tub: Tub) -> float:
    """Largest change of a uniform drift of the liquid in the tub, relative to its speed; mu dt / (rho dx^2) = 50."""
    solid: SolidField = sample_solids(GRID, NO_WALLS, [tub], 0.0)
    phi = np.clip(GRID.points(CENTRE)[..., 1] - 0.557, -3 * GRID.dx, 3 * GRID.dx).astype(np.float32)
    problem = ViscosityProblem.build(GRID, phi, solid, 50.0)
    velocity = GRID.staggered()
    for a, u in enumerate(velocity):
        u[:] = DRIFT[a]
    stats = problem.solve(velocity, SolveLimits(1e-5, 3000))
    assert stats.converged
    wet = [m > 0.01 for m in problem.mass]
    assert sum(int(w.sum()) for w in wet) > 1000
    return max(float(np.abs(u - v)[w].max()) for u, v, w in zip(velocity, DRIFT, wet)) / float(np.linalg.norm(DRIFT))


def test_viscosity_keeps_a_liquid_that_drifts_with_its_container():
    assert after_a_viscous_step(Tub()) < 1e-5


def test_viscosity_stops_a_liquid_in_a_container_at_rest():
    """Negative control: no slip holds it."""
    assert after_a_viscous_step(Tub(speed=(0.0, 0.0, 0.0))) > 0.5


# -- particles --------------------------------------------------------------------------------------------

PADDLE = {
    "name": "paddle",
    "shape": {"kind": "box", "lower": [0.15, 0.05, 0.46], "upper": [0.85, 0.5, 0.54]},
    "motion": {"kind": "rotation", "axis": [0, 1, 0], "point": [0.5, 0.0, 0.5], "rate": 6.0},
}
POST = {"name": "post", "shape": {"kind": "sphere", "centre": [0.1, 0.2, 0.1], "radius": 0.13}}
STIRRED = {
    "domain": {"size": [1.0, 0.75, 1.0], "resolution": 16},
    "volumes": [{"liquid": "liquid", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.35, 1]}}],
    "solids": [PADDLE, POST],
}


@pytest.mark.parametrize("viscosity", [0.0, 20.0], ids=["water", "honey"])
def test_no_particle_is_ever_inside_a_solid_or_outside_the_domain(viscosity):
    simulation = Simulation(STIRRED | {"liquids": {"liquid": {"density": 1000.0, "viscosity": viscosity}}})
    state, setting = simulation.state, simulation.setting
    fastest = 0.0
    while state.frame < 10:
        simulation.step_once()
        position = state.particles.position.astype(np.float64)
        for solid in setting.solids:
            assert solid.distance(position, state.time).min() >= 0.0, f"{solid.name} at {state.time:.4f} s"
        assert (position >= setting.scene.domain.lower).all()
        assert (position <= setting.scene.domain.upper).all()
        fastest = max(fastest, float(np.abs(state.particles.velocity).max()))
    assert fastest > 0.5  # the paddle does stir
    assert len(position) > 10000


def test_the_paddle_passes_through_where_the_liquid_was():
    """Negative control: without the paddle particles are in the places that it takes."""
    liquids = {"liquids": {"liquid": {"density": 1000.0, "viscosity": 0.0}}}
    simulation = Simulation(STIRRED | liquids | {"solids": []})
    paddle = Simulation(STIRRED | liquids).setting.solids[0]
    position = simulation.state.particles.position.astype(np.float64)
    assert (paddle.distance(position, 0.2) < 0).sum() > 100
