"""`glug check` says how long a run takes, and is right within the factor that it gives."""

import resource
import subprocess
import sys

import numpy as np
import pytest

from glug.scene import load
from glug.simulation import Simulation
from glug.simulation.forecast import run_time, time_lines, trial
from glug.simulation.forecast.trial import FACTOR, FINER, UNSEEN, Look, RunTime, split, steadied

# Scenes that the constants of `forecast.trial` were chosen on, as fine and long as a test can wait for.
CHOSEN_ON = {
    "dam-break": (64, 10),
    "honey-coil": (64, 16),
    "melting": (48, 10),
    "water-drop": (48, 10),
    "viscous-beam": (64, 8),
    "rising-bubble": (48, 8),
    "float-and-sink": (40, 10),
    "dam-break-2d": (96, 24),
}
# And eight that they were not.
OTHERS = {
    "buckling-sheet": (48, 12),
    "chocolate": (48, 8),
    "water-cooler": (40, 6),
    "splash-on-wall": (48, 10),
    "four-bodies": (40, 6),
    "paddle-wheel": (40, 8),
    "ringing-drop": (40, 6),
    "honey-2d": (64, 24),
}


@pytest.mark.parametrize("name", ["dam-break", "dam-break-2d"])
def test_split_liquid_is_the_same_liquid(name):
    coarse = Simulation(load(name, {"domain.resolution": 12}))
    fine = Simulation(load(name, {"domain.resolution": 12 * FINER}))
    p, q = coarse.state.particles, split(coarse.state, coarse.setting).particles
    dim = coarse.setting.dim
    assert len(q) == len(p) * FINER**dim
    # A particle of a 2D scene is as deep as a cell.
    depth = FINER if dim == 2 else 1
    assert q.volume.sum() * depth == pytest.approx(p.volume.sum(), rel=1e-5)
    assert np.allclose(q.volume.max(), fine.setting.particle_volume, rtol=1e-4)
    assert np.allclose(q.position.mean(axis=0)[:2], p.position.mean(axis=0)[:2], atol=1e-5)
    # None is nearer to a place where there was no liquid than half a particle was.
    spacing = p.position.max(axis=0)[0] - q.position.max(axis=0)[0]
    assert abs(spacing) < 0.5 * coarse.setting.dx


def test_a_particle_adds_what_the_finer_steps_say():
    look = Look(at=5, particles=(100, 900), step=(0.02, 0.10), frame=(0.1, 0.5))
    assert look.step_seconds(0.02, 1700) == pytest.approx(0.18)
    assert look.frame_seconds(1700) == pytest.approx(0.9)
    assert look.step_seconds(0.03, 50) == pytest.approx(0.03)  # fewer than on the coarse grid: as many seconds


def test_a_step_that_loads_kernels_is_not_counted():
    assert steadied([0.02] * 6 + [1.5] + [0.02] * 6).max() == pytest.approx(0.02)
    assert list(steadied([0.02, 0.5])) == [0.02, 0.5]  # too few to tell


def test_the_time_comes_with_its_uncertainty():
    text = RunTime(steps=700, seconds=120.0, cpu_seconds=200.0, factor=1.5, cores=2).text()
    assert text == "about 2:00 on 2 cores when they are free (1:20 to 3:00)"


def test_a_trial_foresees_the_steps_of_a_run():
    scene = load("dam-break", {"domain.resolution": 32, "time.frames": 3, "output.preview": False})
    found = run_time(scene, cores=2)
    simulation = Simulation(scene)
    for _ in simulation.run():
        pass
    assert found.steps == pytest.approx(simulation.state.step, rel=0.35)
    assert 0.0 < found.seconds < found.cpu_seconds


def test_kernels_are_not_compiled_for_a_forecast(monkeypatch):
    monkeypatch.setattr(trial, "missing", lambda calls: list(range(50)))
    assert time_lines(load("dam-break")).startswith("time       not known: 50 kernels")


def cpu_of_children() -> float:
    """Seconds of the processes that this one has waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# In a new process, as `glug check` is: kernels are loaded then, which is measured.
FORECAST = """\
import sys
from glug.scene import load
from glug.simulation.forecast import run_time
name, resolution, frames = sys.argv[1], *map(int, sys.argv[2:])
found = run_time(load(name, {"domain.resolution": resolution, "time.frames": frames}), cores=1)
print("forecast", found.cpu_seconds, found.steps, found.factor)
"""
RUN = "import sys; from glug.cli import execute; sys.exit(execute(sys.argv[1:]))"


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN_ON | OTHERS)
def test_a_forecast_is_within_its_factor_of_the_truth(name, tmp_path):
    """In seconds of one core, which do not depend on what else runs; kernels are compiled before."""
    resolution, frames = (CHOSEN_ON | OTHERS)[name]
    options = ["--resolution", resolution, "--frames", frames, "--threads", 1]
    python = [sys.executable, "-c"]
    subprocess.run(
        [*python, RUN, "run", name, "-o", tmp_path / "first", "--resolution", "24", "--frames", "1"], check=True
    )
    asked = [*python, FORECAST, name, str(resolution), str(frames)]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    forecast, steps, factor = map(float, said[said.index("forecast") + 1 :])
    assert factor in (FACTOR, FACTOR * UNSEEN)
    before = cpu_of_children()
    subprocess.run([*python, RUN, "run", name, "-o", tmp_path / "run", *map(str, options)], check=True)
    truth = cpu_of_children() - before
    print(f"{name}: {forecast:.1f} s of a core forecast, {truth:.1f} taken, {forecast / truth:.2f}; {steps:.0f} steps")
    assert truth / FACTOR < forecast < truth * FACTOR
