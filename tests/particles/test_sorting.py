"""Particles sorted by cell: in order, stable, complete, and without those that have no place."""

import numpy as np
import pytest

from glug.grids.regular import Grid
from glug.particles.storage import Particles

GRID = Grid(0.25, (4, 3, 5), lo=(-1, 0, 2), origin=(0.1, -0.2, 0.3))


def scattered(count: int = 400, seed: int = 0) -> Particles:
    """Particles anywhere in the grid; every attribute is a function of the id."""
    rng = np.random.default_rng(seed)
    # A little inside: rounding to float32 must not push one over the upper border.
    position = GRID.corner + rng.uniform(0.001, 0.999, (count, 3)) * GRID.dx * np.array(GRID.shape)
    particles = Particles.empty(("affine", "temperature", "liquid"))
    number = np.arange(count)
    particles.append(
        position,
        volume=1.0 + number,
        velocity=number[:, None] + np.array([0.1, 0.2, 0.3]),
        affine=number[:, None] * np.arange(1.0, 10.0),
        temperature=-number.astype(float),
        liquid=number % 7,
    )
    return particles


def cells_of(position: np.ndarray) -> np.ndarray:
    """Number of the cell of every position, in C order."""
    index = np.floor((position - GRID.corner.astype(np.float32)) / np.float32(GRID.dx)).astype(int)
    return np.ravel_multi_index(tuple(index.T), GRID.shape)


def test_rows_are_in_the_order_of_cells():
    particles = scattered()
    assert (np.diff(cells_of(particles.position)) < 0).any()  # else there is nothing to sort
    particles.sort(GRID)
    assert (np.diff(cells_of(particles.position)) >= 0).all()


def test_start_is_the_first_particle_of_every_cell():
    particles = scattered()
    particles.sort(GRID)
    counts = np.bincount(cells_of(particles.position), minlength=GRID.cells)
    assert np.array_equal(particles.start[: GRID.cells + 1], np.concatenate([[0], np.cumsum(counts)]))


def test_particles_of_a_cell_keep_their_order():
    particles = scattered()
    particles.sort(GRID)
    cell, number = cells_of(particles.position), particles.id[:, 0]
    same = cell[1:] == cell[:-1]
    assert same.sum() > 100
    assert (np.diff(number)[same] > 0).all()


def test_sorting_twice_changes_nothing():
    particles = scattered()
    particles.sort(GRID)
    before = {name: values.copy() for name, values in particles.attributes.items()}
    particles.sort(GRID)
    for name, values in particles.attributes.items():
        assert np.array_equal(values, before[name]), name


def test_attributes_stay_with_their_particle():
    particles, unsorted = scattered(), scattered()
    particles.sort(GRID)
    order = particles.id[:, 0]
    assert not np.array_equal(order, np.arange(len(order)))
    for name, values in particles.attributes.items():
        assert np.array_equal(values, unsorted.attributes[name][order]), name


def test_no_particle_inside_is_lost():
    particles = scattered()
    particles.sort(GRID)
    assert np.array_equal(np.sort(particles.id[:, 0]), np.arange(400))


LOWER, UPPER = GRID.corner, GRID.corner + GRID.dx * np.array(GRID.shape)
MIDDLE = 0.5 * (LOWER + UPPER)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize(
    "place",
    [LOWER - 1e-3, UPPER + 1e-3, np.full(3, np.nan), np.full(3, np.inf), np.full(3, -np.inf), np.full(3, 1e30)],
    ids=["below", "above", "nan", "inf", "minus-inf", "far"],
)
def test_a_particle_without_a_cell_is_dropped(axis, place):
    position = MIDDLE.copy()
    position[axis] = place[axis]
    particles = scattered(10)
    particles.append(position[None], volume=1.0)
    particles.sort(GRID)
    assert np.array_equal(np.sort(particles.id[:, 0]), np.arange(10))


@pytest.mark.parametrize(("volume", "kept"), [(0.0, False), (np.nan, False), (1e-12, True)])
def test_a_particle_without_volume_is_dropped(volume, kept):
    particles = scattered(10)
    particles.append(MIDDLE[None], volume=volume)
    particles.sort(GRID)
    assert (10 in particles.id[:, 0]) == kept


def test_start_does_not_count_what_was_dropped():
    particles = scattered(10)
    particles.append(np.full((5, 3), np.nan), volume=1.0)
    particles.sort(GRID)
    assert len(particles) == particles.start[GRID.cells] == 10


def test_no_particles_can_be_sorted():
    particles = Particles.empty()
    particles.sort(GRID)
    assert len(particles) == 0
    assert not particles.start.any()


def test_ids_are_never_reused():
    particles = scattered(10)
    particles.keep(np.arange(10) < 5)
    particles.append(MIDDLE[None], volume=1.0)
    assert particles.id[-1, 0] == 10


def test_values_that_are_assigned_are_the_particles_own():
    """A name that is assigned to changes the rows, and hides nothing once they are sorted, dropped or added to."""
    particles = scattered()
    particles.volume *= np.float32(2.0)
    particles.velocity = 0.0
    particles.keep(particles.id[:, 0] < 10)
    particles.append(np.zeros((1, 3)), volume=5.0)
    assert np.array_equal(particles.volume[:, 0], [*(2.0 * (1.0 + np.arange(10))), 5.0])
    assert particles.volume.dtype == np.float32 and not particles.velocity.any()
    with pytest.raises(ValueError):
        particles.volume = np.zeros((3, 1))
