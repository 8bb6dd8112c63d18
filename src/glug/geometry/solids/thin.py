"""Solids thinner than a cell.

A plate half a cell thick can hide between two corners of a cell, so near solids the distance is sampled at half-cell
spacing: a sample line that is longer than the plate is thick cannot miss it. A cell that such a plate splits keeps
only its larger part open, and two cells are joined only through samples that both keep: nothing leaks.
"""

from collections.abc import Callable

import numpy as np

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


def hides_solid(fine: np.ndarray) -> np.ndarray:
    """Cells in which a solid sample lies between two open ones along an axis."""
    solid = fine <= 0.0
    hides = np.zeros(len(fine), np.bool_)
    for a in (1, 2, 3):
        low, middle, high = (np.take(solid, i, axis=a) for i in range(3))
        hides |= (middle & ~low & ~high).any(axis=(1, 2))
    return hides


def open_fraction(fine: np.ndarray, dx: float) -> np.ndarray:
    """Open fraction of cells from their fine samples: each stands for the half cell around it."""
    weight = np.array([0.25, 0.5, 0.25])
    share = np.clip(0.5 + fine / (0.5 * dx), 0.0, 1.0)
    return np.einsum("nijk,i,j,k->n", share, weight, weight, weight)


def cut_finely(grid: Grid, cells: np.ndarray, fine: np.ndarray, area: Staggered) -> None:
    """Replace the areas of the faces of `cells` by those seen at half-cell spacing, thin solids included."""
    open_samples = _largest_part(fine > 0.0)
    number = np.full(grid.shape, -1, np.int32)
    number[tuple(cells.T)] = np.arange(len(cells))
    for a in grid.axes:
        for side in (0, 1):
            take = [slice(None)] * 4
            take[a + 1] = 2 * side  # type: ignore[call-overload]
            shown = open_samples[tuple(take)]
            # The cell across the face must agree that a sample is open: else two parts would join there.
            across = cells.copy()
            across[:, a] += 2 * side - 1
            inside = (across[:, a] >= 0) & (across[:, a] < grid.shape[a])
            across[:, a] = np.clip(across[:, a], 0, grid.shape[a] - 1)
            other = np.where(inside, number[tuple(across.T)], -1)
            take[a + 1] = 2 - 2 * side  # type: ignore[call-overload]
            agreed = np.where((other >= 0)[:, None, None], open_samples[tuple(take)][other], True)
            take[a + 1] = 2 * side  # type: ignore[call-overload]
            values = np.where(shown & agreed, np.abs(fine[tuple(take)]), -np.abs(fine[tuple(take)]))
            face = cells.copy()
            face[:, a] += side
            area[a][tuple(face.T)] = _face_open_fraction(values)


def _largest_part(fluid: np.ndarray) -> np.ndarray:
    """Of the fluid samples (n, 3, 3, 3) of each cell, those in its largest connected part."""
    n = len(fluid)
    label = np.where(fluid, np.arange(1, 28, dtype=np.int8).reshape(3, 3, 3), np.int8(0))
    for _ in range(27):
        before = label.copy()
        for a in (1, 2, 3):
            low, high = lower_upper(label, a)
            joined = (low > 0) & (high > 0)
            np.maximum(low, high, out=low, where=joined)
            np.maximum(high, low.copy(), out=high, where=joined)
        if np.array_equal(before, label):
            break
    flat = label.reshape(n, 27)
    counts = np.zeros((n, 28), np.int8)
    np.add.at(counts, (np.arange(n)[:, None], flat), 1)
    counts[:, 0] = 0
    return (label > 0) & (label == counts.argmax(axis=1).astype(np.int8)[:, None, None, None])


def _face_open_fraction(values: np.ndarray) -> np.ndarray:
    """Positive fraction of faces from their 3 x 3 samples (n, 3, 3): four squares of four triangles each."""
    a, b = values[:, :-1, :-1], values[:, 1:, :-1]
    c, d = values[:, 1:, 1:], values[:, :-1, 1:]
    m = 0.25 * (a + b + c + d)
    total = sum(_triangle_open(p, q, m) for p, q in ((a, b), (b, c), (c, d), (d, a)))
    return np.asarray(total).mean(axis=(1, 2)) / 4.0


def _triangle_open(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    low, mid, high = np.sort(np.stack([a, b, c]), axis=0).astype(np.float64)
    count = (low > 0).astype(int) + (mid > 0) + (high > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = high * high / ((high - low) * (high - mid))
        two = 1.0 - low * low / ((low - mid) * (low - high))
    return np.select([count == 0, count == 1, count == 2], [0.0 * low, one, two], 1.0)
