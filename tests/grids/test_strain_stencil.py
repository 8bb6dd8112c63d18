"""The strain rows of the staggered grid are those of its derivatives."""

import numpy as np
import pytest

from glug.grids.operators import difference
from glug.grids.regular import CENTRE, EDGES, FACES, Grid
from glug.grids.strain_stencil import HERE, acting, matrix_row, strains

GRADIENT = np.array([[0.3, -1.2, 0.7], [0.9, -0.4, 1.6], [-0.8, 0.5, 0.1]])


@pytest.mark.parametrize("dim", [2, 3])
def test_strains_of_a_linear_velocity_are_its_symmetric_gradient(dim):
    def velocity(axis: int, sample: tuple[float, ...], place: tuple[int, ...]) -> float:
        """At the face `place` steps from the one that has the index of a sample in its cell."""
        return float(GRADIENT[axis] @ (np.array(place) + FACES[axis] - np.array(sample)))

    for strain in strains(dim):
        a, b = (strain.axis + 1) % 3, (strain.axis + 2) % 3
        sample = EDGES[strain.axis] if strain.shear else CENTRE
        found = sum(velocity(d.axis, sample, d.high) - velocity(d.axis, sample, d.low) for d in strain.differences)
        expected = GRADIENT[a, b] + GRADIENT[b, a] if strain.shear else GRADIENT[strain.axis, strain.axis]
        assert found == pytest.approx(expected)


def test_rows_are_those_of_the_reference_operators():
    """Sample by sample, in the middle of a grid."""
    grid = Grid(1.0, (4, 5, 6))
    middle = np.array((2, 2, 3))
    for strain in strains(3):
        rows = grid.sample_shape(EDGES[strain.axis] if strain.shear else CENTRE)
        for d in strain.differences:
            matrix = difference(grid, FACES[d.axis], d.along)
            row = matrix[np.ravel_multi_index(middle, rows)].toarray().reshape(grid.sample_shape(FACES[d.axis]))
            assert row[tuple(middle + d.high)] == 1.0
            assert row[tuple(middle + d.low)] == -1.0
            assert np.count_nonzero(row) == 2


@pytest.mark.parametrize(("dim", "entries"), [(2, 8), (3, 14)])
def test_matrix_rows_are_symmetric_and_rest_where_all_move_alike(dim, entries):
    rows = [matrix_row(a, dim) for a in range(dim)]
    for a, row in enumerate(rows):
        assert len({entry.face for entry in row}) == len(row) == entries
        for entry in row:
            there = acting(a)[entry.sample].place
            back = [e for e in rows[entry.face.axis] if e.face == (a, tuple(-n for n in entry.face.place))]
            assert [e.sign for e in back] == [entry.sign]
            sample = acting(entry.face.axis)[back[0].sample]
            assert sample.strain == acting(a)[entry.sample].strain
            assert tuple(np.add(entry.face.place, sample.place)) == there
        for axis in range(dim):
            total = sum(e.sign for e in row if e.face.axis == axis)
            assert total == (-len({e.sample for e in row}) if axis == a else 0)  # less the diagonal: nothing
    assert all(e.face != (a, HERE) for a, row in enumerate(rows) for e in row)
