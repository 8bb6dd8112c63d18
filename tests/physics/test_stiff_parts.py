"""A stiff part of a liquid that nothing holds moves rigidly at next to no cost, and a cycle is told so."""

import numpy as np
import pytest

from glug.physics.viscosity.levels import hierarchy
from glug.physics.viscosity.parts.stiff import (
    StiffParts,
    about_centres,
    largest_parts,
    positive_inverse,
    with_stiff_parts,
)
from glug.physics.viscosity.weights import middle_of_jumps
from glug.solvers.cg import Cycle, conjugate_gradients, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.studies.problems.viscosity import CASES, noise


@pytest.fixture(scope="module")
def ball():
    problem = CASES["ball"].problem(24)
    return problem, problem.system()


def cycle_of(system):
    return Multigrid(hierarchy(system), GaussSeidel(2), 1)


def test_a_ball_is_loose_and_a_half_between_walls_is_not(ball):
    cycle = with_stiff_parts(ball[1], cycle_of(ball[1]), ball[0].stiff_above)
    assert isinstance(cycle, StiffParts)
    assert list(cycle.loose) == [False, True]
    problem = CASES["plane"].problem(24)
    plane = problem.system()
    assert isinstance(with_stiff_parts(plane, cycle_of(plane), problem.stiff_above), Multigrid)


def test_rigid_motions_beside_the_cycle_save_iterations(ball):
    problem, system = ball
    b = noise(problem.grid, system)
    plain = cycle_of(system)
    counts = []
    for cycle in (plain, with_stiff_parts(system, plain, problem.stiff_above)):
        x = zeros_like(system, np.float64)
        stats = conjugate_gradients(system, Cycle(system, cycle), b, x, SolveLimits(1e-6, 200))
        assert stats.converged
        counts.append(stats.iterations)
    print(f"{counts[0]} iterations of the cycle, {counts[1]} with rigid motions")
    assert counts[1] < 0.8 * counts[0]


def test_the_cycle_stays_symmetric_and_tells_its_energy(ball):
    problem, system = ball
    cycle = with_stiff_parts(system, cycle_of(system), problem.stiff_above)
    x, y = noise(problem.grid, system, 1), noise(problem.grid, system, 2)
    mx, my, scratch = zeros_like(system), zeros_like(system), zeros_like(system)

    def dot(a, b):
        return sum(float((p.astype(np.float64) * q).sum()) for p, q in zip(a, b))

    energy = cycle(x, mx, scratch)
    cycle(y, my, scratch)
    assert energy == pytest.approx(dot(x, mx), rel=1e-4)
    assert abs(dot(x, my) - dot(y, mx)) <= 1e-5 * np.sqrt(dot(x, mx) * dot(y, my))


def test_only_motions_with_an_energy_above_rounding_are_inverted():
    """A block that products in float32 left slightly indefinite, and one of a part without some motions."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    energies = np.array([[3.0, 2.0, 1.0, 0.5, 0.2, -1e-8], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]])
    inverse = positive_inverse(np.einsum("ia,na,ja->nij", vectors, energies, vectors))
    found = np.linalg.eigvalsh(inverse)
    assert (found >= -1e-12).all()
    assert found.max() < 20.0  # the control: the inverse of -1e-8 is not among them
    assert np.linalg.matrix_rank(inverse).tolist() == [5, 3]


def test_motions_of_a_part_far_from_the_origin_are_about_its_middle():
    labels = np.zeros((300, 300, 300), np.int8)
    labels[280:290, 250:260, 270:280] = 1  # pairs of cells: the middle is at 570, 510, 550
    spin = (0.3, -0.2, 0.5)
    motion = about_centres(labels, 1)[1] @ (0.0, 0.0, 0.0, *spin)
    assert tuple(motion[3:]) == spin
    np.testing.assert_allclose(motion[:3] + np.cross(spin, (570.0, 510.0, 550.0)), 0.0, atol=1e-9)


def test_of_too_many_parts_the_largest_are_kept():
    labels = np.array([1, 2, 2, 2, 0, 3, 4, 4])
    kept, count = largest_parts(labels, 4, 2)
    assert count == 2
    assert kept.tolist() == [0, 1, 1, 1, 0, 0, 2, 2]
    assert largest_parts(labels, 4, 4)[0] is labels


def test_a_side_without_viscosity_is_a_jump_with_nothing_stiff():
    field, inside = np.ones((4, 4, 4), np.float32), np.full((4, 4, 4), -1.0, np.float32)
    assert middle_of_jumps(field, inside) is None
    field[2:] = 0.0
    assert middle_of_jumps(field, inside) == np.inf
    field[:, 2:] *= 100.0
    assert middle_of_jumps(field, inside) == pytest.approx(10.0)


def test_where_the_liquid_ends_its_viscosity_does_not_jump():
    field, phi = np.ones((4, 4, 4), np.float32), np.full((4, 4, 4), -1.0, np.float32)
    field[2:], phi[2:] = 0.0, 1.0
    assert middle_of_jumps(field, phi) is None
