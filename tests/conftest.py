"""What tests of several folders share: a tiny scene, and the command line as a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Water falls onto a slanted block: flat, so that a run takes seconds.
TINY_SCENE = """\
name = "tiny"

[domain]
size = [1.0, 1.0]
resolution = 16

[time]
fps = 24
frames = 4

[liquids.water]
material = "water"

[[volumes]]
liquid = "water"
shape = { kind = "box", lower = [0.1, 0.4], upper = [0.5, 0.8] }
"""


@pytest.fixture
def tiny_scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene file of a flat splash at 16 cells."""
    path = tmp_path_factory.mktemp("scene") / "tiny.toml"
    path.write_text(TINY_SCENE)
    return path


class CommandLine:
    """Runs `glug` in its own process, in the folder `where`."""

    def __init__(self, where: Path):
        self.where = where

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        environment = {**os.environ, "COLUMNS": "200"}
        environment.pop("GLUG_DEBUG", None)
        return subprocess.Popen(
            [sys.executable, "-c", "from glug.entry import main; main()", *map(str, arguments)],
            cwd=self.where,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="session")
def command_line_in() -> type[CommandLine]:
    """`command_line_in(folder)` is a command line that works in that folder."""
    return CommandLine


@pytest.fixture
def command_line(tmp_path: Path) -> CommandLine:
    """`command_line("run", ...)`; the folder it works in is empty and `command_line.where`."""
    where = tmp_path / "work"
    where.mkdir()
    return CommandLine(where)
