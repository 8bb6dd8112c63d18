"""Whole steps on a tree with pointers, the baseline: the bits of the linear tree, by other ways to neighbours."""

import numpy as np
import pytest

import glug
from glug.scene import load
from glug.simulation.octree.tree import grow
from glug.studies.problems.pointer_tree import PointerTree, SearchedTree, with_pointers

CHANGES = {"domain.resolution": 32, "refine.levels": 4}


@pytest.mark.parametrize("seed", [None, 1])
def test_a_step_has_the_bits_of_the_linear_tree(seed):
    scene, seconds = load("octree-crown", CHANGES), []
    asked = []

    def searched(stages):
        return with_pointers(stages, seconds, seed)

    runs = [glug.Simulation(scene), glug.Simulation(scene, stages=searched)]
    with pytest.MonkeyPatch.context() as patch:
        links = PointerTree.links
        patch.setattr(PointerTree, "links", lambda self: asked.append(1) or links(self))
        for run in runs:
            for _ in range(3):
                run.step_once()
    linear, pointers = (run.state.particles for run in runs)
    for name, values in linear.attributes.items():
        assert np.array_equal(values, pointers.attributes[name]), name
    assert len(seconds) == 3 and len(asked) >= 12  # it was the pointers that were asked


def test_absent_leaves_are_found_to_be_absent():
    simulation = glug.Simulation(load("octree-crown", CHANGES))
    step = grow(simulation.setting, simulation.state.particles, 0.0)
    searched = SearchedTree.of(step.tree, 2)
    assert np.array_equal(searched.links, step.tree.links)
    cells = np.indices(step.tree.shape).reshape(3, -1).T
    assert np.array_equal(searched.leaf_of(cells), step.tree.leaf_of(cells))
    assert (step.tree.leaf_of(cells) < 0).any()
