"""The gallery shows every scene of the library, with the file as it is now."""

import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

from glug.scene import load, scenes
from glug.scene.loader import library_text

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
NAMES = [name for name, _ in scenes()]


@pytest.fixture(scope="module")
def gallery():
    return runpy.run_path(str(DOCS / "gallery.py"), run_name="gallery")


@pytest.mark.parametrize("name", NAMES)
def test_shows_the_scene_and_its_file(gallery, name):
    assert library_text(name).rstrip() in PAGE, "the scene has changed since: python docs/gallery.py --page"
    path = DOCS / "images" / "gallery" / f"{name}.jpg"
    if not path.exists():
        pytest.skip(f"no picture yet: python docs/gallery.py {name}")
    assert f"![{name}](images/gallery/{name}.jpg)" in PAGE, "python docs/gallery.py --page"
    assert gallery["up_to_date"](name), f"the scene has changed since: python docs/gallery.py {name}"
    with Image.open(path) as picture:
        assert picture.size == (480, 360)
    assert path.stat().st_size < 150_000


def test_shows_every_scene_and_nothing_else(gallery):
    assert re.findall(r"^## (.*)$", PAGE, re.MULTILINE) == NAMES
    assert gallery["page"]() == PAGE, "python docs/gallery.py --page"


def test_every_shot_is_of_a_scene(gallery):
    for name, shot in gallery["SHOTS"].items():
        scene = load(name)
        assert 0 < shot.frame <= scene.time.frames, name


def test_a_scene_without_a_picture_says_so(tmp_path):
    gallery = runpy.run_path(str(DOCS / "gallery.py"), run_name="gallery")
    gallery["page"].__globals__["IMAGES"] = tmp_path
    page = gallery["page"]()
    assert "*No picture yet: `python docs/gallery.py honey-coil` makes it.*" in page
    assert not gallery["up_to_date"]("honey-coil") and "![" not in page
