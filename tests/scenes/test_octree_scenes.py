"""Scenes whose viscous solve is on an octree."""

import numpy as np
import pytest

from glug.errors import SceneError
from glug.physics.viscosity.octree import tree as octree_tree
from glug.scene import Scene
from glug.simulation import Simulation
from glug.studies.validate.octree_beam import SOLVERS, fall

BLOB = {
    "name": "blob",
    "domain": {"size": [1.0, 1.0, 1.0], "resolution": 32},
    "time": {"fps": 24, "frames": 1, "max_substeps": 4},
    "liquids": {"paste": {"density": 1000.0, "viscosity": 500.0}},
    "volumes": [{"liquid": "paste", "shape": {"kind": "sphere", "centre": [0.5, 0.42, 0.5], "radius": 0.41}}],
    "output": {"fields": True},
}


def run(**solver) -> Simulation:
    simulation = Simulation(Scene(**BLOB, solver=solver))
    while simulation.state.frame < 1:
        simulation.step_once()
    return simulation


def test_a_blob_moves_on_an_octree_as_on_the_regular_grid():
    ours, regular = run(viscosity="octree"), run(viscosity="multigrid")
    assert ours.state.fields["level"].max() >= 1 and "level" not in regular.state.fields
    a, b = ours.state.particles, regular.state.particles
    assert len(a) == len(b)
    order_a, order_b = np.argsort(a.id[:, 0]), np.argsort(b.id[:, 0])
    moved = np.abs(b.velocity[order_b]).max()
    assert np.abs(a.velocity[order_a] - b.velocity[order_b]).max() < 0.05 * moved


def test_left_to_choose_large_thick_liquids_take_the_octree(monkeypatch):
    assert "level" not in run(viscosity="auto").state.fields  # too small
    monkeypatch.setattr(octree_tree, "MANY", 1000)
    assert "level" not in run(viscosity="auto").state.fields  # not thick enough
    monkeypatch.setattr(octree_tree, "FEWER", 1.5)
    assert run(viscosity="auto").state.fields["level"].max() >= 1
    assert "level" not in run(viscosity="multigrid").state.fields


def test_an_octree_in_a_flat_scene_is_refused():
    flat = BLOB | {
        "domain": {"size": [1.0, 1.0], "resolution": 16},
        "volumes": [{"liquid": "paste", "shape": {"kind": "box", "lower": [0.2, 0.2], "upper": [0.8, 0.8]}}],
    }
    with pytest.raises(SceneError, match=r"solver\.viscosity.*3D"):
        Scene(**flat, solver={"viscosity": "octree"})


@pytest.mark.slow
def test_the_beam_bends_with_enhanced_gradients_and_is_stiffer_with_sloped_ones():
    falls = {name: fall(64, overrides, 8) for name, overrides in SOLVERS.items()}
    end = falls["regular"][-1]
    assert (np.abs(falls["enhanced"] - falls["regular"]) < 0.05 * falls["regular"]).all()  # at every time
    assert falls["sloped"][-1] < falls["regular"][-1] - 0.05 * end
