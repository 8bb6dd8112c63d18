"""What is installed from a release works: an sdist makes a wheel, the wheel alone runs a scene from another folder."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command, where):
    done = subprocess.run([str(word) for word in command], cwd=where, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from the sdist, which is built from a copy of the tree: what an sdist lacks, the wheel lacks."""
    place = tmp_path_factory.mktemp("build")
    tools = place / "tools"
    run(sys.executable, "-m", "venv", tools, where=place)
    run(tools / "bin/pip", "install", "--quiet", "setuptools>=77", where=place)
    names = run("git", "ls-files", where=ROOT).splitlines()
    for name in names:
        (place / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "tree" / name).write_bytes((ROOT / name).read_bytes())
    build = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run(tools / "bin/python", "-c", build, place, where=place / "tree")
    (sdist,) = place.glob("glug-*.tar.gz")
    run(tools / "bin/pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, sdist, where=place)
    return next(place.glob("glug-*.whl"))


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        there = set(archive.namelist())
    wanted = {name.removeprefix("src/") for name in run("git", "ls-files", "src", where=ROOT).splitlines()}
    assert not wanted - there


@pytest.mark.slow
def test_the_wheel_runs_a_scene_without_extras(wheel, tmp_path):
    place = tmp_path / "somewhere else"
    place.mkdir()
    run(sys.executable, "-m", "venv", tmp_path / "empty", where=place)
    pip = tmp_path / "empty/bin/pip"
    run(pip, "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, where=place)
    glug = tmp_path / "empty/bin/glug"
    assert "honey-coil" in run(glug, "scenes", where=place)
    run(glug, "run", "honey-2d", "--resolution", 24, "--frames", 2, where=place)
    folder = place / "out" / "honey-2d"
    assert sorted(path.name for path in (folder / "surface").iterdir()) == ["0000.ply", "0001.ply", "0002.ply"]
    assert (folder / "preview.png").stat().st_size > 1000
    run(glug, "export", folder, "--to", "obj", where=place)
    where = run(tmp_path / "empty/bin/python", "-c", "import glug; print(glug.__file__)", where=place)
    assert str(tmp_path / "empty") in where
