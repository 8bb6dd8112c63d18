"""A run on disk comes back as it was, and is never a half."""

import dataclasses
import json

import numpy as np
import pytest
import trimesh
from run_frames import MANIFEST, SCENE, make_frame, make_step

from glug.errors import InputError
from glug.geometry.sampled import SurfaceMesh
from glug.output import RunFolder
from glug.output.destination import check_destination
from glug.output.lines import Tail, keep_lines


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", SCENE, MANIFEST)


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_frame_comes_back_bit_by_bit(run):
    frame = make_frame(3)
    run.write_frame(frame)
    surface = RunFolder(run.path).read_surface(3)
    np.testing.assert_array_equal(surface.vertices, frame.surface.vertices)
    np.testing.assert_array_equal(surface.triangles, frame.surface.triangles)
    np.testing.assert_array_equal(surface.velocities, frame.surface.velocities)
    particles = run.read_particles(3)
    assert list(particles) == list(frame.particles)
    for name, array in frame.particles.items():
        np.testing.assert_array_equal(particles[name], array)
        assert particles[name].dtype == array.dtype
    assert run.bodies()[0]["bodies"][0]["translation"] == [0.0, 3.0, 0.0]
    assert [line["step"] for line in run.stats()] == [4, 5]
    assert run.stats()[0]["solves"]["pressure"]["residual"] is None


def test_an_empty_surface_comes_back(run):
    frame = make_frame(0)
    nothing = SurfaceMesh(np.empty((0, 3), np.float32), np.empty((0, 3), np.int32), np.empty((0, 3), np.float32))
    run.write_frame(dataclasses.replace(frame, surface=nothing))
    assert run.read_surface(0).vertices.shape == (0, 3)
    assert run.read_surface(0).triangles.shape == (0, 3)


def test_other_programs_read_the_surface(run):
    frame = make_frame(1)
    run.write_frame(frame)
    mesh = trimesh.load(run.file("surface", 1), process=False)
    np.testing.assert_array_equal(mesh.vertices, frame.surface.vertices)
    np.testing.assert_array_equal(mesh.faces, frame.surface.triangles)


def test_equal_frames_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        run = RunFolder.create(tmp_path / name, SCENE, MANIFEST)
        run.write_frame(make_frame(1))
        run.write_checkpoint({"x": np.arange(3), "t": 0.1}, frame=1, step=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_manifest_says_what_is_there(run):
    for index in range(3):
        run.write_frame(make_frame(index))
    manifest = run.manifest()
    assert manifest["format"] == 1
    assert (manifest["scene"], manifest["fps"], manifest["frames"]) == ("drop", 24.0, 10)
    assert (manifest["frames_written"], manifest["complete"]) == (3, False)
    assert manifest["up_axis"] == "y"
    assert manifest["units"]["length"] == "m"
    run.finish()
    assert RunFolder(run.path).manifest()["complete"] is True


def test_frame_numbers_may_have_five_digits(run):
    run.write_frame(make_frame(12345))
    assert run.frames() == [12345]
    assert run.file("surface", 12345).name == "12345.ply"


def test_steps_written_one_by_one_are_not_repeated(run):
    run.write_step(make_step(0, 1))
    run.write_frame(make_frame(1))
    assert [line["step"] for line in run.stats()] == [0, 1]


def test_a_checkpoint_keeps_bits_and_types(run):
    assert run.read_checkpoint() is None
    generator = np.random.default_rng(1)
    data = {
        "position": generator.normal(size=(4, 3)).astype(np.float32),
        "time": 0.1 + 0.2,
        "count": np.int64(7),
        "name": "drop",
        "nothing": None,
        "generator": generator.bit_generator.state,
    }
    run.write_checkpoint(data, frame=4, step=17)
    found = RunFolder(run.path).read_checkpoint()
    assert (found.frame, found.step) == (4, 17)
    np.testing.assert_array_equal(found.data.pop("position"), data.pop("position"))
    assert found.data == data
    assert isinstance(found.data["count"], np.int64)


def test_a_resumed_run_has_the_files_of_an_uninterrupted_one(tmp_path):
    whole = RunFolder.create(tmp_path / "whole", SCENE, MANIFEST)
    for index in range(5):
        whole.write_frame(make_frame(index))
    killed = RunFolder.create(tmp_path / "killed", SCENE, MANIFEST)
    for index in range(3):
        killed.write_frame(make_frame(index))
    killed.write_step(make_step(4, 3))  # after the checkpoint of frame 1
    (killed.path / "surface" / ".0003.ply.partial").write_bytes(b"half")
    with open(killed.path / "stats.jsonl", "ab") as file:
        file.write(b'{"step": 5, "fra')
    assert [line["step"] for line in killed.stats()] == [0, 1, 2, 3, 4]

    resumed = RunFolder.create(tmp_path / "killed", SCENE, MANIFEST, resume=True)
    resumed.truncate_to(frame=1, step=1)
    assert resumed.frames() == [0, 1]
    for index in range(2, 5):
        resumed.write_frame(make_frame(index))
    assert contents(killed.path) == contents(whole.path)


def test_opening_to_read_leaves_a_writer_alone(run):
    half = run.path / "surface" / ".0003.ply.partial"
    half.write_bytes(b"half")
    assert RunFolder(run.path).frames() == []
    assert half.exists()


def test_resume_may_ask_for_more_frames(run):
    longer = SCENE.replace("frames = 10", "frames = 20")
    again = RunFolder.create(run.path, longer, {**MANIFEST, "frames": 20}, resume=True)
    assert again.manifest()["frames"] == 20
    assert again.scene_toml() == longer


def test_resume_without_a_run_begins_one(tmp_path):
    assert RunFolder.create(tmp_path / "new", SCENE, MANIFEST, resume=True).frames() == []


def test_overwrite_begins_again_and_keeps_other_files(run):
    run.write_frame(make_frame(1))
    run.write_checkpoint({}, frame=1, step=1)
    (run.path / "notes.txt").write_text("mine")
    other = SCENE.replace("16", "32")
    again = RunFolder.create(run.path, other, MANIFEST, overwrite=True)
    assert again.frames() == []
    assert again.stats() == []
    assert again.read_checkpoint() is None
    assert again.scene_toml() == other
    assert (run.path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("scene", "resume", "message"),
    [
        (SCENE, False, "already holds a run of this scene; use --resume"),
        (SCENE.replace("16", "32"), True, r"another scene's run \(domain.resolution differs\)"),
        (SCENE.replace("drop", "dam").replace("16", "32"), False, r"another scene's run \(name differs\)"),
    ],
)
def test_a_used_directory_is_refused_and_left_alone(run, scene, resume, message):
    before = contents(run.path)
    with pytest.raises(InputError, match=message) as caught:
        RunFolder.create(run.path, scene, MANIFEST, resume=resume)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert contents(run.path) == before


def test_a_directory_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        RunFolder.create(tmp_path, SCENE, MANIFEST)
    with pytest.raises(InputError, match="is a file"):
        RunFolder.create(tmp_path / "thesis.tex", SCENE, MANIFEST)
    assert list(contents(tmp_path)) == [(tmp_path / "thesis.tex").relative_to(tmp_path)]


@pytest.mark.parametrize("cut", [0, 10, 200, -1])
def test_a_truncated_surface_is_named(run, cut):
    run.write_frame(make_frame(1))
    path = run.file("surface", 1)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"0001\.ply"):
        run.read_surface(1)


def test_faults_names_frames_that_are_absent_or_cut_and_no_others(run):
    for index in range(5):
        run.write_frame(make_frame(index))
    assert run.faults() == {}
    run.file("surface", 1).unlink()
    cut = run.file("surface", 3)
    cut.write_bytes(cut.read_bytes()[:-1])
    assert sorted(run.faults()) == [1, 3]
    assert "0001.ply" in run.faults()[1]
    assert "truncated" in run.faults()[3]


def test_a_run_that_goes_on_may_end_early_a_complete_one_may_not(run):
    run.write_frame(make_frame(0))
    assert run.faults() == {}
    run.finish()
    assert sorted(run.faults()) == list(range(1, 11))


def test_arrays_are_read_by_name(run):
    run.write_frame(make_frame(0))
    assert run.names("particles", 0) == ["position", "id"]
    assert run.names("fields", 0) == []
    assert list(run.read_particles(0, ["id", "temperature"])) == ["id"]


def test_truncated_particles_and_checkpoints_are_named(run):
    run.write_frame(make_frame(1))
    run.write_checkpoint({"x": np.zeros(100)}, frame=1, step=1)
    for path, read in (
        (run.file("particles", 1), lambda: run.read_particles(1)),
        (run.path / "checkpoint" / "state.npz", run.read_checkpoint),
    ):
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(InputError, match=path.name):
            read()


def test_what_is_not_there_is_named(run, tmp_path):
    run.write_frame(make_frame(1))
    with pytest.raises(InputError, match="no surface of frame 7; it has 1 to 1"):
        run.read_surface(7)
    with pytest.raises(InputError, match="no fields of frame 1; it has none"):
        run.read_fields(1)
    with pytest.raises(InputError, match="no such directory"):
        RunFolder(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="not the directory of a glug run"):
        RunFolder(tmp_path / "empty")


def test_a_newer_format_is_refused(run):
    manifest = run.manifest()
    (run.path / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(InputError, match="format is 99"):
        RunFolder(run.path)


def test_a_tail_reads_each_line_once_and_begins_again_when_the_file_does(tmp_path):
    path = tmp_path / "lines.jsonl"
    tail = Tail(path)
    assert tail.records() == []
    path.write_text('{"n":1}\n{"n":2}\n{"n"')
    assert tail.records() == [{"n": 1}, {"n": 2}]
    with open(path, "a") as file:
        file.write(":3}\n")
    assert tail.records() == [{"n": 1}, {"n": 2}, {"n": 3}]
    keep_lines(path, lambda line: line["n"] == 2)
    assert tail.records() == [{"n": 2}]
    path.unlink()
    assert tail.records() == []


def test_a_way_over_a_folder_that_is_not_there_leads_to_the_one_that_is(tmp_path):
    """`-o nowhere/../mine` is `mine`: what is in it is not overwritten."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("keep")
    with pytest.raises(InputError, match="not empty"):
        check_destination(tmp_path / "nowhere" / ".." / "mine", "", resume=False, overwrite=False)
