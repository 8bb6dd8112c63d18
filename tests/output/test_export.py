"""Exports are whole or absent, and say in one line what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh
from export_runs import fields, make_run, scene, surface

from glug.cli import execute
from glug.errors import InputError, OutputError
from glug.geometry.sampled import SurfaceMesh
from glug.output import RunFolder
from glug.output.export import FORMATS, export_run
from glug.output.export.quantities import average_velocity, cell_velocity
from glug.scene.materials import linear


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run")


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


@pytest.mark.parametrize("to", ["ply", "obj"])
def test_meshes_come_back(run, to):
    done = export_run(run.path, to)
    assert done.path == run.path / "export" / f"test_shot-{to}"
    assert done.frames == range(5)
    for index in range(5):
        mesh = trimesh.load_mesh(done.path / "liquid" / f"{index:04d}.{to}", process=False)
        np.testing.assert_array_equal(mesh.vertices.astype(np.float32), surface(index).vertices)
        np.testing.assert_array_equal(mesh.faces, surface(index).triangles)
    assert json.loads((done.path / "export.json").read_text())["fps"] == 30.0


def test_solids_of_meshes_are_where_they_are_in_each_frame(run):
    done = export_run(run.path, "obj")
    assert (done.path / "solids" / "ball.obj").exists()
    for index in (0, 4):
        mesh = trimesh.load_mesh(done.path / "solids" / "paddle_1" / f"{index:04d}.obj", process=False)
        solid = scene().solids[0]
        np.testing.assert_allclose(solid.distance(np.asarray(mesh.vertices), index / 30), 0.0, atol=1e-6)
    # Negative control: in another frame they are not.
    assert np.abs(solid.distance(np.asarray(mesh.vertices), 0.0)).max() > 0.05


def test_written_poses_win_over_scripted_motion(run):
    lines = [json.loads(line) for line in (run.path / "bodies.jsonl").read_text().splitlines()]
    lines[4]["bodies"][0]["translation"] = [10.0, 0.0, 0.0]
    (run.path / "bodies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = export_run(run.path, "obj")
    mesh = trimesh.load_mesh(done.path / "solids" / "paddle_1" / "0004.obj", process=False)
    assert mesh.vertices[:, 0].min() > 9.0


def test_a_part_of_the_run(run):
    done = export_run(run.path, "ply", first=1, last=2)
    assert sorted(p.name for p in (done.path / "liquid").iterdir()) == ["0001.ply", "0002.ply"]


def test_an_earlier_export_is_replaced_only_when_told(run):
    done = export_run(run.path, "ply")
    with pytest.raises(InputError, match="exists already; replace it with --overwrite"):
        export_run(run.path, "ply", last=1)
    assert len(list((done.path / "liquid").iterdir())) == 5
    export_run(run.path, "ply", last=1, overwrite=True)
    assert len(list((done.path / "liquid").iterdir())) == 2


def test_what_is_no_export_is_never_replaced(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="is no export to ply"):
        export_run(run.path, "ply", tmp_path / "mine", overwrite=True)
    assert files(tmp_path / "mine") == ["thesis.tex"]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: run.file("surface", 2).unlink(), "frame 2 is missing; it has 0 to 4"),
        (lambda run: os.truncate(run.file("surface", 2), 300), "0002.ply: truncated or damaged"),
        (lambda run: run.file("surface", 2).write_text("ply"), "0002.ply: not a surface file"),
        (lambda run: [run.file("surface", index).unlink() for index in range(5)], "the run has no frames yet"),
        (lambda run: run.file("particles", 2).unlink(), "the particles of frame 2 are missing"),
        (lambda run: np.savez(run.file("particles", 2), position=np.zeros((1, 3))), "0002.npz: damaged (no velocity)"),
        (lambda run: (run.path / "manifest.json").unlink(), "not the directory of a glug run"),
        (lambda run: (run.path / "manifest.json").write_text('{"format": 1}'), "manifest.json: damaged"),
        (lambda run: (run.path / "scene.toml").write_text("[[["), "scene.toml: not valid TOML"),
        (lambda run: (run.path / "scene.toml").unlink(), "scene.toml: cannot read"),
    ],
)
def test_a_damaged_run_is_refused_and_nothing_is_written(run, capfd, damage, words):
    damage(run)
    before = files(run.path)
    assert execute(["export", str(run.path), "--to", "vtk"]) == 2
    error = capfd.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert files(run.path) == before


def test_damage_that_only_reading_shows_leaves_nothing(run, capfd):
    path = run.file("particles", 3)
    path.write_bytes(path.read_bytes()[:-60])
    before = files(run.path)
    assert execute(["export", str(run.path), "--to", "vtk"]) == 2
    assert "0003.npz: truncated or damaged" in capfd.readouterr().err
    assert files(run.path) == before


def test_a_run_that_is_not_finished_is_exported_as_far_as_told(tmp_path, capfd):
    run = make_run(tmp_path / "run", frames=6, written=2)
    assert execute(["export", str(run.path), "--to", "ply"]) == 2
    error = capfd.readouterr().err
    assert "not finished: it has frames 0 to 2 of 6" in error
    assert "--last 2" in error
    assert not (run.path / "export").exists()
    assert execute(["export", str(run.path), "--to", "ply", "--last", "2"]) == 0
    assert "frames 0 to 2" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", "--to", "ply"], "nowhere: no such directory"),
        (["RUN", "--to", "gltf"], "unknown format 'gltf'; valid: usd, abc, vtk, vdb, ply, obj"),
        (["RUN"], "--to"),
        (["RUN", "--to", "ply", "--first", "3", "--last", "2"], "no frames from 3 to 2"),
        (["RUN", "--to", "usd", "-o", "shot.fbx"], "must end in .usdc or .usd"),
        (["RUN", "--to", "ply", "--last", "9"], "frame 5 is missing, and 4 more"),
    ],
)
def test_bad_usage_is_one_line(run, tmp_path, monkeypatch, capfd, arguments, words):
    monkeypatch.chdir(tmp_path)
    before = files(tmp_path)
    assert execute(["export", *(str(run.path) if word == "RUN" else word for word in arguments)]) == 2
    error = capfd.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("to", "module", "command"),
    [("usd", "pxr", "pip install 'glug[usd]'"), ("abc", "alembic3d", "pip install 'glug[alembic]'")],
)
def test_a_missing_extra_names_the_command(run, monkeypatch, capfd, to, module, command):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    before = files(run.path)
    assert execute(["export", str(run.path), "--to", to]) == 2
    assert command in capfd.readouterr().err
    assert files(run.path) == before


def test_without_openvdb_the_ways_to_it_are_named(run, monkeypatch, capfd):
    for name in ("openvdb", "pyopenvdb"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert execute(["export", str(run.path), "--to", "vdb"]) == 2
    error = capfd.readouterr().err
    for words in ("pip install bpy", "conda-forge", "python3-openvdb"):
        assert words in error
    assert not (run.path / "export").exists()


def test_an_interrupted_export_leaves_nothing(run):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    before = files(run.path)
    with pytest.raises(KeyboardInterrupt):
        export_run(run.path, "vtk", on_frame=stop)
    assert files(run.path) == before


def test_a_failed_replacement_keeps_the_earlier_export(run):
    export_run(run.path, "ply")
    before = files(run.path)
    run.file("particles", 3).write_bytes(b"")
    os.truncate(run.file("surface", 4), 300)
    with pytest.raises(InputError):
        export_run(run.path, "ply", overwrite=True)
    assert files(run.path) == before


def test_what_a_killed_export_left_is_removed_and_a_living_one_is_not(run):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    folder = run.path / "export"
    left = folder / f".test_shot-ply.{int(dead.stdout)}.partial"
    living = folder / f".test_shot-ply.{os.getppid()}.partial"
    for path in (left, living):
        path.mkdir(parents=True)
        (path / "half.ply").write_text("ply")
    export_run(run.path, "ply")
    assert not left.exists()
    assert living.exists()


def test_a_full_disk_is_one_line(run, monkeypatch):
    def full(file, mesh, offset):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("glug.output.export.mesh_files.write_obj", full)
    with pytest.raises(OutputError, match="cannot be written: No space left"):
        export_run(run.path, "obj")
    assert not (run.path / "export").exists()


def test_progress_counts_the_frames(run):
    seen = []
    export_run(run.path, "ply", on_frame=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 5) for i in range(1, 6)]


def test_a_run_without_particles_is_exported_without(run):
    for index in run.frames():
        run.file("particles", index).unlink()
    done = export_run(run.path, "vtk")
    assert (done.path / "liquid.pvd").exists()
    assert not (done.path / "particles.pvd").exists()


def test_the_run_stays_a_run(run):
    """An export inside the folder is in nobody's way."""
    export_run(run.path, "ply")
    assert RunFolder(run.path).frames() == [0, 1, 2, 3, 4]


def test_every_format_is_in_the_help_and_the_docs(capfd):
    page = (Path(__file__).parents[2] / "docs" / "other-programs.md").read_text()
    execute(["export", "--help"])
    text = capfd.readouterr().out
    for name in FORMATS:
        assert name in text
        assert f"--to {name}" in page


def test_normals_of_a_symmetric_body_point_away_from_its_centre():
    body = trimesh.creation.icosahedron()
    vertices = body.vertices.astype(np.float32)
    mesh = SurfaceMesh(vertices, body.faces.astype(np.int32), np.zeros_like(vertices))
    np.testing.assert_allclose(mesh.normals(), vertices / np.linalg.norm(vertices, axis=1, keepdims=True), atol=1e-6)


def test_average_velocity_reproduces_a_linear_field_and_its_place():
    """Particles on a fine lattice: the mean of a linear field over a symmetric neighbourhood is its value there."""
    dx, origin = 0.1, np.array([1.0, 2.0, 3.0])
    steps = (np.arange(40) + 0.5) * 0.025
    position = origin + np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    velocity = position * [1.0, 2.0, 3.0]
    values, corner = average_velocity({"position": position, "velocity": velocity}, origin, dx)
    inner = np.array([3, 4, 5])
    place = corner + dx * (inner + 0.5)
    np.testing.assert_allclose(values[tuple(inner)], place * [1.0, 2.0, 3.0], rtol=1e-5)


def test_cell_velocity_is_the_mean_of_opposite_faces():
    found = fields()
    values = cell_velocity(found)
    assert values.shape == (3, 4, 5, 3)
    place = found["corner"] + 0.05 * (np.array([2, 3, 4]) + 0.5)
    np.testing.assert_allclose(values[2, 3, 4], place * [1, 2, 3], rtol=1e-5)


def test_colours_become_linear():
    assert tuple(linear((0.0, 1.0, 0.5))) == pytest.approx((0.0, 1.0, 0.21404), abs=1e-5)
