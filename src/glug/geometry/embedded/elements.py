"""A closed surface that answers rays: its elements (segments in 2D, triangles in 3D) in bins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glug.geometry.embedded import kernels


@dataclass(frozen=True)
class Meetings:
    """Where segments first meet a surface."""

    time: np.ndarray  # part of the way (n,), inf where they do not
    element: np.ndarray
    parts: np.ndarray  # (n, dim): how much of every corner of the element the place has

    def value(self, triangles: np.ndarray, at_vertices: np.ndarray) -> np.ndarray:
        """What the vertices of the surface have there (n,); 0 where nothing is met."""
        met = self.element >= 0
        out = np.zeros(len(self.time))
        out[met] = (self.parts[met] * at_vertices[triangles[self.element[met]]]).sum(axis=1)
        return out


@dataclass(frozen=True)
class Elements:
    """vertices (n, dim) [m], triangles (m, dim), about `dx` [m] large; `part` (n,) numbers the surfaces they are of."""

    vertices: np.ndarray
    triangles: np.ndarray
    dx: float
    part: np.ndarray | None = None

    def of_parts(self, part: np.ndarray) -> Elements:
        """The same with other parts; what rays need is not made anew."""
        found = replace(self, part=part)
        made = ("bins", "columns", "frames")
        vars(found).update({name: value for name, value in vars(self).items() if name in made})
        return found

    def _binned(self, layers: int) -> tuple:
        """Elements in bins along the first `layers` axes, in columns along the others."""
        corner = self.vertices.min(axis=0)
        shape = np.ones(3, np.int64)
        shape[:layers] = np.floor(np.ptp(self.vertices, axis=0)[:layers] / self.dx).astype(np.int64) + 1
        counts, nothing = np.zeros(int(np.prod(shape)), np.int64), np.empty(0, np.int32)
        given = self.vertices, self.triangles, corner, shape, self.dx
        kernels.sort_elements(*given, False, counts, nothing)
        start = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        order = np.empty(int(start[-1]), np.int32)
        kernels.sort_elements(*given, True, start[:-1].copy(), order)
        return start, order, corner, shape, self.dx

    @cached_property
    def bins(self) -> tuple:
        return self._binned(self.vertices.shape[1])

    @cached_property
    def frames(self) -> np.ndarray:
        out = np.empty((len(self.triangles), 4 if self.vertices.shape[1] == 2 else 12))
        kernels.frames(self.vertices, self.triangles, out)
        return out

    @cached_property
    def columns(self) -> tuple:
        return self._binned(self.vertices.shape[1] - 1)

    def meetings(
        self, begin: np.ndarray, end: np.ndarray, without: np.ndarray | None = None, asked: np.ndarray | None = None
    ) -> Meetings:
        """Where segments first meet the surface, those that are `asked` for (n,).

        Elements with the vertices `without` (n,) are left aside.
        """
        n, dim = begin.shape
        time, element, parts = np.empty(n), np.empty(n, np.int32), np.zeros((n, dim))
        skip = np.full(n, -1, np.int64) if without is None else without
        wanted = np.ones(n, np.bool_) if asked is None else asked
        if len(self.triangles) == 0:
            return Meetings(np.full(n, np.inf), np.full(n, -1, np.int32), parts)
        segments = np.ascontiguousarray(begin), np.ascontiguousarray(end), skip, np.ascontiguousarray(wanted)
        kernels.first_meetings(self.frames, self.triangles, self.bins, *segments, time, element, parts)
        return Meetings(time, element, parts)

    def parts_of(self, element: np.ndarray) -> np.ndarray:
        """The parts (n,) of elements; -1 where there is none."""
        part = np.zeros(len(self.vertices), np.int64) if self.part is None else self.part
        return np.where(element >= 0, part[self.triangles[element, 0]], -1)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Whether points (n, dim) are in the liquid: by the parity of the elements above them."""
        out = np.zeros(len(points), np.bool_)
        if len(self.triangles):
            kernels.sides(self.vertices, self.triangles, self.columns, np.ascontiguousarray(points), out)
        return out
