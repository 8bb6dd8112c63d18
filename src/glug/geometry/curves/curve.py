"""A tracked surface in the plane: closed curves that move with a velocity, join, and never intersect themselves.

The same steps as in 3D (`geometry.tracking.surface`), on curves that are counter-clockwise around the liquid.
"""

from __future__ import annotations

import numpy as np

from glug.geometry.curves import kernels
from glug.geometry.embedded.curvature import curvature
from glug.geometry.tracking.surface import UNLIMITED, TrackedSurface

MOST_PASSES = 12  # in which displacements are shortened before what still meets something stays
EVENING = 0.125  # of the difference of its segments that a vertex is moved by


class TrackedCurve(TrackedSurface):
    """`triangles` (m, 2) are segments here, each from a vertex to the next; volumes are areas [m2]."""

    def measure(
        self, part: np.ndarray, count: int, at: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        area, length, normal = np.empty(count), np.empty(count), np.empty_like(self.vertices)
        kernels.measure(self.vertices if at is None else at, self.triangles, part, area, length, normal)
        return area, length, normal

    def improve(self, most_cuts: int = UNLIMITED) -> None:
        """Split and collapse, once over all segments."""
        way = self.vertices[self.triangles[:, 1]] - self.vertices[self.triangles[:, 0]]
        length = np.hypot(way[:, 0], way[:, 1])
        long = self.triangles[length > self.limits.longest * self.dx, 0]
        short = self.triangles[length < self.limits.shortest * self.dx, 0]
        if len(long) == 0 and len(short) == 0:
            return
        chain = _Chain(self, len(long))
        self.events["split"] += sum(chain.split(int(a)) for a in long)
        self.events["collapse"] += sum(chain.collapse(int(a), self.limits.longest * self.dx) for a in short)
        chain.give_back()

    def join(self, most_welds: int = UNLIMITED) -> None:
        """Reconnect what faces each other through the outside within the gap, nearest first; close creases."""
        gap = self.limits.gap * self.dx
        _, _, normal = self.measure(self.part, len(self.target))
        partner, least = np.empty(len(self.vertices), np.int64), np.empty(len(self.vertices))
        kernels.facing(self.vertices, self.triangles, normal, gap, partner, least)
        waiting = np.flatnonzero(partner >= 0)
        if len(waiting) == 0:
            return
        chain = _Chain(self, 0)
        for v in waiting[np.argsort(least[waiting], kind="stable")]:
            if self.events["weld"] < most_welds:
                a, b = self.triangles[partner[v]]
                self.events["weld"] += chain.weld(int(v), int(a), int(b))
        self.events["zip"] += chain.close_creases(gap)
        chain.give_back()

    def smoothing(self) -> np.ndarray:
        """Displacements (n, 2) towards the middle between the neighbours, on the circle through all three."""
        before, after = np.empty(len(self.vertices), np.int64), np.empty(len(self.vertices), np.int64)
        after[self.triangles[:, 0]], before[self.triangles[:, 1]] = self.triangles[:, 1], self.triangles[:, 0]
        came, goes = self.vertices - self.vertices[before], self.vertices[after] - self.vertices
        first, second = (np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-300) for way in (came, goes))
        tangent = came / first[:, None] ** 2 + goes / second[:, None] ** 2
        tangent /= np.maximum(np.hypot(tangent[:, 0], tangent[:, 1]), 1e-300)[:, None]
        most = 0.1 * self.limits.smoothing * self.dx
        along = np.clip(EVENING * (second - first), -most, most)
        turn = (came[:, 0] * goes[:, 1] - came[:, 1] * goes[:, 0]) / (first * second * 0.5 * (first + second))
        inwards = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
        return along[:, None] * tangent + (0.5 * turn * along**2)[:, None] * inwards

    def fairing(self, share: float) -> np.ndarray:
        """Displacements (n, 2) along the normals that take away a share of what is rough from vertex to vertex."""
        before, after = np.empty(len(self.vertices), np.int64), np.empty(len(self.vertices), np.int64)
        after[self.triangles[:, 0]], before[self.triangles[:, 1]] = self.triangles[:, 1], self.triangles[:, 0]
        _, _, normal = self.measure(self.part, len(self.target))
        kappa = curvature(self.vertices, self.triangles, normal)
        way = self.vertices[after] - self.vertices[before]
        rough = (kappa - 0.5 * (kappa[before] + kappa[after])) * (way**2).sum(axis=1) / 32.0  # a zigzag: its height
        most = self.limits.smoothing * self.dx
        return np.clip(-share * rough, -most, most)[:, None] * normal

    def move(self, displacement: np.ndarray) -> None:
        """Move the vertices, as far as they get without meeting a segment."""
        d = np.array(displacement, np.float64)
        time, segment = np.empty(len(d)), np.empty(len(d), np.int64)
        for tries in range(MOST_PASSES + 1):
            kernels.meetings(self.vertices, d, self.triangles, time, segment)
            met = np.flatnonzero(time <= 1.0)
            if len(met) == 0:
                break
            keep = 0.8 * time[met] if tries < MOST_PASSES else np.zeros(len(met))
            scale = np.ones(len(d))
            for k in range(2):
                np.minimum.at(scale, self.triangles[segment[met], k], keep)
            np.minimum.at(scale, met, keep)
            d *= scale[:, None]
            self.events["shortened"] += 1
        else:
            d[:] = 0.0
        self.vertices = self.vertices + d


class _Chain:
    """A curve inside operations: what comes after every vertex and before it."""

    def __init__(self, curve: TrackedCurve, more: int):
        n = len(curve.vertices)
        self.curve, self.count = curve, n
        self.x = np.zeros((n + more, 2))
        self.part = np.full(n + more, -1, np.int64)
        self.x[:n], self.part[:n] = curve.vertices, curve.part
        self.after, self.before = np.full(n + more, -1, np.int64), np.full(n + more, -1, np.int64)
        self.after[curve.triangles[:, 0]] = curve.triangles[:, 1]
        self.before[curve.triangles[:, 1]] = curve.triangles[:, 0]

    def free(self, p: np.ndarray, q: np.ndarray, *spared: int) -> bool:
        return kernels.free_way(self.x, self.after[: self.count], p, q, np.array(spared, np.int64))

    def split(self, a: int) -> bool:
        """A vertex in the middle of the segment after a: on the cubic through its neighbours, if nothing is there."""
        b, x = self.after[a], self.x
        p, q = self.before[a], self.after[b]
        middle = (9.0 * (x[a] + x[b]) - x[p] - x[q]) / 16.0
        straight = 0.5 * (x[a] + x[b])
        bend = middle - straight
        fits = np.hypot(*bend) < 0.25 * np.hypot(*(x[b] - x[a]))
        if not (fits and self.free(x[a], middle, a, b) and self.free(middle, x[b], a, b)):
            middle = straight
        v = self.count
        self.count += 1
        x[v], self.part[v] = middle, self.part[a]
        self.after[a], self.after[v], self.before[v], self.before[b] = v, b, a, v
        return True

    def collapse(self, a: int, longest: float) -> bool:
        """One vertex in the place of two, such that the area stays; if nothing is in the way."""
        b, x = self.after[a], self.x
        if b < 0:
            return False
        p, q = self.before[a], self.after[b]
        if q in (p, a):
            return False
        base, way = 0.5 * (x[a] + x[b]), x[q] - x[p]
        size, lost = float(way @ way), _area(x[[p, a, b, q]]) - _area(np.array([x[p], base, x[q]]))
        if size > (0.1 * longest) ** 2:
            base = base + 2.0 * lost / size * np.array([way[1], -way[0]])
        elif abs(lost) > self.curve.limits.most_volume * self.curve.dx**2:
            return False
        if max(np.hypot(*(base - x[p])), np.hypot(*(x[q] - base))) > longest:
            return False
        if not (self.free(x[p], base, p, a, b, q) and self.free(base, x[q], p, a, b, q)):
            return False
        x[a] = base
        self._drop(b)
        return True

    def _drop(self, b: int) -> None:
        a, q = self.before[b], self.after[b]
        self.after[a], self.before[q] = q, a
        self.after[b] = self.before[b] = -1

    def weld(self, v: int, a: int, b: int) -> bool:
        """Of the segments after v and from a to b make those from v to b and from a to what came after v."""
        w, x = self.after[v], self.x
        if w < 0 or self.after[a] != b or a in (v, w) or b in (v, w):
            return False
        spared = v, w, a, b
        if not (self.free(x[v], x[b], *spared) and self.free(x[a], x[w], *spared)):
            return False
        if kernels.crosses(*x[v], *x[b], *x[a], *x[w]):
            return False
        self.after[v], self.before[b], self.after[a], self.before[w] = b, v, w, a
        return True

    def close_creases(self, gap: float) -> int:
        """Take out vertices deep in creases of air: between neighbours that are within the gap of each other."""
        closed, x = 0, self.x
        for v in range(self.count):
            while (b := self.after[v]) >= 0:
                p = self.before[v]
                if p == b or self.after[b] == p or self.after[b] == v:
                    break
                narrow = np.hypot(*(x[b] - x[p])) < gap and _area(x[[p, v, b]]) < 0.0
                if not (narrow and self.free(x[p], x[b], p, v, b)):
                    break
                self._drop(v)
                closed += 1
        return closed

    def give_back(self) -> None:
        """Loops of less than three vertices are nothing."""
        for v in range(self.count):
            b = self.after[v]
            if b >= 0 and self.after[b] in (v, b):
                self.after[[v, b]] = -1
        kept = np.flatnonzero(self.after[: self.count] >= 0)
        number = np.full(self.count, -1, np.int64)
        number[kept] = np.arange(len(kept))
        curve = self.curve
        curve.vertices, curve.part = self.x[kept].copy(), self.part[kept]
        curve.triangles = np.stack([np.arange(len(kept)), number[self.after[kept]]], axis=1).astype(np.int32)


def _area(points: np.ndarray) -> float:
    """Of a polygon, positive if it is counter-clockwise."""
    x, y = points.T
    return 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def circle(centre: tuple[float, float], radius: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and segments of a regular polygon."""
    angle = 2.0 * np.pi * np.arange(count) / count
    x = np.array(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return x, closed(count)


def closed(count: int) -> np.ndarray:
    """The segments of one loop."""
    return np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1).astype(np.int32)
