"""Coarse grids of a pressure solve hold the liquid where the fine grid does."""

import numpy as np
import pytest

from glug.grids.blocks import active_blocks
from glug.grids.kernels import sum_faces
from glug.grids.regular import CENTRE, Grid, lower_upper
from glug.physics.pressure.levels import PressureLevel, coarser


def box_of_liquid(lid: bool) -> PressureLevel:
    """Liquid in a box with walls of no thickness, and air all around it."""
    grid = Grid(1.0, (32, 32, 32))
    away = np.abs(grid.points(CENTRE) - (17.0, 16.5, 16.0)) - (6.0, 7.5, 6.0)
    phi = away.max(axis=-1).astype(np.float32)
    liquid = (phi < 0.0).view(np.uint8)
    area, links = grid.staggered(), grid.staggered()
    for a in range(3):
        low, high = lower_upper(liquid, a)
        wall = low != high
        inner = tuple(slice(1, -1) if b == a else slice(None) for b in range(3))
        open_lid = wall & (a == 1) & (low > 0) & (not lid)
        area[a][inner] = ~wall | open_lid
        links[a][inner] = ((low > 0) & (high > 0)) | open_lid
    diagonal = grid.scalar()
    sum_faces(*links, liquid, diagonal)
    return PressureLevel(grid.shape, phi, liquid, area, links, diagonal, active_blocks(liquid))


@pytest.mark.parametrize("lid", [True, False])
def test_coarse_grids_find_no_air_behind_thin_walls(lid: bool):
    level = box_of_liquid(lid)
    for _ in range(3):
        one = (np.where(level.diagonal > 0, np.float32(1.0), np.float32(0.0)),)
        energy = level.apply(one, (np.zeros_like(one[0]),))  # of a constant: what holds it
        assert level.unknowns > 0
        if lid:
            assert abs(energy) <= 1e-5 * level.diagonal.sum()
        else:
            assert energy > 0.01 * level.diagonal.sum()  # the control: there is air
        level = coarser(level)
