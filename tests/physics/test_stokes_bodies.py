"""Rigid bodies in a Stokes solve: as the assembled matrix has it, momentum exchanged, energy lost, rest."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve
from setups import NO_WALLS, rotation
from test_rigid import ball as rigid_ball
from test_rigid import inertia

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid, Staggered
from glug.physics.reference.stokes import assemble_stokes, reference_stokes
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.solvers.limits import SolveLimits

LIQUID, N = 1000.0, 16
GRID = Grid(1.0 / N, (N + 6,) * 3, (-3,) * 3)
TIGHT = SolveLimits(1e-8, 600)
BOX = Walls((0.013, 0.0, 0.007), (0.97, 1.0, 0.981))
CENTRES = (0.42, 0.46, 0.52), (0.72, 0.66, 0.6)


def tank(densities: list[float], diffusion: float, surface: float = 0.803) -> StokesProblem:
    """One or two balls in a box, filled up to `surface`."""
    phi = (GRID.points(CENTRE)[..., 1] - surface).astype(np.float32)
    return problem_with(densities, diffusion, phi, BOX)


def blob(density: float, diffusion: float) -> StokesProblem:
    """A ball in a free ball of liquid."""
    phi = (np.linalg.norm(GRID.points(CENTRE) - (0.5, 0.5, 0.5), axis=-1) - 0.45).astype(np.float32)
    return problem_with([density], diffusion, phi, NO_WALLS)


def problem_with(densities: list[float], diffusion: float, phi: np.ndarray, walls: Walls) -> StokesProblem:
    solids = [rigid_ball(str(n), CENTRES[n], (0.2, 0.12)[n]) for n in range(len(densities))]
    field = sample_solids(GRID, walls, solids, 0.0)
    inertias = [inertia(n, solid, density) for n, (solid, density) in enumerate(zip(solids, densities))]
    return StokesProblem.build(
        ViscousFluid(GRID, phi, field, diffusion, bodies=RigidBodies.build(GRID, field, inertias, LIQUID))
    )


def stirred(problem: StokesProblem, seed: int = 0) -> Staggered:
    rng = np.random.default_rng(seed)
    bodies = problem.viscous.bodies
    bodies.velocity[:] = rng.normal(size=bodies.velocity.shape)
    u, v, w = (rng.normal(size=m.shape).astype(np.float32) for m in problem.viscous.mass)
    return u, v, w


def of_all(problem: StokesProblem, velocity: Staggered) -> tuple[np.ndarray, float]:
    """Momentum and kinetic energy of liquid and bodies, over rho dx^3; liquid that a body carries is the body's."""
    bodies, carried = problem.viscous.bodies, problem.body_term.carried_mass
    mass = bodies.M_v + carried
    momentum = np.array([float((m.astype(float) * u).sum()) for m, u in zip(problem.viscous.mass, velocity)])
    pairs = [(m.astype(float), u.astype(float)) for m, u in zip(problem.viscous.mass, velocity)]
    energy = sum(0.5 * float((m * u**2).sum()) for m, u in pairs)
    own = np.einsum("nij,nj->ni", mass, bodies.velocity)
    return momentum + own[:, :3].sum(axis=0), energy + 0.5 * float((own * bodies.velocity).sum())


def with_carried_liquid_at(problem: StokesProblem, velocity: Staggered) -> Staggered:
    """`velocity` with that of the bodies on their faces: what a step of their own would have left."""
    problem.viscous.write(velocity, velocity, problem.viscous.mass)
    return velocity


@pytest.mark.parametrize("diffusion", [0.1, 1000.0])
@pytest.mark.parametrize("surface", [0.803, 3.0])
def test_as_the_assembled_matrix_has_it(diffusion: float, surface: float) -> None:
    found = []
    for solve in (reference_stokes, lambda p, u: p.solve(u, TIGHT)):
        problem = tank([100.0, 3000.0], diffusion, surface)
        velocity = stirred(problem)
        _, stats = solve(problem, velocity)
        assert stats.converged
        found.append((problem.viscous.bodies.velocity.copy(), velocity))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-5)
    assert max(float(np.abs(u - v).max()) for u, v in zip(found[0][1], found[1][1])) < 1e-5


def test_the_assembled_matrix_is_the_minimum_under_continuity() -> None:
    """Nothing eliminated: the whole symmetric system of faces, cells and bodies."""
    problem = tank([2000.0], 10.0)
    term, velocity = problem.body_term, stirred(problem)
    A, B, faces, cells = assemble_stokes(problem)
    J = problem.eliminated.parts[0].columns(problem.level.mask)
    of_faces, of_cells = J[: len(faces)], J[len(faces) :]
    H = sparse.csr_matrix(np.linalg.inv(-term.T[0]))
    K = sparse.bmat([[A, B.T, of_faces], [B, None, of_cells], [of_faces.T, of_cells.T, H]], format="csc")
    b, _ = problem.right_hand_side(velocity)
    right = [np.concatenate([f.ravel() for f in b[:3]])[faces], b[3].ravel()[cells], term.given(b, velocity)[0]]
    exact = spsolve(K, np.concatenate(right).astype(float))
    reference_stokes(problem, velocity)
    np.testing.assert_allclose(problem.viscous.bodies.velocity[0], exact[-6:], atol=1e-6)


@pytest.mark.parametrize("diffusion", [0.1, 100.0])
@pytest.mark.parametrize("density", [100.0, 5000.0])
def test_in_free_liquid_momentum_is_only_exchanged_and_energy_only_lost(density: float, diffusion: float) -> None:
    problem = blob(density, diffusion)
    velocity = with_carried_liquid_at(problem, stirred(problem))
    before, energy = of_all(problem, velocity)
    own = problem.viscous.bodies.velocity[0].copy()
    problem.solve(velocity, TIGHT)
    after, left = of_all(problem, velocity)
    assert np.abs(after - before).max() < 1e-5 * np.linalg.norm(before)
    assert left < energy
    assert np.abs(problem.viscous.bodies.velocity[0] - own).max() > 0.05


def test_rigid_rotation_of_liquid_and_body_goes_on() -> None:
    problem = blob(1000.0, 100.0)
    spin, centre = np.array([1.0, -2.0, 0.5]), np.array(CENTRES[0])
    velocity = rotation(GRID, spin, centre)
    before = tuple(u.copy() for u in velocity)
    problem.viscous.bodies.velocity[0, 3:] = spin
    problem.solve(velocity, TIGHT)
    np.testing.assert_allclose(problem.viscous.bodies.velocity[0], [0, 0, 0, *spin], atol=1e-5)
    wet = [m > 0.01 for m in problem.viscous.mass]
    assert max(float(np.abs(u - v)[w].max()) for u, v, w in zip(velocity, before, wet)) < 1e-4


@pytest.mark.parametrize("diffusion", [0.1, 1000.0])
def test_a_body_as_heavy_as_the_liquid_rests_in_it(diffusion: float) -> None:
    speeds = []
    for density in (LIQUID, 1.1 * LIQUID):
        problem = tank([density], diffusion)
        velocity = GRID.staggered()
        velocity[1][:] = -1.0  # g dt
        problem.viscous.bodies.velocity[0, 1] = -1.0
        problem.solve(velocity, SolveLimits(1e-6, 200))
        under = max(float(np.abs(u[GRID.points(FACES[a])[..., 1] < 0.8]).max()) for a, u in enumerate(velocity))
        speeds.append((float(np.abs(problem.viscous.bodies.velocity).max()), under))
    assert max(speeds[0]) < 1e-5
    assert speeds[1][0] > 1e2 * max(speeds[0])  # a heavier one sinks


def test_threads_do_not_change_its_bits() -> None:
    from glug.jit import threads

    found = []
    for count in (1, 2):
        with threads(count):
            problem = tank([3000.0, 100.0], 10.0)
            velocity = stirred(problem)
            problem.solve(velocity, SolveLimits(1e-5, 200))
        found.append((*velocity, problem.viscous.bodies.velocity.copy()))
    assert all(np.array_equal(u, v) for u, v in zip(*found))


@pytest.mark.parametrize("diffusion", [0.1, 100.0])
def test_a_floating_body_rests_where_archimedes_says(diffusion: float) -> None:
    """Half as heavy as the liquid, half under its surface; deeper it rises, higher it sinks."""
    speeds = []
    for depth in (0.0, 0.06, -0.06):
        problem = tank([0.5 * LIQUID], diffusion, CENTRES[0][1] + depth)
        velocity = GRID.staggered()
        velocity[1][:] = -1.0  # g dt
        problem.viscous.bodies.velocity[0, 1] = -1.0
        _, stats = problem.solve(velocity, SolveLimits(1e-6, 300))
        assert stats.converged
        speeds.append(float(problem.viscous.bodies.velocity[0, 1]))
    assert speeds[1] > 0.0 > speeds[2]
    assert abs(speeds[0]) < 0.1 * min(speeds[1], -speeds[2])
