"""Walls along which a viscous liquid slips: sides of the domain, and the surfaces of solids.

A wall with slip length `slip` (Navier) bears the shear stress mu (u - u_solid) / slip: the liquid's velocity, continued
behind it, is the wall's at that distance. Slip lengths below `LEAST_SLIP` cells are not resolved and count as 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from glug.geometry.fractions import open_area, solid_volume
from glug.grids.regular import NODE, Grid, Offset, Staggered, midway

LEAST_SLIP = 0.1  # cells
LEAST_WALL = 1e-3  # of a cell's side, in a cell: smaller pieces have no normal worth the name
COVERED = 0.25  # cells inside another solid at which a surface ends: more than the corners' rounding of its shape
NEAREST = 0.25  # cells from a face to where a side's velocity would be reached, at least (`sides_across`)


def slips(length: float, dx: float) -> bool:
    """Whether a wall of this slip length [m] is not a sticking one."""
    return length >= LEAST_SLIP * dx


@dataclass(frozen=True)
class Surface:
    """The surfaces of solids that slip, one piece per cell: all lengths in cells, from the window's corner."""

    cell: np.ndarray  # (n, 3) int64
    point: np.ndarray  # (n, 3) on the surface
    normal: np.ndarray  # (n, 3) into the liquid
    piece: np.ndarray  # (n,) its area, in faces
    length: np.ndarray  # (n,) slip length
    moves: np.ndarray  # (n,) bool: whether the solid does
    owner: np.ndarray  # (n,) number of the solid

    @classmethod
    def joined(cls, parts: Iterable[Surface]) -> Surface:
        each = [s._fields for s in parts]
        return cls(*(np.concatenate(fields) for fields in zip(*each)))

    def chosen(self, keep: np.ndarray) -> Surface:
        return Surface(*(f[keep] for f in self._fields))

    @property
    def _fields(self) -> tuple[np.ndarray, ...]:
        return self.cell, self.point, self.normal, self.piece, self.length, self.moves, self.owner

    def outside(self, distance: np.ndarray) -> Surface:
        """What lies in no other solid; `distance` is that to all of them, at cell corners, in cells."""
        index, weight = around(self.point, NODE, distance.shape)
        return self.chosen((distance.reshape(-1)[index] * weight).sum(axis=1) > -COVERED)

    @classmethod
    def of(cls, grid: Grid, nodes: np.ndarray, length: float, moves: bool, owner: int = -1) -> Surface:
        """That of a solid whose distance at cell corners is `nodes` [m], with a slip length [m].

        What the open areas of a cell's faces differ by is the area of the wall in it, as a vector. The piece is where
        the cell's centre is nearest to the solid.
        """
        area = open_area(nodes, grid)
        across = np.zeros((*grid.shape, 3), np.float64)
        for a in grid.axes:
            across[..., a] = np.diff(area[a], axis=a)
        size = np.linalg.norm(across, axis=-1)
        cell = np.argwhere(size > LEAST_WALL)
        at = tuple(cell.T)
        normal = across[at] / size[at][:, None]
        depth = at_centres(nodes)[at].astype(np.float64) / grid.dx
        point = cell + 0.5 - depth[:, None] * normal
        same = (np.full(len(cell), value) for value in (length / grid.dx, moves, owner))
        return cls(cell, point, normal, size[at], *same)


@dataclass(frozen=True)
class SlipWalls:
    """All of them.

    Sides stop the velocity along their axis and no other. At solids a viscous liquid ends as it does at air, but for
    what their surfaces do to it (`physics.viscosity.slip`).
    """

    sticking: np.ndarray  # distance at cell corners [m] to all other solids
    stopping: Staggered  # the same to what stops each component: these, and the slip walls across its axis
    cells: tuple[np.ndarray, ...]  # per axis: share of every cell in front of the slip walls across it
    nodes: tuple[np.ndarray, ...]  # per axis: what passes of a shear at cell borders: 0 on and behind those walls
    rubbing: tuple[np.ndarray, ...] | None  # per axis: friction on the cells that those walls cut, over mu / dx
    sliding: np.ndarray | None  # distance at cell corners [m] to solids that slip; None when there is none
    closes: tuple[np.ndarray, ...] | None  # faces that lie wholly in them
    surface: Surface | None  # of them

    def open_volume(self, grid: Grid, offset: Offset) -> np.ndarray:
        """What solids that slip leave of the control volumes at `offset`."""
        assert self.sliding is not None
        return np.float32(1.0) - solid_volume(self.sliding, grid, offset)


def sides_across(
    x: np.ndarray, walls: tuple[float, float], lengths: tuple[float, float], dx: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`cells`, `nodes` and `rubbing` of `SlipWalls` for one axis with the cell borders `x` [m], float32.

    `walls` are the lower and the upper side that slip [m], or +-inf. The faces along a side in the cells that it cuts
    are d in front of it and bear mu / (slip + d). Where slip + d is too little, or less than nothing because they lie
    behind the side, they bear mu / NEAREST, and the shear in front of them is stiffer by what they lack.
    """
    cells = np.clip((np.minimum(x[1:], walls[1]) - np.maximum(x[:-1], walls[0])) / dx, 0.0, 1.0)
    tolerance = 1e-6 * dx
    nodes = ((x > walls[0] + tolerance) & (x < walls[1] - tolerance)).astype(np.float64)
    rubbing = np.zeros(len(x) - 1)
    front = np.flatnonzero(nodes)
    for side, (wall, length) in enumerate(zip(walls, lengths)):
        if not (np.isfinite(wall) and np.isfinite(length)) or len(front) == 0:
            continue
        border = front[-side]
        cell = border - 1 + side
        if 0 <= cell < len(rubbing):
            away = length / dx + abs(x[border] - wall) / dx - 0.5
            rubbing[cell] += 1.0 / max(away, NEAREST)
            nodes[border] /= 1.0 + away - max(away, NEAREST)
    return cells.astype(np.float32), nodes.astype(np.float32), rubbing.astype(np.float32)


def at_centres(nodes: np.ndarray) -> np.ndarray:
    """Values at the centres of cells: the mean of their corners."""
    return midway(nodes, 0, 1, 2)


def around(points: np.ndarray, offset: Offset, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Flat indices (n, 8) of the samples at `offset` around points (in cells) and their trilinear weights."""
    place = points - np.asarray(offset)
    first = np.floor(place).astype(np.int64)
    share = place - first
    index, weight = np.zeros((len(points), 8), np.int64), np.ones((len(points), 8))
    for corner in range(8):
        for a, n in enumerate(shape):
            upper = corner >> a & 1
            index[:, corner] = index[:, corner] * n + np.clip(first[:, a] + upper, 0, n - 1)
            weight[:, corner] *= share[:, a] if upper else 1.0 - share[:, a]
    return index, weight
