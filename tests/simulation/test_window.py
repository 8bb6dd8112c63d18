"""The box of cells that a step works on: where it begins and ends."""

import math

import numpy as np
import pytest

from glug import scene
from glug.grids.regular import Grid
from glug.simulation.setting import BORDER, Setting

CELLS, TILE = 64, 8
SCENE = {
    "name": "two particles",
    "domain": {"size": [1.0, 1.0, 1.0], "resolution": CELLS},
    "liquids": {"water": {"density": 1000.0, "viscosity": 0.0}},
    "volumes": [{"shape": {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.1}, "liquid": "water"}],
}


def window(low: float, high: float, air: str = "vacuum") -> tuple[Grid, int]:
    """That of two particles, in cells along every axis, and by how many cells their box is padded."""
    setting = Setting(scene.load(SCENE | {"solver": {"air": air}}))
    return setting.window(np.array([[low] * 3, [high] * 3]) / CELLS), math.ceil(setting.scene.time.cfl) + 3


def ends(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    return np.array(grid.lo), np.array(grid.lo) + grid.shape


def test_it_is_the_padded_box_of_the_particles_in_whole_tiles():
    grid, pad = window(25.3, 36.7)
    first, last = ends(grid)
    assert (first <= 25 - pad).all() and (first > 25 - pad - TILE).all()
    assert (last >= 37 + pad).all() and (last < 37 + pad + TILE).all()
    assert (np.array(grid.shape) % TILE == 0).all()


def test_it_stays_while_the_liquid_moves_little():
    assert window(26.3, 36.7)[0] == window(26.6, 36.9)[0]
    assert window(26.3, 36.7)[0] != window(26.3 + TILE, 36.7 + TILE)[0]


def test_it_ends_a_few_cells_behind_the_walls():
    first, last = ends(window(1.0, CELLS - 1.0)[0])
    assert (first == -BORDER).all()
    assert (last >= CELLS + BORDER).all() and (last < CELLS + BORDER + TILE).all()


@pytest.mark.parametrize("air", ["constraint", "two-phase"])
def test_it_is_the_domain_where_air_counts(air):
    first, last = ends(window(25.3, 36.7, air)[0])
    assert (first == -BORDER).all()
    assert (last >= CELLS + BORDER).all() and (last < CELLS + BORDER + TILE).all()
