"""A full disk, a second writer and a killed one: what was written stays valid."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from run_frames import MANIFEST, SCENE, make_frame

from glug.errors import InputError, OutputError
from glug.output import RunFolder


@pytest.fixture
def file_limit():
    """Files may not grow beyond 20 kB: the system refuses as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def assert_refused_and_valid(run: RunFolder, kept: int) -> None:
    """The large frame after `kept` fails on one line and leaves nothing; `kept` is still whole."""
    with pytest.raises(OutputError, match=r"free some space, then continue with --resume") as caught:
        run.write_frame(make_frame(kept + 1, vertices=20_000))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1
    again = RunFolder(run.path)
    assert again.frames() == [kept]
    again.read_surface(kept)
    again.read_particles(kept)
    assert not list(run.path.rglob("*.partial"))


def test_a_file_that_cannot_grow(tmp_path, file_limit):
    run = RunFolder.create(tmp_path / "run", SCENE, MANIFEST)
    run.write_frame(make_frame(1))
    assert_refused_and_valid(run, kept=1)


def test_a_checkpoint_that_does_not_fit_leaves_the_one_before(tmp_path, file_limit):
    run = RunFolder.create(tmp_path / "run", SCENE, MANIFEST)
    run.write_checkpoint({"x": np.arange(5)}, frame=1, step=1)
    with pytest.raises(OutputError, match=r"state\.npz"):
        run.write_checkpoint({"x": np.zeros(100_000)}, frame=2, step=2)
    assert run.read_checkpoint().frame == 1


def test_lines_that_do_not_fit_leave_whole_lines(tmp_path, file_limit):
    run = RunFolder.create(tmp_path / "run", SCENE, MANIFEST)
    with pytest.raises(OutputError, match=r"stats\.jsonl|bodies\.jsonl"):
        for index in range(200):
            run.write_frame(make_frame(index))
    for name in ("stats.jsonl", "bodies.jsonl"):
        assert (run.path / name).read_bytes().endswith(b"}\n")


def test_a_full_file_system(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small file system needs rights that this user does not have")
    try:
        run = RunFolder.create(disk / "run", SCENE, MANIFEST)
        run.write_frame(make_frame(1))
        assert_refused_and_valid(run, kept=1)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


WRITER = """
    import sys
    sys.path.insert(0, sys.argv[2])
    from run_frames import MANIFEST, SCENE, make_frame
    from glug.output import RunFolder
    run = RunFolder.create(sys.argv[1], SCENE, MANIFEST, resume=True)
    print("ready", flush=True)
    for index in range(100_000):
        run.write_frame(make_frame(index, vertices=2000))
"""


def start_writer(folder: Path) -> subprocess.Popen:
    arguments = [sys.executable, "-c", textwrap.dedent(WRITER), str(folder), str(Path(__file__).parent)]
    writer = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=dict(os.environ))
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    return writer


def test_a_second_writer_is_refused_and_a_killed_one_leaves_whole_frames(tmp_path):
    folder = tmp_path / "run"
    for delay in (0.05, 0.083, 0.117):
        writer = start_writer(folder)
        try:
            with pytest.raises(InputError, match="another process"):
                RunFolder.create(folder, SCENE, MANIFEST, resume=True)
            time.sleep(delay)
        finally:
            writer.kill()
            writer.wait()
        reader = RunFolder(folder)
        for index in reader.frames():
            assert len(reader.read_surface(index).vertices) == 2000
            reader.read_particles(index)
        reader.stats()
    RunFolder.create(folder, SCENE, MANIFEST, resume=True).truncate_to(frame=-1, step=-1)
    assert not list(folder.rglob("*.partial"))
    assert RunFolder(folder).frames() == []
