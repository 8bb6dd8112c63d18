"""Seeding fills shapes exactly, evenly and reproducibly; limits per cell keep volume and momentum."""

import numpy as np
import pytest

from glug.grids.regular import Grid
from glug.particles import seeding
from glug.particles.storage import Particles

DX = 1.0 / 16


def fill(distance, lower, upper, *, per_cell: int = 8, dim: int = 3, seed: int = 0, origin=(0.0, 0.0, 0.0)):
    return seeding.fill_region(
        distance,
        np.asarray(lower, float),
        np.asarray(upper, float),
        seeding.Lattice(np.asarray(origin, float), DX, per_cell, dim, seed),
    )


def sphere(centre, radius: float):
    return lambda points: np.linalg.norm(points - np.asarray(centre), axis=1) - radius


def disc(centre, radius: float):
    return lambda points: np.linalg.norm((points - np.asarray(centre))[:, :2], axis=1) - radius


def box(lower, upper, dim: int = 3):
    def distance(points):
        q = np.maximum(lower - points, points - upper)[:, :dim]
        return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)

    return distance


def below(height: float):
    return lambda points: points[:, 1] - height


# -- volume -----------------------------------------------------------------------------------------------

# Shares are linear in the distance over one part h = 1/32: on a sphere of radius R = 0.3 that adds
# h^2 / (4 R^2) = 0.27%.
# Slivers thinner than LEAST_SHARE of a part are left out, which takes 0.04%; the rest is sampling.
CENTRES = [(0.5, 0.5, 0.5), (0.513, 0.4871, 0.502), (0.47, 0.531, 0.519)]


@pytest.mark.parametrize("centre", CENTRES)
def test_a_filled_sphere_has_its_volume(centre):
    _, shares = fill(sphere(centre, 0.3), np.subtract(centre, 0.3), np.add(centre, 0.3))
    assert shares.sum() * (DX / 2) ** 3 == pytest.approx(4 / 3 * np.pi * 0.3**3, rel=4e-3)


@pytest.mark.parametrize("centre", CENTRES)
def test_a_filled_disc_has_its_area(centre):
    lower, upper = np.subtract(centre, 0.3), np.add(centre, 0.3)
    _, shares = fill(disc(centre, 0.3), lower, upper, per_cell=4, dim=2)
    assert shares.sum() * (DX / 2) ** 2 == pytest.approx(np.pi * 0.3**2, rel=3e-3)


def test_counting_whole_particles_is_less_exact():
    """Negative control: without shares a sphere of four cells is off by a percent for some centre."""
    errors = []
    for centre in CENTRES:
        points = seeding.seed_region(
            sphere(centre, 0.125),
            np.subtract(centre, 0.125),
            np.add(centre, 0.125),
            seeding.Lattice(np.zeros(3), DX, per_cell=1, dim=3, seed=0),
        )
        errors.append(abs(len(points) * DX**3 / (4 / 3 * np.pi * 0.125**3) - 1))
    assert max(errors) > 0.01


@pytest.mark.parametrize("shift", [0.0, 0.0101, 0.0237])
def test_a_filled_box_has_its_volume(shift):
    """Faces are exact but for slivers; parts on the edges count by their distance alone, not by their corner."""
    lower, upper = np.full(3, 0.25 + shift), np.array([0.75, 0.625, 0.6875]) + 1.37 * shift
    _, shares = fill(box(lower, upper), lower, upper)
    # min(a, b) instead of a b is at most a quarter of a part, along 12 edges.
    edges = 4 * (upper - lower).sum() * 0.25 * (DX / 2) ** 2
    assert abs(shares.sum() * (DX / 2) ** 3 - np.prod(upper - lower)) < edges


@pytest.mark.parametrize("lower", [0.25, 0.25 + 3 * DX / 2])
def test_a_box_between_cell_borders_is_filled_exactly(lower):
    corner, opposite = np.full(3, lower), np.array([0.75, 0.8125, 0.6875])
    _, shares = fill(box(corner, opposite), corner, opposite)
    assert shares.sum() * (DX / 2) ** 3 == pytest.approx(np.prod(opposite - corner), rel=1e-12)


def wedge(points):
    """Below y = 0.6 and left of a plane that leans over it: an edge of 45 degrees."""
    return np.maximum(points[:, 1] - 0.6, (points[:, 0] - 0.51 - (points[:, 1] - 0.3)) * np.sqrt(0.5))


@pytest.mark.parametrize(
    "region",
    [wedge, sphere((0.513, 0.487, 0.502), 0.3), box(np.full(3, 0.261), np.array([0.763, 0.641, 0.702]))],
    ids=["wedge", "sphere", "box"],
)
def test_no_particle_lies_outside_its_region(region):
    position, _ = fill(region, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert len(position) > 1000
    assert region(position).max() <= 0.0


# -- flat surfaces ----------------------------------------------------------------------------------------

HEIGHTS = [0.5, 0.503, 0.51, 0.5156, 0.5201, 0.5287, 0.5312]


@pytest.mark.parametrize("height", HEIGHTS)
def test_particles_under_a_flat_surface_have_equal_shares(height):
    position, shares = fill(below(height), (0, 0, 0), (1, height, 1))
    top = position[:, 1] > height - DX / 2
    assert np.ptp(shares[(position[:, 1] < height - DX)]) == 0.0
    cut = shares[top & (shares < 1.0)]
    assert len(cut) == 0 or np.ptp(cut) < 1e-9


@pytest.mark.parametrize("height", HEIGHTS)
def test_cut_particles_lie_level(height):
    position, shares = fill(below(height), (0, 0, 0), (1, height, 1))
    cut = position[shares < 1.0, 1]
    assert len(cut) == 0 or np.ptp(cut) < 1e-9


@pytest.mark.parametrize("height", HEIGHTS)
def test_every_column_under_a_flat_surface_holds_its_height(height):
    position, shares = fill(below(height), (0, 0, 0), (1, height, 1))
    inside = ((position > 0) & (position < 1))[:, [0, 2]].all(axis=1) & (position[:, 1] > 0)
    index = np.floor(position[inside][:, [0, 2]] / (DX / 2)).astype(int)
    columns = np.zeros((32, 32))
    np.add.at(columns, tuple(index.T), shares[inside] * DX / 2)
    assert np.ptp(columns) < 1e-9
    assert abs(columns[0, 0] - height) <= seeding.LEAST_SHARE * DX / 2 + 1e-9


# -- places -----------------------------------------------------------------------------------------------


def in_order(position: np.ndarray, *others: np.ndarray) -> np.ndarray:
    rows = np.column_stack([position, *others])
    return rows[np.lexsort(rows.T)]


def test_places_do_not_depend_on_the_chunks(monkeypatch):
    region = (sphere((0.5, 0.5, 0.5), 0.3), (0.2, 0.2, 0.2), (0.8, 0.8, 0.8))
    whole = fill(*region)
    monkeypatch.setattr(seeding, "CHUNK", 1000)
    assert np.array_equal(in_order(*fill(*region)), in_order(*whole))


def test_places_do_not_depend_on_the_box_searched():
    shape = sphere((0.5, 0.5, 0.5), 0.2)
    small, large = fill(shape, (0.3,) * 3, (0.7,) * 3), fill(shape, (0.1,) * 3, (0.95,) * 3)
    assert np.allclose(in_order(*small), in_order(*large), atol=1e-14)


def test_another_seed_gives_other_places_in_the_same_parts():
    region = (sphere((0.5, 0.5, 0.5), 0.3), (0.2, 0.2, 0.2), (0.8, 0.8, 0.8))
    (a, shares_a), (b, shares_b) = fill(*region), fill(*region, seed=1)
    assert np.array_equal(shares_a, shares_b)
    assert not np.array_equal(a, b)
    assert np.abs(a - b).max() < DX / 2


def test_a_whole_cell_gets_its_number_of_particles():
    position, _ = fill(lambda points: np.full(len(points), -1.0), (0, 0, 0), (1, 1, 1))
    inside = position[((position > 0) & (position < 1)).all(axis=1)]
    counts = np.zeros((16, 16, 16), int)
    np.add.at(counts, tuple(np.floor(inside / DX).astype(int).T), 1)
    assert (counts == 8).all()


# -- limits per cell --------------------------------------------------------------------------------------

LEAST, MOST = 3, 16
WHOLE = 1.0  # volume of a whole particle


def crowd(counts: np.ndarray) -> tuple[Particles, Grid]:
    """Particles of uneven volume and random motion, `counts` in the cells of a grid; sorted."""
    rng = np.random.default_rng(5)
    grid = Grid(DX, counts.shape)
    cells = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)
    particles = Particles.empty(("affine", "temperature"))
    particles.append(
        DX * (cells + rng.uniform(0.05, 0.95, cells.shape)),
        volume=rng.uniform(0.5, 1.5, len(cells)),
        velocity=rng.normal(size=cells.shape),
        affine=rng.normal(size=(len(cells), 9)),
        temperature=rng.uniform(10, 20, len(cells)),
    )
    particles.sort(grid)
    return particles, grid


def totals(particles: Particles) -> np.ndarray:
    """Volume and momentum."""
    m = particles.volume.astype(np.float64)
    return np.concatenate([m.sum(axis=0), (m * particles.velocity).sum(axis=0)])


def limited(counts: np.ndarray, band: int, times: int = 1) -> tuple[np.ndarray, np.ndarray, Particles, Grid]:
    """Totals before and after, and the particles, sorted."""
    particles, grid = crowd(counts)
    before = totals(particles)
    everywhere = np.zeros(grid.shape, np.int8)
    everywhere[1:-1, 1:-1, 1:-1] = band  # liquid never touches the border of a window
    for n in range(times):
        seeding.limit_per_cell(particles, grid, everywhere, seeding.Limits(LEAST, MOST), WHOLE, seed=n)
        particles.sort(grid)
    return before, totals(particles), particles, grid


def uneven(most: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, most, (6, 5, 7))


def test_merging_keeps_volume_and_momentum():
    before, after, particles, _ = limited(uneven(24), band=0)
    assert particles.next_id == len(crowd(uneven(24))[0])  # nothing was split
    assert np.abs(after - before).max() < 1e-6 * before[0]


def test_merging_keeps_heat():
    particles, _ = crowd(uneven(24))
    before = (particles.volume.astype(np.float64) * particles.temperature).sum()
    _, _, after, _ = limited(uneven(24), band=0)
    assert (after.volume.astype(np.float64) * after.temperature).sum() == pytest.approx(before, rel=1e-6)


def test_merging_brings_every_cell_to_the_limit():
    counts = uneven(24)
    _, _, particles, grid = limited(counts, band=0)
    now = np.diff(particles.start[: grid.cells + 1]).reshape(grid.shape)
    assert counts.max() > MOST
    assert np.array_equal(now, np.minimum(counts, MOST))


def test_no_particle_becomes_much_heavier_or_lighter_than_whole_ones():
    """However long a cell is crowded or sparse: a hundred times, with more coming in."""
    particles, grid = crowd(np.full((5, 5, 5), 8))
    inside = np.full(grid.shape, 2, np.int8)
    rng = np.random.default_rng(3)
    for n in range(100):
        particles.append(np.full((4, 3), 2.5 * DX), volume=np.full(4, WHOLE), velocity=rng.normal(size=(4, 3)))
        particles.volume[particles.start[31]] *= 0.5  # somebody takes from another cell
        particles.sort(grid)
        seeding.limit_per_cell(particles, grid, inside, seeding.Limits(8, MOST), WHOLE, seed=n)
        particles.sort(grid)
    assert particles.volume.max() <= seeding.HEAVIEST * WHOLE
    assert np.diff(particles.start[: grid.cells + 1]).max() >= 150  # a cell full of heavy ones stays crowded


def test_splitting_keeps_volume_and_momentum():
    before, after, particles, _ = limited(uneven(6), band=2)
    assert len(particles) > uneven(6).sum()
    assert np.abs(after - before).max() < 1e-6 * before[0]


def test_splitting_fills_sparse_cells_up():
    """A cell that starts with one particle and whose neighbours have enough comes to the least within some steps."""
    counts = np.full((5, 5, 5), 8)
    counts[2, 2, 2] = 1
    _, _, particles, grid = limited(counts, band=2, times=8)
    now = np.diff(particles.start[: grid.cells + 1]).reshape(grid.shape)
    assert now.min() >= LEAST


def test_cells_at_the_surface_are_not_split():
    counts = np.ones((4, 4, 4), int)
    _, _, particles, _ = limited(counts, band=1)
    assert len(particles) == 64


def test_empty_cells_stay_empty():
    counts = np.zeros((4, 4, 4), int)
    counts[1, 1, 1] = 8
    _, _, particles, _ = limited(counts, band=2)
    assert len(particles) == 8


def test_empty_cells_of_a_full_box_are_filled_from_beside():
    counts = np.full((6, 5, 7), 8)
    counts[2, 2, 2] = counts[4, 3, 5] = 0
    counts[1, 1, 1] = 3
    particles, grid = crowd(counts)
    before = totals(particles)
    rounds = 0
    while seeding.fill_up(particles, grid, np.ones(grid.shape, np.bool_), least=4, seed=rounds):
        particles.sort(grid)
        rounds += 1
    assert rounds == 4
    now = np.diff(particles.start[: grid.cells + 1]).reshape(grid.shape)
    assert now[2, 2, 2] == now[4, 3, 5] == now[1, 1, 1] == 4
    assert now.sum() == counts.sum() + 9
    assert np.abs(totals(particles) - before).max() < 1e-6 * before[0]


def test_merged_temperature_stays_within_that_of_its_particles():
    _, _, particles, _ = limited(uneven(24), band=0)
    assert particles.temperature.min() >= 10.0
    assert particles.temperature.max() <= 20.0
