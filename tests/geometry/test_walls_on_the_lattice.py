"""Walls at cell borders are closed, whatever way their position rounds."""

import numpy as np
import pytest

from glug.geometry.solids import sampling
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import Grid


def open_walls(cells: int, length: float, low: float, window: int) -> float:
    """The largest open fraction of the faces on the walls of a box of `cells` cells, seen from a window."""
    grid = Grid(length / cells, (cells + 8,) * 3, (window,) * 3, (low,) * 3)
    area = sample_solids(grid, Walls((low,) * 3, (low + length,) * 3), [], 0.0).area
    ends = [i - window for i in (0, cells)]
    return max(float(np.take(a, ends, axis=axis).max()) for axis, a in enumerate(area))


def boxes():
    rng = np.random.default_rng(0)
    return [
        (int(rng.integers(5, 14)), round(float(rng.uniform(0.05, 2.0)), 3), round(float(rng.uniform(-1.0, 1.0)), 2), -i)
        for i in range(1, 6)
        for _ in range(8)
    ]


def test_walls_on_the_lattice_are_closed():
    assert max(open_walls(*box) for box in boxes()) == 0.0


def test_rounding_would_open_some(monkeypatch):
    """The control."""
    monkeypatch.setattr(sampling, "SNAP", 0.0)
    assert max(open_walls(*box) for box in boxes()) == pytest.approx(1.0)
