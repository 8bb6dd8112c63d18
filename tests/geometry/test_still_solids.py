"""Solids at rest are sampled once: with moving ones among them, all is as if everything had been sampled anew."""

from dataclasses import replace

import numpy as np
import pytest

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.geometry.solids.sampling import add_solids, fine_walls, nearest, solid_distance
from glug.geometry.solids.still import Cut, StillSolids
from glug.geometry.solids.thin import near_cells
from glug.grids.regular import Grid

FLAT = Grid(1 / 16, (24, 24, 1), (-4, -4, 0), (0.0, 0.0, 0.0), 2)
ROOM = Grid(1 / 16, (24, 24, 16), (-4, -4, -2))
WALLS = Walls((0.0, 0.0, -np.inf), (1.0, np.inf, np.inf))


class Ball:
    """Goes along x with the speed 1."""

    moving = True

    def __init__(self, x, radius):
        self.x, self.radius = x, radius

    def _centre(self, t):
        return np.array([self.x + t, 0.5, 0.3]) if self.moving else np.array([self.x, 0.5, 0.3])

    def distance(self, points, t):
        return np.linalg.norm(points - self._centre(t), axis=1) - self.radius

    def velocity(self, points, t):
        return np.tile([1.0, 0.0, 0.0], (len(points), 1))

    def bounds(self, t):
        return self._centre(t) - self.radius, self._centre(t) + self.radius


class StillBall(Ball):
    moving = False


class Plate:
    """At rest, half a cell thick, and hidden between two corners of every cell that it crosses."""

    moving = False

    def __init__(self):
        self.asked = 0

    def distance(self, points, t):
        self.asked += len(points)
        return np.abs(points[:, 1] - 0.47) - 1 / 64

    def velocity(self, points, t):
        return np.zeros((len(points), 3))

    def bounds(self, t):
        return np.array([0.1, 0.47 - 1 / 64, 0.0]), np.array([0.9, 0.47 + 1 / 64, 1.0])


def solids():
    """Two at rest; of the moving ones, two overlap and one leaves the window."""
    return [Plate(), StillBall(0.7, 0.11), Ball(0.2, 0.1), Ball(0.3, 0.015), Ball(1.1, 0.2)]


def at_once(grid, solids, t):
    """All solids cut at once, without a difference between those at rest and others."""
    own = [solid_distance(grid, solid, t) for solid in solids]
    nodes = nearest(StillSolids(grid, WALLS, []).nodes.copy(), own)
    near = np.argwhere(near_cells(grid, own))
    return nodes, Cut.of(grid, nodes, near, add_solids(fine_walls(grid, WALLS, near), grid, solids, t, near))


@pytest.mark.parametrize("grid", [FLAT, ROOM], ids=["2D", "3D"])
def test_a_moving_solid_changes_nothing_but_what_it_touches(grid):
    made = solids()
    still = StillSolids(grid, WALLS, made)
    for t in (0.0, 0.13, 0.5):
        nodes, cut = at_once(grid, made, t)
        field = sample_solids(grid, WALLS, made, t, still)
        assert np.array_equal(field.distance, nodes)
        assert all(np.array_equal(a, b) for a, b in zip(field.area, cut.area))
        assert np.array_equal(field.openness, cut.openness)
        assert np.array_equal(field.hidden, np.argwhere(cut.hides))
        assert len(field.hidden) > 0


@pytest.mark.parametrize("grid", [FLAT, ROOM], ids=["2D", "3D"])
def test_earlier_moments_leave_no_trace(grid):
    """Whether a run came here or was resumed here."""
    made = solids()
    used = StillSolids(grid, WALLS, made)
    for t in (0.3, 0.1):
        sample_solids(grid, WALLS, made, t, used)
    assert same(sample_solids(grid, WALLS, made, 0.2, used), sample_solids(grid, WALLS, made, 0.2))
    assert not same(sample_solids(grid, WALLS, made, 0.25, used), sample_solids(grid, WALLS, made, 0.2))


def same(one: SolidField, other: SolidField):
    arrays = [(f.distance, f.openness, f.hidden, *f.area, *f.velocity, *f.clear, *f.owner) for f in (one, other)]
    return all(np.array_equal(a, b) for a, b in zip(*arrays))


def test_a_solid_at_rest_is_asked_once():
    made = solids()
    plate = made[0]
    still = StillSolids(ROOM, WALLS, made)
    sample_solids(ROOM, WALLS, made, 0.1, still)
    once = plate.asked
    assert once > 0
    sample_solids(ROOM, WALLS, made, 0.1, still)
    assert plate.asked == once
    sample_solids(ROOM, WALLS, made, 0.1)  # negative control: without what was kept
    assert plate.asked == 2 * once


@pytest.mark.parametrize("grid", [FLAT, ROOM], ids=["2D", "3D"])
def test_a_window_that_grows_and_moves_asks_for_what_is_new(grid):
    """With the same bits as if it had been sampled at once, whatever the windows before it."""
    made, alone = solids(), solids()
    still = StillSolids(grid, WALLS, made)
    sample_solids(grid, WALLS, made, 0.1, still)
    i, j, k = grid.shape
    for lo, shape in (((-7, -4, grid.lo[2]), (i + 3, j + 2, k)), ((-2, -1, grid.lo[2]), (i - 5, j, k))):
        window = replace(grid, lo=lo, shape=shape)
        before = made[0].asked
        still = StillSolids(window, WALLS, made, still)
        extended = sample_solids(window, WALLS, made, 0.2, still)
        asked = made[0].asked - before
        alone[0].asked = 0
        assert same(extended, sample_solids(window, WALLS, alone, 0.2))
        assert asked < 0.25 * alone[0].asked


def test_another_lattice_begins_anew():
    made = solids()
    still = StillSolids(ROOM, WALLS, made)
    finer = replace(ROOM, dx=ROOM.dx / 2)
    assert np.array_equal(StillSolids(finer, WALLS, made, still).nodes, StillSolids(finer, WALLS, made).nodes)


def test_what_moves_is_in_its_box_and_the_box_no_larger_than_needed():
    field = sample_solids(ROOM, WALLS, solids()[:3], 0.1)
    assert field.owner is not None and field.moving_box is not None
    inside = tuple(slice(first + 1, past - 1) for first, past in field.moving_box)
    assert all((owner >= 0).sum() == (owner[inside] >= 0).sum() > 0 for owner in field.owner)
    for a in range(3):  # negative control: a box that ends one sample earlier does not hold all
        less = (*inside[:a], slice(inside[a].start, inside[a].stop - 1), *inside[a + 1 :])
        assert any((owner >= 0).sum() > (owner[less] >= 0).sum() for owner in field.owner)
