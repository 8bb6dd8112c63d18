"""`glug render` with the plain renderer: what is written, what is kept, and what is said about bad input."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rendered_runs import write_run

from glug.cli import execute
from glug.errors import InputError
from glug.view import sequence
from glug.view.film import has_video
from glug.view.sequence import RenderOptions, render_run

PLAIN = RenderOptions("plain", (64, 48))
NAMES = ["0000.png", "0001.png", "0002.png", "0003.png"]


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.glob("[!.]*"))}


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path)).astype(int)


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run").path


def test_writes_a_picture_per_frame_and_a_film(run):
    done = render_run(run, PLAIN)
    film = "film.mp4" if has_video() else "film.webp"
    assert list(files(run / "render")) == [*NAMES, film]
    assert (done.rendered, done.kept, done.film.name) == (4, 0, film)
    pictures = [pixels(run / "render" / name) for name in NAMES]
    assert pictures[0].shape == (48, 64, 3)
    # The ball is the saturated part, and goes to the right.
    middles = []
    for picture in pictures:
        saturated = np.ptp(picture, axis=2) > 60
        middles.append(np.nonzero(saturated)[1].mean())
    assert all(b > a + 2 for a, b in pairwise(middles))


def test_a_second_render_keeps_everything(run):
    render_run(run, PLAIN)
    before = {p: p.stat().st_mtime_ns for p in (run / "render").iterdir()}
    done = render_run(run, PLAIN)
    assert (done.rendered, done.kept) == (0, 4)
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_a_render_that_was_stopped_goes_on(run, monkeypatch):
    draw, drawn = sequence.PlainEngine.picture, []

    def stops_at_the_third(engine, moments, colours=None):
        if len(drawn) == 2:
            raise KeyboardInterrupt
        drawn.append(moments)
        return draw(engine, moments, colours)

    monkeypatch.setattr(sequence.PlainEngine, "picture", stops_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        render_run(run, PLAIN)
    assert list(files(run / "render")) == NAMES[:2]  # no film, no half picture
    monkeypatch.undo()
    done = render_run(run, PLAIN)
    assert (done.rendered, done.kept) == (2, 2)
    stopped = files(run / "render")
    assert files(render_run(run, PLAIN, run.parent / "at-once").folder) == stopped


def test_other_settings_make_new_pictures(run):
    first = files(render_run(run, PLAIN).folder)
    done = render_run(run, RenderOptions("plain", (64, 48), look="milk"))
    assert (done.rendered, done.kept) == (4, 0)
    assert all(files(done.folder)[name] != first[name] for name in NAMES)


def test_a_damaged_or_foreign_picture_is_made_again(run):
    render_run(run, PLAIN)
    good = files(run / "render")
    (run / "render" / "0001.png").write_bytes(good["0001.png"][:200])
    Image.new("RGB", (64, 48)).save(run / "render" / "0002.png")
    assert render_run(run, PLAIN).rendered == 2
    assert files(run / "render") == good


def test_a_changed_surface_is_seen(run):
    render_run(run, PLAIN)
    surfaces = run / "surface"
    (surfaces / "0001.ply").write_bytes((surfaces / "0003.ply").read_bytes())
    assert render_run(run, PLAIN).rendered == 1
    np.testing.assert_array_equal(pixels(run / "render" / "0001.png"), pixels(run / "render" / "0003.png"))


def test_bodies_are_where_the_run_wrote_them_and_a_changed_pose_is_seen(tmp_path):
    block = {"kind": "box", "lower": [-0.4, 0.0, 0.2], "upper": [-0.2, 0.2, 0.4]}
    run = write_run(tmp_path / "run", solids=[{"name": "block", "shape": block, "colour": [0.0, 0.0, 1.0]}]).path
    middles = []
    for shift in (None, 0.0, 0.5):  # the scene has no script for it
        if shift is not None:
            pose = {"name": "block", "rotation": np.eye(3).tolist(), "translation": [shift, 0.0, 0.0]}
            lines = [json.dumps({"frame": f, "time": f / 24, "bodies": [pose]}) + "\n" for f in range(4)]
            (run / "bodies.jsonl").write_text("".join(lines))
        done = render_run(run, RenderOptions("plain", (64, 48), only=[1]))
        assert done.rendered == (0 if shift == 0.0 else 1)
        picture = pixels(done.folder / "0001.png")
        middles.append(np.nonzero(picture[..., 2] - picture[..., 0] > 40)[1].mean())
    assert middles[1] == middles[0] and middles[2] > middles[0] + 15
    (run / "bodies.jsonl").write_text('{"frame": 1, "bodies": [{"name": "block"}]}\n')
    with pytest.raises(InputError, match=r"bodies.jsonl: damaged"):
        render_run(run, PLAIN)


def test_a_run_being_written_is_rendered_as_far_as_it_is_and_has_no_film(tmp_path):
    run = write_run(tmp_path / "run", written=2, complete=False).path
    done = render_run(run, PLAIN)
    assert list(files(done.folder)) == NAMES[:2]
    assert done.film is None
    assert "not complete" in done.notes[0]


def test_only_some_frames(run):
    done = render_run(run, RenderOptions("plain", (64, 48), only=[2]))
    assert list(files(done.folder)) == ["0002.png"]


def test_pictures_of_an_older_longer_run_are_removed_and_other_files_are_not(run):
    render_run(run, PLAIN)
    folder = run / "render"
    (folder / "0007.png").write_bytes((folder / "0003.png").read_bytes())
    Image.new("RGB", (64, 48)).save(folder / "0008.png")  # not by glug
    before = files(folder)
    render_run(run, RenderOptions("plain", (64, 48), only=[2]))
    assert files(folder) == before
    done = render_run(run, PLAIN)
    assert (done.rendered, done.kept) == (0, 4)
    assert list(files(folder)) == [*NAMES, "0008.png", done.film.name]


def test_a_film_is_kept_unless_one_of_its_frames_is_made_anew(run):
    film = render_run(run, PLAIN).film
    assert render_run(run, RenderOptions("plain", (64, 48), only=[2])).notes == []
    assert film.exists()
    done = render_run(run, RenderOptions("plain", (64, 48), look="milk", only=[2]))
    assert done.notes == [f"{film.name} removed: frame 2 was made anew"]
    assert not film.exists()
    assert not any("removed" in note for note in render_run(run, PLAIN).notes)
    assert film.exists()


def test_a_camera_of_the_scene_is_used_unless_told_otherwise(tmp_path):
    given = {"eye": [0.0, 0.6, 6.0], "target": [0.0, 0.3, 0.0], "fov": 30}  # far away
    run = write_run(tmp_path / "run", camera=given).path
    far = pixels(render_run(run, RenderOptions("plain", (64, 48), only=[1])).folder / "0001.png")
    near = RenderOptions("plain", (64, 48), only=[1], reframe=True)
    near = pixels(render_run(run, near, tmp_path / "near").folder / "0001.png")
    assert (np.ptp(near, axis=2) > 60).sum() > 3 * (np.ptp(far, axis=2) > 60).sum()


def sharpness(picture: np.ndarray) -> float:
    """The steepest change from a pixel to the next one on its right."""
    return float(np.abs(np.diff(picture, axis=1)).max())


def test_the_shutter_blurs_what_moves_and_nothing_else(tmp_path):
    options = RenderOptions("plain", (64, 48), only=[1]), RenderOptions("plain", (64, 48), only=[1], shutter=1.0)
    for speed, blurred in ((0.0, False), (4.0, True)):  # 4 m/s are 0.17 m in a frame, most of the ball's radius
        run = write_run(tmp_path / f"run{speed}", speed=speed).path
        sharp, open_ = (
            pixels(render_run(run, o, tmp_path / f"{speed}{o.shutter}").folder / "0001.png") for o in options
        )
        assert (sharpness(open_) < 0.6 * sharpness(sharp)) == blurred
        assert (np.abs(open_ - sharp).max() > 1) == blurred


def test_a_flat_scene_is_drawn_flat(tmp_path, command_line, tiny_scene):
    assert command_line("run", tiny_scene, "-o", "run", "--frames", 1).returncode == 0
    done = command_line("render", "run", "--size", "64x64")
    assert done.returncode == 0, done.stderr
    assert "plain" in done.stdout
    picture = pixels(command_line.where / "run" / "render" / "0001.png")
    blue = picture[..., 2] - picture[..., 0] > 30
    assert 0.08 < blue.mean() < 0.25  # 0.16 of the plane is water
    with pytest.raises(InputError, match="3D"):
        render_run(command_line.where / "run", RenderOptions("mitsuba"))


# What is missing


def test_without_mitsuba_the_plain_renderer_is_used_and_the_command_is_named(run, monkeypatch):
    monkeypatch.setattr(sequence, "find_spec", lambda name: None)
    done = render_run(run, RenderOptions(size=(64, 48), only=[0]))
    assert done.engine == "plain"
    assert done.notes == ["rendering with the plain renderer; for Mitsuba: pip install 'glug[render]'"]


def test_asking_for_a_missing_mitsuba_names_the_command(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(InputError, match=r"pip install 'glug\[render\]'$"):
        render_run(run, RenderOptions("mitsuba", (64, 48)))
    assert not (run / "render").exists()


def test_without_video_the_film_is_webp_and_the_command_is_named(run, monkeypatch):
    monkeypatch.setattr(sequence, "has_video", lambda: False)
    done = render_run(run, PLAIN)
    assert done.film.name == "film.webp"
    with Image.open(done.film) as film:
        assert film.n_frames == 4
    assert done.notes == ["the film is an animated WebP; for MP4: pip install 'glug[video]'"]


# Bad input: one line, exit code 2, nothing written


def no_run(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def truncated(folder: Path) -> None:
    path = folder / "surface" / "0002.ply"
    path.write_bytes(path.read_bytes()[:-10])


def missing(folder: Path) -> None:
    (folder / "surface" / "0002.ply").unlink()


def last_missing(folder: Path) -> None:
    (folder / "surface" / "0003.ply").unlink()


def no_frames(folder: Path) -> None:
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"complete": true', '"complete": false'))
    for path in (folder / "surface").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("damage", "options", "words"),
    [
        (no_run, [], ["not the directory of a glug run"]),
        (truncated, [], ["0002.ply", "truncated"]),
        (missing, [], ["0002.ply", "no such file"]),
        (last_missing, [], ["0003.ply", "no such file"]),
        (no_frames, [], ["no frames yet"]),
        (truncated, ["--only", "1-3"], ["0002.ply", "truncated"]),
        (None, ["--only", "7"], ["no frame 7", "0 to 3"]),
        (None, ["--only", "3-1"], ["3-1"]),
        (None, ["--only", "x"], ["like 60, 10-40"]),
        (None, ["--size", "640"], ["like 640x480"]),
        (None, ["--size", "4x4"], ["16 to"]),
        (None, ["--look", "hony"], ["hony", "honey"]),
        (None, ["--samples", "0"], ["at least 1"]),
        (None, ["--shutter", "2"], ["0 to 1"]),
        (None, ["--renderer", "cycles"], ["cycles", "plain"]),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(run, capfd, damage, options, words):
    if damage is not None:
        damage(run)
    assert execute(["render", str(run), *options]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and err.startswith("glug: error: "), err
    for word in words:
        assert word in err
    assert not (run / "render").exists()


def test_whole_frames_of_a_damaged_run_can_be_chosen(run):
    truncated(run)
    assert render_run(run, RenderOptions("plain", (64, 48), only=[0, 1])).rendered == 2


def test_a_folder_that_is_not_there(tmp_path, capfd):
    assert execute(["render", str(tmp_path / "nowhere")]) == 2
    assert "no such directory" in capfd.readouterr().err
