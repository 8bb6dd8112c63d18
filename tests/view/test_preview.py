"""Pictures and the film of a run."""

import io

import numpy as np
import pytest
from PIL import Image
from shapes import disc, sphere

import glug.scene
from glug.errors import OutputError
from glug.output import RunFolder
from glug.view import ScenePictures, assemble, png_bytes, preview, write_preview
from glug.view.film import has_video

MANIFEST = {"scene": "drop", "fps": 24.0, "frames": 4}


def pictures(count: int) -> list[np.ndarray]:
    y, x = np.mgrid[:36, :64]
    return [np.stack([3 * x, 5 * y, 0 * x + 20 * i], axis=-1).astype(np.uint8) for i in range(count)]


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "run", 'name = "drop"\n', MANIFEST)


def test_png_comes_back_and_is_deterministic():
    picture = pictures(1)[0]
    assert png_bytes(picture) == png_bytes(picture.copy())
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png_bytes(picture)))), picture)


def test_film_has_all_frames_and_the_right_length(folder):
    for index, picture in enumerate(pictures(7)):
        assert write_preview(folder, index, picture) == folder.path / "preview" / f"{index:04d}.png"
    path = assemble(folder)
    assert path == folder.path / "preview.webp"
    durations = []
    with Image.open(path) as film:
        assert (film.n_frames, film.size, film.info["loop"]) == (7, (64, 36), 0)
        for index in range(film.n_frames):
            film.seek(index)
            film.load()
            durations.append(film.info["duration"])
    assert sum(durations) == pytest.approx(7 * 1000 / 24, abs=1)
    assert max(durations) - min(durations) <= 1


@pytest.mark.parametrize("video", [False, True])
def test_with_the_video_extra_there_is_a_film_for_players_too(folder, monkeypatch, video):
    if video and not has_video():
        pytest.skip("imageio-ffmpeg is not installed: pip install 'glug[video]'")
    monkeypatch.setattr(preview, "has_video", lambda: video)
    for index, picture in enumerate(pictures(3)):
        write_preview(folder, index, picture)
    assemble(folder)
    film = folder.path / "preview.mp4"
    assert film.exists() == video
    if video:
        assert film.read_bytes()[4:8] == b"ftyp"
        folder.truncate_to(1, 1)
        assert not film.exists()


def test_a_film_that_cannot_be_encoded_does_not_end_a_run(folder, monkeypatch):
    def fail(paths, fps):
        raise OutputError("the film could not be encoded: no ffmpeg")

    monkeypatch.setattr(preview, "has_video", lambda: True)
    monkeypatch.setattr(preview, "mp4_bytes", fail)
    write_preview(folder, 0, pictures(1)[0])
    with pytest.warns(UserWarning, match="preview.mp4 is left out: the film could not be encoded"):
        assert assemble(folder) == folder.path / "preview.webp"
    assert not (folder.path / "preview.mp4").exists()


def test_last_frame_is_the_picture_of_the_run(folder):
    for index, picture in enumerate(pictures(3)):
        write_preview(folder, index, picture)
    assemble(folder)
    assert (folder.path / "preview.png").read_bytes() == png_bytes(pictures(3)[-1])


def test_without_pictures_there_is_no_film(folder):
    assert assemble(folder) is None
    assert not (folder.path / "preview.webp").exists()


SCENE = {
    "domain": {"size": [1.0, 1.0, 1.0], "origin": [-0.5, 0.0, -0.5], "resolution": 16},
    "liquids": {"honey": {"material": "honey"}},
    "volumes": [{"shape": {"kind": "sphere", "centre": [0, 0.5, 0], "radius": 0.3}, "liquid": "honey"}],
    "output": {"preview_size": [96, 72]},
}
BLOCK = {"kind": "box", "lower": [0.2, 0.0, 0.1], "upper": [0.45, 0.3, 0.45]}


def test_pictures_of_a_scene_show_its_solids():
    plain = ScenePictures(glug.scene.load(SCENE)).picture(sphere(), 0.0)
    solid = {"name": "block", "shape": BLOCK, "colour": [0.1, 0.2, 0.9]}
    with_block = ScenePictures(glug.scene.load({**SCENE, "solids": [solid]})).picture(sphere(), 0.0)
    assert plain.shape == (72, 96, 3)
    blue = (with_block[..., 2].astype(int) - with_block[..., 0]) > 40
    assert blue.sum() > 50
    assert ((plain[..., 2].astype(int) - plain[..., 0]) > 40).sum() == 0


def test_solids_are_drawn_where_the_run_has_them():
    solid = {"name": "block", "shape": BLOCK, "colour": [0.1, 0.2, 0.9]}
    pictures = ScenePictures(glug.scene.load({**SCENE, "solids": [solid]}))

    def middle(picture: np.ndarray) -> float:
        return float(np.nonzero((picture[..., 2].astype(int) - picture[..., 0]) > 40)[1].mean())

    at_rest = pictures.picture(sphere(), 0.0)
    pushed = pictures.picture(sphere(), 0.0, {"block": (np.eye(3), np.array([-0.5, 0.0, 0.0]))})
    assert middle(pushed) < middle(at_rest) - 20
    np.testing.assert_array_equal(pictures.picture(sphere(), 0.0), at_rest)  # and is not remembered there


def test_pictures_of_a_2d_scene_are_flat():
    scene = {
        "domain": {"size": [1.0, 1.0], "resolution": 16},
        "liquids": {"water": {"material": "water"}},
        "volumes": [{"shape": {"kind": "sphere", "centre": [0.5, 0.5, 0], "radius": 0.3}, "liquid": "water"}],
        "solids": [{"name": "block", "shape": {"kind": "box", "lower": [0, 0, -1], "upper": [0.2, 0.2, 1]}}],
        "output": {"preview_size": [96, 72]},
    }
    picture = ScenePictures(glug.scene.load(scene)).picture(disc(), 0.0)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 3
