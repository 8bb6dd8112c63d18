"""The strain rows of the staggered grid, and the matrix rows that follow from them: written here and nowhere else.

Samples and faces are indexed like the cell above them. Lengths are in cells; 1_a is one step along axis a.

    normal strain along a, at the cell x      u_a(x + 1_a) - u_a(x)
    shear, at the edge x along e              u_a(x) - u_a(x - 1_b)  +  u_b(x) - u_b(x - 1_a),      a, b = e + 1, e + 2

With a weight for every sample, the row of a face in E' K V E has an entry for all faces that it shares a sample with:
the product of the signs of both in the strain, times the weight.
"""

from functools import cache
from typing import NamedTuple

Place = tuple[int, int, int]  # steps along the axes


HERE = (0, 0, 0)


def step(axis: int, by: int = 1, start: Place = HERE) -> Place:
    """`by` steps along an axis from a place."""
    i, j, k = (n + by if a == axis else n for a, n in enumerate(start))
    return i, j, k


def plus(one: Place, other: Place) -> Place:
    """All steps of both."""
    i, j, k = (a + b for a, b in zip(one, other))
    return i, j, k


def back(place: Place) -> Place:
    """The steps that lead back from a place."""
    i, j, k = (-n for n in place)
    return i, j, k


class Face(NamedTuple):
    """A face of `axis`, `place` steps away."""

    axis: int
    place: Place


class Difference(NamedTuple):
    """u_axis at `high` less u_axis at `low`, seen from the sample; `high` is one step along `along` from `low`."""

    axis: int
    along: int
    low: Place
    high: Place


class Strain(NamedTuple):
    """One kind of stress sample: its strain is the sum of the differences.

    Normal strains are along `axis` at cells, shears of the two other axes at edges along `axis`.
    """

    shear: bool
    axis: int
    differences: tuple[Difference, ...]


def normal_strain(axis: int) -> Strain:
    return Strain(False, axis, (Difference(axis, axis, HERE, step(axis)),))


def shear_strain(axis: int) -> Strain:
    a, b = (axis + 1) % 3, (axis + 2) % 3
    return Strain(True, axis, (Difference(a, b, step(b, -1), HERE), Difference(b, a, step(a, -1), HERE)))


STRAINS = (*map(shear_strain, range(3)), *map(normal_strain, range(3)))


def strains(dim: int) -> list[Strain]:
    """The kinds of a grid of two or three dimensions, shears first."""
    return [s for s in STRAINS if all(d.axis < dim and d.along < dim for d in s.differences)]


class Acting(NamedTuple):
    """A stress sample that acts on a face: where it is, seen from the face, and the face's sign in its strain."""

    strain: Strain
    place: Place
    sign: int


@cache
def acting(axis: int) -> tuple[Acting, ...]:
    """The six samples that act on a face of `axis`: before and after it along its axis, the next and the one after."""
    mine = [(s, d) for s in STRAINS for d in s.differences if d.axis == axis]
    mine.sort(key=lambda pair: (pair[1].along - axis) % 3)
    return tuple(Acting(s, back(end), sign) for s, d in mine for end, sign in ((d.high, 1), (d.low, -1)))


class Entry(NamedTuple):
    """An entry off the diagonal in the matrix row of a face: `sign` times the weight of sample number `sample`."""

    sample: int  # in `acting`
    sign: int
    face: Face


def matrix_row(axis: int, dim: int = 3) -> list[Entry]:
    """The entries off the diagonal in the row of a face of `axis`, by sample, its own component first.

    There are 14 in 3D, 8 in 2D. The entry on the diagonal is the sum of all weights.
    """
    row = []
    for number, (strain, place, sign) in enumerate(acting(axis)):
        for d in sorted(strain.differences, key=lambda d: d.axis != axis):
            faces = Face(d.axis, plus(place, d.high)), Face(d.axis, plus(place, d.low))
            row += [Entry(number, sign * other, face) for face, other in zip(faces, (1, -1))]
    kinds, around = strains(dim), acting(axis)
    return [entry for entry in row if entry.face != (axis, HERE) and around[entry.sample].strain in kinds]
