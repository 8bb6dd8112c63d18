"""Bubbles keep their names and their rest volumes over merges and splits; voids are told from bubbles."""

import numpy as np
import pytest

from glug.geometry.fractions import liquid_volume
from glug.geometry.liquid import liquid_distance
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.connected import label_parts
from glug.grids.regular import CENTRE, Grid
from glug.particles.storage import Particles
from glug.physics.air.regions import AirRegions
from glug.physics.air.surface_shift import shift_surfaces
from glug.physics.air.tracking import BubbleMemory, Tracked, follow, inherit, rest_volumes, significant
from glug.simulation.state import State


def shared(edges, old_rest, volume, is_open=None):
    edges, volume = np.array(edges, bool), np.array(volume, float)
    nobody = np.zeros(len(volume), bool)
    return rest_volumes(edges, np.array(old_rest, float), volume, nobody, nobody if is_open is None else is_open)


@pytest.mark.parametrize(
    "edges, old_rest, volume",
    [
        ([[1, 0], [0, 1]], [3.0, 2.0], [2.9, 2.2]),  # as before
        ([[1], [1]], [3.0, 2.0], [4.7]),  # a merge
        ([[1, 1, 1]], [5.0], [1.1, 2.0, 1.7]),  # a split
        ([[1, 1, 0], [0, 1, 1], [0, 0, 1]], [3.0, 2.0, 1.0], [1.3, 3.1, 1.4]),  # both at once
        ([[1, 0], [0, 0]], [3.0, 2.0], [2.5, 1.0][:2]),  # one vanishes, another has no ancestor
        ([[1, 0], [0, 1], [0, 0]], [3.0, 0.0, 2.0], [2.5, 0.1]),  # one vanishes beside a bubble and a void
    ],
)
def test_rest_volume_is_conserved(edges, old_rest, volume):
    rest = shared(edges, old_rest, volume)
    assert rest.sum() == pytest.approx(sum(old_rest), rel=1e-12)


def test_one_to_one_keeps_each_rest_volume():
    np.testing.assert_allclose(shared([[0, 1], [1, 0]], [3.0, 2.0], [2.9, 2.2]), [2.0, 3.0], rtol=1e-15)


def test_a_split_shares_by_the_volumes_there_are():
    np.testing.assert_allclose(shared([[1, 1]], [6.0], [1.0, 3.0]), [1.5, 4.5], rtol=1e-15)


def test_a_bubble_without_ancestors_is_a_void_that_shrinks_to_nothing():
    np.testing.assert_array_equal(shared([[1, 0]], [3.0], [3.0, 0.5]), [3.0, 0.0])


def test_a_void_stays_one_until_it_has_closed():
    np.testing.assert_array_equal(shared([[1, 0], [0, 1]], [3.0, 0.0], [3.0, 0.5]), [3.0, 0.0])
    tracked = Tracked(BubbleMemory(np.array([2, 3], np.int32), np.array([3.0, 0.0]), 4))
    assert list(tracked.void) == [False, True]
    volume, room = np.array([2.9, 0.1]), np.array([3.0, 2.0])
    np.testing.assert_allclose(tracked.growth(volume, room, 0.1, 1.0), [1.0, -10.0])  # at least half its room a step
    np.testing.assert_array_equal(tracked.growth(volume, room, 0.1, 0.0), 0.0)


def test_air_without_volume_is_no_void():
    fresh, nobody = np.array([True]), np.zeros(1, bool)
    rest = rest_volumes(np.zeros((0, 1), bool), np.zeros(0), np.zeros(1), fresh, nobody)
    assert 0.0 < rest[0] < 1e-200


def test_a_sliver_of_air_has_the_room_that_solids_leave():
    grid, air = Grid(0.5, (4, 4, 4)), np.zeros((4, 4, 4), bool)
    air[1, 1, 1:3] = air[3, 3, 3] = True
    openness = np.ones(air.shape, np.float32)
    openness[1, 1, 1] = 0.05
    np.testing.assert_allclose(regions_of(air).room(grid, openness), [1.05 / 8, 1.0 / 8], rtol=1e-6)


def test_names_are_not_used_again_after_a_moment_without_air():
    state = State(Particles.empty(("bubble",)), bubbles=BubbleMemory(next_name=7))
    assert State.restore(state.save()).bubbles.next_name == 7


def test_air_cut_off_from_the_open_keeps_the_volume_it_has():
    is_open = np.array([True, False])
    np.testing.assert_array_equal(shared([[1, 1]], [np.inf], [100.0, 4.0], is_open), [np.inf, 4.0])


def test_few_particles_of_a_film_make_no_edge():
    np.testing.assert_array_equal(significant(np.array([[100, 2], [3, 200]])), np.eye(2, dtype=bool))


def test_the_largest_heir_keeps_the_name():
    memory = BubbleMemory(np.array([5, 7], np.int32), np.array([3.0, 2.0]), 9)
    names, next_name = inherit(np.array([[1, 1, 0], [0, 0, 1]], bool), memory, np.array([1.0, 2.0, 2.0]))
    assert list(names) == [9, 5, 7]
    assert next_name == 10


def regions_of(air: np.ndarray) -> AirRegions:
    area = tuple(np.ones([n + (a == b) for b, n in enumerate(air.shape)], np.float32) for a in range(3))
    label, count = label_parts(air.astype(np.uint8), area)
    return AirRegions(label, np.bincount(label[label >= 0], minlength=count), np.zeros(count, bool))


def test_particles_carry_names_through_a_split():
    grid = Grid(1.0, (16, 8, 8))
    x = grid.points(CENTRE)
    particles = Particles.empty(("bubble",))
    inside = (np.abs(x - (8, 4, 4)) < (5, 2, 2)).all(axis=-1)
    particles.append(x[~inside].astype(np.float32), volume=np.float32(1.0))
    particles.sort(grid)

    def see(memory, air):
        regions = regions_of(air)
        return follow(memory, particles, regions, regions.cells.astype(float))

    first = see(BubbleMemory(), inside)
    assert list(first.memory.rest) == [inside.sum()] and not first.void.any()
    wall = np.abs(x[..., 0] - 7.5) < 1.0
    second = see(first.memory, inside & ~wall)
    assert len(second.memory.names) == 2 and not second.void.any()
    assert second.memory.rest.sum() == pytest.approx(inside.sum(), rel=1e-12)
    assert first.memory.names[0] in second.memory.names
    # A hole among particles that lie beside no air has no ancestor.
    hole = (np.abs(x - (1.5, 1.5, 1.5)) < 0.1).all(axis=-1)
    third = see(second.memory, (inside & ~wall) | hole)
    assert list(third.void) == [True, False, False]
    np.testing.assert_array_less(third.growth(np.ones(3), np.ones(3), 0.1, 0.1)[0], 0.0)


def test_moved_surfaces_give_a_bubble_its_volume_back():
    grid = Grid(0.1, (24, 24, 24))
    solid = sample_solids(grid, Walls(tuple(grid.corner), tuple(grid.corner + 2.4)), [], 0.0)
    half = Grid(0.05, (48, 48, 48)).points(CENTRE).reshape(-1, 3)
    particles = Particles.empty(("bubble",))
    particles.append(half[np.linalg.norm(half - 1.2, axis=1) > 0.5].astype(np.float32), volume=np.float32(0.05**3))

    def measure():
        particles.sort(grid)
        phi = liquid_distance(particles.position, particles.volume, particles.start, grid, solid.distance)
        regions = regions_of(phi > 0.0)
        fraction = liquid_volume(phi, grid, CENTRE) * solid.openness
        return phi, regions, regions.volume(grid, solid.openness, fraction)

    phi, regions, before = measure()
    faces, start = np.array([6.0 * np.pi * 5.0**2]), particles.position.copy()  # of a sphere of five cells
    for wanted in (0.03, -0.03):
        particles.position[:] = start
        particles.sort(grid)
        shift_surfaces(particles, grid, phi, solid, regions, faces, wanted * before)
        gained = measure()[2][0] / before[0] - 1.0
        assert 0.5 < gained / wanted < 1.2, gained
    particles.position[:] = start
    shift_surfaces(particles, grid, phi, solid, regions, faces, 0.0 * before)
    np.testing.assert_array_equal(particles.position, start)
