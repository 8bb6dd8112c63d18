"""The pressure matrix of a liquid with affine regions, matrix-free: A of the free faces and J' M_B^-1 J in factors.

Only pressures of ordinary cells are stored, one after the other, because the cells of the regions would take most of
the memory that an iteration moves. Numbers run along z in rows; a cell without neighbours above and below it (in a
horizontal layer between tiles, seen along z) is numbered along y, after the rows.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import FACES, Grid, Staggered
from glug.physics import kernels_tiles as kernels
from glug.physics.affine_regions import Regions
from glug.physics.pressure_levels import PressureLevel, hierarchy
from glug.solvers.cg import Vector, zeros_like
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel

CHUNK = 4096  # pressures that a thread takes at a time
LONGEST = 1024  # pressures in a segment
UNKNOWNS = 11
# c and A without its last entry, which is minus the sum of the other diagonal ones, to (axis, (1, x, y, z)).
TRACE_FREE = np.delete(np.eye(12), 11, axis=1)
TRACE_FREE[11, [1, 6]] = -1.0


@dataclass
class RegionFaces:
    """The faces of all regions: fitting and writing their velocities, in cells from their centres."""

    label: np.ndarray
    boxes: np.ndarray  # (regions, 6) first and last cell along each axis
    centre: np.ndarray  # (regions, 3)
    inverse: np.ndarray  # (regions, 12, 12): M_B^-1 between velocities (axis, (1, x, y, z)) without a trace
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
        """M_B^-1 y, (regions, 3, 4)."""
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
        self.cell, self._rows = _order(ordinary)
        self.pressures = len(self.cell)
        self.unknowns = self.pressures + UNKNOWNS * regions.count
        number = np.full(ordinary.shape, -1, np.int32)
        number.ravel()[self.cell] = np.arange(self.pressures, dtype=np.int32)
        self._pad = self.pressures
        size = self.pressures + LONGEST + 1
        whole = np.zeros(size, np.float32)  # the diagonal
        self._spring = np.zeros(size, np.float32)  # what ties pressures to air
        self._links = [np.zeros(size, np.float32) for _ in range(3)]
        n = self.pressures
        lower, upper = np.empty((3, n), np.int32), np.empty((3, n), np.int32)
        below, above = np.empty((3, n), np.int32), np.empty((3, n), np.int32)  # the regions there
        for a in range(3):
            found = lower[a], upper[a], below[a], above[a], self._links[a], self._spring, whole
            kernels.link_pressures(a, self.cell, number, regions.label, level.links[a], *found)
        place = np.unravel_index(self.cell, ordinary.shape)
        groups = [self._face_segments(a, 0, below[a], place) for a in range(3)]
        groups += [self._face_segments(a, 1, above[a], place) for a in range(3)]
        table = np.empty((self.pressures, 8), np.int64)
        count = kernels.find_segments(lower, upper, self._rows, self._pad, LONGEST, table)
        self._table = table[:count].copy()
        self._chunks = _chunks(self._table[:, 1])
        self._sums = np.zeros(len(self._chunks) - 1)
        self._face_table = np.concatenate([g[0] for g in groups])
        self._position = np.concatenate([g[1] for g in groups])
        self._groups = np.cumsum([0, *(len(g[0]) for g in groups)])
        self._by_region = np.argsort(self._face_table[:, 4], kind="stable")
        counts = np.bincount(self._face_table[:, 4], minlength=regions.count)
        self._first = np.concatenate([[0], np.cumsum(counts)])
        blocks = np.stack([faces.inverse[:, 4 * a : 4 * a + 4, 4 * a : 4 * a + 4] for a in range(3)], axis=1)
        kernels.add_region_diagonal(blocks, self._face_table, self._position, whole)
        self.mask: Vector = (whole[None, None],)
        starts = np.arange(0, self.pressures, CHUNK)
        self.blocks = np.zeros((len(starts), 4), np.int32)
        self.blocks[:, 2], self.blocks[:, 3] = starts, np.minimum(starts + CHUNK, self.pressures)
        self._extra = np.zeros(size)

    def _face_segments(
        self, axis: int, side: int, region: np.ndarray, place: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Runs of faces between one region and consecutive pressures, at one side of those."""
        at = np.flatnonzero(region >= 0)
        i, j, k = (p[at] for p in place)
        region, along_z = region[at], at < self._rows
        step = np.diff(at) != 1
        step |= (np.diff(region) != 0) | (np.diff(i) != 0) | np.where(along_z[1:], np.diff(j) != 0, np.diff(k) != 0)
        step |= np.where(along_z[1:], np.diff(k), np.diff(j)) != 1  # numbers go on behind cells of the region
        step |= np.diff(along_z)
        begin = np.flatnonzero(np.concatenate([np.ones(min(len(at), 1), bool), step]))
        table = np.empty((len(begin), 6), np.int64)
        table[:, 0], table[:, 1] = at[begin], np.diff(np.append(begin, len(at)))
        table[:, 2], table[:, 3] = axis, -1 if side else 1
        table[:, 4], table[:, 5] = region[begin], np.where(along_z[begin], 2, 1)
        position = np.stack([p[begin] + o for p, o in zip((i, j, k), FACES[axis])], axis=1)
        position[:, axis] += side
        return table, position - self.faces.centre[region[begin]]

    def region_sums(self, x: np.ndarray) -> np.ndarray:
        """J x, (regions, 3, 4)."""
        y = np.empty((len(self._first) - 1, 3, 4))
        kernels.region_sums(x, self._face_table, self._position, self._by_region, self._first, y)
        return y

    def _spread(self, z: np.ndarray, q: np.ndarray) -> None:
        for begin, end in zip(self._groups[:-1], self._groups[1:]):
            kernels.spread_regions(z, self._face_table, self._position, begin, end, q)

    def apply(self, d: Vector, q: Vector) -> float:
        x, out = d[0][0, 0], q[0][0, 0]
        kernels.apply_segments(x, out, self._spring, *self._links, self._table, self._chunks, self._sums)
        y = self.region_sums(x)
        z = self.faces.respond(y)
        self._spread(z, out)
        return float(self._sums.sum() + (y * z).sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        value = x[0][0, 0]
        self._extra[:] = 0.0
        self._spread(self.faces.respond(self.region_sums(value)), self._extra)
        kernels.residual_segments(
            b[0][0, 0], value, r[0][0, 0], self._extra, self._spring, *self._links, self._table, self._chunks
        )

    def gather(self, field: np.ndarray) -> Vector:
        """The values of a field of cells at the pressures."""
        out = np.zeros((1, 1, len(self._spring)), field.dtype)
        out[0, 0, : self.pressures] = field.ravel()[self.cell]
        return (out,)

    def scatter(self, x: Vector, field: np.ndarray) -> None:
        """The opposite; other cells keep their values."""
        field.ravel()[self.cell] = x[0][0, 0, : self.pressures]


class CoupledCycle:
    """z = R M R' r: a V-cycle M of the whole grid's matrix, with r continued by zero into the regions.

    With an exact M this inverts what the ordinary cells see of regions filled with ordinary cells (a Schur complement),
    which differs from an affine region only in motions that are not affine.
    """

    def __init__(self, system: TileSystem, level: PressureLevel):
        self.system = system
        self._cycle = Multigrid(hierarchy(level), GaussSeidel(level.sweeps))
        self._r, self._z, self._scratch = zeros_like(level), zeros_like(level), zeros_like(level)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        self.system.scatter(r, self._r[0])
        energy = self._cycle(self._r, self._z, self._scratch)
        z[0][0, 0, : self.system.pressures] = self._z[0].ravel()[self.system.cell]
        return energy


def _order(ordinary: np.ndarray) -> tuple[np.ndarray, int]:
    """Flat indices of the cells in the order of their numbers, and how many are in rows along z."""
    beside = np.zeros_like(ordinary)
    beside[:, :, 1:] |= ordinary[:, :, :-1]
    beside[:, :, :-1] |= ordinary[:, :, 1:]
    rows = np.flatnonzero(ordinary & beside)
    _, nj, nk = ordinary.shape
    k, i, j = np.nonzero((ordinary & ~beside).transpose(2, 0, 1))
    return np.concatenate([rows, (i * nj + j) * nk + k]), len(rows)


def _chunks(lengths: np.ndarray) -> np.ndarray:
    """Bounds of groups of segments, of about CHUNK pressures each."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(CHUNK, total, CHUNK))
    return np.unique(np.concatenate([[0], cuts, [len(lengths)]])).astype(np.int64)
