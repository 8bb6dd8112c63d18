"""`glug compare`: the numbers, the film, and what is said about bad input."""

import dataclasses
import json

import numpy as np
import pytest
from PIL import Image
from rendered_runs import frame, write_run

from glug.cli import execute
from glug.errors import InputError
from glug.view import compare, write_preview
from glug.view.compare import compare_runs
from glug.view.film import has_video

SMALL = {"output": {"preview_size": [64, 48], "particles": False}}


@pytest.fixture
def runs(tmp_path):
    """A ball, and a larger one."""
    one = write_run(tmp_path / "small", **SMALL)
    two = write_run(tmp_path / "large", written=0, complete=False, **SMALL)
    for index in range(4):
        two.write_frame(frame(index, radius=0.25))
    two.finish()
    return one, two


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def film(path):
    with Image.open(path) as found:
        frames = []
        for index in range(found.n_frames):
            found.seek(index)
            frames.append(np.asarray(found.convert("RGB")).astype(int))
    return frames


def test_numbers_are_those_of_the_balls(runs, tmp_path):
    done = compare_runs(runs[0].path, runs[1].path)
    assert done.folder == tmp_path / "small-vs-large"
    record = json.loads((done.folder / "compare.json").read_text())
    assert [f["frame"] for f in record["frames"]] == [0, 1, 2, 3]
    for measured in record["frames"]:
        assert measured["volumes"] == pytest.approx([4 / 3 * np.pi * r**3 for r in (0.2, 0.25)], rel=0.01)
        # Both touch the floor: the larger one encloses the smaller, off centre by 0.05 (see test_surface_distance).
        assert measured["largest_distance"] == pytest.approx(0.1, rel=0.02)
        assert measured["mean_distance"] == pytest.approx(0.04958, rel=0.02)
    assert measured["time"] == pytest.approx(3 / 24)
    assert "up to 100 mm apart" in done.text()


def test_equal_runs_are_not_apart(runs, tmp_path):
    """Negative control."""
    write_run(tmp_path / "again", **SMALL)
    done = compare_runs(runs[0].path, tmp_path / "again")
    assert max(m.largest_distance for m in done.frames) < 1e-6


def test_film_and_plot_are_there_and_nothing_else(runs):
    done = compare_runs(runs[0].path, runs[1].path)
    films = ["compare.mp4"] * has_video()
    assert files(done.folder) == sorted(["compare.json", "compare.png", "compare.webp", *films])
    pictures = film(done.folder / "compare.webp")
    assert len(pictures) == 4
    for picture in pictures:
        shown, other = picture[28:, :64], picture[28:, -64:]
        assert np.abs(shown - other).max() > 60  # they are of different balls
    assert np.asarray(Image.open(done.folder / "compare.png")).std() > 10


def test_pictures_of_the_runs_are_used_where_both_have_them(runs):
    for run, colour in zip(runs, ((200, 30, 30), (30, 30, 200))):
        for index in range(4):
            write_preview(run, index, np.full((48, 64, 3), colour, np.uint8))
    picture = film(compare_runs(runs[0].path, runs[1].path).folder / "compare.webp")[2]
    np.testing.assert_allclose(picture[30:70, 4:60].mean((0, 1)), (200, 30, 30), atol=12)
    np.testing.assert_allclose(picture[30:70, -60:-4].mean((0, 1)), (30, 30, 200), atol=12)


def test_pictures_through_another_camera_are_not_used(runs, tmp_path):
    """Runs of other domains are drawn anew, through one camera."""
    domain = {"size": [2.0, 1.0, 1.0], "origin": [-1.0, 0.0, -0.5], "resolution": 48}
    wide = write_run(tmp_path / "wide", domain=domain, **SMALL)
    for run in (runs[0], wide):
        for index in range(4):
            write_preview(run, index, np.full((48, 64, 3), (0, 255, 0), np.uint8))
    picture = film(compare_runs(runs[0].path, wide.path).folder / "compare.webp")[0]
    assert not ((picture[..., 1] > 200) & (picture[..., 0] < 60)).any()
    # The same ball in the same place, seen from the same eye.
    assert np.abs(picture[28:76, :64] - picture[28:76, -64:]).mean() < 12


def test_without_the_video_extra_the_command_is_named(runs, monkeypatch, capfd):
    monkeypatch.setattr(compare, "has_video", lambda: False)
    assert execute(["compare", str(runs[0].path), str(runs[1].path)]) == 0
    assert "pip install 'glug[video]'" in capfd.readouterr().out
    assert not (runs[0].path.parent / "small-vs-large" / "compare.mp4").exists()


def test_a_run_without_liquid_has_no_distance(runs, tmp_path):
    dry = write_run(tmp_path / "dry", written=0, complete=False, **SMALL)
    for index in range(4):
        given = frame(index)
        none = dataclasses.replace(
            given.surface,
            vertices=given.surface.vertices[:0],
            triangles=given.surface.triangles[:0],
            velocities=given.surface.velocities[:0],
        )
        dry.write_frame(dataclasses.replace(given, surface=none))
    dry.finish()
    done = compare_runs(runs[0].path, dry.path)
    assert json.loads((done.folder / "compare.json").read_text())["frames"][0]["mean_distance"] is None
    assert "no frame has liquid in both" in done.text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["small", "nowhere"], "nowhere: no such directory"),
        (["small", "."], "not the directory of a glug run"),
        (["small", "small"], "the same run twice"),
        (["small", "half"], "half: the run is not finished: it has frames 0 to 1 of 3"),
        (["small", "cut"], "0002.ply: truncated or damaged"),
        (["small", "gap"], "frame 1 is missing"),
        (["small", "fast"], "24 frames per second"),
        (["small", "large", "-o", "large"], "is no comparison"),
        (["small", "large", "--first", "3", "--last", "1"], "no frames from 3 to 1"),
        (["small"], "DIR2"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(runs, tmp_path, monkeypatch, capfd, arguments, words):
    write_run(tmp_path / "half", written=2, complete=False, **SMALL)
    cut = write_run(tmp_path / "cut", **SMALL).file("surface", 2)
    cut.write_bytes(cut.read_bytes()[:-7])
    write_run(tmp_path / "gap", **SMALL).file("surface", 1).unlink()
    manifest = write_run(tmp_path / "fast", **SMALL).path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"fps": 24.0', '"fps": 48.0'))
    monkeypatch.chdir(tmp_path)
    before = files(tmp_path)
    assert execute(["compare", *arguments]) == 2
    error = capfd.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert files(tmp_path) == before


def test_a_part_and_a_repetition(runs, capfd):
    arguments = ["compare", str(runs[0].path), str(runs[1].path), "--first", "1", "--last", "2"]
    assert execute(arguments) == 0
    assert execute(arguments) == 2
    assert "--overwrite" in capfd.readouterr().err
    assert execute([*arguments, "--overwrite"]) == 0
    assert "2 frames" in capfd.readouterr().out


def test_a_stopped_comparison_leaves_nothing(runs, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    before = files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        compare_runs(runs[0].path, runs[1].path, on_frame=stop)
    assert files(tmp_path) == before


def test_a_damaged_picture_is_named(runs):
    for run in runs:
        for index in range(4):
            write_preview(run, index, np.zeros((48, 64, 3), np.uint8))
    runs[1].file("preview", 2).write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"0002\.png: the picture is damaged"):
        compare_runs(runs[0].path, runs[1].path)
