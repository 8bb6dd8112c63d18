"""Liquid that fills a box is full up to the walls, however unevenly its particles lie."""

import numpy as np
import pytest

from glug.geometry.liquid import band_of, liquid_distance
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
