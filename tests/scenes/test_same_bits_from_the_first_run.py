"""Kernels just compiled, kept from an earlier run, or carried by the package: the same bytes on disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from glug import compiler
from glug.kernel_store import archive_for
from glug.precompile import missing
from glug.scene import load, scenes
from glug.simulation.warm_up.needs import needed, recorded

# Of six kinds, coarse and short: (scene, resolution, frames, settings)
SIX = {
    "viscous": ("honey-coil", 32, 6, []),
    "water": ("dam-break", 24, 3, []),
    "bubbles": ("water-cooler", 32, 2, []),
    "bodies": ("float-and-sink", 24, 3, []),
    "octree": ("figure-on-cake", 32, 3, ["--set", "solver.viscosity=octree"]),
    "2D": ("dam-break-2d", 32, 4, []),
}

# Runs `glug run` in this process and says how many kernels it compiled.
RUN = """\
import sys
from glug.cli import execute
from glug import jit
import glug.simulation.warm_up.compiling as compiling
compiling.FEW = 10**6  # here, one by one, as they are called
code = execute(sys.argv[1:])
print("compiled:", jit.compilations())
sys.exit(code)
"""


def run(case: tuple, output: Path, *options: str, **environment: str) -> int:
    """Runs a scene into `output`; returns how many kernels were compiled."""
    scene, resolution, frames, settings = case
    command = ["run", scene, "-o", output, "--resolution", resolution, "--frames", frames, *settings, *options]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, command)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.rpartition("compiled:")[2])


def written(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and p.name not in (".lock", "stats.jsonl", "manifest.json"))
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def fresh(kind: str) -> bool:
    """Whether the package carries what it was seen to need, compiled from the present sources."""
    return archive_for(compiler.processor()).exists() and not missing(needed(load(SIX[kind][0])))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIX)
def test_the_first_run_has_the_bytes_of_later_ones(kind, tmp_path):
    cold = run(SIX[kind], tmp_path / "cold", GLUG_CACHE_DIR=str(tmp_path / "cache"), GLUG_SHIPPED="0")
    assert cold > 20
    warm = run(SIX[kind], tmp_path / "warm", "--threads", "1", GLUG_CACHE_DIR=str(tmp_path / "cache"), GLUG_SHIPPED="0")
    assert warm == 0
    assert written(tmp_path / "cold") == written(tmp_path / "warm")
    if fresh(kind):
        run(SIX[kind], tmp_path / "carried", "--threads", "2", GLUG_CACHE_DIR=str(tmp_path / "empty"))
        assert written(tmp_path / "carried") == written(tmp_path / "warm")


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_beside_a_heavy_load_the_bytes_are_the_same(threads, tmp_path):
    run(SIX["viscous"], tmp_path / "alone")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        run(SIX["viscous"], tmp_path / "beside", "--threads", str(threads), NUMBA_NUM_THREADS="4")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert written(tmp_path / "beside") == written(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, _ in scenes()])
def test_a_library_scene_compiles_nothing(name, tmp_path, monkeypatch):
    """Where the package carries kernels of the present sources: after an edit they are made anew by `make kernels`."""
    monkeypatch.setenv("GLUG_CACHE_DIR", str(tmp_path / "empty"))
    stale = missing(recorded()[name].calls) if name in recorded() else ["all"]
    if stale or not archive_for(compiler.processor()).exists():
        pytest.skip(f"{len(stale)} kernels are not carried in their present form: run `make kernels`")
    case = (name, min(32, load(name).domain.resolution), 2, [])
    assert run(case, tmp_path / "run", GLUG_CACHE_DIR=str(tmp_path / "empty")) == 0
