"""What solids take of stress samples is found once where they stay, and is what a new field would find."""

from dataclasses import replace

import numpy as np
import pytest

from glug.geometry.solids.field import Walls, sample_solids
from glug.physics.viscosity import kernels
from glug.physics.viscosity.problem import ViscosityProblem
from glug.studies.problems.viscosity import coil_geometry


def weights(problem: ViscosityProblem) -> list[np.ndarray]:
    return [problem.weights.cell, *problem.weights.edges, *problem.mass]


def test_a_second_problem_on_the_same_solids_has_the_same_weights():
    grid, phi, solid = coil_geometry(24)
    first = ViscosityProblem.build(grid, phi, solid, 5.0)
    seen = [np.count_nonzero(t >= 0.0) for t in (solid.taken[0], *solid.taken[1])]
    assert all(seen)
    again = ViscosityProblem.build(grid, phi, solid, 5.0)
    assert seen == [np.count_nonzero(t >= 0.0) for t in (solid.taken[0], *solid.taken[1])]
    assert all((a == b).all() for a, b in zip(weights(first), weights(again)))
    solid.taken[0][solid.taken[0] >= 0.0] += 0.1  # shares are read, not found again
    assert (ViscosityProblem.build(grid, phi, solid, 5.0).weights.cell != first.weights.cell).any()


def test_what_is_not_kept_is_found_every_time():
    grid, phi, solid = coil_geometry(24)
    kept = weights(ViscosityProblem.build(grid, phi, solid, 5.0))
    forgetful = replace(solid, keeps=False)
    for _ in range(2):
        found = weights(ViscosityProblem.build(grid, phi, forgetful, 5.0))
        assert all((a == b).all() for a, b in zip(found, kept))
    assert forgetful.taken[0].size == 0


def test_solids_of_another_moment_have_shares_of_their_own():
    grid, phi, _ = coil_geometry(24)
    floors = [sample_solids(grid, Walls((-np.inf, y, -np.inf), (np.inf,) * 3), [], 0.0) for y in (0.0, 0.01)]
    low, high = (ViscosityProblem.build(grid, phi, solid, 5.0).weights.cell for solid in floors)
    assert (low != high).any()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_unknowns_are_chosen_as_the_rule_says(axis):
    rng = np.random.default_rng(axis)
    shape = np.array([6, 7, 8])
    cell = np.where(rng.random(shape) < 0.4, 1.0, 0.0).astype(np.float32)
    faces = shape + np.eye(3, dtype=int)[axis]
    m = (rng.random(faces) * np.where(rng.random(faces) < 0.5, 1.0, 1e-3)).astype(np.float32)
    solid = (rng.random(faces) < 0.2).astype(np.uint8)
    least = np.float32(1e-2)
    expected = m.copy()
    beside = np.zeros(faces, np.bool_)
    inner, held = np.moveaxis(beside, axis, 0), np.moveaxis(cell, axis, 0) > 0
    inner[1:-1] = held[:-1] | held[1:]
    beside &= solid == 0
    expected[beside] = np.maximum(expected[beside], least)
    expected[expected < least] = 0.0
    kernels.choose_unknowns(axis, cell, solid, least, m)
    assert (m == expected).all()
