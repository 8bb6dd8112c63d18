"""Where particles come from: jittered seeding of volumes and sources, and limits per cell.

Every cell is cut into m^d equal parts with one particle at a random place near the middle of each, m^d being the
number of particles per cell. The random numbers are a hash of the seed and the part's lattice index: no state, the same
places for any order of work.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from glug.grids.regular import Grid
from glug.particles import kernels
from glug.particles.storage import Particles

Distance = Callable[[np.ndarray], np.ndarray]  # of points (n, 3) [m]

JITTER = 0.25  # width of the random places over the width of a part: enough against patterns, quiet surfaces
LEAST_SHARE = 0.05  # of a whole part: smaller slivers of liquid are not worth a particle
LIGHTEST, HEAVIEST = 0.125, 3.0  # of a whole part: what splitting leaves of a particle, and merging makes of it
CHUNK = 1 << 19  # candidate points at a time: bounds the memory of temporaries


def hashed(index: np.ndarray, seed: int) -> np.ndarray:
    """Uniform numbers in [0, 1) from lattice indices (n, 3) and a seed (the splitmix64 finaliser)."""
    with np.errstate(over="ignore"):
        x = np.full(len(index), np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15), np.uint64)
        for a in range(3):
            x = (x ^ index[:, a].astype(np.int64).view(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
            x ^= x >> np.uint64(31)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True)
class Lattice:
    """Cells of width `dx` [m], each cut into m^dim parts (`per_cell`, or near it) with a random point in every part.

    Part i covers origin + [i, i + 1) spacing. In 2D there is one layer, with all points at z = dx / 2.
    """

    origin: np.ndarray
    dx: float
    per_cell: int
    dim: int
    seed: int

    @property
    def spacing(self) -> float:
        """Width dx / m of a part [m]."""
        return self.dx / max(1, round(self.per_cell ** (1.0 / self.dim)))

    def points(self, lower: np.ndarray, upper: np.ndarray, width: float) -> Iterator[np.ndarray]:
        """The points of the parts in a box, within `width` of a part around its middle, in chunks of (n, 3)."""
        low = np.floor((np.asarray(lower) - self.origin) / self.spacing).astype(np.int64)
        high = np.ceil((np.asarray(upper) - self.origin) / self.spacing).astype(np.int64)
        if self.dim == 2:
            low[2], high[2] = 0, 1
        counts = np.maximum(high - low, 0)
        rows = max(1, CHUNK // max(1, int(counts[1] * counts[2])))
        for i in range(0, int(counts[0]), rows):
            axes = [low[0] + np.arange(i, min(i + rows, counts[0])), low[1] + np.arange(counts[1])]
            axes.append(low[2] + np.arange(counts[2]))
            yield self._random(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), width)

    def points_in(self, cells: np.ndarray, width: float) -> Iterator[np.ndarray]:
        """The same of the parts of cells (n, 3), whole cells of the lattice."""
        m = max(1, round(self.per_cell ** (1.0 / self.dim)))
        parts = np.indices((m,) * 3).reshape(3, -1).T
        rows = max(1, CHUNK // len(parts))
        for i in range(0, len(cells), rows):
            yield self._random((m * cells[i : i + rows, None, :] + parts).reshape(-1, 3), width)

    def _random(self, index: np.ndarray, width: float) -> np.ndarray:
        """The points of parts (n, 3) by their numbers."""
        random = np.stack([hashed(index, 3 * self.seed + a) for a in range(3)], axis=1)
        return self._in_plane(self.origin + self.spacing * (index + 0.5 + width * (random - 0.5)))

    def middles(self, points: np.ndarray) -> np.ndarray:
        """The middles of the parts that points are in."""
        return self._in_plane(self.origin + self.spacing * (np.floor((points - self.origin) / self.spacing) + 0.5))

    def _in_plane(self, points: np.ndarray) -> np.ndarray:
        if self.dim == 2:
            points[:, 2] = 0.5 * self.dx
        return points


def seed_region(distance: Distance, lower: np.ndarray, upper: np.ndarray, lattice: Lattice) -> np.ndarray:
    """Points of the lattice where `distance` is negative, (n, 3) [m].

    They are random over the whole of each part, so that any cross-section gets its share on average.
    """
    found = [points[distance(points) < 0.0] for points in lattice.points(lower, upper, 1.0)]
    return np.concatenate([np.zeros((0, 3)), *found])


def fill_region(
    distance: Distance, lower: np.ndarray, upper: np.ndarray, lattice: Lattice
) -> tuple[np.ndarray, np.ndarray]:
    """Particles that fill the region where `distance` is negative, and the share of a whole part that each has."""
    return fill_parts(distance, lattice.points(lower - lattice.spacing, upper + lattice.spacing, JITTER), lattice)


def fill_parts(distance: Distance, parts: Iterable[np.ndarray], lattice: Lattice) -> tuple[np.ndarray, np.ndarray]:
    """The same in parts of a lattice, by the random points of each.

    A part that the surface cuts gets a particle in the middle of its inner side with that side's volume, so that
    a flat surface at any height begins flat.
    """
    spacing = lattice.spacing
    points, shares = [np.zeros((0, 3))], [np.zeros(0)]
    for jitter in parts:
        centre = lattice.middles(jitter)
        depth = -distance(centre) / spacing
        whole = depth >= 0.5
        points.append(jitter[whole])
        shares.append(np.ones(int(whole.sum())))
        cut = np.abs(depth) < 0.5
        normal = gradient(distance, centre[cut], 1e-3 * spacing, lattice.dim)
        inner = 0.5 + depth[cut]  # thickness of the inner side, in parts
        wobble = jitter[cut] - centre[cut]
        wobble -= normal * (wobble * normal).sum(axis=1, keepdims=True)
        placed = centre[cut] - normal * (spacing * 0.5 * (1.0 - inner))[:, None] + wobble
        points.append(_pulled_in(distance, placed, spacing, lattice.dim))
        shares.append(inner)
    position, share = np.concatenate(points), np.concatenate(shares)
    keep = share > LEAST_SHARE
    return position[keep], share[keep]


def _pulled_in(distance: Distance, points: np.ndarray, spacing: float, dim: int) -> np.ndarray:
    """The points, those that an edge of the region left outside moved to just inside it."""
    out = np.arange(len(points))
    for _ in range(16):  # in an edge of 45 degrees every second one halves what is left
        d = distance(points[out])
        out, d = out[d >= 0.0], d[d >= 0.0]
        if len(out) == 0:
            break
        normal = gradient(distance, points[out], 1e-3 * spacing, dim)
        points[out] -= normal * (d + 1e-2 * spacing)[:, None]
    return points


def gradient(distance: Distance, points: np.ndarray, step: float, dim: int) -> np.ndarray:
    """Unit normals of a distance at points, by central differences."""
    out = np.zeros_like(points)
    for a in range(dim):
        shift = np.zeros(3)
        shift[a] = step
        out[:, a] = distance(points + shift) - distance(points - shift)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-30)


@dataclass(frozen=True)
class Limits:
    """How many particles a cell may have, and how heavy they may be, in whole ones."""

    least: int
    most: int
    heaviest: float = HEAVIEST


def limit_per_cell(p: Particles, grid: Grid, band: np.ndarray, limits: Limits, whole: float, seed: int) -> bool:
    """Merge particles in cells with more than the most, split one in cells inside the liquid with fewer than the least.

    Volume, momentum and heat are kept, and no particle becomes much heavier or lighter than `whole`, the volume
    of a whole part: one that took in all that is pressed into a corner would hold it there. The particles are
    sorted; absorbed ones stay with no volume and new ones come last, both until the next sort. `band` is 2 in cells
    that occupied cells surround. Returns whether there are any.
    """
    room = len(p) // 2 + 1
    kept, absorbed, share = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    heaviest = np.float32(limits.heaviest * whole)
    merged = kernels.crowded_pairs(p.volume, p.start, band, limits.most, heaviest, kept, absorbed, share)
    if merged:
        for name, values in p.attributes.items():
            if name != "volume" and name not in p.INTEGERS:
                kernels.blend_pairs(values, kept[:merged], absorbed[:merged], share[:merged])
    found = np.empty(band.size, np.int32)
    count = kernels.sparse_cells(p.start, band, limits.least, found)
    split = _split(p, grid, found[:count], 2.0 * LIGHTEST * whole, seed) if count else 0
    return bool(merged or split)


def fill_up(particles: Particles, grid: Grid, cells: np.ndarray, least: int, seed: int) -> bool:
    """Give one more particle to each of `cells` (bool) with fewer than `least`: half of its heaviest one.

    One without any gets half of one of the neighbour that has most. Volume, momentum and heat are kept. The particles
    are sorted; new ones come last, until the next sort. Returns whether there are any.
    """
    p, count = particles, np.diff(particles.start[: grid.cells + 1])
    sparse = np.argwhere(cells & (count.reshape(grid.shape) < least))
    ways = np.concatenate([np.eye(3, dtype=int)[: grid.dim], -np.eye(3, dtype=int)[: grid.dim]])
    beside = np.clip(sparse[:, None] + ways, 0, np.array(grid.shape) - 1)
    donors = np.ravel_multi_index(tuple(np.moveaxis(beside, -1, 0)), grid.shape)  # (cells, ways)
    richest = np.take_along_axis(donors, count[donors].argmax(axis=1)[:, None], axis=1)[:, 0]
    own = np.ravel_multi_index(tuple(sparse.T), grid.shape)
    donor, first = np.unique(np.where(count[own] > 0, own, richest), return_index=True)  # two cells share no parent
    parents, sparse = _heaviest(p, donor[count[donor] > 0]), sparse[first][count[donor] > 0]
    p.volume[parents] *= 0.5
    values = {n: a[parents].copy() for n, a in p.attributes.items() if n not in ("id", "position")}
    place = np.stack([hashed(p.id[parents].repeat(3, axis=1), 3 * seed + a) for a in range(3)], axis=1)
    if grid.dim == 2:
        place[:, 2] = 0.5
    p.append((grid.corner + (sparse + 0.1 + 0.8 * place) * grid.dx).astype(np.float32), **values)
    return len(parents) > 0


def _split(p: Particles, grid: Grid, cells: np.ndarray, least: float, seed: int) -> int:
    """Halve the heaviest particle of each cell that has `least`: twins on opposite sides, at most dx / 4 away."""
    parents = _heaviest(p, cells)
    parents = parents[p.volume[parents, 0] >= least]
    p.volume[parents] *= 0.5
    values = {n: a[parents].copy() for n, a in p.attributes.items() if n not in ("id", "position")}
    jitter = np.stack([hashed(p.id[parents].repeat(3, axis=1), 3 * seed + a) for a in range(3)], axis=1) - 0.5
    if grid.dim == 2:
        jitter[:, 2] = 0.0
    apart = (0.5 * grid.dx * jitter).astype(np.float32)
    position = p.position[parents] + apart
    p.position[parents] -= apart  # the centre of mass stays
    p.append(position, **values)
    return len(parents)


def _heaviest(p: Particles, cells: np.ndarray) -> np.ndarray:
    """The particle of most volume in each of the cells, which have some."""
    found = np.empty(len(cells), np.int32)
    kernels.heaviest_in(p.volume, p.start, cells.astype(np.int32), found)
    return found
