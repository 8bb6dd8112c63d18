"""Liquid that touches no solid is found, moves rigidly at no cost, and converges as fast as any other."""

import numpy as np
import pytest

from glug.grids.regular import FACES
from glug.physics.viscosity import levels as viscosity_levels
from glug.physics.viscosity.levels import hierarchy
from glug.physics.viscosity.parts.free import FreeParts, free_parts, label_pairs, may_be_free, with_free_parts
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import Cycle, conjugate_gradients, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.studies.problems.viscosity import CASES, noise


@pytest.fixture(scope="module")
def balls() -> ViscosityProblem:
    return CASES["balls"].problem(32)


def test_two_balls_in_the_air_are_free_and_a_pool_is_not(balls):
    system = balls.system()
    assert may_be_free(system)
    assert list(free_parts(system, *label_pairs(system, system.m))) == [False, True, True]
    pool = CASES["delta"].problem(16).system()
    assert not may_be_free(pool)
    assert not free_parts(pool, *label_pairs(pool, pool.m)).any()


def test_a_rigid_motion_of_a_free_part_strains_nothing(balls):
    system = balls.system()
    spin, drift = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.4, -0.3])
    x = tuple(
        np.where(m > 0, (np.cross(spin, balls.grid.points(o)) + drift)[..., a], 0.0).astype(np.float32)
        for a, (m, o) in enumerate(zip(system.m, FACES))
    )
    q = zeros_like(system)
    system.apply(x, q)
    stiffness = max(float(g.max()) for g in system.diagonal())
    for a in range(3):
        assert np.abs(q[a] - system.m[a] * x[a]).max() < 1e-6 * stiffness


def test_the_cycle_stays_symmetric_and_takes_few_iterations(balls, monkeypatch):
    """With coarse grids that walls near the parts hold: the usual ones take few iterations by themselves."""
    system = balls.system()
    monkeypatch.setattr(viscosity_levels, "TOUCHING", -1.0)
    counts = []
    for deflated in (False, True):
        cycle = Multigrid(hierarchy(system), GaussSeidel(2), 2)
        precondition = with_free_parts(system, cycle) if deflated else cycle
        assert isinstance(precondition, FreeParts) == deflated
        a, b = noise(balls.grid, system, 1), noise(balls.grid, system, 2)
        za, zb, scratch = (zeros_like(system) for _ in range(3))
        energy = precondition(a, za, scratch)
        precondition(b, zb, scratch)
        one, other = (sum(float(np.vdot(x.astype(float), y)) for x, y in zip(*p)) for p in ((a, zb), (b, za)))
        assert energy > 0.0
        assert abs(one - other) < 1e-5 * energy
        x, right = zeros_like(system, np.float64), CASES["balls"].right(balls.grid, system)
        counts.append(
            conjugate_gradients(system, Cycle(system, precondition), right, x, SolveLimits(1e-6, 100)).iterations
        )
    print(f"{counts[0]} iterations of the cycle alone, {counts[1]} with free parts apart")
    assert counts[1] <= 15 < counts[0]
