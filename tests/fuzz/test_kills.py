"""Runs that are killed at random moments, inside writes too, and gone on with: the same bytes as runs that were not.

`GLUG_KILLS=30 pytest tests/fuzz/test_kills.py` kills each kind of scene so many times (`make soak` does).
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GLUG_KILLS", "3"))
SEED = int(os.environ.get("GLUG_FUZZ_SEED", "0"))
RUN = [sys.executable, "-c", "from glug.entry import main; main()", "run"]
LONGEST = 600.0  # [s]

KINDS = {
    "viscous": ("viscous-beam", 16, 4, ()),
    "water": ("dam-break", 16, 4, ()),
    "bubbles": ("rising-bubble", 16, 3, ()),
    "two-phase": ("dam-break-2d", 20, 4, ("solver.air=two-phase",)),
    "bodies": ("float-and-sink", 16, 3, ()),
    "octree": ("viscous-beam", 16, 3, ("solver.viscosity=octree",)),
    "stokes": ("syrup-fold", 16, 3, ()),
    "heat": ("melting", 16, 3, ()),
    "sources": ("container-fill", 16, 4, ()),
    "tetrahedra": ("dam-break-tetrahedra", 20, 3, ("solver.tetrahedra.remesh=2",)),
    "separating": ("splash-on-wall", 16, 3, ()),
}


def command(kind: str, folder: Path) -> list[str]:
    scene, resolution, frames, settings = KINDS[kind]
    options = ["--resolution", str(resolution), "--frames", str(frames), "--threads", "1", "--resume"]
    return [*RUN, scene, *options, *(word for s in settings for word in ("--set", s)), "-o", str(folder)]


def contents(folder: Path) -> dict[str, bytes]:
    """The frames of a run; statistics hold seconds, which differ."""
    kinds = ("surface", "particles")
    return {str(p.relative_to(folder)): p.read_bytes() for kind in kinds for p in sorted((folder / kind).iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_run_ends_with_the_same_bytes(kind, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    begin = time.monotonic()
    subprocess.run(command(kind, whole), check=True, capture_output=True, timeout=LONGEST)
    duration = time.monotonic() - begin
    chance, done = random.Random(f"{kind} {SEED}"), 0
    while done < KILLS:
        process = subprocess.Popen(command(kind, killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # Half of the moments are early, where folders and first frames are made.
            process.wait(chance.uniform(0.0, duration) * (1.0 if done % 2 else 0.4))
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.wait() in (0, -9)
        done += 1
    last = subprocess.run(command(kind, killed), capture_output=True, text=True, timeout=LONGEST)
    assert last.returncode == 0, last.stderr
    assert contents(killed) == contents(whole)
