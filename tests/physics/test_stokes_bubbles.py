"""Constraint bubbles in a Stokes solve: as the assembled matrix has it, no net flux, with bodies, and in a scene."""

import numpy as np
import pytest
from test_rigid import ball as rigid_ball
from test_rigid import inertia

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid, Staggered, mapped
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.stokes import reference_stokes
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.simulation import Simulation
from glug.solvers.limits import SolveLimits
from glug.studies.validate.air.honey_bubble import FACTOR, free_speed, rise

N = 16
GRID = Grid(1.0 / N, (N + 6,) * 3, (-3,) * 3)
TIGHT = SolveLimits(1e-8, 600)


def tank(diffusion: float, *, top: float = np.inf, surface: float = 0.803, body: bool = False):
    """Two bubbles under a surface, in a box closed at `top`; a ball that touches one of them."""
    solids = [rigid_ball("a", (0.42, 0.46, 0.52), 0.15)] if body else []
    field = sample_solids(GRID, Walls((0.013, 0.0, 0.007), (0.97, top, 0.981)), solids, 0.0)
    bodies = RigidBodies.build(GRID, field, [inertia(0, solids[0], 3000.0)], 1000.0) if body else None
    x = GRID.points(CENTRE)
    holes = [r - np.linalg.norm(x - c, axis=-1) for c, r in (((0.6, 0.5, 0.47), 0.17), ((0.2, 0.2, 0.7), 0.11))]
    phi = np.maximum.reduce([x[..., 1] - surface, *holes]).astype(np.float32)
    air = PressureProblem.build(GRID, phi, field, bodies).with_closed_air().bubbles
    return StokesProblem.build(ViscousFluid(GRID, phi, field, diffusion, bodies=bodies)).with_bubbles(air), air


def stirred(problem: StokesProblem) -> Staggered:
    rng = np.random.default_rng(0)
    if problem.viscous.bodies is not None:
        problem.viscous.bodies.velocity[:] = rng.normal(size=problem.viscous.bodies.velocity.shape)
    return mapped(lambda u: rng.normal(size=u.shape).astype(np.float32), GRID.staggered())


@pytest.mark.parametrize("diffusion", [0.1, 1000.0])
@pytest.mark.parametrize(("top", "surface", "body"), [(np.inf, 0.803, False), (1.0, 0.803, True), (1.0, 3.0, True)])
def test_as_the_assembled_matrix_has_it_and_no_volume_is_lost(diffusion: float, top: float, surface: float, body: bool):
    found = []
    for solve in (reference_stokes, lambda p, u: p.solve(u, TIGHT)):
        problem, air = tank(diffusion, top=top, surface=surface, body=body)
        velocity = stirred(problem)
        before = np.abs(air.outflow(velocity)).max()
        _, stats = solve(problem, velocity)
        assert stats.converged
        assert np.abs(air.outflow(velocity)).max() < 1e-5 * before
        moved = np.zeros(1) if problem.viscous.bodies is None else problem.viscous.bodies.velocity.copy()
        found.append((moved, velocity))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-5)
    assert max(float(np.abs(u - v).max()) for u, v in zip(found[0][1], found[1][1])) < 1e-5


def test_without_a_pressure_they_collapse():
    problem, air = tank(10.0)
    empty = StokesProblem.build(ViscousFluid(GRID, problem.phi, problem.viscous.solid, 10.0))
    lost = []
    for each in (problem, empty):
        velocity = GRID.staggered()
        velocity[1][:] = -1.0  # g dt
        each.solve(velocity, TIGHT)
        lost.append(np.abs(air.outflow(velocity)).max())
    assert lost[0] < 1e-5 < 1e-2 < lost[1]


def test_liquid_rests_under_closed_air():
    """The air above a pool in a closed box is a bubble too: it presses on all of the surface alike."""
    field = sample_solids(GRID, Walls((0.013, 0.0, 0.007), (0.97, 1.0, 0.981)), [], 0.0)
    phi = (GRID.points(CENTRE)[..., 1] - 0.537).astype(np.float32)
    air = PressureProblem.build(GRID, phi, field).with_closed_air().bubbles
    problem = StokesProblem.build(ViscousFluid(GRID, phi, field, 10.0)).with_bubbles(air)
    velocity = GRID.staggered()
    velocity[1][:] = -1.0
    problem.solve(velocity, SolveLimits(1e-6, 200))
    under = [np.abs(u[GRID.points(FACES[a])[..., 1] < 0.53]).max() for a, u in enumerate(velocity)]
    assert max(under) < 1e-5


def test_a_bubble_rises_as_fast_as_hadamard_and_rybczynski_say():
    speed, lost = rise(4)
    assert free_speed() / speed == pytest.approx(FACTOR, rel=0.1)
    assert abs(lost) < 1e-5


def test_a_rising_bubble_keeps_its_volume_in_a_run():
    pool = {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [0.1, 0.1, 0.1]}
    hole = {"kind": "sphere", "centre": [0.05, 0.03, 0.05], "radius": 0.018}
    simulation = Simulation(
        {
            "domain": {"size": [0.1, 0.12, 0.1], "resolution": 24},
            "time": {"fps": 24},
            "liquids": {"honey": {"density": 1400.0, "viscosity": 20.0}},
            "volumes": [{"liquid": "honey", "shape": {"kind": "difference", "parts": [pool, hole]}}],
            "solver": {"coupling": "stokes", "air": "constraint"},
        }
    )
    smallest = []
    for _ in range(10):
        stats = simulation.step_once()
        assert all(solve.converged for solve in stats.solves.values()) and len(stats.bubbles) == 2
        smallest.append(min(b["volume"] for b in stats.bubbles))
    assert np.abs(np.array(smallest) / smallest[0] - 1.0).max() < 0.005
    p = simulation.state.particles  # liquid comes down where the bubble rises
    assert float((p.velocity[:, 1] * p.volume[:, 0]).sum()) < 0.0
