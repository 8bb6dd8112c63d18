"""Particles that touch solids lose what of their velocity leads into them, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import FACES, Grid
from glug.particles.storage import Particles
from glug.physics.advection import CONTACT, meet_solids

FLOOR = 2.25  # [m] of a room with cells of 1 m


def met(height, velocity, wall=None, wet=0):
    """The velocity of a particle so high [cells] above the floor, which moves up at `wall` [m/s]."""
    grid = Grid(1.0, (8, 8, 8))
    solid = sample_solids(grid, Walls((-np.inf, FLOOR, -np.inf), (np.inf,) * 3), [], 0.0)
    particles = Particles.empty()
    particles.append(np.array([[4.2, FLOOR + height, 3.7]], np.float32), velocity=np.array([velocity], np.float32))
    if wall is not None:
        moving = tuple(np.full(grid.sample_shape(FACES[a]), wall if a == 1 else 0.0, np.float32) for a in range(3))
        solid = replace(solid, velocity=moving)
    meet_solids(particles, grid, np.full(grid.shape, wet, np.uint8), solid)
    return particles.velocity[0].tolist()


def test_what_leads_into_the_floor_goes():
    assert met(0.9 * CONTACT, [0.5, -2.0, 0.25]) == pytest.approx([0.5, 0.0, 0.25], abs=1e-6)


def test_in_the_liquid_pressure_sees_to_that():
    assert met(0.9 * CONTACT, [0.5, -2.0, 0.25], wet=1) == [0.5, -2.0, 0.25]


def test_what_leads_away_stays():
    assert met(0.9 * CONTACT, [0.5, 2.0, 0.25]) == [0.5, 2.0, 0.25]


def test_what_does_not_touch_falls_on():
    assert met(1.1 * CONTACT, [0.5, -2.0, 0.25]) == [0.5, -2.0, 0.25]


@pytest.mark.parametrize("wall", [-3.0, -1.0, 1.0])
def test_a_floor_that_moves_is_not_passed(wall):
    assert met(0.9 * CONTACT, [0.5, -2.0, 0.25], wall) == pytest.approx([0.5, max(wall, -2.0), 0.25], abs=1e-6)
