"""What holds for every octree: grading, one owner per face and edge, volumes that add up, exact strains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glug.grids.mesh import Fractions, strain
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.tree import Octree
from glug.physics.reference.viscosity import laplacian_rows, stiffness
from glug.physics.variational import stress_rows

FEW = settings(max_examples=25, deadline=None)


def random_tree(seed: int, roots: tuple[int, int, int], levels: int, dim: int, marks: int) -> Octree:
    """The coarsest graded tree around a few random finest cells."""
    rng = np.random.default_rng(seed)
    root = 1 << (levels - 1)
    shape = tuple(n * root if a < dim else 1 for a, n in enumerate(roots))
    finest = np.zeros(shape, bool)
    finest[tuple(rng.integers(0, n, marks) for n in shape)] = True
    return Octree.refined(finest, levels, dim)


trees = st.builds(
    random_tree,
    seed=st.integers(0, 1000),
    roots=st.tuples(*[st.integers(1, 3)] * 3),
    levels=st.integers(1, 5),
    dim=st.sampled_from([2, 3]),
    marks=st.integers(0, 6),
)


def rotation(operators: OctreeOperators, spin: tuple[float, ...]) -> np.ndarray:
    """Face velocities of a rigid rotation; about z in 2D."""
    position = np.pad(operators.face_position, [(0, 0), (0, 3 - operators.dim)])
    return np.cross(spin, position)[np.arange(len(position)), operators.faces.axis]


@FEW
@given(tree=trees)
def test_leaves_that_share_a_face_differ_by_one_level_at_most(tree):
    level = tree.level.astype(int)
    for a in range(tree.dim):
        assert np.abs(np.diff(level, axis=a)).max(initial=0) <= 1


@FEW
@given(tree=trees)
def test_leaves_fill_the_forest_once_and_siblings_come_together(tree):
    corner, level = tree.leaves
    owner = np.full(tree.shape, -1)
    for n, ((i, j, k), l) in enumerate(zip(corner.tolist(), level.tolist())):
        side, depth = 1 << l, 1 << (l * tree.deep)
        block = owner[i : i + side, j : j + side, k : k + depth]
        assert (block == -1).all() and block.size == side * side * depth
        assert (tree.level[i : i + side, j : j + side, k : k + depth] == l).all()
        assert i % side == 0 and j % side == 0 and k % depth == 0
        block[:] = n
    assert (owner >= 0).all()


@FEW
@given(tree=trees)
def test_leaves_lie_along_the_morton_curve_of_their_root(tree):
    corner, _ = tree.leaves
    root = 1 << (tree.levels - 1)
    inside = corner.astype(np.int64) % np.array([root, root, root if tree.dim == 3 else 1])
    code = np.zeros(len(corner), np.int64)
    for bit in range(tree.levels):
        for a in range(tree.dim):
            code |= ((inside[:, a] >> bit) & 1) << (tree.dim * bit + a)
    whole = corner // np.array([root, root, root if tree.dim == 3 else 1])
    roots = np.ravel_multi_index(tuple(whole.T), tree.shape_at(tree.levels - 1))
    assert (np.diff(roots * (1 << 20) + code) > 0).all()


@FEW
@given(tree=trees)
def test_every_face_between_leaves_has_one_number(tree):
    """Fine faces between finest cells of different leaves belong to one face, as large as the smaller leaf's."""
    faces = tree.faces()
    count = np.zeros(faces.count, int)
    for a in range(tree.dim):
        level = tree.level.astype(np.int64)
        lower = np.moveaxis(level, a, 0)[:-1]
        upper = np.moveaxis(level, a, 0)[1:]
        for place in np.argwhere(np.ones_like(lower)):
            index = place.copy()
            index[0] += 1
            l = min(lower[tuple(place)], upper[tuple(place)])
            index = np.insert(index[1:], a, index[0])
            step = np.array([1 << l, 1 << l, 1 << (l * tree.deep)])
            if index[a] % step[a]:
                continue  # inside a leaf
            number = faces.numbers[a][tuple(index // step * step)]
            assert number >= 0 and faces.axis[number] == a and faces.level[number] == l
            count[number] += 1
    across = (1 << faces.level.astype(np.int64)) ** (tree.dim - 1)
    assert (count == across).all()
    assert int((faces.numbers >= 0).sum()) == faces.count


@FEW
@given(tree=trees)
def test_face_volumes_sum_to_the_volume_but_half_cells_at_the_border(tree):
    operators = OctreeOperators(tree)
    for a in range(tree.dim):
        border = 0.0
        for side in (0, -1):
            border += (0.5 * 2.0 ** np.moveaxis(tree.level, a, 0)[side]).sum()
        total = operators.face_volume[operators.faces.axis == a].sum() + border
        assert total == pytest.approx(tree.level.size, rel=1e-12)


@FEW
@given(tree=trees)
def test_edges_of_different_levels_never_overlap(tree):
    operators = OctreeOperators(tree)
    for axis in range(3) if tree.dim == 3 else (2,):
        count = np.zeros([n + 1 for n in tree.shape], int)
        for l in range(tree.levels):
            for i, j, k in operators.edges(axis, l):
                low = np.array([i << l, j << l, k << (l * tree.deep)])
                line = [slice(c, c + 1) for c in low]
                line[axis] = slice(low[axis], low[axis] + (1 << (l * (tree.deep if axis == 2 else 1))))
                count[tuple(line)] += 1
        assert count.max(initial=0) <= 1


@FEW
@given(tree=trees)
def test_a_rigid_rotation_has_no_strain_with_enhanced_gradients(tree):
    operators = OctreeOperators(tree, "enhanced")
    u = rotation(operators, (0.3, -0.7, 0.5) if tree.dim == 3 else (0.0, 0.0, 1.0))
    assert np.abs(strain(operators) @ u).max(initial=0.0) < 1e-12 * np.abs(u).max(initial=1.0)


def two_level_tree() -> Octree:
    finest = np.zeros((16, 16, 16), bool)
    finest[7, 6, 8] = True
    return Octree.refined(finest, 3)


def test_sloped_gradients_strain_a_rigid_rotation():
    """The negative control: a third of the spin at transitions, where enhanced gradients have none."""
    tree = two_level_tree()
    worst = {}
    for gradient in ("sloped", "enhanced"):
        operators = OctreeOperators(tree, gradient)
        worst[gradient] = np.abs(strain(operators) @ rotation(operators, (0.0, 0.0, 1.0))).max()
    assert worst["sloped"] == pytest.approx(1 / 3, rel=0.05)
    assert worst["enhanced"] < 1e-12


@pytest.mark.parametrize("gradient", ["enhanced", "sloped"])
def test_the_matrix_is_symmetric_and_positive_definite_with_viscosities_a_million_apart(gradient):
    tree = two_level_tree()
    operators = OctreeOperators(tree, gradient)
    rng = np.random.default_rng(3)
    full = Fractions.full(operators)
    mu = tuple(10.0 ** rng.uniform(-3, 3, len(volume)) for volume in (operators.cell_volume, operators.edge_volume))
    a = stiffness(stress_rows(operators, full, full, mu, trace_free=False)).toarray()
    assert np.abs(a - a.T).max() <= 1e-14 * np.abs(a).max()
    values = np.linalg.eigvalsh(a + np.diag(operators.face_volume))
    assert values.min() > 0.0


def test_the_laplacian_decouples_the_components():
    tree = two_level_tree()
    operators = OctreeOperators(tree)
    full, axis = Fractions.full(operators), operators.faces.axis
    a = stiffness(laplacian_rows(operators, full, full, 1.0)).tocoo()
    coupled = stiffness(stress_rows(operators, full, full, 1.0, trace_free=False)).tocoo()
    assert (axis[a.row] == axis[a.col]).all()
    assert (axis[coupled.row] != axis[coupled.col]).any()


@pytest.mark.parametrize(("shape", "levels"), [((12, 16, 16), 4), ((16, 16, 16), 9)])
def test_bad_forests_are_refused(shape, levels):
    with pytest.raises(ValueError, match=r"roots|levels"):
        Octree.refined(np.zeros(shape, bool), levels)
