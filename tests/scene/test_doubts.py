"""What `glug check` doubts is what is hardly meant, and no scene of the library has it."""

import numpy as np
import pytest

from glug.scene import load, scenes
from glug.scene.doubts import doubts

POUR = {
    "name": "pour",
    "domain": {"size": [0.3, 0.3, 0.3], "resolution": 24},
    "time": {"fps": 24, "frames": 48},
    "liquids": {"honey": {"material": "honey"}},
    "sources": [
        {
            "liquid": "honey",
            "shape": {"kind": "sphere", "centre": [0.15, 0.25, 0.15], "radius": 0.02},
            "velocity": [0.0, -0.5, 0.0],
        }
    ],
}


def said(**changes):
    return doubts(load({**POUR, **changes}))


def source(**changes):
    return {"sources": [{**POUR["sources"][0], **changes}]}


def solid(**shape):
    return {"solids": [{"name": "it", "shape": shape}]}


def test_a_scene_as_it_should_be_is_not_doubted():
    assert said() == []


@pytest.mark.parametrize("name", [name for name, _ in scenes()])
def test_no_scene_of_the_library_is_doubted(name):
    assert doubts(load(name)) == []


def test_a_solid_outside_the_domain():
    ball = {"kind": "sphere", "radius": 0.05}
    assert said(**solid(centre=[0.1, 0.1, 0.1], **ball)) == []
    (text,) = said(**solid(centre=[0.1, 0.1, 9.0], **ball))
    assert text.startswith("solids.0:") and "outside" in text


def test_a_source_that_opens_too_late_leaves_the_scene_empty():
    late, empty = said(**source(start=2.0))  # 48 frames at 24 a second
    assert late.startswith("sources.0.start") and "never pours" in late
    assert "no liquid" in empty
    assert said(**source(start=1.9)) == []


def test_a_source_without_a_velocity():
    (text,) = said(**source(velocity=[0.0, 0.0, 0.0]))
    assert text.startswith("sources.0.velocity")


def test_a_mesh_in_millimetres(tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 100.0
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "cup.obj").write_text("\n".join(lines))
    mesh = {"kind": "mesh", "file": str(tmp_path / "cup.obj")}
    (text,) = said(**solid(**mesh))
    assert "millimetres" in text and "scale = 0.001" in text
    assert said(**solid(**mesh, scale=0.001)) == []
