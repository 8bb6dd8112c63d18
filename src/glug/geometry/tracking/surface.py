"""A triangle mesh that moves with a velocity, changes its topology and never intersects itself.

A step improves the mesh (split, flip, collapse), changes its topology (cut, weld, zip), and moves it: with the
velocity, along itself to even out its triangles, and along its normals to keep the volume of every part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from glug.errors import InputError
from glug.geometry.tracking import kernels_components, kernels_improve, kernels_pairs, kernels_quadric, kernels_topology
from glug.geometry.tracking.collisions import Lattice, clean
from glug.geometry.tracking.kernels_links import MOST_NEAR, Links, build
from glug.geometry.tracking.volumes import inherited, without_cavities

Velocity = Callable[[np.ndarray, float], np.ndarray]
"""Velocity (n, 3) [m/s] at points (n, 3) [m] and a time [s]."""


UNLIMITED = 1 << 40


@dataclass(frozen=True)
class Limits:
    """Lengths in units of dx, the size that edges are to have."""

    shortest: float = 0.5  # edges are collapsed below (Brochu et al. 2010)
    longest: float = 1.5  # and split above
    gap: float = 0.05  # surfaces that face each other through the outside are joined below
    near: float = 0.02  # surfaces that move towards each other stop there
    clearance: float = 1e-4  # that an operation leaves between triangles
    least_part: float = 0.0156  # dx^3: parts with less volume vanish; a cube of a quarter
    smoothing: float = 0.1  # farthest that smoothing moves a vertex in a step
    correction: float = 1.0  # share of a part's volume error that a step corrects
    most_volume: float = 0.01  # dx^3: volume that one flip may change


@dataclass
class TrackedSurface:
    """Closed and oriented: normals point out of the liquid.

    vertices (n, 3) float64 [m], triangles (m, 3) int32; dx [m] is the size of the edges
    part (n,)      the number of the part that a vertex belonged to last, `target` [m3] by that number
    vanished       volume of parts that were too small to keep [m3]
    events         what was done so far, by name
    """

    vertices: np.ndarray
    triangles: np.ndarray
    dx: float
    limits: Limits = Limits()
    part: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    target: np.ndarray = field(default_factory=lambda: np.zeros(0))
    vanished: float = 0.0
    events: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.vertices = np.ascontiguousarray(self.vertices, np.float64)
        self.triangles = np.ascontiguousarray(self.triangles, np.int32)
        if len(self.part) != len(self.vertices):
            self.part = np.empty(len(self.vertices), np.int64)
            count = kernels_components.label(self.triangles, self.part)
            self.target = self.liquid(self.measure(self.part, count)[0], self.part)

    def measure(
        self, part: np.ndarray, count: int, at: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Volume (k,) [m3] and area (k,) [m2] of every part, and unit normals (n, 3); with its vertices `at` places."""
        volume, area, normal = np.empty(count), np.empty(count), np.empty_like(self.vertices)
        kernels_components.measure(self.vertices if at is None else at, self.triangles, part, volume, area, normal)
        return volume, area, normal

    def normals(self) -> np.ndarray:
        """Unit normals (n, dim) at the vertices."""
        return self.measure(self.part, len(self.target))[2]

    def liquid(self, volume: np.ndarray, part: np.ndarray) -> np.ndarray:
        """The volume (k,) of liquid in every part, without its cavities."""
        return without_cavities(self.vertices, self.triangles, part, volume)

    def volume(self, at: np.ndarray | None = None) -> float:
        """Enclosed by all of it [m^dim]; with its vertices `at` other places."""
        return float(self.measure(np.zeros(len(self.vertices), np.int64), 1, at)[0][0])

    def keep_volumes(self, at: np.ndarray | None = None) -> None:
        """What its parts enclose now, with their vertices `at` other places if need be, is what they are to keep."""
        self.target = self.liquid(self.measure(self.part, len(self.target), at)[0], self.part)

    def centroid(self, at: np.ndarray | None = None) -> np.ndarray:
        """Of what all of it encloses (dim,) [m]; with its vertices `at` places."""
        corners = (self.vertices if at is None else at)[self.triangles]
        middle = corners.mean(axis=(0, 1))
        corners = corners - middle  # near the origin, with which they are simplices
        weight = np.linalg.det(corners)
        return middle + (corners.sum(axis=1) * weight[:, None]).sum(axis=0) / ((corners.shape[1] + 1) * weight.sum())

    def improve(self, most_cuts: int = UNLIMITED) -> None:
        """Split, flip and collapse, once over all edges; necks of three edges are cut, at most so many."""
        shortest, longest = self.limits.shortest * self.dx, self.limits.longest * self.dx
        most_volume = self.limits.most_volume * self.dx**3
        self._operate(
            {
                "split": lambda m, near: kernels_improve.split_long(m, longest, near),
                "flip": lambda m, near: kernels_improve.flip_edges(m, longest, most_volume, near),
                "collapse": lambda m, near: kernels_improve.collapse_short(m, shortest, longest, most_cuts, near),
            }
        )

    def join(self, most_welds: int = UNLIMITED) -> None:
        """Weld what faces each other through the outside within the gap, at most so many pairs, and close creases."""
        gap, longest = self.limits.gap * self.dx, self.limits.longest * self.dx
        first, second = self._facing(gap)
        self._operate(
            {
                "weld": lambda m, near: kernels_topology.weld_pairs(m, first, second, longest, most_welds, near),
                "zip": lambda m, near: kernels_topology.zip_creases(m, gap, longest, near),
            }
        )

    def _facing(self, gap: float) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of triangles that face each other within `gap`, those whose corners are nearest first."""
        lattice = Lattice.around(self.vertices, np.zeros_like(self.vertices), self.triangles, 0.5 * gap)
        partner, cost = np.empty(len(self.triangles), np.int64), np.empty(len(self.triangles))
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        given = self.vertices, self.triangles, np.cross(b - a, c - a), lattice.arrays, lattice.size, gap
        kernels_pairs.facing(*given, partner, cost)
        first = np.flatnonzero(partner >= 0)
        first = first[np.argsort(cost[first], kind="stable")]
        return first, partner[first]

    def _operate(self, operations: dict[str, Callable[[Links, np.ndarray], int]]) -> None:
        """Run operations on linked triangles, one after the other, and take over what they leave."""
        if len(self.triangles) == 0:
            return
        near, changed = np.empty(MOST_NEAR, np.int64), False
        m = self._links()
        for name, operation in operations.items():
            while (count := operation(m, near)) < 0:  # arrays have become too short
                self._take(m)
                m = self._links()
            self.events[name] += count
            changed = changed or count > 0
        self.events["cut"] += int(m.count[3])
        if changed or m.count[3]:
            self._take(m)

    def _links(self) -> Links:
        n, t = len(self.vertices), len(self.triangles)
        room, buckets = 2 * t + 64, 1 << int(2 * t + 64).bit_length()
        x, out = np.zeros((n + t + 64, 3)), np.full(n + t + 64, -1, np.int64)
        tri, twin = np.full((room, 3), -1, np.int64), np.full(3 * room, -1, np.int64)
        x[:n], tri[:t] = self.vertices, self.triangles
        lists = [np.full(size, -1, np.int64) for size in (buckets, room, room, room, room)]
        limits = self.limits
        size = np.array([limits.longest * self.dx, 0.0, limits.clearance * self.dx, self.dx])
        lead, after, before, bucket, mark = lists
        m = Links(x, tri, twin, out, lead, after, before, bucket, mark, np.array([n, t, 0, 0]), size)
        if not build(m):
            raise InputError("a tracked surface must be closed: every edge belongs to two triangles")
        return m

    def _take(self, m: Links) -> None:
        """Keep the triangles that are left, in order, and the vertices that they use."""
        tri = m.tri[: m.count[1]]
        tri = tri[tri[:, 0] >= 0]
        used = np.zeros(m.count[0], np.bool_)
        used[tri] = True
        number = np.cumsum(used) - 1
        part = np.full(len(used), -1, np.int64)
        part[: len(self.part)] = self.part
        self.vertices, self.part = m.x[: len(used)][used].copy(), part[used]
        self.triangles = number[tri].astype(np.int32)

    def settle(self, at: np.ndarray | None = None) -> None:
        """Number the parts anew, hand their target volumes on, and drop those that are too small.

        Their volumes are those that they have with the vertices `at` other places; where they are when None.
        """
        part = np.empty(len(self.vertices), np.int64)
        count = kernels_components.label(self.triangles, part)
        volume, _, _ = self.measure(part, count, at)
        small = np.abs(volume) < self.limits.least_part * self.dx ** self.vertices.shape[1]
        if small.any():
            self.vanished += float(volume[small].sum())
            self.events["vanish"] += int(small.sum())
            keep = ~small[part]
            self._keep(keep)
            part, volume = (np.cumsum(~small) - 1)[part[keep]], volume[~small]
        self.target = inherited(self.part, self.target, part, self.liquid(volume, part))
        self.part = part

    def _keep(self, keep: np.ndarray) -> None:
        """Leave all but some vertices out, whole parts at a time."""
        number = np.cumsum(keep) - 1
        self.triangles = number[self.triangles[keep[self.triangles[:, 0]]]].astype(np.int32)
        self.vertices, self.part = self.vertices[keep], self.part[keep]

    def drop(self, gone: np.ndarray) -> None:
        """Leave parts (k,) out, with the volumes that they were to keep."""
        self._keep(~gone[self.part])
        self.part, self.target = (np.cumsum(~gone) - 1)[self.part], self.target[~gone]

    def smoothing(self) -> np.ndarray:
        """Displacements (n, 3) along the surface that even out its triangles."""
        out = np.empty_like(self.vertices)
        kernels_quadric.smoothing(self.vertices, self.triangles, self.limits.smoothing * self.dx, out)
        return out

    def fairing(self, share: float) -> np.ndarray:
        """Displacements (n, 3) along the normals that take away a share of what is rough from edge to edge."""
        normal, out = self.normals(), np.empty(len(self.vertices))
        kernels_quadric.roughness(self.vertices, self.triangles, normal, out)
        most = self.limits.smoothing * self.dx
        return np.clip(-share * out, -most, most)[:, None] * normal

    def correction(self, free: np.ndarray | None = None, at: np.ndarray | None = None) -> np.ndarray:
        """Displacements (n, 3) along the normals that give every part some of the volume back that it lost.

        Only vertices that are `free` (n,) move; all when None. Volumes are as in `settle`: `at` the places that a
        motion leads to, what it loses is given back with it and not a step later.
        """
        volume, area, normal = self.measure(self.part, len(self.target))
        if at is not None:
            volume = self.measure(self.part, len(self.target), at)[0]
        if free is not None:
            count = len(area)
            area = area * np.bincount(self.part[free], minlength=count) / np.bincount(self.part, minlength=count)
            normal = normal * free[:, None]
        missing = self.target - self.liquid(volume, self.part)
        depth = self.limits.correction * missing / np.maximum(area, 1e-300)
        depth[volume < 0.0] = 0.0
        most = self.limits.smoothing * self.dx
        return np.clip(depth, -most, most)[self.part, None] * normal

    def move(self, displacement: np.ndarray) -> None:
        """Move the vertices, as far as they get without meeting anything."""
        d, passes = clean(self.vertices, displacement, self.triangles, self.limits.near * self.dx)
        self.events["shortened"] += passes - 1
        self.vertices = self.vertices + d

    def step(self, velocity: Velocity, time: float, dt: float) -> None:
        """One step of a surface in a flow."""
        self.improve()
        self.join()
        self.settle()
        if len(self.triangles):
            flow = carried(self.vertices, velocity, time, dt) - self.vertices
            moved = flow + self.smoothing()
            self.move(moved + self.correction(at=self.vertices + moved))


def carried(points: np.ndarray, velocity: Velocity, time: float, dt: float) -> np.ndarray:
    """Points after a step in a flow: Runge-Kutta of order 4."""
    k1 = velocity(points, time)
    k2 = velocity(points + 0.5 * dt * k1, time + 0.5 * dt)
    k3 = velocity(points + 0.5 * dt * k2, time + 0.5 * dt)
    k4 = velocity(points + dt * k3, time + dt)
    return points + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
