"""Faces that belong to the liquid, and what a projection sees of a velocity, against the same in plain arrays."""

import numpy as np
import pytest

from glug.grids.regular import CENTRE, FACES, Grid, lower_upper
from glug.physics import kernels
from glug.physics.pressure import kernels as pressure_kernels

SHAPE = (5, 7, 18)


@pytest.fixture
def random():
    return np.random.default_rng(3)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_known_faces_are_the_open_ones_of_liquid_cells(axis, random):
    grid = Grid(1.0, SHAPE)
    liquid = (random.random(SHAPE) < 0.2).astype(np.uint8)
    area = random.random(grid.sample_shape(FACES[axis])).astype(np.float32)
    beside = np.zeros(area.shape, int)
    for part in lower_upper(beside, axis):
        part += liquid
    known = np.full(area.shape, 7, np.uint8)
    kernels.known_faces(axis, liquid, area, np.float32(0.3), np.float32(0.6), known)
    assert np.array_equal(known, (beside == 2) & (area > 0.3) | (beside == 1) & (area > 0.6))


def test_the_divergence_is_that_of_all_liquid_cells_and_of_no_others(random):
    grid = Grid(1.0, SHAPE)
    liquid = (random.random(SHAPE) < 0.05).astype(np.uint8)
    velocity, area = ([random.random(grid.sample_shape(f)).astype(np.float32) for f in FACES] for _ in range(2))
    inflow = np.zeros(grid.sample_shape(CENTRE))
    for a in range(3):
        low, high = lower_upper(velocity[a] * area[a], a)
        inflow += low - high
    found = grid.scalar()
    pressure_kernels.divergence_rhs(*velocity, *area, liquid, found)
    assert np.allclose(found, inflow * liquid, atol=1e-5)
