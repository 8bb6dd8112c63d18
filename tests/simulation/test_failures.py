"""A value that is not finite ends the run in the stage that made it, and leaves what a report needs."""

import json
import zipfile

import numpy as np
import pytest

import glug
from glug.errors import SolverError
from glug.simulation.run import run_to_folder

SCENE = {
    "name": "tank",
    "domain": {"size": [1.0, 1.0], "resolution": 12},
    "time": {"frames": 3},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}}],
    "output": {"preview": False},
}


def spoil_velocity(context):
    if context.state.frame == 1:
        context.velocity[1][2, 3] = np.nan


def spoil_position(context):
    if context.state.frame == 1:
        context.state.particles.position[0, 0] = np.inf


@pytest.mark.parametrize(("after", "spoil"), [("forces", spoil_velocity), ("advect", spoil_position)])
def test_the_stage_is_named(after, spoil):
    simulation = glug.Simulation(SCENE, stages=lambda stages: stages.after(after, glug.Stage("spoil", spoil)))
    with pytest.raises(SolverError, match=r"step \d+, spoil: the (velocity|position) is no longer finite"):
        list(simulation.run())


def test_a_failed_run_leaves_a_report_and_its_checkpoint(tmp_path):
    def stages(usual):
        return usual.after("forces", glug.Stage("spoil", spoil_velocity))

    with pytest.raises(SolverError, match=r"failure\.zip"):
        run_to_folder(glug.load(SCENE), tmp_path / "run", stages=stages)
    with zipfile.ZipFile(tmp_path / "run/failure.zip") as archive:
        names = set(archive.namelist())
        assert {"scene.toml", "stats.jsonl", "versions.json", "traceback.txt", "checkpoint/state.npz"} <= names
        assert "numba" in json.loads(archive.read("versions.json"))
    assert run_to_folder(glug.load(SCENE), tmp_path / "run", resume=True).frame == 3  # without what spoilt it
