"""The command line: what it prints, its exit codes, and that bad input leaves nothing behind."""

import errno
import json
import os
from pathlib import Path

import pytest

from glug.cli import execute

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
MESH = 'shape = { kind = "mesh", file = "shape.obj" }'
SHAPE = 'shape = { kind = "box", lower = [0.1, 0.4], upper = [0.5, 0.8] }'
SOURCE = """
[[sources]]
liquid = "water"
shape = { kind = "sphere", centre = [5.0, 5.0], radius = 0.1 }
velocity = [0.0, -1.0]
"""

# What is done to a good scene, and the words that must be in the one line about it.
BAD_SCENES = {
    "unknown key": (
        lambda text: text.replace("resolution", "resolutoin"),
        ["domain", "resolutoin", "resolution"],
    ),
    "wrong type": (lambda text: text.replace("fps = 24", 'fps = "fast"'), ["time.fps", "number"]),
    "NaN": (lambda text: text.replace("fps = 24", "fps = nan"), ["time.fps", "nan"]),
    "negative": (lambda text: text.replace("fps = 24", "fps = -24.0"), ["time.fps", "-24"]),
    "not TOML": (lambda text: text + "\n[[[", ["tiny.toml"]),
    "mesh missing": (lambda text: text.replace(SHAPE, MESH), ["volumes.0.shape", "shape.obj"]),
    "source outside": (lambda text: text + SOURCE, ["sources.0.shape", "outside"]),
}


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_one_line(err: str, *words: str) -> None:
    assert "Traceback" not in err
    assert err.count("\n") == 1, err
    assert err.startswith("glug: error: ")
    for word in words:
        assert word in err


@pytest.fixture
def in_work(tmp_path, monkeypatch, tiny_scene):
    """An empty folder to work in that holds tiny.toml."""
    (tmp_path / "tiny.toml").write_text(tiny_scene.read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("kind", BAD_SCENES)
def test_a_bad_scene_exits_2_with_one_line_and_writes_nothing(in_work, capfd, command, kind):
    change, words = BAD_SCENES[kind]
    scene = in_work / "tiny.toml"
    scene.write_text(change(scene.read_text()))
    before = files(in_work)
    assert execute([command, "tiny.toml"]) == 2
    out, err = capfd.readouterr()
    assert_one_line(err, *words)
    assert out == ""
    assert files(in_work) == before


@pytest.mark.parametrize(("mesh", "word"), [("", "empty"), (TRIANGLE, "hole")], ids=["empty file", "open surface"])
def test_a_bad_mesh_exits_2_with_one_line_and_writes_nothing(in_work, capfd, mesh, word):
    scene = in_work / "tiny.toml"
    scene.write_text(scene.read_text().replace(SHAPE, MESH))
    (in_work / "shape.obj").write_text(mesh)
    before = files(in_work)
    assert execute(["run", "tiny.toml"]) == 2
    assert_one_line(capfd.readouterr().err, "volumes.0.shape", "shape.obj", word)
    assert files(in_work) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["run"],
        ["run", "no-such-scene"],
        ["run", "no-such-file.toml"],
        ["run", "tiny.toml", "--frames", "-1"],
        ["run", "tiny.toml", "--frames", "many"],
        ["run", "tiny.toml", "--threads", "0"],
        ["run", "tiny.toml", "--resolution", "1"],
        ["run", "tiny.toml", "--set", "time.cfl"],
        ["run", "tiny.toml", "--set", "time.clf=2"],
        ["run", "tiny.toml", "-o", "tiny.toml"],
        ["new", "tiny.toml"],
        ["validate", "no-such-study"],
        ["validate", "coiling"],
        ["validate", "coiling", "--run", "nowhere"],
        ["bench", "no-such-bench"],
    ],
    ids=" ".join,
)
def test_bad_usage_exits_2_with_one_line_and_writes_nothing(in_work, capfd, arguments):
    before = files(in_work)
    assert execute(arguments) == 2
    assert_one_line(capfd.readouterr().err)
    assert files(in_work) == before


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_scene_larger_than_the_machine_is_refused(in_work, capfd, command):
    before = files(in_work)
    assert execute([command, "dam-break", "--resolution", "4096"]) == 2
    assert_one_line(capfd.readouterr().err, "domain.resolution", "GB")
    assert files(in_work) == before


def test_the_folder_of_another_scene_is_left_alone(in_work, capfd):
    assert execute(["run", "tiny.toml", "-o", "run", "--frames", "0"]) == 0
    before = files(in_work)
    capfd.readouterr()
    for more in ([], ["--resume"]):
        assert execute(["run", "tiny.toml", "-o", "run", "--resolution", "12", *more]) == 2
        assert_one_line(capfd.readouterr().err, "run", "another scene")
    assert files(in_work) == before


def test_a_full_disk_exits_1_with_one_line(in_work, capfd, monkeypatch):
    fsync = os.fsync

    def full_after_frame_1(descriptor):
        if Path("run/surface/0001.ply").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full_after_frame_1)
    assert execute(["run", "tiny.toml", "-o", "run"]) == 1
    assert_one_line(capfd.readouterr().err, "run", "No space left")
    monkeypatch.setattr(os, "fsync", fsync)
    assert execute(["run", "tiny.toml", "-o", "run", "--resume"]) == 0
    assert execute(["run", "tiny.toml", "-o", "whole"]) == 0
    assert files(in_work / "run" / "surface") == files(in_work / "whole" / "surface")


def test_an_unexpected_error_is_one_line_unless_a_traceback_is_asked_for(in_work, capfd, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("glug.scene.load", broken)
    monkeypatch.delenv("GLUG_DEBUG", raising=False)
    assert execute(["check", "tiny.toml"]) == 1
    assert_one_line(capfd.readouterr().err, "ZeroDivisionError", "--traceback")
    with pytest.raises(ZeroDivisionError):
        execute(["check", "tiny.toml", "--traceback"])


def test_run_writes_to_out_and_says_so(in_work, capfd):
    assert execute(["run", "tiny.toml", "--frames", "1", "--set", "time.cfl=1.5"]) == 0
    out, err = capfd.readouterr()
    assert out.count("\n") == 1
    assert out.startswith("out/tiny: ")
    assert err == ""
    assert "cfl = 1.5" in (in_work / "out/tiny/scene.toml").read_text()
    assert execute(["run", "tiny.toml", "--frames", "1", "--set", "time.cfl=1.5", "--resume"]) == 0
    assert "already complete" in capfd.readouterr().out


def test_check_prints_the_needs_and_writes_nothing(in_work, capfd):
    before = files(in_work)
    assert execute(["check", "dam-break", "--resolution", "32", "--frames", "2"]) == 0
    out = capfd.readouterr().out
    for word in ("cells", "particles", "memory", "GB", "time"):
        assert word in out
    assert files(in_work) == before


def test_new_writes_a_scene_that_is_valid(in_work, capfd):
    assert execute(["new", "mine/first.toml"]) == 0
    assert (in_work / "mine/first.toml").read_text().count("#") > 5
    assert execute(["check", "mine/first.toml", "--frames", "1"]) == 0


def test_scenes_lists_the_library_with_a_line_each(capfd):
    assert execute(["scenes"]) == 0
    lines = capfd.readouterr().out.splitlines()
    names = {line.split()[0] for line in lines}
    assert {"honey-coil", "dam-break", "viscous-beam", "buckling-sheet", "melting", "chocolate"} <= names
    assert all(len(line.split()) > 2 for line in lines)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["run", "--help"], ["validate"], ["bench"]])
def test_questions_are_answered_with_exit_0(capfd, arguments):
    assert execute(arguments) == 0
    out, err = capfd.readouterr()
    assert out
    assert not err


def test_validate_writes_rows(in_work, capfd):
    """A splash has no jet, which is an answer too: one line, exit 2."""
    assert execute(["run", "tiny.toml", "-o", "run", "--frames", "1"]) == 0
    capfd.readouterr()
    assert execute(["validate", "coiling", "--run", "run", "--json", "rows.json"]) == 2
    assert_one_line(capfd.readouterr().err, "jet")
    assert not (in_work / "rows.json").exists()


@pytest.mark.slow
def test_bench_step_reports_every_stage_for_each_thread_count(in_work, capfd):
    assert execute(["bench", "step", "--resolution", "24", "--steps", "3", "--json", "rows.json"]) == 0
    rows = json.loads((in_work / "rows.json").read_text())
    stages = {row["case"].split("/")[1] for row in rows if row["threads"] == 1}
    assert {"transfer_to_grid", "transfer_to_particles", "pressure", "non-solve"} <= stages
    assert all(row["seconds"] >= 0 and row["peak_gb"] > 0 for row in rows if row["threads"] == 1)
    out = capfd.readouterr().out
    assert "ns/particle" in out
    assert "target" in out
