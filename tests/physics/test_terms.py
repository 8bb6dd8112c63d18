"""Terms compose: bodies and bubbles in one projection, slip on bodies, densities and viscosity; momentum is kept."""

import numpy as np
import pytest
from setups import NO_WALLS, PRESSURE, rotation
from test_rigid import ball as rigid_ball
from test_rigid import inertia

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid, Staggered
from glug.physics.affine.projection import Depths, TiledRegions
from glug.physics.air.two_phase import two_phase_problem
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.scenes import AssembledRegions, reference_viscosity
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.tree import adapt
from glug.physics.viscosity.problem import ViscosityProblem
from glug.scene.bodies import Solid
from glug.solvers.limits import SolveLimits

N, LIQUID = 28, 1000.0
GRID = Grid(1.0 / N, (N + 4,) * 3, (-2,) * 3)
TIGHT = SolveLimits(1e-7, 2000)


def honey(bubble: bool = True) -> np.ndarray:
    """The distance of a ball of liquid with a bubble in it."""
    x = GRID.points(CENTRE)
    phi = np.linalg.norm(x - (0.5, 0.5, 0.5), axis=-1) - 0.42
    if bubble:
        phi = np.maximum(phi, 0.13 - np.linalg.norm(x - (0.62, 0.55, 0.47), axis=-1))
    return phi.astype(np.float32)


def floating(density: float = 3000.0, walls: Walls = NO_WALLS, slip: float = 0.0):
    """A small rigid ball beside the bubble, which touches it, and the solids on the grid."""
    solid = rigid_ball("a", (0.42, 0.46, 0.52), 0.12)
    if slip:
        solid = solid.model_copy(update={"slip_length": slip})
    field = sample_solids(GRID, walls, [solid], 0.0)
    return field, RigidBodies.build(GRID, field, [inertia(0, solid, density)], LIQUID)


def stirred(seed: int = 0) -> Staggered:
    rng = np.random.default_rng(seed)
    u, v, w = (0.1 * rng.normal(size=a.shape).astype(np.float32) for a in GRID.staggered())
    return u + np.float32(0.3), v - np.float32(0.4), w


def momentum(problem: PressureProblem, velocity: Staggered) -> np.ndarray:
    """Of the faces in the norm of the projection and of the bodies, over rho dx^3."""
    total = np.zeros(3)
    for a, (u, link, area) in enumerate(zip(velocity, problem.links, problem.solid.area)):
        wet = link > 0
        total[a] = float((area[wet].astype(float) ** 2 / link[wet] * u[wet]).sum())
    return total + np.einsum("nij,nj->i", problem.bodies.M_v[:, :3], problem.bodies.velocity)


def in_a_ball(air: str, density: float = 3000.0) -> PressureProblem:
    field, bodies = floating(density)
    bodies.velocity[0] = [0.1, 0.8, -0.2, 1.0, 0.0, 2.0]
    if air == "two-phase":
        return two_phase_problem(GRID, honey(), field, 1e-5, bodies)
    problem = PressureProblem.build(GRID, honey(), field, bodies)
    return problem.with_closed_air() if air == "constraint" else problem


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg", "reference"])
def test_a_body_and_a_bubble_in_a_free_ball_of_honey_keep_the_momentum_of_all(solver):
    """No wall takes any of it: what pressure gives the liquid, it takes from the body, through the bubble too."""
    problem, velocity = in_a_ball("constraint"), stirred()
    before = momentum(problem, velocity)
    _, stats = problem.project(velocity, TIGHT, solver=PRESSURE[solver])
    assert stats.converged
    assert np.abs(problem.eliminated.crossings[0, 1]).max() > 1.0  # the bubble touches the body
    assert np.abs(momentum(problem, velocity) - before).max() < 1e-5 * np.linalg.norm(before)
    assert np.abs(problem.bubbles.outflow(velocity)).max() < 1e-4  # of a velocity of 0.5 through 500 faces


def test_without_the_air_pushing_the_body_momentum_is_lost(monkeypatch):
    """The control: bubbles and bodies eliminated side by side, as if they did not meet."""
    problem, velocity = in_a_ball("constraint"), stirred()
    before = momentum(problem, velocity)
    monkeypatch.setattr(problem.bubbles, "crossing", lambda other: None)
    problem.project(velocity, TIGHT)
    assert np.abs(momentum(problem, velocity) - before).max() > 1e-4 * np.linalg.norm(before)


def test_a_bubble_moves_a_body_as_very_light_air_does():
    """An independent answer: a pressure in every cell of air that weighs next to nothing."""
    found = {}
    for air in ("constraint", "two-phase", "vacuum"):
        problem, velocity = in_a_ball(air), stirred()
        assert problem.project(velocity, SolveLimits(1e-6, 4000))[1].converged
        found[air] = problem.bodies.velocity[0]
    apart = np.abs(found["constraint"] - found["two-phase"]).max()
    assert apart < 0.02
    assert np.abs(found["vacuum"] - found["two-phase"]).max() > 3 * apart  # the control


@pytest.mark.parametrize("air", ["vacuum", "constraint", "two-phase"])
def test_a_body_as_heavy_as_the_liquid_falls_with_it(air):
    """In free fall nothing presses on anything; and a heavier one does not either."""
    problem = in_a_ball(air, density=LIQUID)
    problem.bodies.velocity[0] = [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    velocity = GRID.staggered()
    velocity[1][:] = -1.0
    q, _ = problem.project(velocity, TIGHT)
    assert np.abs(problem.bodies.velocity[0] - [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]).max() < 1e-5
    assert np.abs(q).max() < 1e-4


def test_bodies_go_with_affine_regions():
    """Tiles around a body: fast as assembled, and the body moves almost as without tiles."""
    walls = Walls((0.0,) * 3, (1.0, np.inf, 1.0))
    found = {}
    y = GRID.points(CENTRE)[..., 1]
    for kind in ("none", "tiles", "assembled"):
        field, bodies = floating(3000.0, walls)
        bodies.velocity[0] = [0.1, -0.8, -0.2, 1.0, 0.0, 2.0]
        problem = PressureProblem.build(GRID, (y - 0.9).astype(np.float32), field, bodies)
        depths = [Depths(problem.liquid > 0, 2, 6)]
        if kind != "none":
            problem = problem.with_affine_regions(depths, *([AssembledRegions] if kind == "assembled" else []))
            assert problem.regions.regions.count > 5
        velocity = stirred()
        solver = PRESSURE["reference" if kind == "assembled" else "multigrid"]
        assert problem.project(velocity, TIGHT, solver=solver)[1].converged
        found[kind] = problem.bodies.velocity[0]
    np.testing.assert_allclose(found["tiles"], found["assembled"], atol=1e-4)
    assert np.abs(found["tiles"] - found["none"]).max() < 0.1 * np.abs(found["none"]).max()


@pytest.mark.parametrize("dim", [2, 3])
def test_bubbles_go_with_affine_regions(dim):
    """Resting liquid with tiles under closed air stays at rest, by the fast and by the assembled regions."""
    grid = GRID if dim == 3 else Grid(1.0 / N, (N + 4, N + 4, 1), (-2, -2, 0), dim=2)
    far = (np.inf,) if dim == 2 else (1.0,)
    solid = sample_solids(grid, Walls((0.0, 0.0, -far[0] if dim == 2 else 0.0), (1.0, 1.0, *far)), [], 0.0)
    phi = (grid.points(CENTRE)[..., 1] - 0.8).astype(np.float32)
    for make, solver in [(AssembledRegions, "reference")] + ([(TiledRegions, "multigrid")] if dim == 3 else []):
        problem = PressureProblem.build(grid, phi, solid).with_closed_air()
        problem = problem.with_affine_regions([Depths(problem.liquid > 0, 2, 6)], make)
        assert len(problem.bubbles) == 1 and problem.regions.regions.count > 1
        velocity = grid.staggered()
        velocity[1][:] = -1.0
        problem.project(velocity, TIGHT, solver=PRESSURE[solver])
        for a in grid.axes:
            open_ = solid.area[a] > 0
            assert np.abs(velocity[a][open_ & (problem.links[a] > 0)]).max() < 1e-4


@pytest.mark.parametrize("solver", ["multigrid", "reference"])
def test_pools_that_closed_air_joins_have_one_pressure_level(solver):
    """Two pools, separating walls, one bubble: lifting pressures to what walls allow lifts all of them together."""
    walls = Walls((0.0,) * 3, (1.0,) * 3, separating=((True, True),) * 3)
    ridge = Solid(name="ridge", shape={"kind": "box", "lower": [0.45, 0.0, 0.0], "upper": [0.55, 0.6, 1.0]})
    solid = sample_solids(GRID, walls, [ridge], 0.0)
    x = GRID.points(CENTRE)
    phi = (x[..., 1] - np.where(x[..., 0] < 0.5, 0.5, 0.3)).astype(np.float32)
    problem = PressureProblem.build(GRID, phi, solid).with_closed_air()
    assert len(problem.components.cells) == 2
    velocity = stirred()
    problem.project(velocity, TIGHT, solver=PRESSURE[solver])
    assert np.abs(problem.divergence(velocity)).max() < 1e-4


# -- viscosity ---------------------------------------------------------------------------------------------


def spinning(slip: float) -> tuple[ViscosityProblem, RigidBodies]:
    field, bodies = floating(3000.0, slip=slip)
    bodies.velocity[0] = [0.0, 0.0, 0.0, 0.0, 5.0, 0.0]
    return ViscosityProblem.build(GRID, honey(bubble=False), field, 20.0, bodies), bodies


def angular_momentum(problem: ViscosityProblem, velocity: Staggered) -> float:
    """About y through the body's centre, of faces and body, over rho dx^3."""
    centre = problem.bodies.bodies[0].centre
    turn = rotation(GRID, (0.0, 1.0, 0.0), centre)
    liquid = sum(float((m.astype(float) * u * t).sum()) for m, u, t in zip(problem.mass, velocity, turn))
    return liquid + float((problem.bodies.M_v[0] @ problem.bodies.velocity[0])[4])


@pytest.mark.parametrize("solver", ["multigrid", "reference", "octree"])
@pytest.mark.parametrize("slip", [0.0, 0.2, 1e9])
def test_a_spinning_body_hands_on_what_its_slip_length_lets_it(slip, solver):
    problem, bodies = spinning(slip)
    velocity = GRID.staggered()
    before = angular_momentum(problem, velocity)
    if solver == "reference":
        reference_viscosity(problem, velocity)
    elif solver == "octree":
        assert OctreeViscosity(adapt(problem), 20.0).solve(velocity, TIGHT).converged
    else:
        assert problem.solve(velocity, TIGHT).converged
    spin = bodies.velocity[0, 4]
    # Coarse faces of a tree average what they are given: the liquid's part is as exact as that.
    assert angular_momentum(problem, velocity) == pytest.approx(before, rel=1e-2 if solver == "octree" else 3e-3)
    # Of 5 rad/s. Without friction it keeps all of it but for the corners of a ball of three cells.
    expected = {0.0: (0.0, 1.0), 0.2: (2.0, 4.2), 1e9: (4.4, 5.0)}[slip]
    assert expected[0] < spin < expected[1]


@pytest.mark.parametrize("solver", ["multigrid", "reference", "octree"])
def test_two_liquids_of_one_thick_ball_end_with_the_velocity_of_their_momentum(solver):
    """The halves of a very thick ball, 1.4 times as heavy above as below, are driven against each other."""
    phi = honey(bubble=False)
    density = GRID.staggered()
    velocity = GRID.staggered()
    for a in range(3):
        upper = GRID.points(FACES[a])[..., 1] > 0.5
        density[a][:] = np.where(upper, 1.4, 1.0)
        if a == 0:
            velocity[a][:] = np.where(upper, 1.0, -1.0)
    solid = sample_solids(GRID, NO_WALLS, [], 0.0)
    problem = ViscosityProblem.build(GRID, phi, solid, 1e4, density=density)
    plain = ViscosityProblem.build(GRID, phi, solid, 1e4)
    total = sum(float(m.sum(dtype=float)) for m in problem.mass) / 3
    expected = float((problem.mass[0].astype(float) * velocity[0]).sum()) / float(problem.mass[0].sum(dtype=float))
    found = {}
    for name, each in (("densities", problem), ("one density", plain)):
        after = tuple(u.copy() for u in velocity)
        if solver == "reference":
            reference_viscosity(each, after)
        elif solver == "octree":
            assert OctreeViscosity(adapt(each), 1e4).solve(after, TIGHT).converged
        else:
            assert each.solve(after, TIGHT).converged
        mass = problem.mass[0].astype(float)
        found[name] = float((mass * after[0]).sum() / mass.sum())
    assert total > 1000
    assert found["densities"] == pytest.approx(expected, abs=2e-3)
    assert abs(found["one density"] - expected) > 0.02  # the control: a viscous solve that weighs all alike


def test_the_solid_of_a_step_is_not_written():
    """What solves change is the bodies' velocity; the sampled solids stay as they are."""
    field, bodies = floating()
    kept = [u.copy() for u in field.velocity]
    bodies.velocity[0] = [0.1, 0.8, -0.2, 1.0, 0.0, 2.0]
    PressureProblem.build(GRID, honey(), field, bodies).project(stirred(), TIGHT)
    ViscosityProblem.build(GRID, honey(), field, 20.0, bodies).solve(stirred(), TIGHT)
    assert all(np.array_equal(a, b) for a, b in zip(kept, field.velocity))
