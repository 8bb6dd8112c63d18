"""A scene far from the point 0 runs as the same one near it; exports put it where it is."""

import json

import numpy as np
import pytest
import trimesh

import glug
from glug.errors import SceneError
from glug.output.export import export_run
from glug.scene import door, to_toml
from glug.simulation.run import run_to_folder

FAR = np.array([3e8, -2e8, 1e8])  # [m], where numbers in single precision are 32 m apart


def box(lower, upper):
    return {"kind": "box", "lower": lower, "upper": upper}


def scene(at, **more):
    """Honey of two viscosities, a moving source, solids that turn, follow keys and float; the domain is at `at`.

    All places are multiples of 1/64 m, which are exact there too.
    """

    def there(*point):
        return [float(x) for x in np.asarray(point) / 64.0 + at]

    law = {"kind": "position", "axis": [1, 0, 0], "table": [[0.125 + at[0], 1.0], [0.25 + at[0], 20.0]]}
    turning = {"kind": "rotation", "axis": [0, 1, 0], "point": there(16, 0, 16), "rate": 4.0}
    keys = [{"time": 0.0}, {"time": 0.1, "position": [0, -0.05, 0], "rotation": [0, 0, 20]}]
    ball = {"kind": "sphere", "centre": there(24, 20, 8), "radius": 0.04}
    data = {
        "name": "far",
        "domain": {"size": [0.5, 0.5, 0.5], "resolution": 16, "origin": there(0, 0, 0)},
        "time": {"fps": 24, "frames": 2},
        "liquids": {"honey": {"density": 1400.0, "viscosity": law}},
        "volumes": [{"liquid": "honey", "shape": box(there(3, 1, 3), there(27, 13, 27))}],
        "sources": [
            {
                "liquid": "honey",
                "shape": {"kind": "sphere", "centre": there(8, 26, 8), "radius": 0.05},
                "velocity": [0, -1, 0],
                "motion": {"kind": "linear", "velocity": [0.5, 0, 0]},
            }
        ],
        "solids": [
            {"name": "paddle", "shape": box(there(7, 13, 14), there(25, 16, 18)), "motion": turning},
            {
                "name": "lid",
                "shape": {
                    "kind": "union",
                    "parts": [box(there(20, 26, 20), there(28, 30, 28)) | {"rotate": [0, 20, 0]}],
                },
                "motion": {"kind": "keyframes", "pivot": there(24, 24, 24), "keys": keys},
            },
            {"name": "cork", "shape": ball, "density": 300.0},
        ],
        "camera": {"eye": there(64, 64, 64), "target": there(16, 16, 16)},
    }
    return glug.load(data | more)


def test_a_far_scene_runs_as_a_near_one():
    far = scene(FAR)
    assert far.domain.offset == tuple(FAR) and far.domain.origin == (0.0, 0.0, 0.0)
    frame, near = (list(glug.Simulation(what).run())[-1] for what in (far, scene(np.zeros(3))))
    for name, values in near.particles.items():
        assert np.array_equal(frame.particles[name], values), name
    assert np.array_equal(frame.surface.vertices, near.surface.vertices)
    for one, other in zip(frame.bodies, near.bodies, strict=True):
        assert one.name == other.name
        assert np.array_equal(one.rotation, other.rotation) and np.array_equal(one.translation, other.translation)


def test_a_far_scene_is_the_near_one():
    near, far = scene(np.zeros(3)), scene(FAR)
    offset = {"domain": near.domain.model_copy(update={"offset": far.domain.offset})}
    assert far == near.model_copy(update=offset)


def test_a_far_scene_of_a_named_material_is_the_near_one():
    near, far = (scene(at, liquids={"honey": {"material": "honey"}}) for at in (np.zeros(3), FAR))
    assert far.volumes == near.volumes and far.liquids == near.liquids


def test_meshes_and_sequences_are_carried_along(tmp_path):
    """They have no points in the scene: a mesh is translated, a sequence has keys."""
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.ply")
    place = FAR + 0.25
    solids = [
        {"name": "still", "shape": {"kind": "mesh", "file": str(tmp_path / "box.ply"), "translate": place.tolist()}},
        {
            "name": "sequence",
            "sequence": {"files": [str(tmp_path / "box.ply")] * 2},
            "motion": {"kind": "keyframes", "keys": [{"time": 0.0, "position": place.tolist()}]},
        },
    ]
    far = scene(FAR, solids=solids)
    middle = np.full((1, 3), 0.25)
    for solid in far.solids:
        np.testing.assert_allclose(solid.distance(middle), -0.05, atol=1e-6)


def test_a_moved_scene_is_written_and_read_as_it_is():
    far = scene(FAR)
    assert glug.load(door.parse(to_toml(far))) == far
    assert glug.load(far) is far


def test_scenes_near_the_point_0_stay_where_they_are():
    there = scene(np.array([-20.0, 300.0, 7.0]))
    assert there.domain.offset == (0.0, 0.0, 0.0) and there.domain.origin == (-20.0, 300.0, 7.0)


def test_farther_than_double_precision_is_refused():
    with pytest.raises(SceneError, match=r"domain\.origin.*valid: up to"):
        scene(np.array([0, 1e13, 0]))


def test_exports_put_a_far_scene_back(tmp_path):
    from pxr import Usd, UsdGeom

    far = scene(FAR, time={"frames": 0}, output={"preview": False})
    run_to_folder(far, tmp_path / "run")
    stage = Usd.Stage.Open(str(export_run(tmp_path / "run", "usd").path))
    bound = UsdGeom.BBoxCache(0, [UsdGeom.Tokens.default_]).ComputeWorldBound(stage.GetPrimAtPath("/far/liquid"))
    assert np.abs(np.array(bound.ComputeCentroid()) - FAR - 0.25).max() < 0.25
    text = (export_run(tmp_path / "run", "obj").path / "liquid" / "0000.obj").read_text()
    vertices = np.array([line.split()[1:] for line in text.splitlines() if line.startswith("v ")], float)
    assert np.abs(vertices - FAR - 0.25).max() < 0.26
    assert len(np.unique(vertices[:, 0])) > 100  # in single precision all are one
    record = json.loads((export_run(tmp_path / "run", "ply").path / "export.json").read_text())
    assert record["offset"] == FAR.tolist()
