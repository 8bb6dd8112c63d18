"""Which stress samples are dropped beside faces with hardly any liquid, and which mass the faces with stress have."""

import itertools

import numpy as np
import pytest
from setups import NO_WALLS, ball

from glug.geometry.solids.field import UNSEEN, sample_solids
from glug.grids.regular import CENTRE, EDGES, FACES, NODE, Grid, mapped
from glug.physics.viscosity import kernels
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.weights import LEAST_MASS, strained

GRID = Grid(1.0, (8, 8, 8))
AT = (4, 4, 4)  # the sample that a test looks at
BELOW, ABOVE = 0.9 * float(kernels.LOOSE), 1.1 * float(kernels.LOOSE)


@pytest.mark.parametrize(("fraction", "kept"), [(BELOW, False), (ABOVE, True)])
def test_a_shear_beside_a_face_with_hardly_any_liquid_is_dropped(fraction, kept):
    """It is on the lower border of the highest cells of a level liquid, whose faces along x have that fraction."""
    phi = (GRID.points(CENTRE)[..., 1] - (AT[1] + fraction)).astype(np.float32)
    problem = ViscosityProblem.build(GRID, phi, sample_solids(GRID, NO_WALLS, [], 0.0), 1.0)
    assert problem.mass[0][AT] == pytest.approx(fraction, rel=1e-3)
    assert (problem.weights.edges[2][AT] > 0) == kept
    assert problem.weights.edges[2][4, 3, 4] == 1.0  # one cell deeper


class Samples:
    """Half-full faces without solids, and no stress but what a test puts there."""

    def __init__(self) -> None:
        self.nodes = np.ones(GRID.sample_shape(NODE), np.float32)
        self.solid = mapped(lambda offset: GRID.scalar(offset, np.uint8), FACES)
        self.mass = mapped(lambda offset: np.full(GRID.sample_shape(offset), 0.5, np.float32), FACES)
        self.cell = GRID.scalar()
        self.edges = mapped(GRID.scalar, EDGES)

    def cell_left(self) -> bool:
        taken = np.full(GRID.shape, UNSEEN, np.float32)
        kernels.cut_cells(3, self.nodes, taken, self.solid, self.mass, self.cell)
        return bool(self.cell[AT] > 0)

    def shear_left(self) -> bool:
        """Of the axes x and y, at an edge along z."""
        marked = GRID.scalar(EDGES[2], np.uint8)
        kernels.mark_hanging(2, self.cell, self.edges, self.mass[0], self.mass[1], marked)
        return not marked[AT]


@pytest.mark.parametrize(("upper", "kept"), [(BELOW, False), (ABOVE, True)])
def test_a_cell_both_of_whose_faces_along_an_axis_are_loose_is_dropped(upper, kept):
    samples = Samples()
    samples.cell[AT] = 1.0
    samples.mass[1][AT], samples.mass[1][4, 5, 4] = BELOW, upper
    assert samples.cell_left() == kept


# An edge that holds each of the four faces of the shear (two along x, two along y) and none of the others.
HOLDING = ((1, (4, 3, 4)), (1, (4, 4, 4)), (0, (3, 4, 4)), (0, (4, 4, 4)))


@pytest.mark.parametrize("held", [h for n in range(5) for h in itertools.combinations(HOLDING, n)])
def test_a_shear_from_which_two_faces_hang_is_dropped(held):
    samples = Samples()
    samples.edges[2][AT] = 1.0
    for axis, place in held:
        samples.edges[axis][place] = 1.0
    assert samples.shear_left()  # all its faces are half full
    samples.mass[0][AT] = 0.49
    assert samples.shear_left() == (len(held) >= 3)


@pytest.mark.parametrize("ratio", [None, 0.5])
def test_faces_on_which_a_stress_acts_have_the_least_mass_times_their_density(ratio):
    grid, phi, solid = ball()
    density = None if ratio is None else mapped(lambda o: np.full(grid.sample_shape(o), ratio, np.float32), FACES)
    problem = ViscosityProblem.build(grid, phi, solid, 1.0, density=density)
    least = np.float32(LEAST_MASS) * np.float32(1.0 if ratio is None else ratio)
    floored = 0
    for a, (m, s) in enumerate(zip(problem.mass, problem.solid_faces)):
        acted_on = strained(a, problem.weights) & (s == 0)
        assert m[acted_on].min() == least
        assert m[m > 0].min() == least
        floored += np.count_nonzero(m == least)
    assert floored > 100
