"""Where pressures go for a surface to lie between them (Brochu, Batty and Bridson 2010).

From every vertex of the surface two sites are put along its normal, one in the liquid and one in the air, at a part of
the way to what is there (at most dx): thin sheets and gaps have theirs. Elsewhere is a lattice. If the ball over a pair
holds no other site, the face between the pair is there; so pairs step back from others, and lattice points give way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import ndimage

from glug.geometry.embedded.elements import Elements, Meetings
from glug.grids.voronoi import kernels_bins
from glug.grids.voronoi.cut import Bins

REACH = 4.0  # cells around the liquid that have a lattice
CLEAR = 0.5  # cells around sites of the surface without lattice points
ASIDE = 0.75  # cells around the surface's vertices without them: one on the surface has no distance to it
SHIFT = 1e-3  # cells by which sites are displaced, so that no more than dim + 1 are equally far from a point
ROUNDS = 24  # in which pairs step back, by half in each


@dataclass(frozen=True)
class Placement:
    """How sites are put; lengths in cells."""

    sites: Literal["surface", "lattice"] = "surface"
    inside: float = 1.0 / 3.0  # of the way to what is there, of the site in the liquid
    outside: float = 1.0 / 3.0  # ... of the one in the air
    lattice: float = 2.0  # spacing of the sites elsewhere
    gap: float = 0.05  # narrower air has no site: it would swallow liquid ...
    seam: float = 0.2  # ... nor, between pieces of the same part, air narrower than this: they have met

    def narrowest(self, same: np.ndarray) -> np.ndarray:
        """What air is wide at least [cells], between pieces of the `same` part and of others."""
        return np.where(same, max(self.seam, self.gap), self.gap)


@dataclass(frozen=True)
class Sites:
    """points (n, dim) [m]; pairs (k, 2): the sites in the liquid and in the air of the same vertex."""

    points: np.ndarray
    pairs: np.ndarray

    def between(self, points: np.ndarray) -> np.ndarray:
        """Which of some points are in the balls whose diameters pairs are: there, they would come between the pair."""
        out = np.zeros(len(points), np.bool_)
        if len(points) and len(self.pairs):
            centre, radius = balls(self.points[self.pairs])
            kernels_bins.covered(points, tuple(Bins.of(points, 4.0)), centre, radius, out)
        return out


def balls(both: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii of the balls between pairs of points (k, 2, dim)."""
    return both.mean(axis=1), 0.5 * np.linalg.norm(both[:, 0] - both[:, 1], axis=1)


def place(surface: Elements, normal: np.ndarray, how: Placement) -> Sites:
    """The sites of a surface with outward normals (n, dim) at its vertices."""
    lattice = lattice_around(surface, how.lattice * surface.dx)
    if how.sites == "lattice" or len(surface.vertices) == 0:
        return Sites(lattice, np.zeros((0, 2), np.int64))
    points, pairs = beside(surface, normal, how)
    bins = tuple(Bins.of(lattice, 4.0))
    taken = np.zeros(len(lattice), np.bool_)
    kernels_bins.covered(lattice, bins, points, np.full(len(points), CLEAR * surface.dx), taken)
    kernels_bins.covered(lattice, bins, surface.vertices, np.full(len(surface.vertices), ASIDE * surface.dx), taken)
    found = Sites(points, pairs)
    return replace(found, points=np.concatenate([points, lattice[~(taken | found.between(lattice))]]))


def beside(surface: Elements, normal: np.ndarray, how: Placement) -> tuple[np.ndarray, np.ndarray]:
    """The sites beside the vertices, and which of them are pairs."""
    x, dx = surface.vertices, surface.dx
    numbers = np.arange(len(x))
    met = [surface.meetings(x, x + s * dx * normal, numbers) for s in (-1.0, 1.0)]
    ways = [np.minimum(m.time, 1.0) for m in met]
    offset = np.stack([-how.inside * ways[0], how.outside * ways[1]], axis=1) * dx
    real = np.stack([ways[0] > 0.0, ~touching(surface, met[1], how)], axis=1)
    wiggle = SHIFT * scattered(x, dx) * 3.0
    chosen = real.ravel()
    number = np.where(real, np.cumsum(chosen).reshape(real.shape) - 1, -1)
    pairs = number[real.all(axis=1)]
    whose = np.repeat(numbers, 2)[chosen]
    for _ in range(ROUNDS):
        both = x[:, None] + offset[:, :, None] * normal[:, None] + np.abs(offset)[:, :, None] * wiggle[:, None]
        points = np.ascontiguousarray(both.reshape(-1, x.shape[1])[chosen])
        centre, radius = balls(points[pairs])
        found = np.empty(len(pairs), np.bool_)
        kernels_bins.crowded(points, tuple(Bins.of(points, 4.0)), centre, radius, pairs, found)
        if not found.any():
            break
        offset[whose[pairs[found, 0]]] *= 0.5
    return points, pairs


def touching(surface: Elements, before: Meetings, how: Placement) -> np.ndarray:
    """Which vertices touch what their rays, dx long, meet before them."""
    own = np.zeros(len(before.time), np.int64) if surface.part is None else surface.part
    return before.time < how.narrowest(surface.parts_of(before.element) == own)


def lattice_around(surface: Elements, spacing: float) -> np.ndarray:
    """Points in the liquid and REACH around it: triangles in 2D, cubes with centres in 3D."""
    x, dim = surface.vertices, surface.vertices.shape[1]
    if len(x) == 0:
        return np.zeros((0, dim))
    reach = REACH * surface.dx
    lower, upper = x.min(axis=0) - reach, x.max(axis=0) + reach
    if dim == 2:
        step = np.array([spacing, np.sqrt(3.0) * spacing])
        basis = np.array([[0.0, 0.0], [0.5, 0.5]])
    else:
        step, basis = np.full(3, spacing), np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]])
    low, high = np.floor(lower / step).astype(int), np.ceil(upper / step).astype(int)
    axes = [np.arange(a, b + 1) for a, b in zip(low, high)]
    corners = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 1, dim)
    points = ((corners + basis) * step).reshape(-1, dim)
    near = around_vertices(x, lower, upper, surface.dx)
    kept = near(points)
    kept[~kept] = surface.inside(points[~kept])
    points = points[kept]
    return np.ascontiguousarray(points + SHIFT * surface.dx * scattered(points, surface.dx))


def around_vertices(x: np.ndarray, lower: np.ndarray, upper: np.ndarray, dx: float):
    """A function of points: whether they are within about REACH of a vertex."""
    shape = np.floor((upper - lower) / dx).astype(int) + 2
    marked = np.zeros(shape, np.bool_)
    marked[tuple(((x - lower) / dx).astype(int).T)] = True
    wide = ndimage.distance_transform_edt(~marked) <= REACH

    def near(points: np.ndarray) -> np.ndarray:
        cell = np.floor((points - lower) / dx).astype(int)
        fits = ((cell >= 0) & (cell < shape)).all(axis=1)
        out = np.zeros(len(points), np.bool_)
        out[fits] = wide[tuple(cell[fits].T)]
        return out

    return near


def scattered(points: np.ndarray, dx: float) -> np.ndarray:
    """Numbers between -1 and 1 (n, dim) that places far less than dx apart share, and others do not."""
    place = np.round(points / dx * 64.0).astype(np.int64).astype(np.uint64)
    key = np.zeros(len(points), np.uint64)
    for a in range(points.shape[1]):
        key = (key ^ place[:, a]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    out = np.empty(points.shape)
    for a in range(points.shape[1]):
        key = key * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(1)
        key ^= key >> np.uint64(32)
        out[:, a] = (key >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
    return out
