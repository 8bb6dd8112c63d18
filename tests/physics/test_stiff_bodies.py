"""A stiff part of a liquid that nothing holds moves rigidly at next to no cost, and a cycle is told so."""

import numpy as np
import pytest

from glug.physics.stiff_bodies import StiffBodies, with_stiff_bodies
from glug.physics.viscosity_levels import hierarchy
from glug.solvers.cg import Cycle, conjugate_gradients, zeros_like
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.studies.viscosity_cases import CASES, noise


@pytest.fixture(scope="module")
def ball():
    problem = CASES["ball"].problem(24)
    return problem, problem.system()


def cycle_of(system):
    return Multigrid(hierarchy(system), GaussSeidel(2), 1)


def test_a_ball_is_loose_and_a_half_between_walls_is_not(ball):
    cycle = with_stiff_bodies(ball[1], cycle_of(ball[1]), ball[0].jumps)
    assert isinstance(cycle, StiffBodies)
    assert list(cycle.loose) == [False, True]
    problem = CASES["plane"].problem(24)
    plane = problem.system()
    assert isinstance(with_stiff_bodies(plane, cycle_of(plane), problem.jumps), Multigrid)


def test_rigid_motions_beside_the_cycle_save_iterations(ball):
    problem, system = ball
    b = noise(problem.grid, system)
    plain = cycle_of(system)
    counts = []
    for cycle in (plain, with_stiff_bodies(system, plain, problem.jumps)):
        x = zeros_like(system, np.float64)
        stats = conjugate_gradients(system, Cycle(system, cycle), b, x, 1e-6, 200)
        assert stats.converged
        counts.append(stats.iterations)
    print(f"{counts[0]} iterations of the cycle, {counts[1]} with rigid motions")
    assert counts[1] < 0.8 * counts[0]


def test_the_cycle_stays_symmetric_and_tells_its_energy(ball):
    problem, system = ball
    cycle = with_stiff_bodies(system, cycle_of(system), problem.jumps)
    x, y = noise(problem.grid, system, 1), noise(problem.grid, system, 2)
    mx, my, scratch = zeros_like(system), zeros_like(system), zeros_like(system)

    def dot(a, b):
        return sum(float((p.astype(np.float64) * q).sum()) for p, q in zip(a, b))

    energy = cycle(x, mx, scratch)
    cycle(y, my, scratch)
    assert energy == pytest.approx(dot(x, mx), rel=1e-4)
    assert abs(dot(x, my) - dot(y, mx)) <= 1e-5 * np.sqrt(dot(x, mx) * dot(y, my))
