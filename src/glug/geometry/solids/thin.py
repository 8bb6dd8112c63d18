"""Solids thinner than a cell.

A plate half a cell thick can hide between two corners of a cell, so near solids the distance is sampled at half-cell
spacing: a sample line that is longer than the plate is thick cannot miss it. A cell that such a plate splits keeps
only its larger part open, and two cells are joined only through samples that both keep: nothing leaks.
"""

from collections.abc import Callable

import numpy as np

from glug.geometry.solids import kernels_thin as kernels
from glug.grids.regular import Grid, Staggered, lower_upper

NEAR = np.sqrt(3.0) / 2.0  # a cell touched by a solid has a corner closer than this many cells
CHUNK = 1 << 18  # points evaluated at a time: bounds the memory of temporaries


def near_cells(grid: Grid, own: list[tuple[list[slice], np.ndarray]]) -> np.ndarray:
    """bool: cells that a solid (not a wall) may touch."""
    found = np.zeros(grid.shape, np.bool_)
    limit = NEAR * grid.dx * (1 + 1e-6)
    for ranges, d in own:
        if min(d.shape) < 2:
            continue
        low = high = d
        for a in range(3):
            low, high = np.minimum(*lower_upper(low, a)), np.maximum(*lower_upper(high, a))
        cells = tuple(slice(r.start, r.stop - 1) for r in ranges)
        found[cells] |= (low <= limit) & (high >= -limit)
    return found


def fine_distance(grid: Grid, cells: np.ndarray, distance: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Solid distance at the 27 points of each cell that are half a cell apart, (n, 3, 3, 3)."""
    fine = np.empty((len(cells), 3, 3, 3), np.float32)
    steps = 0.5 * grid.dx * np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    if grid.dim == 2:
        steps[:, 2] = 0.5 * grid.dx
    for i in range(0, len(cells), CHUNK // 27):
        part = cells[i : i + CHUNK // 27]
        points = (np.asarray(grid.origin) + grid.dx * (part + grid.lo))[:, None, :] + steps
        fine[i : i + len(part)] = distance(points.reshape(-1, 3)).reshape(-1, 3, 3, 3)
    return fine


def open_fraction(fine: np.ndarray, dx: float) -> np.ndarray:
    """Open fraction of cells from their fine samples: each stands for the half cell around it."""
    weight = np.array([0.25, 0.5, 0.25])
    share = np.clip(0.5 + fine / (0.5 * dx), 0.0, 1.0)
    return np.einsum("nijk,i,j,k->n", share, weight, weight, weight)


def cut_finely(grid: Grid, cells: np.ndarray, fine: np.ndarray, area: Staggered) -> np.ndarray:
    """Replace the areas of the faces of `cells` by those seen at half-cell spacing, thin solids included.

    Returns which cells hide a solid: one of its samples lies between two open ones along an axis.
    """
    samples = fine.reshape(-1, 27)
    parts, hides = np.empty(len(cells), np.int64), np.empty(len(cells), np.bool_)
    kernels.join_samples(samples, parts, hides)
    number = np.full(grid.shape, -1, np.int32)
    number[tuple(cells.T)] = np.arange(len(cells))
    for a in grid.axes:
        kernels.cut_faces(a, cells, number, samples, parts, area[a])
    return hides
