"""The sparse tree equals one built over every finest cell, is graded, small, and the same for any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glug.errors import InputError
from glug.grids.octree.linear.build import dilated, marked
from glug.grids.octree.linear.morton import MOST_CELLS, beside, cells_of, inside, keys_of
from glug.grids.octree.linear.sizing import liquid_tree
from glug.grids.octree.linear.tree import ABSENT, OUTSIDE, LinearTree
from glug.grids.octree.tree import MOST_LEVELS, Octree
from glug.jit import threads
from glug.studies.problems.linear_octree import pool, waves
from glug.studies.problems.pointer_tree import PointerTree

FEW = settings(max_examples=25, deadline=None)


def random_marks(seed: int, roots: tuple[int, int, int], levels: int, marks: int) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(seed)
    shape = [n << (levels - 1) for n in roots]
    finest = np.zeros(shape, bool)
    finest[tuple(rng.integers(0, n, marks) for n in shape)] = True
    return finest, levels


several = st.builds(
    random_marks,
    seed=st.integers(0, 1000),
    roots=st.tuples(*[st.integers(1, 3)] * 3),
    levels=st.integers(1, 5),
    marks=st.integers(0, 6),
)


def equals_brute_force(finest: np.ndarray, levels: int) -> None:
    dense, tree = Octree.refined(finest, levels), LinearTree.refined(finest, levels)
    every = np.argwhere(np.ones(finest.shape, bool))
    leaf = tree.leaf_of(every)
    assert (tree.level[leaf].reshape(finest.shape) == dense.level).all()
    assert len(tree) == len(dense.leaves[1]) == len(np.unique(leaf))
    assert (np.diff(tree.key) > 0).all()
    covered = every >> tree.level[leaf].astype(np.int64)[:, None] << tree.level[leaf].astype(np.int64)[:, None]
    assert (tree.corner[leaf] == covered).all()
    links_lead_to_neighbours(tree, leaf.reshape(finest.shape))


def links_lead_to_neighbours(tree: LinearTree, leaf: np.ndarray) -> None:
    """Across every side is the leaf that covers the lowest finest cell there, or nothing."""
    for side in range(6):
        axis = side >> 1
        probe = tree.corner.copy()
        probe[:, axis] += np.where(side & 1, tree.size.astype(int), -1)
        inside = (probe[:, axis] >= 0) & (probe[:, axis] < tree.shape[axis])
        expected = np.full(len(tree), OUTSIDE)
        expected[inside] = leaf[tuple(probe[inside].T)]
        assert (tree.links[:, side] == expected).all()


@FEW
@given(marks=several)
def test_it_equals_the_tree_over_every_finest_cell(marks):
    equals_brute_force(*marks)


@pytest.mark.slow
@pytest.mark.parametrize("marks", [3, 300, 30000])
@pytest.mark.parametrize("levels", [4, MOST_LEVELS])
def test_it_equals_the_tree_over_128_cells_a_side(marks, levels):
    equals_brute_force(*random_marks(marks, (128 >> (levels - 1),) * 3, levels, marks))


def test_levels_differ_by_one_at_most_across_a_face():
    tree = pool(64, 128)
    level = tree.level.astype(int)
    jumps = 0
    for side in range(6):
        found = tree.links[:, side] >= 0
        step = np.abs(level[tree.links[found, side]] - level[found])
        assert step.max() <= 1
        jumps += int(step.sum())
    assert jumps > 1000 and level.max() == 4


def test_without_widening_levels_would_differ_by_more():
    """The negative control: parents of the marks alone."""
    finest = np.zeros((32, 32, 32), bool)
    finest[16, 16, 16] = True
    level = np.zeros(finest.shape, int)
    for l in range(1, 5):
        blocks = finest.reshape(32 >> l, 1 << l, 32 >> l, 1 << l, 32 >> l, 1 << l).any(axis=(1, 3, 5))
        level[~np.kron(blocks, np.ones((1 << l,) * 3, bool))] = l
    assert max(np.abs(np.diff(level, axis=a)).max() for a in range(3)) > 1
    assert max(np.abs(np.diff(Octree.refined(finest, 5).level.astype(int), axis=a)).max() for a in range(3)) == 1


def test_threads_change_no_bit():
    trees = []
    for count in (1, 2):
        with threads(count):
            trees.append(pool(96, 256))
    one, two = trees
    for name in ("key", "level", "links"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert np.array_equal(one.index.table, two.index.table)


def test_a_leaf_takes_at_most_45_bytes_in_any_domain():
    sizes = {domain: pool(96, domain) for domain in (128, 4096)}
    for tree in sizes.values():
        assert tree.nbytes <= 45 * len(tree)
    assert sizes[4096].nbytes == pytest.approx(sizes[128].nbytes, rel=0.1)


def test_space_without_leaves_is_absent_and_not_outside():
    tree = pool(32, 64)
    top = tree.corner[:, 1].max()
    high = (tree.corner[:, 1] == top) & (tree.level == 0)
    assert (tree.links[high, 3] == ABSENT).all() and high.any()
    assert (tree.links[tree.corner[:, 1] == 0, 2] == OUTSIDE).all()
    assert (tree.leaf_of(np.array([[60, 60, 60]])) == ABSENT).all()


def test_coarse_leaves_and_their_neighbours_are_full():
    tree = liquid_tree(waves(64), (64, 64, 64), 5, 4, 4)
    distance = waves(64)(tree.centre)
    coarse = tree.level > 0
    assert (distance[coarse] < -2.0).all()
    assert (tree.links[coarse] != ABSENT).all()


def test_keys_come_back_and_have_neighbours():
    cells = np.random.default_rng(0).integers(1, MOST_CELLS - 1, (500, 3))
    key = keys_of(cells)
    assert (cells_of(key) == cells).all()
    for side in range(6):
        step = np.zeros(3, int)
        step[side >> 1] = 2 * (side & 1) - 1
        assert (cells_of(beside(key, side)) == cells + step).all()


def test_the_pointer_tree_has_the_same_neighbours():
    finest, levels = random_marks(3, (2, 3, 2), 5, 40)
    tree = LinearTree.refined(finest, levels)
    for seed in (None, 1):
        assert np.array_equal(PointerTree.of(tree, seed).links(), tree.links)


@pytest.mark.parametrize(
    ("shape", "levels", "words"),
    [
        ((16, 16, 16), 11, "1 to 10 levels"),
        ((16, 16, 16), 0, "1 to 10 levels"),
        ((MOST_CELLS, 16, 16), 4, "fewer than 2097152 cells"),
    ],
)
def test_what_no_tree_can_be_is_refused(shape, levels, words):
    with pytest.raises(InputError, match=words):
        LinearTree.grown([np.zeros(0, np.int64)] * levels, shape)


def test_levels_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        LinearTree.refined(np.zeros((12, 16, 16), bool), 4)


def test_marks_spread_as_cubes():
    rng = np.random.default_rng(7)
    shape = (20, 27, 33)
    cells = np.unique(rng.integers(0, shape, (30, 3)), axis=0)
    dense = np.zeros(shape, bool)
    for i, j, k in cells:
        dense[max(i - 5, 0) : i + 6, max(j - 5, 0) : j + 6, max(k - 5, 0) : k + 6] = True
    tiles = dilated(marked(keys_of(cells)), 5, shape)
    tile, cell = np.nonzero(tiles.cells)
    found = np.zeros(shape, bool)
    found[tuple(cells_of((tiles.key[tile] << 9) + cell).T)] = True
    assert np.array_equal(found, dense)


def test_a_box_that_is_not_whole_roots_ends_where_it_does():
    """Leaves that its upper sides would cut are divided, and what is behind them is outside, not absent."""
    shape = (12, 16, 16)
    none = np.zeros(0, np.int64)
    layer = keys_of(np.array([[2, j, k] for j in range(4) for k in range(4)]))  # cells of 4 that end at 12
    roots = keys_of(np.argwhere(np.ones((2, 2, 2), bool)))
    tree = LinearTree.grown([none, none, layer, roots], shape, lambda key, level: inside(key, shape))
    assert (tree.size**3).sum() == np.prod(shape)
    end = tree.corner[:, 0] + tree.size
    assert (tree.links[end == 12, 1] == OUTSIDE).all() and (end <= 12).all()
    assert not (tree.links == ABSENT).any()


def test_a_smaller_box_has_the_same_leaves():
    """Leaves far from the corner of a huge box keep numbers, links and neighbours, and the box ends beyond them."""
    corner, shape = np.array([1024 + 64, 512 + 64, (1 << 19) + 64]), (1 << 20, 1 << 20, 1 << 20)
    cells = corner + np.random.default_rng(3).integers(0, 48, (40, 3))
    tree = LinearTree.grown([keys_of(cells), np.zeros(0, np.int64), np.unique(keys_of(cells >> 2))], shape)
    small, base = tree.cropped()
    assert max(small.shape) <= 128 + 4
    assert (small.corner + base == tree.corner).all()
    assert (np.diff(small.key) > 0).all()
    assert (small.leaf_of(cells - base) == tree.leaf_of(cells)).all()
    assert (small.corner + small.size[:, None] <= small.shape).all()
