"""The box smoother of viscous solves (Aanjaneya et al. 2019, section 6.3).

For every unknown face the sub-system of the faces in its own matrix row, at most 15, is solved exactly with all others
held; boxes follow each other, in the opposite order after the coarse correction. Where the liquid is uniform around a
box all matrices are equal, and one inverse serves them all; elsewhere every box is assembled and factorised.
"""

from dataclasses import dataclass, field

import numpy as np

from glug.grids.regular import FACES
from glug.grids.strain_stencil import HERE, Face, Place, acting, matrix_row, plus
from glug.physics.viscosity import kernels_boxes
from glug.physics.viscosity.levels import ViscosityLevel
from glug.solvers import kernels
from glug.solvers.cg import Vector
from glug.solvers.smoothers import GaussSeidel

LONG, SHORT = 1 << 20, 4 * kernels_boxes.STRIDE  # chunks of a row, where most faces and where few have boxes
MOST_AT_JUMPS = 0.1  # of the faces
JUMP_AT_FACE = 30.0  # of the largest over the smallest stress sample around a face
SAME = 1e-5  # relative difference of coefficients that counts as none
G, C, E, F = 0, 3, 6, 9  # where the diagonal and the fields of an operator begin in a list of all

Sample = tuple[int, Place]  # its field and where it is


def box(axis: int) -> list[Face]:
    """The faces in the row of the face of `axis` at the origin: itself, those of its axis, those of the others."""
    faces = [entry.face for entry in matrix_row(axis)]
    own = sorted((f for f in faces if f.axis == axis), key=lambda f: ([n == 0 for n in f.place], f.place))
    others = sorted((f for f in faces if f.axis != axis), key=lambda f: (f.axis, f.place[f.axis], -f.place[axis]))
    return [Face(axis, HERE), *own, *others]


def samples(face: Face) -> list[tuple[Sample, int]]:
    """The stress samples that act on a face, with the face's sign in the strain."""
    return [
        (((E if strain.shear else C) + strain.axis, plus(face.place, place)), sign)
        for strain, place, sign in acting(face.axis)
    ]


def box_entries(faces: list[Face]) -> list[tuple[int, ...]]:
    """Members p >= q, field, offset and sign of everything that is summed into the matrix of a box."""
    found: list[tuple[int, ...]] = []
    for p, face in enumerate(faces):
        mine = dict(samples(face))
        found.append((p, p, G + face.axis, *face.place, 1))
        for q, other in enumerate(faces[:p]):
            for sample, sign in samples(other):
                if sample in mine:
                    field, place = sample
                    field = field if other.axis == face.axis else field - E + F
                    found.append((p, q, field, *place, mine[sample] * sign))
    return found


BOXES = [box(a) for a in range(3)]


def member_table() -> np.ndarray:
    """Axis, offset and the first member in the same row of faces, by axis and member."""
    table = np.empty((3, kernels_boxes.BOX, 5), np.int64)
    for a, faces in enumerate(BOXES):
        rows = [(axis, *place[:2]) for axis, place in faces]
        for p, (axis, place) in enumerate(faces):
            table[a, p] = (axis, *place, rows.index(rows[p]))
    return table


@dataclass(frozen=True)
class Boxes:
    """What a level's boxes share: fields, faces in uniform liquid and the inverse there."""

    fields: tuple[np.ndarray, ...]
    regular: Vector
    inverse: np.ndarray

    @classmethod
    def of(cls, level: ViscosityLevel) -> "Boxes":
        fields = (*level.diagonal_with(level.swept), *level.c, *level.e, *level.f)
        typical = np.array([_typical(f) for f in fields])
        inverse = np.zeros((3, kernels_boxes.BOX, kernels_boxes.BOX), np.float32)
        for a, faces in enumerate(BOXES):
            matrix = np.zeros((kernels_boxes.BOX, kernels_boxes.BOX))
            for p, q, which, _, _, _, sign in box_entries(faces):
                matrix[p, q] += sign * typical[which]
            matrix = np.tril(matrix) + np.tril(matrix, -1).T
            if np.linalg.eigvalsh(matrix)[0] > 0.0:
                inverse[a] = np.linalg.inv(matrix)
        same = [np.abs(f - t) <= SAME * t for f, t in zip(fields, typical.astype(np.float32))]
        shape = level.shape
        regular = tuple(_regular(faces, same, shape, inverse[a]) for a, faces in enumerate(BOXES))
        return cls(fields, regular, inverse)


def _typical(values: np.ndarray) -> float:
    """The most common positive value of a field, nearly."""
    positive = values[values > 0]
    return float(np.median(positive)) if len(positive) else 0.0


def _regular(faces: list[Face], same: list[np.ndarray], shape: tuple[int, int, int], inverse: np.ndarray) -> np.ndarray:
    """1 at faces whose box has no coefficient but the typical ones."""
    axis = faces[0].axis
    out = np.zeros([n + (o == 0.0) for n, o in zip(shape, FACES[axis])], np.uint8)
    if not inverse.any():
        return out
    middle = tuple(slice(3, n - 3) for n in shape)
    view = out[middle]
    if view.size == 0:
        return out
    view[:] = 1
    for which, place in {(e[2], e[3:6]) for e in box_entries(faces)}:
        moved = tuple(slice(3 + o, n - 3 + o) for n, o in zip(shape, place))
        view &= same[which][moved].view(np.uint8)
    return out


MEMBERS = member_table()
ENTRIES = np.array([box_entries(b) for b in BOXES], np.int64)


def sweep_boxes(
    level: ViscosityLevel, boxes: Boxes, centres: Vector, b: Vector, x: Vector, forward: bool, chunk: int = LONG
) -> None:
    """Solve the boxes around the faces `centres`, one after the other, or in the opposite order."""
    tables = MEMBERS, ENTRIES, centres, boxes.regular, boxes.inverse
    for blocks in level.colours.each(forward):
        with level.holding(b, x):
            kernels_boxes.relax_boxes(x, b, level.m, boxes.fields, *tables, blocks, np.uint64(chunk), forward)


@dataclass
class BoxSmoother:
    """`sweeps` sweeps over all boxes before and after the coarse correction."""

    sweeps: int = 1
    _boxes: dict[int, tuple[Boxes, Vector]] = field(default_factory=dict)

    def boxes(self, level: ViscosityLevel) -> tuple[Boxes, Vector]:
        """The boxes of a level and the faces in their middle, made once."""
        if id(level) not in self._boxes:
            self._boxes[id(level)] = Boxes.of(level), tuple((m > 0).view(np.uint8) for m in level.m)
        return self._boxes[id(level)]

    def start(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            sweep_boxes(level, *self.boxes(level), b, x, True)

    def backward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            sweep_boxes(level, *self.boxes(level), b, x, False)


@dataclass
class BoxesAtJumps:
    """Gauss-Seidel, and boxes around the faces at which the viscosity jumps.

    A face that hangs on one stiff sample moves with its neighbours there at next to no cost, which Gauss-Seidel cannot
    do and a coarse grid does not see.
    """

    smoother: GaussSeidel
    jump: float = JUMP_AT_FACE
    _faces: dict[int, Vector] = field(default_factory=dict)
    _boxes: dict[int, Boxes] = field(default_factory=dict)

    def faces(self, level: ViscosityLevel) -> Vector:
        """1 at the faces that are the middle of a box, found once for a level."""
        if id(level) not in self._faces:
            self._faces[id(level)] = faces_at_jumps(level, self.jump)
        return self._faces[id(level)]

    def boxes(self, level: ViscosityLevel) -> tuple[Boxes, Vector]:
        if id(level) not in self._boxes:
            self._boxes[id(level)] = Boxes.of(level)
        return self._boxes[id(level)], self.faces(level)

    def start(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self.smoother.forward(level, b, x, scratch)
        sweep_boxes(level, *self.boxes(level), b, x, True, SHORT)

    def backward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        sweep_boxes(level, *self.boxes(level), b, x, False, SHORT)
        self.smoother.backward(level, b, x, scratch)


def with_boxes_at_jumps(level: ViscosityLevel, smoother: GaussSeidel) -> GaussSeidel | BoxesAtJumps:
    """`smoother`, with boxes where few faces need them: with many a box costs more time than it saves iterations."""
    boxes = BoxesAtJumps(smoother)
    count = sum(int(np.count_nonzero(c)) for c in boxes.faces(level))
    return boxes if 0 < count <= MOST_AT_JUMPS * level.unknowns else smoother


def faces_at_jumps(level: ViscosityLevel, jump: float) -> Vector:
    """1 at unknown faces around which one stress sample is more than `jump` times another."""
    middle = tuple(slice(1, n - 1) for n in level.shape)
    out = []
    for a, m in enumerate(level.m):
        high, low = extremes(level, a)
        flags = np.zeros(m.shape, np.uint8)
        flags[middle] = (high > jump * low) & (m[middle] > 0)
        out.append(flags)
    return tuple(out)


def extremes(level: ViscosityLevel, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest and the smallest positive stress sample around the faces of an axis, without those at the border."""
    fields = (*level.m, *level.c, *level.e)
    inner = [n - 2 for n in level.shape]
    high, low = np.zeros(inner, np.float32), np.full(inner, np.inf, np.float32)
    for (which, place), _ in samples(Face(axis, HERE)):
        values = fields[which][tuple(slice(1 + o, n - 1 + o) for n, o in zip(level.shape, place))]
        np.maximum(high, values, out=high)
        np.minimum(low, np.where(values > 0, values, np.float32(np.inf)), out=low)
    return high, low
