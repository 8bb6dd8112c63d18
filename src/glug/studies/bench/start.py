"""`glug bench start`: seconds from the start of a run to its first pictures, stage by stage.

It answers one question: how long does somebody look at nothing? The case `cold` compiles every kernel as it is called,
`shipped` loads those that the package carries and `warm` those that an earlier run has kept; each runs in a process and
with a folder of kernels of its own. `--case install` times an installation into a new environment as well.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from glug.errors import InputError
from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

SCENE = "honey-coil"
STAGES = ("import", "scene", "first picture", "first step", "second step")
CASES = {"cold": "0", "warm": "0", "shipped": "1"}  # whether what the package carries is used
SOURCES = Path(__file__).parents[4]  # where pyproject.toml is in a checkout


def measure(scene_name: str, resolution: int | None) -> dict[str, Any]:
    """Seconds of every stage in this process, the first one since it began, and how many kernels it compiled."""
    import psutil

    born = psutil.Process().create_time()
    from glug import jit
    from glug.scene import load
    from glug.simulation import Simulation
    from glug.view import ScenePictures

    ends = [time.time()]
    simulation = Simulation(load(scene_name, {} if resolution is None else {"domain.resolution": resolution}))
    ends.append(time.time())
    frame = simulation.frame()
    ScenePictures(simulation.scene).picture(frame.distance, frame.time)
    ends.append(time.time())
    for _ in range(2):
        simulation.step_once()
        ends.append(time.time())
    seconds = [after - before for before, after in zip([born, *ends], ends)]
    return {"stages": dict(zip(STAGES, seconds)), "cpu": time.process_time(), "compiled": jit.compilations()}


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Environment variables of processes that are started meanwhile."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def install() -> float:
    """Seconds that an installation into a new environment takes."""
    if not (SOURCES / "pyproject.toml").exists():
        raise InputError("bench start --case install needs a checkout of glug")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", SOURCES / "constraints.txt", SOURCES], check=True)
    return time.monotonic() - begun


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case; prints the table."""
    lines = [["case", *STAGES, "all", "CPU s", "compiled"]]
    rows = []
    if options.case in ("install", "all"):
        rows.append(BenchRow("start/install", "none", 0, seconds=install()))
        options.say(f"install: {rows[-1].seconds:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        for case, shipped in CASES.items():
            kept = Path(folder) / ("empty" if case == "shipped" else "kept")
            with environment(GLUG_CACHE_DIR=str(kept), GLUG_SHIPPED=shipped):
                r = isolated.call(f"{__name__}:measure", scene_name=SCENE, resolution=options.resolution)
            stages, total = r["stages"], sum(r["stages"].values())
            numbers = [f"{seconds:.2f}" for seconds in (*stages.values(), total, r["cpu"])]
            lines.append([case, *numbers, str(r["compiled"])])
            rows.append(BenchRow(f"start/{case}", "none", options.resolution or 0, seconds=total, stages=stages))
    options.say(aligned(lines))
    return rows
