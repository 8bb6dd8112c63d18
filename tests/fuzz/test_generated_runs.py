"""Generated scenes that are valid run some steps: no traceback, no hang, nothing that is not finite or in a solid.

`GLUG_FUZZ_RUNS=500 pytest tests/fuzz/test_generated_runs.py` runs as many (`make soak` does).
"""

import json
import os
import subprocess
import sys

import pytest
from generated_scenes import scene_data

import glug
from glug.errors import GlugError

RUNS = int(os.environ.get("GLUG_FUZZ_RUNS", "20"))
FIRST = int(os.environ.get("GLUG_FUZZ_SEED", "0"))
CELLS, STEPS = 24, 3
LONGEST = 60.0  # [s] for each

# Each in a process of its own: a hang or a crash is that scene's alone.
SCRIPT = f"""
import json, sys
import numpy as np
import glug
from glug.errors import GlugError
simulation = glug.Simulation(glug.load(json.load(sys.stdin)), 1)
try:
    for _ in range({STEPS}):
        simulation.step_once()
except GlugError as error:
    print("refused", error)
    sys.exit()
p = simulation.state.particles
assert all(np.isfinite(values).all() for values in p.attributes.values()), "not finite"
setting = simulation.setting
for solid in setting.solids_with(simulation.state.bodies):
    depth = -solid.distance(p.position.astype(float), simulation.state.time).min(initial=np.inf)
    assert depth < 0.1 * setting.dx, f"a particle is {{depth / setting.dx:.2f}} cells deep in {{solid.name}}"
low, high = np.asarray(setting.walls.lower), np.asarray(setting.walls.upper)
assert len(p) == 0 or ((p.position > low - setting.dx).all() and (p.position < high + setting.dx).all()), "outside"
print("ran")
"""


def valid_scenes(count):
    """(seed, data) of generated scenes that load, at few cells."""
    seed = FIRST
    while count > 0:
        data = scene_data(seed, mistakes=seed % 3)
        if isinstance(domain := data.get("domain"), dict):
            domain["resolution"] = CELLS
        try:
            glug.load(data)
        except GlugError:
            pass
        else:
            count -= 1
            yield seed, data
        seed += 1


@pytest.mark.slow
def test_generated_scenes_run():
    odd, outcomes = {}, []
    for seed, data in valid_scenes(RUNS):
        try:
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT], input=json.dumps(data), capture_output=True, text=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            odd[seed] = f"not done after {LONGEST:g} s"
            continue
        if done.returncode != 0:
            odd[seed] = done.stderr.strip().splitlines()[-1]
        outcomes.append(done.stdout.split(" ")[0].strip())
    assert not odd
    assert outcomes.count("ran") > 0.5 * RUNS
