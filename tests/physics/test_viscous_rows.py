"""The viscous kernels and tables have the rows of `grids.strain_stencil`, entry by entry, on random weights."""

import numpy as np
import pytest
from setups import NO_WALLS

from glug.geometry.solids.field import sample_solids
from glug.grids.blocks import active_blocks
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.kept import KeptFaces
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import CENTRE, EDGES, FACES, NODE, Grid, Staggered, mapped
from glug.grids.strain_stencil import Face, acting, matrix_row, plus, strains
from glug.physics.viscosity import kernels
from glug.physics.viscosity.boxes import BOXES, Boxes, box_entries
from glug.physics.viscosity.levels import ViscosityLevel, cells_with_unknowns
from glug.physics.viscosity.octree.finest import FinestWeights
from glug.physics.viscosity.octree.rows import OctreeWeights, assemble, coarse_diffusion
from glug.physics.viscosity.problem import StressWeights
from glug.physics.viscosity.slip import Faces, operator_rows
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.cg import zeros_like
from glug.solvers.smoothers import coloured

SHAPES = [(10, 9, 11), (5, 12, 6), (9, 10, 3)]  # more than one block of 8 cells; the last one is flat


class Weights:
    """Masses of faces and weights of all samples: random, none like another."""

    def __init__(self, grid: Grid, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.grid = grid

        def random(offset: tuple[float, float, float]) -> np.ndarray:
            return rng.uniform(0.5, 2.0, grid.sample_shape(offset)).astype(np.float32)

        self.m, self.e, self.f = mapped(random, FACES), mapped(random, EDGES), mapped(random, EDGES)
        self.c = mapped(random, (CENTRE, CENTRE, CENTRE))

    def row(self, face: Face) -> dict[Face, float]:
        """The row of M + E' K V E of a face: what it has for every face, as the description says."""
        axis, place = face
        around = [(s.strain, plus(place, s.place)) for s in acting(axis)]
        own = [(self.e if strain.shear else self.c)[strain.axis][at] for strain, at in around]
        kinds = strains(self.grid.dim)
        out = {face: self.m[axis][place] + sum(float(w) for w, (strain, _) in zip(own, around) if strain in kinds)}
        for sample, sign, (other, step) in matrix_row(axis, self.grid.dim):
            strain, at = around[sample]
            weight = own[sample] if other == axis else self.f[strain.axis][at]
            out[Face(other, plus(place, step))] = sign * float(weight)
        return out


class Unknowns(Weights):
    """Of them, a random set of inner faces is unknown.

    A grid of three layers is flat: the middle one has no faces along z and no stresses across it.
    """

    def __init__(self, shape: tuple[int, int, int]):
        super().__init__(Grid(1.0, shape))
        rng = np.random.default_rng(1)
        for m in self.m:
            inner = np.zeros(m.shape, np.bool_)
            inner[tuple(slice(1, n - 1) for n in shape)] = True
            m *= inner & (rng.random(m.shape) < 0.8)
        if shape[2] == 3:
            for field in (self.m[2], self.c[2], *self.e[:2], *self.f[:2]):
                field[:] = 0.0
        self.known = flat(self.m) > 0
        self.begin = np.cumsum([0, *(m.size for m in self.m)])
        far = mapped(lambda _: np.full(self.grid.sample_shape(NODE), 10.0, np.float32), range(3))
        solid = mapped(lambda m: np.zeros(m.shape, np.uint8), self.m)
        blocks = active_blocks(cells_with_unknowns(self.m, shape))
        self.level = ViscosityLevel(1.0, shape, self.m, self.m, self.c, self.e, self.f, far, solid, blocks)
        self.matrix = self._matrix()

    def number(self, face: Face) -> int:
        return int(self.begin[face.axis] + np.ravel_multi_index(face.place, self.m[face.axis].shape))

    def _matrix(self) -> np.ndarray:
        """Over all faces; zero but for unknown ones."""
        out = np.zeros((self.begin[-1], self.begin[-1]))
        for face in self.faces():
            for other, value in self.row(face).items():
                out[self.number(face), self.number(other)] = value
        return out * self.known

    def faces(self, axes=range(3)) -> list[Face]:
        return [Face(a, (int(i), int(j), int(k))) for a in axes for i, j, k in np.argwhere(self.m[a] > 0)]

    def random(self, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).normal(size=len(self.known)) * self.known

    def split(self, vector: np.ndarray, dtype: type = np.float32) -> Staggered:
        parts = np.split(vector.astype(dtype), self.begin[1:-1])
        return mapped(lambda part, m: part.reshape(m.shape), parts, self.m)


def flat(field: Staggered) -> np.ndarray:
    return np.concatenate([u.ravel() for u in field])


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def system(request) -> Unknowns:
    return Unknowns(request.param)


def test_products_have_the_rows_entry_by_entry(system):
    assert np.array_equal(system.matrix, system.matrix.T)
    assert system.known.sum() > 50
    for n in np.flatnonzero(system.known):
        x, q = np.zeros(len(system.known)), zeros_like(system.level)
        x[n] = 1.0
        assert system.level.apply(system.split(x), q) == pytest.approx(system.matrix[n, n], rel=1e-6)
        np.testing.assert_allclose(flat(q), system.matrix[:, n], rtol=1e-6)


def test_a_coupling_turned_round_is_seen(system):
    """The control of the test above."""
    face = next(f for f in system.faces([0]) if system.known[system.number(Face(1, f.place))])
    x, q = np.zeros(len(system.known)), zeros_like(system.level)
    x[system.number(face)] = 1.0
    system.f[2][face.place] *= -1.0
    system.level.apply(system.split(x), q)
    system.f[2][face.place] *= -1.0
    assert np.abs(flat(q) - system.matrix @ x).max() > 0.5


def test_residuals_and_the_diagonal_have_the_rows(system):
    np.testing.assert_allclose(flat(system.level.diagonal()), system.matrix.diagonal(), rtol=1e-6)
    b, x, r = system.random(2), system.random(3), zeros_like(system.level)
    system.level.residual(system.split(b), system.split(x, np.float64), r)
    np.testing.assert_allclose(flat(r), b - system.matrix @ x, atol=1e-5)


@pytest.mark.parametrize("forward", [True, False])
def test_a_sweep_solves_the_rows_one_after_the_other(system, forward):
    b, x = system.random(2), system.random(3)
    fields, colours = system.split(x), coloured(system.level.blocks)
    system.level.sweep(system.split(b), fields, colours, forward, 1)
    number = [np.arange(m.size).reshape(m.shape) + n for m, n in zip(system.m, system.begin)]
    turn = 1 if forward else -1
    for i0, j0 in colours.blocks[::turn, :2]:  # those of one colour do not touch, so that their order is all the same
        for i in range(i0, i0 + 8)[::turn]:
            for j in range(j0, j0 + 8)[::turn]:
                for a in range(3)[::turn]:
                    if i < system.m[a].shape[0] and j < system.m[a].shape[1]:
                        row = number[a][i, j][system.m[a][i, j] > 0]
                        x[row] += (b[row] - system.matrix[row] @ x) / system.matrix[row, row]
    np.testing.assert_allclose(flat(fields), x, atol=1e-5)


def test_a_term_of_a_polynomial_has_the_rows(system):
    b, x, before = system.random(2), system.random(3), system.random(4)
    fields = system.split(before)
    system.level.relax(system.split(b), system.split(x), fields, 0.3, 0.7)
    step = (b - system.matrix @ x) / np.where(system.known, system.matrix.diagonal(), 1.0)
    np.testing.assert_allclose(flat(fields), x + 0.3 * (x - before) + 0.7 * step, atol=1e-5)


def test_boxes_are_submatrices(system):
    fields = Boxes.of(system.level).fields
    for face in system.faces()[::17]:
        members = [Face(f.axis, plus(face.place, f.place)) for f in BOXES[face.axis]]
        used = [p for p, f in enumerate(members) if system.m[f.axis][f.place] > 0]
        box = np.zeros((len(members), len(members)))
        for p, q, which, i, j, k, sign in box_entries(BOXES[face.axis]):
            if p in used and q in used:
                box[p, q] += sign * fields[which][plus(face.place, (i, j, k))]
        mine = [system.number(members[p]) for p in used]
        np.testing.assert_allclose(box[np.ix_(used, used)], np.tril(system.matrix[np.ix_(mine, mine)]), rtol=1e-6)
        assert set(np.flatnonzero(system.matrix[mine[0]])) <= set(mine)


def test_rows_at_surfaces_that_slip_are_those_of_the_matrix(system):
    some = Faces(tuple(np.flatnonzero(m > 0)[::7] for m in system.m))
    row, column, value = operator_rows(system.level, some)
    found = np.zeros((len(some), len(system.known)))
    np.add.at(found, (row, column), value)
    np.testing.assert_allclose(found, system.matrix[some.numbers([m.size for m in system.m])], rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 6, 7), (6, 5, 1)])
def test_assembled_rows_are_the_strains(shape):
    """Away from solids and from the border; a row is known by its weight."""
    weights = Weights(Grid(1.0, shape, dim=2 if shape[2] == 1 else 3))
    grid, rng = weights.grid, np.random.default_rng(2)
    velocity = mapped(lambda m: rng.normal(size=m.shape), weights.m)
    solid, none = sample_solids(grid, NO_WALLS, [], 0.0), mapped(lambda m: np.zeros(m.shape, np.uint8), weights.m)
    rows = strain_rows(grid, solid, none, StressWeights(weights.c[0], weights.e), every=True)
    found = sorted(zip(rows.stiffness.tolist(), (rows.matrix() @ flat(velocity)).tolist()))
    expected = []
    for strain in strains(grid.dim):
        field = weights.e[strain.axis] if strain.shear else weights.c[0]
        inner = np.ones(field.shape, np.bool_)
        for a in grid.axes:
            np.moveaxis(inner, a, 0)[[0, -1]] = False
        for place in map(tuple, np.argwhere(inner)):
            parts = [velocity[d.axis][plus(place, d.high)] for d in strain.differences]
            parts += [-velocity[d.axis][plus(place, d.low)] for d in strain.differences]
            expected.append((float(field[place]), sum(parts)))
    np.testing.assert_allclose(found, sorted(expected), rtol=1e-9)


def test_plain_rows_of_a_tree_are_those_of_the_grid():
    """Of a tree of finest leaves alone, away from its border; cells there have one weight for all axes."""
    shape = (8, 6, 10)
    tree = LinearTree.refined(np.ones(shape, np.bool_), 2)
    faces, weights = KeptFaces.of(TreeFaces.of(tree)), Weights(Grid(1.0, shape))
    weights.c = (weights.c[0],) * 3
    mass = np.array([weights.m[a][i, j, k] for a, _, i, j, k in faces.place], np.float32)
    finest = FinestWeights.of(tree, 0, weights.c[0], weights.e, weights.f)
    stored = OctreeWeights(mass, finest, *coarse_diffusion(tree, 1.0))
    matrix = assemble(faces, stored).matrix().tocsr()
    number = {Face(int(a), (int(i), int(j), int(k))): n for n, (a, _, i, j, k) in enumerate(faces.place)}
    inner = [f for f in number if all(1 < p < n - 2 for p, n in zip(f.place, shape))]
    assert len(inner) > 20
    for face in inner:
        row, expected = matrix[number[face]], {number[f]: value for f, value in weights.row(face).items()}
        assert dict(zip(row.indices.tolist(), row.data.tolist())) == pytest.approx(expected, rel=1e-6)


def test_kernels_find_the_faces_and_samples_beside_a_face():
    here = (5, 6, 7)
    for a in range(3):
        shear = next(s for s in strains(3) if s.shear and s.axis == a)
        ends = [plus(here, place) for d in shear.differences for place in (d.low, d.high)]
        assert list(kernels.shear_faces(a, *here)) == ends
        faces = {entry.sample: entry.face.place for entry in matrix_row(a) if entry.face.axis == a}
        for side, sample in enumerate(acting(a)):
            assert kernels.beside(a, side, *here) == plus(here, faces[side])
            assert kernels.sample_beside(a, side, *here) == plus(here, sample.place)
            assert sample.strain.shear == (side >= 2)
