"""Bodies that cannot begin are refused before anything runs, with the key and the reason."""

import numpy as np
import pytest
import trimesh

import glug
from glug.errors import GlugError, InputError, MeshError, SceneError
from glug.simulation.simulation import Simulation

BALL = {"name": "ball", "shape": {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.1}, "density": 800.0}


def scene(*solids: dict, **more) -> glug.Scene:
    return glug.load(
        {
            "name": "bodies",
            "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
            "liquids": {"water": {"material": "water"}},
            "volumes": [
                {"shape": {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [1.0, 0.3, 1.0]}, "liquid": "water"}
            ],
            "solids": list(solids),
            **more,
        }
    )


def sphere(name: str, centre: list[float], radius: float = 0.1, **more) -> dict:
    return {"name": name, "shape": {"kind": "sphere", "centre": centre, "radius": radius}, **more}


def test_a_body_in_its_place_is_accepted() -> None:
    assert scene(BALL).solids[0].free
    touching = scene(BALL, sphere("other", [0.5, 0.7, 0.5], density=100.0))
    assert len(touching.solids) == 2


@pytest.mark.parametrize(
    ("solids", "message"),
    [
        ([{**BALL, "density": 0.0}], "density"),
        ([{**BALL, "density": -3.0}], "density"),
        ([BALL, sphere("other", [0.5, 0.62, 0.5], density=100.0)], "'other' and 'ball' begin in the same place"),
        ([sphere("post", [0.5, 0.62, 0.5]), BALL], "'ball' and 'post' begin in the same place"),
        ([sphere("out", [0.5, 0.05, 0.5], density=100.0)], "'out' begins beyond the bottom of the domain"),
        ([sphere("out", [3.0, 0.5, 0.5], density=100.0)], "begins beyond the right of the domain"),
        ([{**BALL, "shape": {"kind": "half-space", "point": [0, 0, 0], "normal": [0, 1, 0]}}], "must have an end"),
        ([{**BALL, "motion": {"kind": "linear", "velocity": [1, 0, 0]}}], "takes no motion"),
        ([sphere("still", [0.5, 0.5, 0.5], velocity=[1.0, 0.0, 0.0])], "only a body has a velocity"),
        ([{**BALL, "axle": [0, 0, 0]}], "direction"),
        ([{**BALL, "restitution": 1.5}], "restitution"),
        ([{**BALL, "friction": -0.1}], "friction"),
    ],
)
def test_what_cannot_be_is_refused(solids: list[dict], message: str) -> None:
    with pytest.raises(SceneError) as caught:
        scene(*solids)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mesh_that_is_open_is_refused(tmp_path) -> None:
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    box.update_faces(np.arange(len(box.faces)) > 1)
    box.export(tmp_path / "open.obj")
    mesh = {"kind": "mesh", "file": str(tmp_path / "open.obj"), "translate": [0.5, 0.5, 0.5]}
    with pytest.raises(MeshError, match=r"solids\.0\.shape"):
        scene({"name": "open", "shape": mesh, "density": 500.0})


def test_a_closed_mesh_is_a_body(tmp_path) -> None:
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "box.obj")
    mesh = {"kind": "mesh", "file": str(tmp_path / "box.obj"), "translate": [0.5, 0.5, 0.5]}
    assert scene({"name": "box", "shape": mesh, "density": 500.0}).solids[0].free


def test_stokes_in_one_solve_does_not_take_bodies_in_2d() -> None:
    flat = {"name": "disc", "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.1}, "density": 100.0}
    with pytest.raises(SceneError, match="bodies move freely"):
        glug.load(
            {
                "domain": {"size": [1.0, 1.0], "resolution": 16},
                "liquids": {"honey": {"material": "honey"}},
                "volumes": [{"shape": {"kind": "box", "lower": [0.0, 0.0], "upper": [1.0, 0.3]}, "liquid": "honey"}],
                "solids": [flat],
                "solver": {"coupling": "stokes"},
            }
        )


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch) -> None:
    import builtins

    real = builtins.__import__

    def missing(name, *rest, **more):
        if name == "mujoco":
            raise ModuleNotFoundError("No module named 'mujoco'", name="mujoco")
        return real(name, *rest, **more)

    monkeypatch.setattr("glug.extras.import_module", lambda name: missing(name))
    with pytest.raises(InputError, match=r"pip install 'glug\[rigid\]'") as caught:
        Simulation(scene(BALL))
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, GlugError)
    Simulation(scene(BALL, solver={"contact": "none"}))  # bodies that meet nothing need nothing
