"""Whole runs in processes of their own: killed, stopped and resumed, and on other thread counts.

Equal means equal bytes in every surface and particle file.
"""

import random
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

# All that a checkpoint has to bring back: a source that closes, a moving solid that lets go, viscosity, two liquids.
SCENE = """\
name = "stirred"

[domain]
size = [0.2, 0.2, 0.2]
resolution = 16

[time]
fps = 24
frames = 8

[liquids.syrup]
density = 1000.0
viscosity = 2.0

[liquids.thin]
density = 1000.0
viscosity = 0.2

[[volumes]]
liquid = "syrup"
shape = { kind = "box", lower = [0.0, 0.0, 0.0], upper = [0.2, 0.05, 0.2] }

[[sources]]
liquid = "thin"
shape = { kind = "sphere", centre = [0.1, 0.15, 0.1], radius = 0.03 }
velocity = [0.0, -0.5, 0.0]
stop = 0.2

[[solids]]
name = "paddle"
shape = { kind = "box", lower = [0.04, 0.02, 0.04], upper = [0.08, 0.12, 0.16] }
motion = { kind = "linear", velocity = [0.2, 0.0, 0.0] }
walls = "separating"

[output]
preview_size = [64, 36]
"""


def outputs(folder: Path) -> dict[str, bytes]:
    kinds = ("surface", "particles")
    return {f"{kind}/{p.name}": p.read_bytes() for kind in kinds for p in sorted((folder / kind).iterdir())}


def steps_on_disk(folder: Path) -> int:
    stats = folder / "stats.jsonl"
    return stats.read_bytes().count(b"\n") if stats.exists() else 0


def wait_for_step(process: subprocess.Popen[str], folder: Path, step: int) -> bool:
    """Wait until the run has written `step` steps; False if it ended before."""
    while process.poll() is None:
        if steps_on_disk(folder) >= step:
            return True
        time.sleep(0.001)
    return False


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory, command_line_in) -> Path:
    """The folder of a run on two threads that nothing disturbed, with its scene beside it."""
    where = tmp_path_factory.mktemp("whole")
    (where / "stirred.toml").write_text(SCENE)
    done = command_line_in(where)("run", "stirred.toml", "--threads", "2", "-o", "run")
    assert done.returncode == 0, done.stderr
    return where / "run"


@pytest.fixture
def command(command_line):
    (command_line.where / "stirred.toml").write_text(SCENE)
    return command_line


def test_one_thread_gives_the_bytes_of_two(command, whole_run):
    assert command("run", "stirred.toml", "--threads", "1", "-o", "run").returncode == 0
    assert outputs(command.where / "run") == outputs(whole_run)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_killed_again_and_again_gives_the_bytes_of_a_whole_one(command, whole_run, seed):
    chance = random.Random(seed)
    folder = command.where / "run"
    total = steps_on_disk(whole_run)
    kills = 0
    for _ in range(3):
        process = command.start("run", "stirred.toml", "-o", "run", "--threads", "1", "--resume")
        if wait_for_step(process, folder, steps_on_disk(folder) + chance.randint(1, max(1, total // 4))):
            time.sleep(chance.uniform(0.0, 0.05))
            process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
    assert kills > 0
    done = command("run", "stirred.toml", "-o", "run", "--threads", "1", "--resume")
    assert done.returncode == 0, done.stderr
    assert outputs(folder) == outputs(whole_run)
    assert steps_on_disk(folder) == total
    assert not list(folder.rglob("*.partial"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on_and_does(command, whole_run, number):
    process = command.start("run", "stirred.toml", "-o", "run", "--threads", "1")
    assert wait_for_step(process, command.where / "run", 3)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert (command.where / "run" / "preview.webp").exists()
    again = shlex.split(out.rpartition("go on with: ")[2])
    assert again == ["glug", "run", "stirred.toml", "-o", "run", "--threads", "1", "--resume"]
    done = command(*again[1:])
    assert done.returncode == 0, done.stderr
    assert outputs(command.where / "run") == outputs(whole_run)


def test_two_processes_do_not_write_one_run(command):
    first = command.start("run", "stirred.toml", "-o", "run")
    assert wait_for_step(first, command.where / "run", 1)
    second = command("run", "stirred.toml", "-o", "run", "--threads", "1", "--resume")
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert "another process" in second.stderr
