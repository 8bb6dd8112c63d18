"""`glug view`: what it prints, its exit codes, and that it ends when it should."""

import json
import os
import re
import signal
import time
import urllib.error
import urllib.request

import psutil
import pytest
from viewer_runs import write_run

from glug.cli import execute
from glug.view.browser.server import listen

PATIENCE = 120.0  # seconds: kernels may have to be compiled


def url_of(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found, line
    return found[0]


def overview(url: str) -> dict:
    with urllib.request.urlopen(f"{url}api/run", timeout=20) as answer:
        return json.load(answer)


def wait_for(condition, what: str):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {what} in time")


def assert_one_line(err: str, *words: str) -> None:
    assert err.startswith("glug: error: ")
    assert err.count("\n") == 1, err
    for word in words:
        assert word in err


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "other files", "no frames", "cut", "gap"])
def test_what_is_no_whole_run_exits_2_with_one_line(tmp_path, monkeypatch, capfd, kind):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "run"
    if kind in ("no frames", "cut", "gap"):
        run = write_run(folder)
        if kind == "no frames":
            run.truncate_to(-1, -1)
        elif kind == "cut":
            run.file("surface", 3).write_bytes(run.file("surface", 3).read_bytes()[:-50])
        else:
            run.file("surface", 3).unlink()
    elif kind == "file":
        folder.write_text("something")
    elif kind != "missing":
        folder.mkdir()
        if kind == "other files":
            (folder / "surface.ply").write_text("ply")
    assert execute(["view", "run"]) == 2
    out, err = capfd.readouterr()
    assert_one_line(err, "run")
    assert out == ""


@pytest.mark.parametrize("what", ["run", "tiny.toml"])
def test_a_port_in_use_exits_2_with_one_line_and_runs_nothing(tmp_path, monkeypatch, capfd, tiny_scene, what):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run")
    (tmp_path / "tiny.toml").write_text(tiny_scene.read_text())
    with listen("127.0.0.1", None) as taken:
        port = str(taken.getsockname()[1])
        assert execute(["view", what, "--port", port]) == 2
    out, err = capfd.readouterr()
    assert_one_line(err, port, "--port")
    assert out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--port", "0"], ["--port", "65536"], ["--host", "192.0.2.1"], ["--host", "no such host"]],
    ids=" ".join,
)
def test_an_address_that_cannot_be_exits_2(tmp_path, capfd, arguments):
    write_run(tmp_path / "run")
    assert execute(["view", str(tmp_path / "run"), *arguments]) == 2
    assert_one_line(capfd.readouterr().err)


def test_a_run_that_is_there_already_is_not_run_again(tmp_path, monkeypatch, capfd, tiny_scene):
    monkeypatch.chdir(tmp_path)
    assert execute(["run", str(tiny_scene), "-o", "run", "--frames", "0"]) == 0
    capfd.readouterr()
    assert execute(["view", str(tiny_scene), "-o", "run", "--frames", "0"]) == 2
    out, err = capfd.readouterr()
    assert_one_line(err, "--resume")
    assert out == ""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_run_is_served_until_ctrl_c(command_line):
    write_run(command_line.where / "run")
    viewer = command_line.start("view", "run")
    url = url_of(viewer.stdout.readline())
    assert overview(url)["name"] == "falling-ball"
    viewer.send_signal(signal.SIGINT)
    out, err = viewer.communicate(timeout=PATIENCE)
    assert (viewer.returncode, out, err) == (0, "", "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_frames_that_are_cut_are_warned_of_when_the_rest_is_asked_for(command_line):
    run = write_run(command_line.where / "run")
    run.file("surface", 3).unlink()
    viewer = command_line.start("view", "run", "--damaged")
    url = url_of(viewer.stdout.readline())
    assert overview(url)["frames"] == [0, 1, 2, 4, 5]
    viewer.send_signal(signal.SIGINT)
    _, err = viewer.communicate(timeout=PATIENCE)
    assert err.startswith("glug: warning: ")
    assert "0003.ply" in err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_listening_elsewhere_needs_the_token_that_is_printed(command_line):
    write_run(command_line.where / "run")
    viewer = command_line.start("view", "run", "--host", "0.0.0.0")
    url = url_of(viewer.stdout.readline())
    port, token = re.search(r":(\d+)/\?token=([\w-]{32,})$", url).groups()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        overview(f"http://127.0.0.1:{port}/")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/run?token={token}", timeout=20) as answer:
        assert json.load(answer)["name"] == "falling-ball"
    viewer.send_signal(signal.SIGINT)
    viewer.communicate(timeout=PATIENCE)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_scene_is_run_and_then_watched(command_line, tiny_scene):
    viewer = command_line.start("view", tiny_scene, "--frames", "3", "-o", "run")
    url = url_of(viewer.stdout.readline())
    wait_for(lambda: overview(url)["state"] == "complete", "complete run")
    assert overview(url)["frames"] == [0, 1, 2, 3]
    assert "frame 3 written" in viewer.stdout.readline()
    assert url in viewer.stdout.readline()
    viewer.send_signal(signal.SIGINT)
    _, err = viewer.communicate(timeout=PATIENCE)
    assert (viewer.returncode, err) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_scene_is_watched_while_it_runs_and_no_viewer_outlives_it(command_line, tiny_scene, kind):
    viewer = command_line.start("view", tiny_scene, "--frames", "2000", "-o", "run")
    url = url_of(viewer.stdout.readline())
    wait_for(lambda: overview(url)["frames"], "first frame")
    assert overview(url)["state"] == "unfinished"
    children = psutil.Process(viewer.pid).children(recursive=True)
    assert children
    viewer.send_signal(kind)
    out, _ = viewer.communicate(timeout=PATIENCE)
    if kind == signal.SIGINT:
        assert viewer.returncode == 130
        assert "--resume" in out
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
