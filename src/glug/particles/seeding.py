"""Where particles come from: jittered seeding of volumes and sources, and limits per cell.

Every cell is cut into m^d equal parts with one particle at a random place near the middle of each, m^d being the
number of particles per cell. The random numbers are a hash of the seed and the part's lattice index: no state, the same
places for any order of work.
"""

from collections.abc import Callable

import numpy as np

from glug.grids.regular import Grid
from glug.particles import kernels
from glug.particles.storage import Particles

JITTER = 0.25  # width of the random places over the width of a part: enough against patterns, quiet surfaces
LEAST_SHARE = 0.05  # of a whole part: smaller slivers of liquid are not worth a particle
CHUNK = 1 << 19  # candidate points at a time: bounds the memory of temporaries


def parts_per_axis(per_cell: int, dim: int) -> int:
    """Parts m along an axis such that m^dim is (about) `per_cell`."""
    return max(1, round(per_cell ** (1.0 / dim)))


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


def jittered(
    lower: np.ndarray, upper: np.ndarray, origin: np.ndarray, spacing: float, dim: int, seed: int, width: float
) -> list[np.ndarray]:
    """Points of the jittered lattice in a box, in chunks of (n, 3).

    Part i covers origin + [i, i + 1) spacing; its point lies within `width` of it around the middle. In 2D there is
    one layer, whose z the caller sets.
    """
    low = np.floor((np.asarray(lower) - origin) / spacing).astype(np.int64)
    high = np.ceil((np.asarray(upper) - origin) / spacing).astype(np.int64)
    if dim == 2:
        low[2], high[2] = 0, 1
    counts = np.maximum(high - low, 0)
    rows = max(1, CHUNK // max(1, int(counts[1] * counts[2])))
    chunks = []
    for i in range(0, int(counts[0]), rows):
        axes = [low[0] + np.arange(i, min(i + rows, counts[0])), low[1] + np.arange(counts[1])]
        axes.append(low[2] + np.arange(counts[2]))
        index = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        random = np.stack([hashed(index, 3 * seed + a) for a in range(3)], axis=1)
        chunks.append(origin + spacing * (index + 0.5 + width * (random - 0.5)))
    return chunks


def seed_region(
    distance: Callable[[np.ndarray], np.ndarray],
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    origin: np.ndarray,
    dx: float,
    per_cell: int,
    dim: int,
    seed: int,
) -> np.ndarray:
    """Points of the jittered lattice where `distance` is negative, (n, 3) [m].

    They are random over the whole of each part, so that any cross-section gets its share on average.
    """
    spacing = dx / parts_per_axis(per_cell, dim)
    found = [np.zeros((0, 3))]
    for points in jittered(lower, upper, origin, spacing, dim, seed, 1.0):
        if dim == 2:
            points[:, 2] = 0.5 * dx
        found.append(points[distance(points) < 0.0])
    return np.concatenate(found)


def fill_region(
    distance: Callable[[np.ndarray], np.ndarray],
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    origin: np.ndarray,
    dx: float,
    per_cell: int,
    dim: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Particles that fill the region where `distance` is negative, and the share of a whole part that each has.

    A part that the surface cuts gets a particle in the middle of its inner side with that side's volume, so that
    a flat surface at any height begins flat.
    """
    spacing = dx / parts_per_axis(per_cell, dim)
    points, shares = [np.zeros((0, 3))], [np.zeros(0)]
    for jitter in jittered(lower - spacing, upper + spacing, origin, spacing, dim, seed, JITTER):
        centre = origin + spacing * (np.floor((jitter - origin) / spacing) + 0.5)
        if dim == 2:
            jitter[:, 2] = centre[:, 2] = 0.5 * dx
        depth = -distance(centre) / spacing
        whole = depth >= 0.5
        points.append(jitter[whole])
        shares.append(np.ones(int(whole.sum())))
        cut = np.abs(depth) < 0.5
        normal = gradient(distance, centre[cut], 1e-3 * spacing, dim)
        inner = 0.5 + depth[cut]  # thickness of the inner side, in parts
        wobble = jitter[cut] - centre[cut]
        wobble -= normal * (wobble * normal).sum(axis=1, keepdims=True)
        placed = centre[cut] - normal * (spacing * 0.5 * (1.0 - inner))[:, None] + wobble
        points.append(_pulled_in(distance, placed, spacing, dim))
        shares.append(inner)
    position, share = np.concatenate(points), np.concatenate(shares)
    keep = share > LEAST_SHARE
    return position[keep], share[keep]


def _pulled_in(
    distance: Callable[[np.ndarray], np.ndarray], points: np.ndarray, spacing: float, dim: int
) -> np.ndarray:
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


def gradient(distance: Callable[[np.ndarray], np.ndarray], points: np.ndarray, step: float, dim: int) -> np.ndarray:
    """Unit normals of a distance at points, by central differences."""
    out = np.zeros_like(points)
    for a in range(dim):
        shift = np.zeros(3)
        shift[a] = step
        out[:, a] = distance(points + shift) - distance(points - shift)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-30)


def limit_per_cell(particles: Particles, grid: Grid, band: np.ndarray, least: int, most: int, seed: int) -> bool:
    """Merge particles in cells with more than `most`, split one in cells inside the liquid with fewer than `least`.

    Volume, momentum and heat are kept. The particles are sorted; absorbed ones stay with no volume and new ones come
    last, both until the next sort. `band` is 2 in cells that occupied cells surround. Returns whether there are any.
    """
    p = particles
    room = len(p) // 2 + 1
    kept, absorbed, share = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    merged = kernels.crowded_pairs(p.volume, p.start, most, kept, absorbed, share)
    if merged:
        for name, values in p.attributes.items():
            if name != "volume" and name not in p.INTEGERS:
                kernels.blend_pairs(values, kept[:merged], absorbed[:merged], share[:merged])
    found = np.empty(grid.cells, np.int32)
    count = kernels.sparse_cells(p.start, band, least, found)
    if count:
        _split(p, grid, found[:count], seed)
    return bool(merged or count)


def _split(p: Particles, grid: Grid, cells: np.ndarray, seed: int) -> None:
    """Halve the first particle of each cell: twins on opposite sides of its place, up to a quarter cell away."""
    parents = p.start[cells]
    parents = parents[p.volume[parents, 0] > 0.0]
    p.volume[parents] *= 0.5
    values = {n: a[parents].copy() for n, a in p.attributes.items() if n not in ("id", "position")}
    jitter = np.stack([hashed(p.id[parents].repeat(3, axis=1), 3 * seed + a) for a in range(3)], axis=1) - 0.5
    if grid.dim == 2:
        jitter[:, 2] = 0.0
    apart = (0.5 * grid.dx * jitter).astype(np.float32)
    position = p.position[parents] + apart
    p.position[parents] -= apart  # the centre of mass stays
    p.append(position, **values)
