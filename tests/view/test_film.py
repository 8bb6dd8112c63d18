"""Films of pictures."""

import numpy as np
import pytest
from PIL import Image

from glug.errors import InputError
from glug.view.film import has_video, mp4_bytes, write_film
from glug.view.preview import png_bytes


@pytest.fixture
def pictures(tmp_path):
    """Five pictures of an odd size that get brighter."""
    paths = []
    for i in range(5):
        path = tmp_path / f"{i:04d}.png"
        path.write_bytes(png_bytes(np.full((37, 65, 3), 40 * i + 20, np.uint8)))
        paths.append(path)
    return paths


def test_webp_has_all_pictures(pictures, tmp_path):
    write_film(pictures, tmp_path / "film.webp", fps=24)
    with Image.open(tmp_path / "film.webp") as film:
        assert (film.n_frames, film.size) == (5, (65, 37))


@pytest.mark.skipif(not has_video(), reason="needs the video extra: pip install 'glug[video]'")
def test_mp4_has_all_pictures_with_even_sides_in_order(pictures, tmp_path):
    import imageio_ffmpeg

    write_film(pictures, tmp_path / "film.mp4", fps=24)
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "film.mp4"))
    about = next(frames)
    brightness = [np.frombuffer(frame, np.uint8).mean() for frame in frames]
    assert about["size"] == (64, 36)
    assert about["fps"] == pytest.approx(24)
    np.testing.assert_allclose(brightness, 40 * np.arange(5) + 20, atol=6)  # the codec loses a little


def test_a_damaged_picture_is_named_and_leaves_no_film(pictures, tmp_path):
    pictures[2].write_bytes(pictures[2].read_bytes()[:60])
    with pytest.raises(InputError, match="damaged"):
        write_film(pictures, tmp_path / "film.webp", fps=24)
    assert not list(tmp_path.glob("*film*"))


def test_without_the_extra_mp4_says_the_command(pictures, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r"pip install 'glug\[video\]'"):
        mp4_bytes(pictures, fps=24)
