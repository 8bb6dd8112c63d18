"""What the viewer's server says about a run is what the run folder holds; little of it is kept in memory."""

from dataclasses import replace

import numpy as np
import pytest
from viewer_runs import begin_run, forget_amounts, frame, write_run

from glug.errors import InputError
from glug.view.browser.cache import ByteCache
from glug.view.browser.feed import Feed
from glug.view.browser.packets import pack, unpack
from glug.view.browser.process import require_frames
from glug.view.browser.quantities import particle_values


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run")


@pytest.fixture
def feed(run):
    return Feed(run.path)


def test_packets_come_back_with_the_same_bits():
    arrays = {
        "a": np.arange(7, dtype=np.uint8),
        "b": np.array([[1.5, np.nan]], np.float32),
        "c": np.zeros((0, 3), np.int32),
        "d": np.array([3, 2**31 - 1], np.int32),
    }
    header, found = unpack(pack({"index": 3, "name": "ä"}, arrays))
    assert header == {"index": 3, "name": "ä"}
    assert found["b"].dtype == np.float32
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_a_surface_is_that_of_the_folder(run, feed):
    header, arrays = unpack(feed.surface(3, "material"))
    mesh = run.read_surface(3)
    np.testing.assert_array_equal(arrays["position"], mesh.vertices)
    np.testing.assert_array_equal(arrays["triangle"], mesh.triangles)
    assert "value" not in arrays
    assert header["bodies"] == [{"name": "paddle", "rotation": np.eye(3).tolist(), "translation": [0.0, 0.0, 3 / 24]}]


def test_a_surface_is_coloured_by_its_speed_or_by_the_particles_nearby(feed):
    _, arrays = unpack(feed.surface(0, "speed"))
    np.testing.assert_allclose(arrays["value"], 0.5)
    header, arrays = unpack(feed.surface(0, "temperature"))
    assert len(arrays["value"]) == len(arrays["position"])
    assert 20.0 < header["range"][0] < header["range"][1] < 60.0


def test_particles_carry_the_quantity_asked_for(run, feed):
    header, arrays = unpack(feed.particles(2, "temperature"))
    np.testing.assert_array_equal(arrays["position"], run.read_particles(2)["position"])
    assert header["range"] == [20.0, 60.0]
    assert header["total"] == 8
    np.testing.assert_allclose(unpack(feed.particles(2, "speed"))[1]["value"], 0.5)


def test_of_many_particles_the_same_ones_are_shown_in_every_frame(run):
    shown = [particle_values(run, index, "temperature", limit=4)[1] for index in (0, 3)]
    assert len(shown[0]) == 4
    np.testing.assert_array_equal(*shown)


@pytest.mark.parametrize("quantity", ["viscosity", "colour"])
def test_a_quantity_that_is_not_there_is_named(feed, quantity):
    with pytest.raises(InputError, match=quantity):
        feed.particles(2, quantity)


def test_a_slice_is_a_layer_of_cells_and_empty_outside_the_liquid(run, feed):
    header, arrays = unpack(feed.slice(0, "pressure", 2, 0.51))
    fields = run.read_fields(0)
    assert header["at"] == pytest.approx(8.5 / 16)
    wet = fields["phi"][:, :, 8] < 0
    np.testing.assert_array_equal(np.isfinite(arrays["value"]), wet)
    np.testing.assert_array_equal(arrays["value"][wet], fields["p"][:, :, 8][wet])
    assert header["range"] == [fields["p"][fields["phi"] < 0].min(), fields["p"][fields["phi"] < 0].max()]
    assert unpack(feed.slice(3, "pressure", 2, 0.51))[0]["bodies"] == unpack(feed.surface(3, "material"))[0]["bodies"]
    speed = unpack(feed.slice(0, "speed", 0, 0.5))[1]["value"]
    assert np.nanmin(speed) == np.nanmax(speed) == 0.5


def test_octree_levels_and_bubbles_are_shown_where_a_run_has_them(tmp_path):
    run = begin_run(tmp_path / "run")
    first = frame(0)
    level = np.arange(16**3, dtype=np.int8).reshape(16, 16, 16) % 4
    bubble = np.float32([0, 0, 1, 1, 2, 2, 0, 0])
    run.write_frame(
        replace(first, fields={**first.fields, "level": level}, particles={**first.particles, "bubble": bubble})
    )
    feed = Feed(run.path)
    assert "bubble" in [q["name"] for q in feed.overview()["colours"]]
    assert "level" in [q["name"] for q in feed.overview()["slices"]]
    np.testing.assert_array_equal(unpack(feed.slice(0, "level", 1, 0.5))[1]["value"], level[:, 8, :])
    np.testing.assert_array_equal(unpack(feed.particles(0, "bubble"))[1]["value"], bubble)


def test_a_slice_outside_the_grid_is_its_last_layer(feed):
    assert unpack(feed.slice(0, "distance", 1, 99.0))[0]["at"] == pytest.approx(15.5 / 16)


@pytest.mark.parametrize(("quantity", "axis", "at"), [("level", 0, 0.5), ("taste", 0, 0.5), ("speed", 3, 0.5)])
def test_a_slice_that_cannot_be_made_is_refused(feed, quantity, axis, at):
    with pytest.raises(InputError, match=r"level|taste|axis 3"):
        feed.slice(0, quantity, axis, at)


def test_solids_are_meshes_at_rest(feed):
    _, arrays = unpack(feed.solid(1, 4))
    np.testing.assert_allclose(arrays["position"].min(axis=0), [0.75, 0.05, 0.35], atol=1e-6)
    with pytest.raises(InputError, match="no solid number 7"):
        feed.solid(7, 0)


def test_the_overview_says_what_there_is(feed):
    page = feed.overview()
    assert page["state"] == "complete"
    assert page["frames"] == [0, 1, 2, 3, 4, 5]
    assert [q["name"] for q in page["colours"]] == ["speed", "temperature"]
    assert [q["name"] for q in page["slices"]] == ["pressure", "speed", "distance"]
    assert [s["name"] for s in page["solids"]] == ["post", "paddle"]
    assert ("cells", "16 × 16 × 16, 62.5 mm") in page["facts"]


def test_steps_are_told_once(feed):
    told = feed.stats(0)
    assert told["total"] == 10
    assert told["steps"][0] == {
        "frame": 1,
        "time": 1 / 48,
        "volume": 0.065,
        "target": 0.066,
        "liquid": {
            "mass": 92.0,
            "kinetic": 11.5,
            "potential": 632.0,
            "momentum": [0.0, -46.0, 0.0],
            "angular": [23.0, 0.0, -23.0],
        },
        "came": 0,
        "left": 0.75,
        "seconds": 0.75,
        "iterations": {"pressure": 7},
    }
    assert feed.stats(9)["steps"] == told["steps"][9:]


def test_steps_of_runs_that_say_nothing_of_momentum_are_told(run, feed):
    forget_amounts(run.path)
    told = feed.stats(0)
    assert told["total"] == 10
    assert told["steps"][0]["volume"] == 0.065
    assert told["steps"][0]["liquid"] is None
    assert told["steps"][0]["left"] == told["steps"][0]["came"] == 0


def test_a_run_is_followed_from_before_its_beginning(tmp_path):
    feed = Feed(tmp_path / "run", awaited=True)
    assert feed.overview()["state"] == "waiting"
    run = begin_run(tmp_path / "run")
    assert feed.overview()["frames"] == []
    run.write_frame(frame(0))
    run.write_frame(frame(1))
    assert feed.overview()["frames"] == [0, 1]
    assert feed.overview()["state"] == "unfinished"
    assert feed.stats(0)["total"] == 2


def test_a_frame_that_is_written_again_is_read_again(run, feed):
    before = feed.surface(1, "material")
    assert feed.surface(1, "material") is before
    run.write_frame(frame(4))
    run.file("surface", 1).write_bytes(run.file("surface", 4).read_bytes())
    assert feed.surface(1, "material") != before


def test_a_scene_whose_mesh_is_gone_is_shown_without_solids(run):
    text = (run.path / "scene.toml").read_text()
    lost = '\n[[solids]]\nname = "lost"\nshape = { kind = "mesh", file = "/nowhere/spoon.obj" }\n'
    (run.path / "scene.toml").write_text(text + lost)
    page = Feed(run.path).overview()
    assert page["solids"] == []
    assert "spoon.obj" in page["note"]


def test_the_cache_holds_no_more_than_its_limit_and_keeps_what_is_used():
    cache = ByteCache(limit=300)
    made = []

    def make(name: str) -> bytes:
        made.append(name)
        return name.encode() * 100

    for name in ("a", "b", "c", "a", "d", "a"):
        cache.get(name, 0, lambda name=name: make(name))
        assert cache.size <= 300
    assert made == ["a", "b", "c", "d"]
    cache.get("b", 0, lambda: make("b"))
    cache.get("a", 1, lambda: make("a"))
    assert made == ["a", "b", "c", "d", "b", "a"]
    cache.get("large", 0, lambda: b"x" * 301)
    assert cache.size <= 300


def test_frames_that_are_missing_or_cut_are_refused_unless_asked_for(run):
    assert require_frames(run.path, damaged=False) == []
    run.file("surface", 2).unlink()
    cut = run.file("surface", 4)
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"0002\.ply: no such file; .*0004\.ply: truncated.*--damaged"):
        require_frames(run.path, damaged=False)
    assert len(require_frames(run.path, damaged=True)) == 2


def test_a_run_without_a_whole_frame_is_refused_in_any_case(tmp_path):
    run = begin_run(tmp_path / "run")
    with pytest.raises(InputError, match="no frames yet"):
        require_frames(run.path, damaged=True)
    run.write_frame(frame(0))
    run.file("surface", 0).write_bytes(b"ply")
    with pytest.raises(InputError, match=r"0000\.ply"):
        require_frames(run.path, damaged=True)
