"""Every message about a missing extra says the one command that adds it, and the extra exists."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from glug.errors import InputError
from glug.extras import require

ROOT = Path(__file__).parents[1]
TINY = """
[domain]
size = [1.0, 1.0]
resolution = 16

[time]
frames = 1

[liquids.water]
material = "water"

[[volumes]]
liquid = "water"
shape = { kind = "box", lower = [0.1, 0.4], upper = [0.5, 0.8] }
"""


def test_a_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(InputError, match=r"^exporting to USD needs an extra; add it with: pip install 'glug\[usd\]'$"):
        require("pxr", "usd", "exporting to USD")


def test_one_that_is_there_comes_back():
    assert require("json", "usd", "nothing") is sys.modules["json"]


def test_one_that_is_broken_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "broken_extra.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="lacks no_such_module_at_all"):
        require("broken_extra", "usd", "exporting")


def test_the_extras_that_are_named_exist():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        named |= set(re.findall(r'require\(\s*"[\w.]+",\s*"(\w+)"', text))
        named |= set(re.findall(r"pip install 'glug\[(\w+)\]'", text))
    assert named <= set(known)


# The modules of all extras; the command line runs as if none were installed.
EXTRA_MODULES = (
    *("pxr", "alembic3d", "imath", "mitsuba", "drjit", "imageio_ffmpeg", "mujoco", "coacd", "pyamg", "vtk"),
    *("pyvista", "playwright", "openvdb", "pyopenvdb", "bpy"),
)
BARE = f"import sys; sys.modules.update(dict.fromkeys({EXTRA_MODULES!r})); from glug.entry import main; main()"


@pytest.fixture(scope="module")
def bare_run(tmp_path_factory):
    """A run by a glug without extras, and how to call that glug."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "tiny.toml").write_text(TINY)

    def glug(*arguments):
        command = [sys.executable, "-c", BARE, *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)

    done = glug("run", "tiny.toml", "-o", "run")
    assert done.returncode == 0, done.stderr
    return folder / "run", glug


def test_a_run_without_extras_has_its_pictures(bare_run):
    folder, _ = bare_run
    for name in ("preview.png", "preview.webp"):
        assert (folder / name).stat().st_size > 500


@pytest.mark.parametrize(
    ("to", "command"),
    [("usd", "pip install 'glug[usd]'"), ("abc", "pip install 'glug[alembic]'"), ("vdb", "pip install bpy")],
)
def test_exports_that_need_an_extra_say_which(bare_run, to, command):
    _, glug = bare_run
    done = glug("export", "run", "--to", to)
    assert done.returncode == 2
    assert command in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("to", ["vtk", "ply", "obj"])
def test_the_other_exports_need_none(bare_run, to):
    _, glug = bare_run
    done = glug("export", "run", "--to", to)
    assert (done.returncode, done.stderr) == (0, "")


def test_comparing_needs_none(bare_run):
    folder, glug = bare_run
    shutil.copytree(folder, folder.parent / "again")
    done = glug("compare", "run", "again")
    assert (done.returncode, done.stderr) == (0, "")
    assert "for MP4: pip install 'glug[video]'" in done.stdout
    assert (folder.parent / "run-vs-again" / "compare.webp").exists()


def test_rendering_needs_none(bare_run):
    folder, glug = bare_run
    done = glug("render", "run", "--size", "64x48")
    assert done.returncode == 0, done.stderr
    assert "for MP4: pip install 'glug[video]'" in done.stderr
    assert {"0000.png", "film.webp"} <= {path.name for path in (folder / "render").iterdir()}
