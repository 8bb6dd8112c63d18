"""The gallery shows every scene of the library, with the file as it is now."""

import re
from pathlib import Path

import pytest
from PIL import Image

from glug.scene import scenes
from glug.scene.loader import library_text

DOCS = Path(__file__).parents[1] / "docs"
NAMES = [name for name, _ in scenes()]


@pytest.mark.parametrize("name", NAMES)
def test_shows_the_scene_and_its_file(name):
    text = (DOCS / "gallery.md").read_text()
    assert f"## {name}\n" in text
    assert library_text(name).rstrip() in text, "the scene has changed since: make gallery"
    with Image.open(DOCS / "images" / "gallery" / f"{name}.jpg") as picture:
        assert picture.size == (480, 360)
    assert (DOCS / "images" / "gallery" / f"{name}.jpg").stat().st_size < 150_000


def test_shows_nothing_else():
    assert re.findall(r"^## (.*)$", (DOCS / "gallery.md").read_text(), re.MULTILINE) == NAMES
