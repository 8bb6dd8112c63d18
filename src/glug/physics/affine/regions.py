"""Which cells move as affine regions: far from surfaces and walls, whole or cut into tiles.

A region's velocity is u(x) = u0 + L (x - x0) with tr L = 0: 5 unknowns in 2D, 11 in 3D (Goldade 2021, eq. 4.9-4.12).
Its faces are all faces of its cells. Two regions never share a face, so at least one layer of ordinary cells lies
between them; a lattice of such layers cuts a large region into tiles (section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glug.grids.regular import FACES, Grid, lower_upper

WALL_BAND = 2  # cells beside a solid that stay ordinary (Goldade 2021, section 4.5.5)


@dataclass(frozen=True)
class Regions:
    """`label` numbers the region of every cell, -1 in ordinary cells; `centre` (count, 3) is x0 [m]."""

    label: np.ndarray
    centre: np.ndarray

    @property
    def count(self) -> int:
        return len(self.centre)

    @property
    def cells(self) -> int:
        """Cells in all regions."""
        return int(np.count_nonzero(self.label >= 0))

    @classmethod
    def joined(cls, parts: Sequence[Regions]) -> Regions:
        """All regions of several sets, which share no face."""
        label, begin = np.full_like(parts[0].label, -1), 0
        for part in parts:
            label = np.where(part.label >= 0, part.label + np.int32(begin), label)
            begin += part.count
        return cls(label, np.concatenate([part.centre for part in parts]))


def deep_cells(fluid: np.ndarray, area: Sequence[np.ndarray], band: int, dim: int = 3) -> np.ndarray:
    """Cells of `fluid` with `band` cells between them and any other open cell, and away from solids."""
    from scipy.ndimage import maximum_filter1d

    def grown(cells: np.ndarray, reach: int) -> np.ndarray:
        near = cells.view(np.uint8)
        for a in range(dim):
            near = maximum_filter1d(near, 2 * reach + 1, axis=a, mode="nearest")
        return near > 0

    cut, others = np.zeros(fluid.shape, np.bool_), np.zeros(fluid.shape, np.bool_)
    for a in range(dim):
        lower, upper = lower_upper(area[a], a)
        cut |= (lower < 1.0) | (upper < 1.0)
        others |= (lower > 0.0) | (upper > 0.0)  # not its volume: cells behind the edge of a box have some by rounding
    return fluid & ~grown(others & ~fluid, band) & ~grown(cut, WALL_BAND - 1)


def find_regions(grid: Grid, inside: np.ndarray, tile: int = 0) -> Regions:
    """The connected parts of `inside`, cut by the layers of the scene's lattice whose index `tile` divides.

    A part one cell thick along an axis does not determine its unknowns: its cells stay ordinary.
    """
    from scipy.ndimage import find_objects, label

    inside = inside.copy()
    if tile:
        for a in grid.axes:
            layer = (np.arange(grid.shape[a]) + grid.lo[a]) % tile == 0
            np.moveaxis(inside, a, 0)[layer] = False
    found, _ = label(inside)
    numbers = np.full(found.max(initial=0) + 1, -1, np.int32)
    centres: list[np.ndarray] = []
    for n, box in enumerate(find_objects(found), start=1):
        if box is None or any(box[a].stop - box[a].start < 2 for a in grid.axes):
            continue
        numbers[n] = len(centres)
        middle = [0.5 * (s.start + s.stop) for s in box]  # of the box: any point will do
        centres.append(grid.corner + grid.dx * np.array(middle))
    return Regions(numbers[found], np.array(centres).reshape(-1, 3))


def owners(regions: Regions, axis: int) -> np.ndarray:
    """The region of every face of `axis`: that of a cell beside it, or -1."""
    shape = list(regions.label.shape)
    shape[axis] += 1
    owner = np.full(shape, -1, np.int32)
    lower, upper = lower_upper(owner, axis)
    for side in (lower, upper):  # views: a face whose cells are both in regions has both in the same one
        np.maximum(side, regions.label, out=side)
    return owner


def basis(grid: Grid, regions: Regions, axis: int, where: tuple[np.ndarray, ...], owner: np.ndarray) -> np.ndarray:
    """R: what the unknowns of its region contribute to each face (n, dim + dim^2 - 1), lengths in cells.

    The unknowns are u0 and the rows of L without its last entry, which is minus the sum of the other diagonal ones.
    """
    dim = grid.dim
    offset = np.stack([i + o for i, o in zip(where, FACES[axis])], axis=1)[:, :dim]
    offset = offset - (regions.centre[owner, :dim] - grid.corner[:dim]) / grid.dx
    out = np.zeros((len(owner), dim + dim * dim))
    out[:, axis] = 1.0
    out[:, dim + axis * dim : dim + (axis + 1) * dim] = offset
    if axis == dim - 1:
        for a in range(dim - 1):
            out[:, dim + a * dim + a] -= out[:, -1]
    return out[:, :-1]
