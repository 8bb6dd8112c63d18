"""Liquid that fills a box is full up to the walls, however unevenly its particles lie."""

import numpy as np
import pytest

from glug.geometry.liquid import band_of, liquid_distance
from glug.geometry.solids import Walls, sample_solids
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
