"""Generated scenes that are valid run some steps: no traceback, no hang, nothing that is not finite or in a solid.

`GLUG_FUZZ_RUNS=500 pytest tests/fuzz/test_generated_runs.py` runs as many (`make soak` does), from `GLUG_FUZZ_SEED` on.
"""

import math
import multiprocessing
import os
import resource
import signal
import time
from collections import Counter

import numpy as np
import pytest
from generated_scenes import scene_data

import glug
from glug.errors import GlugError

RUNS = int(os.environ.get("GLUG_FUZZ_RUNS", "20"))
FIRST = int(os.environ.get("GLUG_FUZZ_SEED", "0"))
CELLS, STEPS = 24, 3
TOGETHER = 10  # scenes to a process: loading kernels takes longer than most of them
LONGEST = 60  # [s] of processor time, for each
STUCK = 10 * LONGEST  # [s] of the clock: one that waits for ever takes no processor time
DEEPEST = 0.1  # cells that a particle may be in a solid: what projecting it out with a sampled distance leaves


LATE = f"not done after {LONGEST} s of processor time"


def run_all(scenes, answers):
    """Run the scenes and send (seed, what happened): 'ran', 'refused', or what is wrong."""
    for seed, data in scenes:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + LONGEST, resource.RLIM_INFINITY))
        answers.send((seed, outcome(data)))


def outcome(data):
    try:
        simulation = glug.Simulation(glug.load(data), 1)
        for _ in range(STEPS):
            simulation.step_once()
        return what_is_wrong(simulation) or "ran"
    except GlugError as error:
        return "refused" if error.exit_code == 2 else f"ended: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def what_is_wrong(simulation):
    """Of the particles: values that are not finite, places in a solid or outside."""
    p, setting = simulation.state.particles, simulation.setting
    for name, values in p.attributes.items():
        if not np.isfinite(values).all():
            return f"{name} is not finite"
    if len(p) == 0:
        return ""
    position = p.position.astype(float)
    for solid in setting.solids_with(simulation.state.bodies):
        depth = -solid.distance(position, simulation.state.time).min() / setting.dx
        if depth > DEEPEST:
            return f"a particle is {depth:.2f} cells deep in {solid.name}"
    beyond = max((np.asarray(setting.walls.lower) - position).max(), (position - np.asarray(setting.walls.upper)).max())
    return f"a particle is {beyond / setting.dx:.2f} cells outside" if beyond > DEEPEST * setting.dx else ""


def run_apart(scenes):
    """{seed: outcome} of scenes that run in a process of their own, up to one that hangs or crashes."""
    context = multiprocessing.get_context("fork")  # what was imported is not imported again
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=run_all, args=(scenes, there))
    process.start()
    there.close()
    outcomes = {}
    try:
        for seed, _ in scenes:
            outcomes[seed] = f"not done after {STUCK} s"
            if not here.poll(STUCK):
                break
            outcomes[seed] = here.recv()[1]
    except EOFError:
        process.join()
        outcomes[seed] = LATE if process.exitcode == -signal.SIGXCPU else f"crashed with {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return outcomes


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
    scenes = list(valid_scenes(RUNS))
    outcomes = {}
    while left := [(seed, data) for seed, data in scenes if seed not in outcomes]:
        found = run_apart(left[:TOGETHER])
        late = [(seed, data) for seed, data in left if found.get(seed) == LATE]
        # Once more: the first time may have compiled kernels, which are kept.
        outcomes |= found | (run_apart(late) if late else {})
    odd = {seed: what for seed, what in outcomes.items() if what not in ("ran", "refused")}
    counts = Counter(outcomes.values())
    seeds = f"seeds {min(outcomes)} to {max(outcomes)}"
    print(f"\n{RUNS} runs, {seeds}: {counts['ran']} ran, {counts['refused']} refused")
    assert not odd
    assert counts["ran"] > 0.8 * RUNS
