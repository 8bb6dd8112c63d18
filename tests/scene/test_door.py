"""What comes in from outside: each attack is answered by one sentence that names what is wrong."""

import os
import signal
from contextlib import contextmanager

import pytest

import glug
from glug.errors import MOST_SHOWN, MeshError, SceneError, shown
from glug.scene import door

SCENE = {
    "name": "tank",
    "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.2}}],
}
TEXT = """
[domain]
size = [1.0, 1.0, 1.0]
resolution = 16
[liquids.water]
material = "water"
[[volumes]]
liquid = "water"
shape = { kind = "sphere", centre = [0.5, 0.5, 0.5], radius = 0.2 }
"""


@contextmanager
def at_most(seconds):
    """TimeoutError after some seconds."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refusal(what, overrides=None):
    with at_most(10), pytest.raises((SceneError, MeshError)) as error:
        glug.load(what, overrides)
    text = str(error.value)
    assert "\n" not in text and len(text) < 300
    return text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("deep = " + "[" * 20_000 + "]" * 20_000, "nested more than 32 deep"),
        ("deep = " + "[" * 40 + "]" * 40, "nested more than 32 deep"),
        ("many = " + "9" * 5000, "thousands of digits"),
        ("many = " + "9" * 1_000_000, "thousands of digits"),
        (".".join("a" * 30_000) + " = 1", "more than 32 parts"),
        ("text = '" + "x" * 5000 + "'", "5,000 characters"),
        ("large = 1e300", "out of range"),
        ("seed = 9223372036854775808", "seed"),
        ("[output]\npreview_size = [100000, 100000]", "preview_size"),
        ("[time]\ncfl = 1e300", "out of range"),
        ("[time]\ncfl = 1e6", "time.cfl"),
        ("[heat]\ndiffusivity = 1e9", "heat.diffusivity"),
        ("gravity = [0, -1e12, 0]", "gravity"),
    ],
    ids=lambda value: value[:12],
)
def test_text_is_refused(more, says, tmp_path):
    path = tmp_path / "scene.toml"
    head = more if not more.startswith("[") else ""
    tail = more if more.startswith("[") else ""
    path.write_text(head + "\n" + TEXT + tail)
    assert says in refusal(path)


def test_the_plain_text_is_a_scene(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(TEXT)
    assert glug.load(path).name == "scene"


@pytest.mark.parametrize("pattern", ["a**b", "**/*.obj", "/*/*.obj", "*/*.obj", "x\0*", "y" * 300 + "*"], ids=range(6))
def test_a_pattern_stays_in_one_folder(pattern, tmp_path):
    path = tmp_path / "scene.toml"
    solid = f'[[solids]]\nname = "spoon"\nsequence = {{ files = "{pattern}" }}\n'.replace("\0", "\\u0000")
    path.write_text(TEXT + solid)
    assert "files" in refusal(path)


def test_a_pattern_finds_files_in_order(tmp_path):
    for name in ("b.obj", "a.obj", "c.stl"):
        (tmp_path / name).touch()
    assert door.matching_files("*.obj", tmp_path) == [str(tmp_path / "a.obj"), str(tmp_path / "b.obj")]


@pytest.mark.parametrize("name", ["m" * 300 + ".obj", "m\0.obj", "a\nb.obj", "nope.obj"], ids=range(4))
def test_a_mesh_that_cannot_be_there(name):
    shape = {"kind": "mesh", "file": name}
    assert "not found" in refusal(SCENE, {"solids": [{"name": "cup", "shape": shape}]})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("volumes.0.velocity", [1e9, 0, 0]),
        ("volumes.0.spin", [0, 1e6, 0]),
        ("sources", [{"liquid": "water", "shape": SCENE["volumes"][0]["shape"], "velocity": [0, -1e6, 0]}]),
        ("gravity", [0, -1e12, 0]),
        ("domain.origin", [1e16, 0, 0]),
        ("domain.size", [1e-12, 1e-12, 1e-12]),
        ("liquids.water.viscosity", 1e29),
        ("liquids.water.density", 1e-20),
        ("time.fps", 1e-20),
        ("time.fps", 1e12),
        ("liquids.water.material", ["water"]),
        ("liquids.water.material", {"a": 1}),
        ("name", ".."),
        ("name", "../up"),
        ("name", "/any/absolute"),
        ("name", "x\0y"),
    ],
)
def test_a_value_that_no_step_can_use_is_named(key, value):
    assert key.split(".")[-1].split("s.")[0] in refusal(SCENE, {key: value})


@pytest.mark.parametrize(
    "motion",
    [
        {"kind": "linear", "velocity": [1e6, 0, 0]},
        {"kind": "rotation", "axis": [0, 1, 0], "point": [0.5, 0, 0.5], "rate": 1e6},
        {"kind": "oscillation", "amplitude": [0, 1, 0], "frequency": 1e9},
    ],
)
def test_a_solid_that_is_too_fast_is_named(motion):
    shape = {"kind": "box", "lower": [0, 0, 0], "upper": [0.1, 0.1, 0.1]}
    assert "solids.0.motion" in refusal(SCENE, {"solids": [{"name": "paddle", "shape": shape, "motion": motion}]})


def test_ordinary_speeds_are_not_too_fast():
    overrides = {"volumes.0.velocity": [30.0, 0, 0], "gravity": [0, -100.0, 0], "domain.origin": [1000.0, 0, 0]}
    glug.load(SCENE, overrides | {"volumes.0.shape.centre": [1000.5, 0.5, 0.5]})


def test_data_that_holds_itself_is_refused():
    endless: dict = dict(SCENE)
    endless["heat"] = endless
    assert "nested" in refusal(endless)


def test_a_long_override_is_refused():
    assert "parts" in refusal(SCENE, {".".join("a" * 10_000): 1})


def test_a_pipe_is_no_scene(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with at_most(5), pytest.raises(SceneError, match="not a file"):
        glug.load(tmp_path / "pipe.toml")


def test_an_endless_device_is_no_scene(tmp_path):
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    assert "not a file" in refusal(tmp_path / "zero.toml")


@pytest.mark.parametrize("value", ["x" * 10_000, [1] * 10_000, 10**5000, {"a": 1}, "a\nb", b"\xff" * 500], ids=range(6))
def test_what_is_quoted_is_short(value):
    text = shown(value)
    assert len(text) <= MOST_SHOWN and "\n" not in text


def test_a_source_far_larger_than_the_domain_pours_only_into_it():
    shape = {"kind": "box", "lower": [-1e4, 0.9, -1e4], "upper": [1e4, 1.0, 1e4]}
    source = {"liquid": "water", "shape": shape, "velocity": [0, -1, 0]}
    scene = glug.load(SCENE, {"sources": [source], "time.frames": 1})
    with at_most(60):
        frames = list(glug.Simulation(scene).run())
    position = frames[-1].particles["position"]
    assert len(position) > 0 and position.min() > 0.0 and position.max() < 1.0


def test_a_domain_thinner_than_positions_are_told_apart_is_refused():
    assert "side of 1e-12 m" in refusal(SCENE, {"domain.size": [1e-12, 1.0, 1.0]})
