"""The pressure matrix of a liquid with affine regions, matrix-free: A of the free faces and J' M_v^-1 J in factors.

J = -R' D' here, so v = v* - M_v^-1 J q. Only pressures of ordinary cells are stored, one after the other, because the
cells of the regions would take most of the memory that an iteration moves. Numbers run through one layer of cells after
the other, along z in rows; cells in runs of fewer than SHORT along z, between tiles or at a wall, are numbered along y,
after the rows of their layer. So most neighbours of consecutive cells are consecutive, too; pairs where they are not
(the layers between tiles cross there) are `loose`, kept one by one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.affine import kernels
from glug.physics.affine.regions import Regions
from glug.physics.pressure.levels import PressureLevel
from glug.solvers.cg import System, Vector, zeros_like
from glug.solvers.multigrid import Multigrid

CHUNK = 4096  # pressures that a thread takes at a time
LONGEST = 1024  # pressures in a segment
SHORT = 4  # cells in a row that is not worth a loop
UNKNOWNS = 11
# u0 and L without its last entry, which is minus the sum of the other diagonal ones, to (axis, (1, x, y, z)).
TRACE_FREE = np.delete(np.eye(12), 11, axis=1)
TRACE_FREE[11, [1, 6]] = -1.0


class RegionSystem(System, Protocol):
    """The matrix over the pressures that remain: `cell` are their cells, `number` the opposite (-1 for none)."""

    @property
    def cell(self) -> np.ndarray: ...

    @property
    def number(self) -> np.ndarray: ...

    def gather(self, field: np.ndarray) -> Vector:
        """The values of a field of cells at the pressures."""
        ...

    def scatter(self, x: Vector, field: np.ndarray) -> None:
        """The opposite, in place; other cells keep their values."""
        ...


@dataclass
class RegionFaces:
    """The faces of all regions: fitting and writing their velocities, in cells from their centres."""

    label: np.ndarray
    boxes: np.ndarray  # (regions, 6) first and last cell along each axis
    centre: np.ndarray  # (regions, 3)
    inverse: np.ndarray  # (regions, 12, 12): M_v^-1 between velocities (axis, (1, x, y, z)) without a trace
    density: np.ndarray  # (regions,) relative to the reference

    @classmethod
    def build(cls, grid: Grid, regions: Regions, density: np.ndarray) -> "RegionFaces":
        from scipy.ndimage import find_objects

        count = regions.count
        boxes = np.array(
            [[e for s in box for e in (s.start, s.stop)] for box in find_objects(regions.label + 1, count)], np.int64
        ).reshape(-1, 6)
        centre = (regions.centre - grid.corner) / grid.dx
        mass = np.zeros((count, 12, 12))
        for a in range(3):
            block = np.zeros((count, 4, 4))
            kernels.face_moments(a, regions.label, boxes, centre, block)
            mass[:, 4 * a : 4 * a + 4, 4 * a : 4 * a + 4] = block
        reduced = TRACE_FREE.T @ mass @ TRACE_FREE
        inverse = TRACE_FREE @ np.linalg.inv(reduced) @ TRACE_FREE.T / density[:, None, None]
        return cls(regions.label, boxes, centre, inverse, density)

    def respond(self, y: np.ndarray) -> np.ndarray:
        """M_v^-1 y, (regions, 3, 4)."""
        return np.einsum("rij,rj->ri", self.inverse, y.reshape(-1, 12)).reshape(-1, 3, 4)

    def fit(self, velocity: Staggered) -> np.ndarray:
        """The regions' velocities that carry the momentum of `velocity`."""
        sums = np.zeros((len(self.boxes), 3, 4))
        for a in range(3):
            part = np.zeros((len(self.boxes), 4))
            kernels.region_velocity(a, velocity[a], self.label, self.boxes, self.centre, part, False)
            sums[:, a] = part * self.density[:, None]
        return self.respond(sums)

    def write(self, v: np.ndarray, velocity: Staggered) -> None:
        """Set the velocity of all faces of the regions."""
        for a in range(3):
            part = np.ascontiguousarray(v[:, a])
            kernels.region_velocity(a, velocity[a], self.label, self.boxes, self.centre, part, True)


class TileSystem:
    """A system for conjugate gradients whose vectors have one component of shape (1, 1, pressures and a pad)."""

    name = "pressure"

    def __init__(self, level: PressureLevel, regions: Regions, faces: RegionFaces):
        self.faces = faces
        ordinary = (level.liquid > 0) & (regions.label < 0)
        self.cell, across = _order(ordinary)
        self.pressures = n = len(self.cell)
        self.unknowns = n + UNKNOWNS * regions.count
        self._cells = ordinary.size
        number = self.number.reshape(ordinary.shape)
        size = n + LONGEST + 1
        whole = np.zeros(size, np.float32)  # the diagonal
        spring = np.zeros(size, np.float32)  # what ties pressures to air
        links = [np.zeros(size, np.float32) for _ in range(3)]
        lower, upper = np.empty((3, n), np.int32), np.empty((3, n), np.int32)
        below, above = np.empty((3, n), np.int32), np.empty((3, n), np.int32)  # the regions there
        for a in range(3):
            found = lower[a], upper[a], below[a], above[a], links[a], spring, whole
            kernels.link_pressures(a, self.cell, number, regions.label, level.links[a], *found)
        pairs, weight = np.empty((6 * n, 2), np.int32), np.empty(6 * n, np.float32)
        count = kernels.loosen(lower, upper, *links, SHORT, pairs, weight)
        order = np.argsort(pairs[:count, 0], kind="stable")
        pairs, weight = pairs[order], weight[order]
        table = np.empty((n, 8), np.int32)
        count = kernels.find_segments(lower, upper, across, n, LONGEST, table)
        table = table[:count].copy()
        bounds = _chunks(table, n)
        place = np.unravel_index(self.cell, ordinary.shape)
        runs = [
            _face_segments(a, side, region[a], across, place, bounds[:, 0], faces.centre)
            for side, region in enumerate((below, above))
            for a in range(3)
        ]
        segments, position = (np.concatenate(parts) for parts in zip(*runs))
        by_number, by_region = (np.argsort(segments[:, m], kind="stable") for m in (0, 2))
        bounds[:, 2] = np.searchsorted(segments[by_number, 0], bounds[:, 0])
        bounds[:, 3] = np.searchsorted(pairs[:, 0], bounds[:, 0])
        self._by_region = segments[by_region], position[by_region]
        self._first = np.searchsorted(segments[by_region, 2], np.arange(regions.count + 1))
        kernels.add_region_diagonal(faces.inverse, segments, position, whole)
        self.mask: Vector = (whole[None, None],)
        longest = int(np.diff(bounds[:, 0]).max(initial=0))
        rows = spring, *links, table, pairs, weight
        self._matrix = *rows, segments[by_number], position[by_number], bounds, longest
        self._y, self._z = np.zeros((regions.count, 12)), np.zeros((regions.count, 12))
        self._sums = np.zeros(len(bounds) - 1)
        self.blocks = np.zeros((len(bounds) - 1, 4), np.int32)
        self.blocks[:, 2], self.blocks[:, 3] = bounds[:-1, 0], bounds[1:, 0]

    @cached_property
    def number(self) -> np.ndarray:
        """The number of the pressure of every cell (flat), -1 where there is none."""
        number = np.full(self._cells, -1, np.int32)
        number[self.cell] = np.arange(self.pressures, dtype=np.int32)
        return number

    def response(self, x: np.ndarray) -> np.ndarray:
        """M_v^-1 J x, (regions, 12), in an array of its own that the next call overwrites."""
        kernels.region_response(x, *self._by_region, self._first, self.faces.inverse, self._y, self._z)
        return self._z

    def apply(self, d: Vector, q: Vector) -> float:
        x = d[0][0, 0]
        kernels.apply_chunks(x, self.response(x), q[0][0, 0], *self._matrix, self._sums)
        return float(self._sums.sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        value = x[0][0, 0]
        kernels.residual_chunks(b[0][0, 0], value, self.response(value), r[0][0, 0], *self._matrix)

    def gather(self, field: np.ndarray) -> Vector:
        """The values of a field of cells at the pressures."""
        out = np.zeros((1, 1, self.mask[0].size), field.dtype)
        out[0, 0, : self.pressures] = field.ravel()[self.cell]
        return (out,)

    def scatter(self, x: Vector, field: np.ndarray) -> None:
        """The opposite; other cells keep their values."""
        field.ravel()[self.cell] = x[0][0, 0, : self.pressures]


class CoupledCycle:
    """A V-cycle of the whole grid's matrix, for r continued by zero into the regions and where `held`; z is read off.

    An exact one inverts what the ordinary cells see of regions filled with ordinary cells (a Schur complement),
    which differs from an affine region only in motions that are not affine.
    """

    def __init__(self, system: RegionSystem, level: PressureLevel, cycle: Multigrid, held: np.ndarray | None = None):
        self.system, self._cycle, self._held = system, cycle, held
        self._r, self._z, self._scratch = zeros_like(level), zeros_like(level), zeros_like(level)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        self.system.scatter(r, self._r[0])
        energy = self._cycle(self._r, self._z, self._scratch)
        z[0][0, 0, : len(self.system.cell)] = self._z[0].ravel()[self.system.cell]
        if self._held is not None:  # where r is zero
            z[0][0, 0, self._held] = 0.0
        return energy


def _order(ordinary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flat indices of the cells in the order of their numbers, and which of them are numbered along y."""
    inner = ordinary.shape[2] - SHORT + 1
    begins = np.logical_and.reduce([ordinary[:, :, s : s + inner] for s in range(SHORT)])
    long = np.zeros_like(ordinary)
    for s in range(SHORT):
        long[:, :, s : s + inner] |= begins
    rows = np.flatnonzero(long)
    _, nj, nk = ordinary.shape
    i, k, j = np.nonzero((ordinary & ~long).transpose(0, 2, 1))
    layer = np.concatenate([rows // (nj * nk), i])
    order = np.argsort(layer, kind="stable")
    return np.concatenate([rows, (i * nj + j) * nk + k])[order], order >= len(rows)


def _chunks(table: np.ndarray, pressures: int) -> np.ndarray:
    """Bounds (chunks + 1, 4) of groups of segments, of about CHUNK pressures: first pressure, first segment, zeros."""
    cuts = np.searchsorted(table[:, 0], np.arange(0, pressures, CHUNK))
    cuts = np.unique(np.append(cuts, len(table)))
    bounds = np.zeros((len(cuts), 4), np.int64)
    bounds[:, 0], bounds[:, 1] = np.append(table[:, 0], pressures)[cuts], cuts
    return bounds


def _face_segments(
    axis: int,
    side: int,
    region: np.ndarray,
    across: np.ndarray,
    place: tuple[np.ndarray, ...],
    bounds: np.ndarray,
    centre: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Runs of faces between one region and consecutive pressures of a chunk, at one side of those."""
    at = np.flatnonzero(region >= 0)
    i, j, k = (p[at] for p in place)
    region, across = region[at], across[at]
    new = np.ones(len(at), np.bool_)
    new[1:] = (np.diff(at) != 1) | (np.diff(region) != 0) | (np.diff(i) != 0) | (across[1:] != across[:-1])
    new[1:] |= np.where(across[1:], np.diff(k) != 0, np.diff(j) != 0)
    new[1:] |= np.where(across[1:], np.diff(j), np.diff(k)) != 1  # numbers go on behind cells of the region
    new |= np.isin(at, bounds)
    begin = np.flatnonzero(new)
    table = np.empty((len(begin), 4), np.int32)
    table[:, 0], table[:, 1] = at[begin], np.diff(np.append(begin, len(at)))
    table[:, 2], table[:, 3] = region[begin], axis + 4 * np.where(across[begin], 1, 2) + 16 * side
    position = np.stack([p[begin] + o for p, o in zip((i, j, k), FACES[axis])], axis=1)
    position[:, axis] += side
    return table, (position - centre[table[:, 2]]).astype(np.float32)
