"""The octree as a mesh, as sparse matrices: the reference (strains: Goldade 2021, sections 5.1 to 5.3).

Cells are the leaves, level by level; pressures sit at their centres. Velocities sit on the faces between two leaves, as
large as those of the smaller one. The border of the forest has none: it is a wall to the pressure, and no viscous
liquid may reach it.

Strains. Normal strains sit at leaf centres, shears at edges (nodes in 2D). An edge of level l carries one where no cell
around it is divided and at least one is a leaf. Next to a coarser leaf the sample on the coarse side is

- the coarse face in the edge's plane (edge on the border of coarse cells), or
- the mean of the coarse cell's two faces (edge in the middle of a coarse face), at the cell's centre,

at the distance of one fine cell instead of half of one. A divided face is the mean of its parts. In 3D that sample lies
half a fine cell further along the edge. The `sloped` gradient divides by the distance in the edge's plane nevertheless:
its error is of order zero. The `enhanced` one takes the mean of the fine face and of its sibling along the edge, at the
same height as the coarse sample: linear velocities have exact strains.

Divergence. Where a face of size H is divided, the leaves on both sides see one flow through it, the mean of its parts:
so the gradient there is the mean of the fine pressures less the coarse one, over 3/4 H, the same for all parts, exact
for linear pressures: liquid rests. But a rotation omega, whose velocity differs from part to part, has a divergence of
omega / 2 in the fine leaves. Measured as whole trees are refined (`tests/grids/test_meshes.py`): order 2 in the
pressure; in the velocity order 2 in the mean, and 1 in the maximum, which is next to other levels. Rest and these
orders hold where the surfaces of liquid and solids cut no leaf next to another level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from glug.grids.boxes import Boxes, lattice_interpolation, side_fraction
from glug.grids.mesh import Distance, Fractions, axis_pairs
from glug.grids.octree.lattice import lattice_faces
from glug.grids.octree.tree import Faces, Octree

GRADIENTS = ("enhanced", "sloped")
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values


@dataclass(frozen=True)
class Shears:
    """Samples of one pair of axes (a, b): d u_a / d x_b and d u_b / d x_a, and the boxes between what they compare."""

    derivatives: dict[tuple[int, int], sparse.csr_matrix]
    position: np.ndarray
    boxes: Boxes


class OctreeOperators:
    """The `StrainMesh` of a tree with its faces all kept; `dx` [m] is the side of its finest cells.

    As it is, lengths are in finest cells.
    """

    def __init__(
        self,
        tree: Octree,
        gradient: str = "enhanced",
        faces: Faces | None = None,
        *,
        dx: float = 1.0,
        corner: Sequence[float] = (0.0, 0.0, 0.0),
    ):
        if gradient not in GRADIENTS:
            raise ValueError(f"no gradient is called '{gradient}' (valid: {', '.join(GRADIENTS)})")
        self.tree, self.gradient, self.dim = tree, gradient, tree.dim
        self.dx, self.corner = dx, np.asarray(corner, dtype=float)[: tree.dim]
        self.faces = tree.faces() if faces is None else faces
        self.axes = range(tree.dim)
        self.labels = [tree.labels(l) for l in range(tree.levels)]

    # -- the mesh ------------------------------------------------------------------------------------------

    @cached_property
    def face_position(self) -> np.ndarray:
        half = 0.5 * self._size(self.faces.level)
        half[np.arange(len(half)), self.faces.axis] = 0.0
        return self._world(self.faces.corner + half)

    @cached_property
    def face_normal(self) -> np.ndarray:
        return np.eye(self.dim)[self.faces.axis]

    @cached_property
    def face_volume(self) -> np.ndarray:
        return self._face_boxes.volume

    @property
    def cell_position(self) -> np.ndarray:
        return self._cell_boxes.middle

    @cached_property
    def cell_volume(self) -> np.ndarray:
        return self._cell_boxes.volume

    @property
    def edge_position(self) -> np.ndarray:
        return np.concatenate([s.position for s in self._shears])

    @cached_property
    def edge_volume(self) -> np.ndarray:
        return np.concatenate([s.boxes.volume for s in self._shears])

    @cached_property
    def D(self) -> sparse.csr_matrix:
        """Divergence [1/m]; a divided face has one flow."""
        entries = [e for a in self.axes for e in self._outflow(a)]
        return self._matrix(entries, self._cell_count)

    def derivative(self, component: int, along: int) -> sparse.csr_matrix:
        """d u_component / d x_along [1/m] at the cells, or at the edges of the pair; none at the forest's border."""
        if component == along:
            return self._normal_strain(component)
        pair = min(component, along), max(component, along)
        return self._shears[axis_pairs(self.dim).index(pair)].derivatives[component, along]

    def fractions(self, distance: Distance) -> Fractions:
        edges = np.concatenate([s.boxes.fraction(distance) for s in self._shears])
        return Fractions(self._cell_boxes.fraction(distance), self._face_boxes.fraction(distance), edges)

    def open_area(self, distance: Distance) -> np.ndarray:
        size = self.dx * self._size(self.faces.level)[:, : self.dim]
        area = np.empty(self.faces.count)
        for a in self.axes:
            mine = self.faces.axis == a
            area[mine] = side_fraction(self.face_position[mine], size[mine], a, distance)
        return area

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        """Multilinear on the lattice of finest cells, whose velocities come from the tree level by level."""
        inside = (points - self.corner) / self.dx
        parts = []
        for a, to_lattice in zip(self.axes, self._to_lattice):
            lines = [np.arange(n + (a == b)) + (0.0 if a == b else 0.5) for b, n in enumerate(self.tree.shape)]
            parts.append(lattice_interpolation(lines[: self.dim], inside) @ to_lattice)
        return sparse.vstack(parts, format="csr")

    @cached_property
    def _to_lattice(self) -> list[sparse.csr_matrix]:
        return [lattice_faces(self.tree, self.faces, a) for a in self.axes]

    def _world(self, position: np.ndarray) -> np.ndarray:
        """Positions (n, 3) in finest cells, in metres (n, dim)."""
        return self.corner + self.dx * position[:, : self.dim]

    # -- boxes ---------------------------------------------------------------------------------------------

    @cached_property
    def _face_boxes(self) -> Boxes:
        """Half the distance to the opposite faces on either side."""
        low, high = (np.zeros(self.faces.count) for _ in range(2))
        for a in self.axes:
            for l in range(self.tree.levels):
                mine = np.flatnonzero((self.faces.axis == a) & (self.faces.level == l))
                index = self._shift(self.faces.corner[mine].astype(np.int64), -l)
                for reach, side in ((low, -1), (high, 0)):
                    reach[mine] = np.where(self._label(l, _moved(index, a, side)) > 0, 1 << l, 0.5 * (1 << l))
        size = self._size(self.faces.level)[:, : self.dim].astype(float)
        each = np.arange(len(size)), self.faces.axis
        size[each] = low + high
        middle = self.face_position.copy()
        middle[each] += self.dx * 0.5 * (high - low)
        return Boxes(middle, self.dx * size)

    @cached_property
    def _leaves(self) -> list[np.ndarray]:
        """The leaves of every level (n, 3), in cells of the level."""
        return [np.argwhere(labels == 0) for labels in self.labels]

    @property
    def _cell_count(self) -> int:
        return sum(len(index) for index in self._leaves)

    @cached_property
    def _cell_boxes(self) -> Boxes:
        size = [self._size(np.full(len(index), l)) for l, index in enumerate(self._leaves)]
        middle = [self._shift(index, l) + 0.5 * size[l] for l, index in enumerate(self._leaves)]
        return Boxes(self._world(np.concatenate(middle)), self.dx * np.concatenate(size)[:, : self.dim])

    # -- indices -------------------------------------------------------------------------------------------

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
        """From entries in units of 1 / dx."""
        rows, columns, values = (np.concatenate(e) for e in zip(*entries))
        return sparse.csr_matrix((values / self.dx, (rows, columns)), shape=(count, self.faces.count))

    # -- rows ----------------------------------------------------------------------------------------------

    def _numbered(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Levels, the leaves of each, and their numbers."""
        first = 0
        for l, index in enumerate(self._leaves):
            yield l, index, first + np.arange(len(index))
            first += len(index)

    def _outflow(self, axis: int) -> Iterator[Entries]:
        """The part of `axis` in the divergence of every leaf."""
        for l, index, rows in self._numbered():
            for side in (0, 1):
                face = _moved(index, axis, side)
                inside = (face[:, axis] > 0) & (face[:, axis] < self.labels[l].shape[axis])
                face, mine = face[inside], rows[inside]
                weight = np.full(len(face), (2 * side - 1) / float(1 << l))
                coarse = self._label(l, _moved(index[inside], axis, 2 * side - 1)) > 0
                yield from self._whole(axis, l, face[~coarse], mine[~coarse], weight[~coarse])
                if coarse.any():
                    yield from self._whole(axis, l + 1, self._shift(face[coarse], -1), mine[coarse], weight[coarse])

    def _normal_strain(self, axis: int) -> sparse.csr_matrix:
        """du_a / dx_a at the centres of all leaves; no row has entries at the forest's border."""
        entries: list[Entries] = []
        for l, index, rows in self._numbered():
            inner = self._inner(index, self.labels[l].shape, 1)
            for side in (0, 1):
                weight = np.full(int(inner.sum()), (2 * side - 1) / float(1 << l))
                entries += self._whole(axis, l, _moved(index[inner], axis, side), rows[inner], weight)
        return self._matrix(entries, self._cell_count)

    @cached_property
    def _shears(self) -> list[Shears]:
        return [self._shears_along(3 - a - b) for a, b in axis_pairs(self.dim)]

    def _shears_along(self, axis: int) -> Shears:
        """du_b / dx_c and du_c / dx_b at all edges along `axis` but those at the forest's border."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        entries: dict[tuple[int, int], list[Entries]] = {(b, c): [], (c, b): []}
        positions, low, high = [], [], []
        count = 0
        for l in range(self.tree.levels):
            index = self.edges(axis, l)
            rows = count + np.arange(len(index))
            reach = 0.5 * self._size(np.full(len(index), l))[:, None] * np.array([[-1.0], [1.0]])  # below, above
            for component, along in entries:
                out = entries[component, along]
                reach[:, :, along] = self._gradient(out, rows, axis, l, index, component, along).T
            position = self._shift(index, l).astype(float)
            position[:, axis] += reach[:, 1, axis]
            positions.append(position)
            low.append(position + reach[:, 0])
            high.append(position + reach[:, 1])
            count += len(index)
        ends = np.concatenate(low), np.concatenate(high)
        boxes = Boxes(self._world(0.5 * (ends[0] + ends[1])), self.dx * (ends[1] - ends[0])[:, : self.dim])
        derivatives = {pair: self._matrix(e, count) for pair, e in entries.items()}
        return Shears(derivatives, self._world(np.concatenate(positions)), boxes)

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
        return index[self._inner(index, labels.shape, 2 if l + 1 < self.tree.levels else 1, (b, c))]

    def _inner(self, index: np.ndarray, shape: tuple[int, ...], layers: int, nodes: tuple[int, ...] = ()) -> np.ndarray:
        """Which are at least `layers` cells inside the forest; along the axes `nodes` they lie on cell borders."""
        inside = np.ones(len(index), bool)
        for a in self.axes:
            last = shape[a] - layers - (0 if a in nodes else 1)
            inside &= (index[:, a] >= layers) & (index[:, a] <= last)
        return inside

    def _gradient(
        self, out: list[Entries], rows: np.ndarray, axis: int, l: int, index: np.ndarray, component: int, along: int
    ) -> np.ndarray:
        """Append the entries of du_component / dx_along; returns how far the samples below and above are (2, n)."""
        h = float(1 << l)
        coarse = []
        for side in (-1, 0):
            upper = _moved(index, along, side)
            lower = _moved(upper, component, -1)
            coarse.append((self._label(l, upper) > 0) & (self._label(l, lower) > 0))
        below, above = (np.where(side, h, 0.5 * h) for side in coarse)
        span = below + above
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
        return np.stack([-below, above])

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
