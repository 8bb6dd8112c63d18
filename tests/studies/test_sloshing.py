"""Water that swings in a tank does so alike on triangles and on the regular grid."""

import numpy as np
import pytest

from glug.studies.validate.unstructured import sloshing

CELLS, SWINGS = 24, 1.6
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def grid() -> sloshing.Swing:
    return sloshing.swing(sloshing.MESHES["regular grid"], CELLS, SWINGS)


@pytest.mark.parametrize("name", ["uniform", "graded, every fifth"])
def test_period_amplitude_and_surface_are_those_of_the_grid(grid, name):
    found = sloshing.swing(sloshing.MESHES[name], CELLS, SWINGS)
    assert found.period() == pytest.approx(grid.period(), rel=0.03)
    assert found.period() == pytest.approx(sloshing.exact_period(), rel=0.05)
    assert found.kept() == pytest.approx(grid.kept(), abs=0.1)
    assert abs(found.sunk()) < 0.2 / CELLS
    assert np.abs(found.surface - grid.surface).max() < 0.1
