"""Rigid bodies in the viscous solve: as the assembled matrix has it, momentum exchanged, energy never gained."""

import numpy as np
import pytest

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import Grid
from glug.physics.reference.scenes import reference_viscosity
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.viscosity.problem import ViscosityProblem
from glug.scene.bodies import Solid
from glug.scene.motions.free import FreeMotion
from glug.solvers.limits import SolveLimits

DX, LIQUID = 1.0 / 18.0, 1000.0


def tank(densities: list[float], diffusion: float, dim: int = 3, open_: bool = False) -> ViscosityProblem:
    """One or two balls in a box of 1 m full of liquid; without walls if `open_`."""
    shape, low = ((24, 24, 24), (-3, -3, -3)) if dim == 3 else ((24, 24, 1), (-3, -3, 0))
    grid = Grid(DX, shape, low, dim=dim)
    centres = [(0.35, 0.4, 0.45), (0.72, 0.55, 0.6)][: len(densities)]
    solids, inertias, zero = [], [], np.zeros(3)
    for n, (c, density) in enumerate(zip(centres, densities)):
        at, radius = (c, 0.2 - 0.05 * n) if dim == 3 else (c[:2], 0.2 - 0.05 * n)
        solid = Solid(name=str(n), shape={"kind": "sphere", "centre": at, "radius": radius})
        where = np.array([*c[:2], c[2] if dim == 3 else 0.5 * DX])
        solids.append(FreeMotion(np.eye(3), where, where, zero, zero).moved(solid))
        mass = density * (4 / 3 * np.pi * radius**3 if dim == 3 else np.pi * radius**2 * DX)
        inertias.append(Inertia(n, where, density, mass, 0.4 * mass * radius**2 * np.eye(3)))
    far = (-np.inf,) * 3, (np.inf,) * 3
    walls = (
        Walls(*far)
        if open_
        else Walls((0.0, 0.0, 0.0 if dim == 3 else -np.inf), (1.0, 1.0, 1.0 if dim == 3 else np.inf))
    )
    field = sample_solids(grid, walls, solids, 0.0)
    bodies = RigidBodies.build(grid, field, inertias, LIQUID)
    inside = grid.points((0.5, 0.5, 0.5))[..., :dim]
    phi = (np.abs(inside - 0.5).max(axis=-1) - (0.5 if open_ else 2.0)).astype(np.float32)
    return ViscosityProblem.build(grid, phi, field, diffusion, bodies)


def start(problem: ViscosityProblem, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    problem.bodies.velocity[:] = rng.normal(size=problem.bodies.velocity.shape)
    return tuple(rng.normal(size=m.shape).astype(np.float32) for m in problem.mass)


def energy(problem: ViscosityProblem, velocity: tuple[np.ndarray, ...]) -> float:
    liquid = sum(0.5 * float((m.astype(float) * u.astype(float) ** 2).sum()) for m, u in zip(problem.mass, velocity))
    return liquid + problem.bodies.energy()


@pytest.mark.parametrize("diffusion", [0.5, 50.0])
def test_as_the_assembled_matrix_has_it(diffusion: float) -> None:
    results = []
    for solver in ("reference", "multigrid"):
        problem = tank([700.0, 3000.0], diffusion)
        velocity = start(problem)
        before = problem.bodies.velocity.copy()
        if solver == "reference":
            stats = reference_viscosity(problem, velocity)
        else:
            stats = problem.solve(velocity, SolveLimits(1e-6, 500))
        assert stats.converged
        assert np.abs(problem.bodies.velocity - before).max() > 0.1
        results.append((problem.bodies.velocity.copy(), np.concatenate([u.ravel() for u in velocity])))
    np.testing.assert_allclose(results[1][0], results[0][0], atol=2e-4)
    np.testing.assert_allclose(results[1][1], results[0][1], atol=2e-3)


@pytest.mark.parametrize("ratio", [0.01, 1.0, 10.0])
def test_kinetic_energy_never_increases(ratio: float) -> None:
    for diffusion in (0.1, 1000.0):
        problem = tank([ratio * LIQUID], diffusion)
        velocity = start(problem, 1)
        before = energy(problem, velocity)
        problem.solve(velocity, SolveLimits(1e-5, 500))
        assert energy(problem, velocity) < before


@pytest.mark.parametrize("dim", [2, 3])
def test_without_walls_momentum_is_only_exchanged(dim: int) -> None:
    """A fast body in a block of liquid: it loses what the liquid gains, and the longer they rub the more."""
    shares = []
    for diffusion in (0.2, 20.0):
        problem = tank([2000.0], diffusion, dim, open_=True)
        velocity = tuple(np.zeros(m.shape, np.float32) for m in problem.mass)
        problem.bodies.velocity[0, 0] = 1.0
        own = problem.bodies.M_v[0] @ problem.bodies.velocity[0]
        reference_viscosity(problem, velocity)
        gained = float((problem.mass[0].astype(float) * velocity[0]).sum())
        left = (problem.bodies.M_v[0] @ problem.bodies.velocity[0])[0]
        assert gained + left == pytest.approx(own[0], rel=1e-5)
        shares.append(left / own[0])
    assert 0.0 < shares[1] < shares[0] < 1.0


def test_rigid_motion_of_everything_costs_nothing() -> None:
    problem = tank([500.0], 100.0, open_=True)
    velocity = tuple(np.full(m.shape, 0.3 if a == 1 else 0.0, np.float32) for a, m in enumerate(problem.mass))
    problem.bodies.velocity[0, 1] = 0.3
    problem.solve(velocity, SolveLimits(1e-6, 500))
    np.testing.assert_allclose(problem.bodies.velocity[0], [0.0, 0.3, 0.0, 0.0, 0.0, 0.0], atol=1e-4)
