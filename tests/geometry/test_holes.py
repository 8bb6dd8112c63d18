"""Holes between particles that no air could have reached are liquid; air that could have come there stays air."""

import numpy as np
import pytest

from glug.geometry.liquid import fill_holes

SHAPE, DX = (14, 12, 13), 0.1


def pool() -> tuple[np.ndarray, np.ndarray]:
    """Liquid to a height of 9 cells, all of it open."""
    phi = np.full(SHAPE, -DX, np.float32)
    phi[:, 9:] = DX
    return phi, np.ones(SHAPE, np.float32)


@pytest.mark.parametrize("cells", [[(6, 4, 6)], [(6, 4, 6), (6, 5, 6)], [(6, 4, 6), (7, 5, 6)]])
def test_a_hole_of_a_cell_or_two_deep_inside_is_liquid(cells):
    phi, openness = pool()
    surface = phi >= 0.0
    for cell in cells:
        phi[cell] = 0.3 * DX
    fill_holes(phi, openness, DX)
    assert np.array_equal(phi >= 0.0, surface)


def test_air_that_is_larger_or_open_stays():
    phi, openness = pool()
    phi[5:9, 3:6, 5:9] = DX  # a cavity
    phi[2, 6:9, 2] = DX  # a shaft from the surface
    before = phi.copy()
    fill_holes(phi, openness, DX)
    assert np.array_equal(phi, before)


def test_a_hole_beside_a_wall_is_liquid():
    phi, openness = pool()
    phi[:2], openness[:2] = DX, 0.0  # behind the wall
    phi[2, 4, 6] = 0.2 * DX
    fill_holes(phi, openness, DX)
    assert phi[2, 4, 6] < 0.0
    assert (phi[:2] == np.float32(DX)).all()
