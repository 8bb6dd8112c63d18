"""Run folders that somebody has prepared: `view`, `export` and `run --resume` say what is wrong, and soon."""

import json
import os
import shutil

import pytest

import glug
from glug.cli import execute
from glug.errors import InputError
from glug.output.folder import RunFolder
from glug.simulation.run import run_to_folder
from glug.view.browser.feed import Feed
from glug.view.browser.process import require_frames


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    scene = glug.load(
        {
            "name": "tank",
            "domain": {"size": [1.0, 1.0], "resolution": 12},
            "time": {"frames": 2},
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}}],
            "output": {"preview": False},
        }
    )
    folder = tmp_path_factory.mktemp("finished") / "run"
    run_to_folder(scene, folder)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def change_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def endless(path):
    path.unlink()
    path.symlink_to("/dev/zero")


ATTACKS = {
    "a trillion frames": lambda folder: change_manifest(folder, frames=10**12),
    "frames of text": lambda folder: change_manifest(folder, frames="many"),
    "a frame far away": lambda folder: shutil.copy(folder / "surface/0001.ply", folder / "surface/99999999.ply"),
    "a pipe for a surface": lambda folder: pipe(folder / "surface/0001.ply"),
    "an endless surface": lambda folder: endless(folder / "surface/0001.ply"),
    "a pipe for a manifest": lambda folder: pipe(folder / "manifest.json"),
    "an endless scene": lambda folder: endless(folder / "scene.toml"),
    "a scene that is no text": lambda folder: (folder / "scene.toml").write_bytes(b"\xff\xfe\x00"),
    "a deep scene": lambda folder: (folder / "scene.toml").write_text("a = " + "[" * 9000 + "]" * 9000),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_export_says_what_is_wrong(folder, attack, capsys):
    ATTACKS[attack](folder)
    assert execute(["export", str(folder), "--to", "ply"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("glug: error:") and err.count("\n") == 1 and len(err) < 500


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_viewer_says_what_is_wrong(folder, attack):
    ATTACKS[attack](folder)
    with pytest.raises(InputError):
        require_frames(folder, damaged=False)
        Feed(folder).overview()


def test_a_folder_as_it_was_is_exported(folder):
    assert execute(["export", str(folder), "--to", "ply"]) == 0


def test_a_frame_with_a_number_of_a_hundred_digits_is_none(folder):
    shutil.copy(folder / "surface/0001.ply", folder / f"surface/{'9' * 100}.ply")
    assert RunFolder(folder).frames() == [0, 1, 2]


@pytest.mark.parametrize("attack", ["a scene that is no text", "a deep scene", "an endless scene"])
def test_going_on_says_what_is_wrong(folder, attack, capsys):
    ATTACKS[attack](folder)
    assert execute(["run", "dam-break-2d", "-o", str(folder), "--resume"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
