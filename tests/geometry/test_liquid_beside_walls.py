"""Liquid that fills a box is full up to the walls, however unevenly its particles lie."""

import numpy as np
import pytest

from glug.geometry.liquid import BEYOND, FAR_FROM_WALL, IntoSolids, band_of, liquid_distance
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.particles.storage import Particles


@pytest.mark.parametrize("dim", [2, 3])
def test_cells_beside_walls_are_inside(dim: int):
    """Three particles in every cell at random places: by their kernels some cells would be holes."""
    grid = Grid(0.1, (16, 16, 16 if dim == 3 else 1), (-3, -3, -3 if dim == 3 else 0), dim=dim)
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), [], 0.0)
    x = grid.points(CENTRE)
    inside = ((x > 0.0) & (x < 1.0))[..., :dim].all(axis=-1)
    rng = np.random.default_rng(0)
    position = np.repeat(x[inside], 3, axis=0)
    position[:, :dim] += rng.uniform(-0.045, 0.045, (len(position), dim))
    particles = Particles.empty()
    particles.append(position.astype(np.float32), volume=np.float32(0.1**3 / 8))
    particles.sort(grid)
    phi = liquid_distance(particles.position, particles.volume, particles.start, grid, solid.distance)
    assert (phi[inside] < 0.0).all()
    assert (band_of(particles.start, grid, solid.distance, 1)[inside] == 2).all()
    # Without the walls the cells in front of them are at the surface.
    nowhere = np.full_like(solid.distance, 1.0)
    assert (band_of(particles.start, grid, nowhere, 1)[inside] == 1).any()
    assert (liquid_distance(particles.position, particles.volume, particles.start, grid, nowhere)[inside] > 0.0).any()


def test_a_dry_solid_holds_no_liquid_and_a_thread_in_a_slot_is_not_full():
    grid = Grid(0.1, (24, 24, 24))
    nodes = np.full(tuple(n + 1 for n in grid.shape), 1.0, np.float32)
    nodes[:, :, :17] = -1.0  # solid cells up to layer 15
    nodes[8:10] = 0.0  # a slot between two walls, one cell wide
    x = grid.points(CENTRE)
    thread = np.zeros(grid.shape, bool)
    thread[8, 12, 4:14] = True
    particles = Particles.empty()
    particles.append(x[thread].astype(np.float32), volume=np.float32(0.1**3 / 8))
    particles.sort(grid)
    band = band_of(particles.start, grid, nodes, 2)
    assert (band[:5] == 0).all()  # far from all particles, in the solid
    assert (band[8, 12, 6:12] == 1).all()  # filled all around, by too few particles


def surface_heights(surface, floor: float, per_side: int, beyond: float) -> np.ndarray:
    """Of particles below a height `surface` of x in a tank 20 cells wide, in every column, from the floor on."""
    grid = Grid(1.0, (26, 18, 1), (-3, -3, 0), dim=2)
    solid = sample_solids(grid, Walls((0.0, floor, -np.inf), (20.0, 12.0, np.inf)), [], 0.0)
    n = per_side
    x, y = np.meshgrid((np.arange(20 * n) + 0.5) / n, (np.arange(12 * n) + 0.5) / n, indexing="ij")
    under = y < surface(x)
    particles = Particles.empty()
    place = np.stack([x[under], y[under] + floor, np.full(under.sum(), 0.5)], axis=1)
    particles.append(place.astype(np.float32), volume=np.float32(n**-2.0))
    particles.sort(grid)
    given = particles.position, particles.volume, particles.start, grid, solid.distance
    phi = liquid_distance(*given, into=IntoSolids(beyond=beyond))[:, :, 0]
    at = (phi < 0.0).sum(axis=1) - 1  # columns are wet from their lower end up
    i = np.arange(len(phi))
    return at - 2.5 + phi[i, at] / (phi[i, at] - phi[i, at + 1]) - floor


def test_a_crest_at_a_wall_is_as_high_and_as_curved_as_away_from_it():
    """Particles under 8 + 2 cos(k x), k = 2 pi / 20: within 1.5 cells of the wall the crest rises by 0.22 cells."""

    def crest(x: np.ndarray) -> np.ndarray:
        return 8.0 + 2.0 * np.cos(2.0 * np.pi / 20.0 * x)

    columns = np.arange(26) - 2.5
    curved, level = (
        np.abs(surface_heights(crest, 0.0, 4, beyond) - crest(columns))[2:8].max() for beyond in (BEYOND, FAR_FROM_WALL)
    )
    assert curved < 0.08  # in the wall as before it: they meet at a right angle
    assert level > 0.12  # without the second point


@pytest.mark.parametrize("floor, depth", [(0.0, 2.5), (0.3, 2.25), (0.1, 2.5)])
def test_a_shallow_pool_is_flat_at_walls(floor: float, depth: float):
    """The floor is near both points: what is seen there is its slope, not that of the side wall."""
    found = surface_heights(lambda x: np.full_like(x, depth), floor, 8, BEYOND)
    assert np.abs(found[2:9] - found[13]).max() < 0.02  # cells; 0.09 to 0.2 when the floor turned the line
