"""Strain rates on an octree, as sparse matrices: the reference (Goldade 2021, sections 5.1 to 5.3).

Samples of the strain are leaf centres (normal strains) and edges (shears; nodes in 2D). An edge of level l carries one
where no cell around it is divided and at least one is a leaf. Lengths are in finest cells.

Next to a coarser leaf the sample on the coarse side is

- the coarse face in the edge's plane (edge on the border of coarse cells), or
- the mean of the coarse cell's two faces (edge in the middle of a coarse face), at the cell's centre,

at the distance of one fine cell instead of half of one. A divided face is the mean of its parts. In 3D that sample lies
half a fine cell further along the edge. The `sloped` gradient divides by the distance in the edge's plane nevertheless:
its error is of order zero. The `enhanced` one takes the mean of the fine face and of its sibling along the edge, at the
same height as the coarse sample: linear velocities have exact strains.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from glug.grids.octree.tree import Faces, Octree

GRADIENTS = ("enhanced", "sloped")
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values


@dataclass(frozen=True)
class Samples:
    """Strain samples of one kind: rows over all faces, volumes and positions in finest cells.

    `parts` are the two components' rows of a shear (one of a normal strain); the strain is their sum.
    """

    parts: tuple[sparse.csr_matrix, ...]
    volume: np.ndarray
    position: np.ndarray
    shear: bool

    @property
    def rows(self) -> sparse.csr_matrix:
        return sum(self.parts[1:], start=self.parts[0])


class OctreeOperators:
    """E, control volumes and sample positions of a tree with its faces all kept."""

    def __init__(self, tree: Octree, gradient: str = "enhanced", faces: Faces | None = None):
        if gradient not in GRADIENTS:
            raise ValueError(f"no gradient is called '{gradient}' (valid: {', '.join(GRADIENTS)})")
        self.tree, self.gradient = tree, gradient
        self.faces = tree.faces() if faces is None else faces
        self.axes = range(tree.dim)
        self.labels = [tree.labels(l) for l in range(tree.levels)]

    # -- faces ---------------------------------------------------------------------------------------------

    @cached_property
    def face_position(self) -> np.ndarray:
        """Centres of the faces (n, 3), in finest cells; z is 1/2 in 2D."""
        size = self._size(self.faces.level)
        position = self.faces.corner + 0.5 * size
        position[np.arange(len(position)), self.faces.axis] = self.faces.corner[
            np.arange(len(position)), self.faces.axis
        ]
        return position

    @cached_property
    def face_volume(self) -> np.ndarray:
        """Control volumes of the faces: half the distance to the opposite faces on either side."""
        volume = np.empty(self.faces.count)
        for a in self.axes:
            for l in range(self.tree.levels):
                mine = np.flatnonzero((self.faces.axis == a) & (self.faces.level == l))
                index = self._shift(self.faces.corner[mine].astype(np.int64), -l)
                h = float(1 << l)
                width = np.zeros(len(mine))
                for side in (-1, 0):
                    width += np.where(self._label(l, _moved(index, a, side)) > 0, h, 0.5 * h)
                volume[mine] = width * h ** (self.tree.dim - 1)
        return volume

    def _size(self, level: np.ndarray) -> np.ndarray:
        """Extent of cells of the given levels along the three axes."""
        size = np.repeat((1 << level.astype(np.int64))[:, None], 3, axis=1)
        if self.tree.dim == 2:
            size[:, 2] = 1
        return size

    def _shift(self, index: np.ndarray, levels: int) -> np.ndarray:
        """Indices of a level, from those of one that is `levels` coarser (finer when negative)."""
        out = index.copy()
        part = out[:, : self.tree.dim]
        part[:] = part << levels if levels >= 0 else part >> -levels
        return out

    def _label(self, l: int, index: np.ndarray) -> np.ndarray:
        return self.labels[l][tuple(index.T)]

    def _face(self, axis: int, l: int, index: np.ndarray) -> np.ndarray:
        """Numbers of existing faces of level l."""
        numbers = self.faces.numbers[axis][tuple(self._shift(index, l).T)]
        assert (numbers >= 0).all() and (self.faces.level[numbers] == l).all(), "a face does not exist"
        return numbers

    def _whole(self, axis: int, l: int, index: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> list[Entries]:
        """Entries of faces of level l, divided ones as the mean of their parts."""
        divided = (self._label(l, _moved(index, axis, -1)) < 0) | (self._label(l, index) < 0)
        plain = ~divided
        out = [(rows[plain], self._face(axis, l, index[plain]), weight[plain])]
        if divided.any():
            across = [b for b in self.axes if b != axis]
            parts = 1 << len(across)
            for p in range(parts):
                child = self._shift(index[divided], 1)
                for n, b in enumerate(across):
                    child[:, b] += (p >> n) & 1
                out.append((rows[divided], self._face(axis, l - 1, child), weight[divided] / parts))
        return out

    def _matrix(self, entries: list[Entries], count: int) -> sparse.csr_matrix:
        rows, columns, values = (np.concatenate(e) for e in zip(*entries))
        return sparse.csr_matrix((values, (rows, columns)), shape=(count, self.faces.count))

    # -- samples -------------------------------------------------------------------------------------------

    def normal_strains(self, axis: int) -> Samples:
        """du_a / dx_a at the centres of all leaves but those at the forest's border."""
        entries: list[Entries] = []
        volumes, positions = [], []
        count = 0
        for l, labels in enumerate(self.labels):
            index = self._inner(np.argwhere(labels == 0), labels.shape, 1)
            rows = count + np.arange(len(index))
            h = float(1 << l)
            for side in (0, 1):
                weight = np.full(len(index), (2 * side - 1) / h)
                entries += self._whole(axis, l, _moved(index, axis, side), rows, weight)
            size = self._size(np.full(len(index), l))
            positions.append(self._shift(index, l) + 0.5 * size)
            volumes.append(np.full(len(index), h**self.tree.dim))
            count += len(index)
        matrix = self._matrix(entries, count)
        return Samples((matrix,), np.concatenate(volumes), np.concatenate(positions), shear=False)

    def shears(self, axis: int) -> Samples:
        """du_b / dx_c + du_c / dx_b at all edges along `axis` but those at the forest's border."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        entries: tuple[list[Entries], list[Entries]] = ([], [])
        volumes, positions = [], []
        count = 0
        for l in range(self.tree.levels):
            index = self.edges(axis, l)
            rows = count + np.arange(len(index))
            h = float(1 << l)
            spans = [
                self._gradient(entries[n], rows, axis, l, index, component, along)
                for n, (component, along) in enumerate(((b, c), (c, b)))
            ]
            extent = self._size(np.full(len(index), l))
            position = self._shift(index, l).astype(float)
            position[:, axis] += 0.5 * extent[:, axis]
            positions.append(position)
            depth = h if self.tree.dim == 3 else 1.0
            volumes.append(depth * spans[0] * spans[1])
            count += len(index)
        parts = tuple(self._matrix(e, count) for e in entries)
        return Samples(parts, np.concatenate(volumes), np.concatenate(positions), shear=True)

    def edges(self, axis: int, l: int) -> np.ndarray:
        """Edges of level l along `axis` that carry a shear (n, 3), but those at the forest's border."""
        labels = self.labels[l]
        b, c = (axis + 1) % 3, (axis + 2) % 3
        corners = []
        for p in (0, 1):
            for q in (0, 1):
                take = [slice(None)] * 3
                take[b] = slice(p, labels.shape[b] - 1 + p)
                take[c] = slice(q, labels.shape[c] - 1 + q)
                corners.append(labels[tuple(take)])
        around = np.stack(corners)
        index = np.argwhere((around >= 0).all(axis=0) & (around == 0).any(axis=0))
        index[:, b] += 1
        index[:, c] += 1
        # A coarse side reaches to the border of its coarse cell.
        return self._inner(index, labels.shape, 2 if l + 1 < self.tree.levels else 1, (b, c))

    def _inner(self, index: np.ndarray, shape: tuple[int, ...], layers: int, nodes: tuple[int, ...] = ()) -> np.ndarray:
        """Those at least `layers` cells inside the forest; along the axes `nodes` they lie on cell borders."""
        inside = np.ones(len(index), bool)
        for a in self.axes:
            last = shape[a] - layers - (0 if a in nodes else 1)
            inside &= (index[:, a] >= layers) & (index[:, a] <= last)
        return index[inside]

    def _gradient(
        self, out: list[Entries], rows: np.ndarray, axis: int, l: int, index: np.ndarray, component: int, along: int
    ) -> np.ndarray:
        """Append the entries of du_component / dx_along; returns the distances between the two samples."""
        h = float(1 << l)
        coarse = []
        for side in (-1, 0):
            upper = _moved(index, along, side)
            lower = _moved(upper, component, -1)
            coarse.append((self._label(l, upper) > 0) & (self._label(l, lower) > 0))
        span = np.where(coarse[0] | coarse[1], 1.5 * h, h)
        for n, side in enumerate((-1, 0)):
            weight = (2 * n - 1) / span
            face = _moved(index, along, side)
            fine = ~coarse[n]
            lifted = fine & coarse[1 - n] if self.gradient == "enhanced" and self.tree.dim == 3 else np.zeros_like(fine)
            plain = fine & ~lifted
            out.append((rows[plain], self._face(component, l, face[plain]), weight[plain]))
            if lifted.any():
                sibling = face[lifted].copy()
                sibling[:, axis] ^= 1
                for f in (face[lifted], sibling):
                    out.append((rows[lifted], self._face(component, l, f), 0.5 * weight[lifted]))
            if coarse[n].any():
                self._coarse_side(out, rows[coarse[n]], weight[coarse[n]], l, face[coarse[n]], component)
        return span

    def _coarse_side(
        self, out: list[Entries], rows: np.ndarray, weight: np.ndarray, l: int, face: np.ndarray, component: int
    ) -> None:
        """The sample of level l + 1 in place of the faces of level l that do not exist."""
        parent = self._shift(face, -1)
        on_border = face[:, component] % 2 == 0
        out.append((rows[on_border], self._face(component, l + 1, parent[on_border]), weight[on_border]))
        middle = ~on_border
        for side in (0, 1):
            out.extend(
                self._whole(
                    component, l + 1, _moved(parent[middle], component, side), rows[middle], 0.5 * weight[middle]
                )
            )


def _moved(index: np.ndarray, axis: int, by: int) -> np.ndarray:
    out = index.copy()
    out[:, axis] += by
    return out
