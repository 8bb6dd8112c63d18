"""The gallery shows every scene of the library, with the file as it is now."""

import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

from glug.scene import scenes
from glug.scene.loader import library_text

DOCS = Path(__file__).parents[1] / "docs"
NAMES = [name for name, _ in scenes()]
SHOWN = re.findall(r"^## (.*)$", (DOCS / "gallery.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_shows_the_scene_and_its_file(name):
    text = (DOCS / "gallery.md").read_text()
    path = DOCS / "images" / "gallery" / f"{name}.jpg"
    if not path.exists():
        pytest.skip(f"no picture yet: python docs/gallery.py {name}")
    assert f"![{name}](images/gallery/{name}.jpg)" in text, "python docs/gallery.py --page"
    assert library_text(name).rstrip() in text, "the scene has changed since: python docs/gallery.py --page"
    with Image.open(path) as picture:
        assert picture.size == (480, 360)
    assert path.stat().st_size < 150_000


def test_shows_nothing_else():
    assert [name for name in NAMES if name in SHOWN] == SHOWN


def test_a_scene_without_a_picture_says_so(tmp_path):
    gallery = runpy.run_path(str(DOCS / "gallery.py"), run_name="gallery")
    gallery["page"].__globals__["IMAGES"] = tmp_path
    page = gallery["page"]()
    assert "*No picture yet: `python docs/gallery.py honey-coil` makes it.*" in page
    assert not gallery["up_to_date"]("honey-coil") and "![" not in page
