"""What the statistics say of mass, momentum and energy: measured right, and nothing comes, changes or goes unsaid."""

import json
import math
from dataclasses import astuple
from functools import reduce
from operator import add

import numpy as np
import pytest

import glug
from glug.cli import _closing_line as closing_line
from glug.simulation.frame import Amounts, StepStats
from glug.simulation.run import run_to_folder
from glug.simulation.stages.budget import liquid_now

RHO, G = 1000.0, 9.81
WATER = {"water": {"density": RHO, "viscosity": 0.0}}
HONEY = {"water": {"density": 1400.0, "viscosity": 10.0}}
SPACE = {"size": [1.0, 1.0], "resolution": 20, "sides": "open"}  # no wall anywhere
DISC = {"liquid": "water", "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}}
DAM = {"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [0.4, 0.5]}}


def simulation(**parts) -> glug.Simulation:
    """Of a flat scene that keeps its budget."""
    flat = {"domain": {"size": [1.0, 1.0], "resolution": 20}, "liquids": WATER, "output": {"budget": True}}
    return glug.Simulation(flat | {"gravity": [0.0, -G, 0.0]} | parts)


def begin(sim: glug.Simulation) -> Amounts:
    return liquid_now(glug.StepContext(sim.setting, sim.state))


def total(amounts) -> Amounts:
    return reduce(add, amounts, Amounts())


def flat(amounts: Amounts) -> np.ndarray:
    """mass, kinetic, potential, momentum, angular momentum, one after the other."""
    return np.concatenate([np.atleast_1d(value) for value in astuple(amounts)])


def size(amounts: Amounts) -> np.ndarray:
    """What rounding in single precision is relative to, one by one: energies and momenta that cancel in their sums."""
    speed = math.sqrt(2.0 * max(amounts.kinetic, 1e-9) / amounts.mass)
    energy = amounts.kinetic + abs(amounts.potential)
    push = amounts.mass * max(speed, 0.1)
    return np.array([amounts.mass, energy, energy, *[push] * 6])


# -- what is measured -------------------------------------------------------------------------------------


def test_a_turning_disc_has_the_energy_and_the_angular_momentum_of_a_rigid_one():
    sim = simulation(domain=SPACE, volumes=[DISC | {"spin": [0, 0, 3.0], "velocity": [0.5, 0.0, 0.0]}])
    found, mass = begin(sim), RHO * math.pi * 0.2**2 * 0.05
    inertia = 0.5 * mass * 0.2**2
    assert found.mass == pytest.approx(mass, rel=0.01)  # of a circle, in parts of half a cell
    assert found.momentum == pytest.approx((0.5 * mass, 0.0, 0.0), rel=0.01, abs=1e-3)
    assert found.angular == pytest.approx((0.0, 0.0, 3.0 * inertia - 0.5 * 0.5 * mass), rel=0.01)
    assert found.kinetic == pytest.approx(0.5 * mass * 0.5**2 + 0.5 * inertia * 3.0**2, rel=0.01)
    assert found.potential == pytest.approx(mass * G * 0.5, rel=0.01)


def test_every_liquid_counts_with_its_own_density():
    layers = [
        {"liquid": name, "shape": {"kind": "box", "lower": [0, low], "upper": [1, high]}}
        for name, low, high in (("water", 0.0, 0.25), ("oil", 0.25, 0.5))
    ]
    oil = {"oil": {"density": 500.0, "viscosity": 0.0}}
    found = begin(simulation(liquids=WATER | oil, volumes=layers))
    slab = 0.25 * 0.05  # [m3]
    assert found.mass == pytest.approx(slab * (RHO + 500.0), rel=1e-5)
    assert found.potential == pytest.approx(slab * G * (RHO * 0.125 + 500.0 * 0.375), rel=1e-3)


def test_what_falls_gains_by_forces_what_gravity_gives():
    """A step pushes to its middle, the first for half of its time, and moves the liquid with that velocity."""
    sim = simulation(domain=SPACE, volumes=[DISC])
    before = begin(sim)
    for step in range(3):
        stats = sim.step_once()
        now, changed, dt = stats.liquid, stats.by_stage, stats.dt
        acting = dt if step else 0.5 * dt
        weight = before.mass * G
        pull = (0.0, -weight * acting, 0.0)
        assert changed["forces"].momentum == pytest.approx(pull, rel=1e-5, abs=1e-5 * weight * dt)
        fall = -before.momentum[1] / before.mass
        gained = weight * acting * (fall + 0.5 * G * acting)
        assert changed["forces"].kinetic == pytest.approx(gained, rel=1e-4)
        others = total(c for name, c in changed.items() if name != "forces")
        assert np.abs(others.momentum).max() < 1e-5 * weight * dt
        energy = now.kinetic + now.potential - before.kinetic - before.potential
        assert energy == pytest.approx(gained - weight * dt * (fall + G * acting), rel=1e-2)
        before = now


# -- nothing changes unsaid -------------------------------------------------------------------------------

FALLING = {"volumes": [DISC | {"spin": [0, 0, 3.0]}]}
BUSY = {
    "volumes": [DAM],
    "sources": [
        {
            "liquid": "water",
            "shape": {"kind": "box", "lower": [0.1, 0.8], "upper": [0.3, 0.9]},
            "velocity": [0.0, -1.0, 0.0],
        }
    ],
    "sinks": [{"shape": {"kind": "box", "lower": [0.3, 0.0], "upper": [0.5, 0.1]}}],
}


@pytest.mark.parametrize(
    "parts",
    [FALLING, FALLING | {"solver": {"transfer": "apic"}}, FALLING | {"liquids": HONEY}, BUSY],
    ids=["flip", "apic", "honey", "sources and sinks"],
)
def test_what_the_stages_changed_is_what_changed(parts):
    sim = simulation(**parts)
    before = begin(sim)
    for _ in range(6):
        stats = sim.step_once()
        assert list(stats.by_stage) == [stage.name for stage in sim.stages]
        difference = flat(total(stats.by_stage.values()) - (stats.liquid - before))
        assert np.all(np.abs(difference) < 1e-5 * size(stats.liquid))
        before = stats.liquid


def test_stages_that_only_look_change_nothing_and_those_that_push_do():
    sim = simulation(volumes=[DAM])
    changed = [sim.step_once() for _ in range(3)][-1].by_stage
    for name in ("time_step", "geometry", "free_surface", "volumes", "weigh", "displace", "clock", "drain"):
        assert changed[name] == Amounts(), name
    assert changed["pressure"].momentum[0] > 0.0  # by the wall on the left
    assert changed["pressure"].momentum[1] > 0.0  # by the floor
    assert changed["advect"].potential < 0.0
    assert changed["advect"].momentum == (0.0, 0.0, 0.0)


def test_stages_are_measured_when_asked_for():
    quiet = simulation(volumes=[DAM], output={}).step_once()
    assert quiet.by_stage == {}
    assert quiet.liquid == simulation(volumes=[DAM]).step_once().liquid


# -- nothing comes or goes unsaid -------------------------------------------------------------------------


def ended(sim: glug.Simulation, frames: int) -> list[StepStats]:
    steps = []
    while sim.state.frame < frames:
        steps.append(sim.step_once())
    return steps


def gone(steps: list[StepStats]) -> Amounts:
    return total(amounts for stats in steps for amounts in stats.left.values())


def test_a_spinning_disc_that_spreads_says_what_left_and_where():
    fast = DISC | {"spin": [0, 0, 20.0], "velocity": [0.2, 0.0, 0.0]}
    near = {"size": [0.6, 0.6], "origin": [0.2, 0.2], "resolution": 12, "sides": "open"}
    sim = simulation(domain=near, gravity=[0, 0, 0], volumes=[fast])
    was = begin(sim)
    steps = ended(sim, 8)
    left, stays = gone(steps), steps[-1].liquid
    assert {way for stats in steps for way in stats.left} == {"left", "right", "bottom", "top"}
    assert 0.3 * was.mass < left.mass < was.mass
    assert left.mass + stays.mass == pytest.approx(was.mass, rel=1e-6)
    assert stays.mass == pytest.approx(RHO * steps[-1].target_volume, rel=1e-6)
    assert np.add(left.momentum, stays.momentum) == pytest.approx(was.momentum, abs=1e-5 * was.mass * 20.0 * 0.2)
    assert np.add(left.angular, stays.angular)[2] == pytest.approx(was.angular[2], rel=1e-4)


def test_a_dam_that_breaks_through_an_open_side_says_so():
    sides = {"size": [1.0, 1.0], "resolution": 20, "sides": {"right": "open"}}
    wide = {"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [0.8, 0.5]}}
    sim = simulation(domain=sides, volumes=[wide])
    was = begin(sim)
    steps = ended(sim, 6)
    left = gone(steps)
    assert {way for stats in steps for way in stats.left} == {"right"}
    assert left.mass + steps[-1].liquid.mass == pytest.approx(was.mass, rel=1e-6)
    assert left.mass > 0.01 * was.mass
    assert left.momentum[0] > 1.0 * left.mass  # faster than 1 m/s
    drained = total(stats.by_stage["drain"] for stats in steps)
    assert flat(drained + left) == pytest.approx(np.zeros(9), abs=1e-9 * was.mass)


def test_nothing_leaves_a_closed_box():
    steps = ended(simulation(volumes=[DAM]), 6)
    assert all(stats.left == {} and stats.came == {} for stats in steps)


def test_sources_and_sinks_say_what_they_bring_and_take():
    sim = simulation(**BUSY)
    was = begin(sim)
    steps = ended(sim, 6)
    came = [stats.came["sources"] for stats in steps]
    assert total(came).mass - gone(steps).mass == pytest.approx(steps[-1].liquid.mass - was.mass, rel=1e-6)
    assert {way for stats in steps for way in stats.left} == {"sinks"}
    elapsed = steps[-2].time  # the first step fills the source, and pours no more
    assert total(came[1:]).mass == pytest.approx(RHO * 0.2 * 1.0 * elapsed * 0.05, rel=0.05)
    assert came[0].momentum[1] == pytest.approx(-came[0].mass * 1.0, rel=1e-5)


def test_what_sources_bring_and_push_is_what_the_stage_has_changed():
    steps = ended(simulation(**BUSY), 4)
    for stats in steps:
        assert flat(stats.came["sources"]) == pytest.approx(flat(stats.by_stage["sort"]), rel=1e-6, abs=1e-9)


def test_what_is_squeezed_out_between_solids_is_said():
    plate = {
        "name": "plate",
        "shape": {"kind": "box", "lower": [0.0, 0.2], "upper": [1.0, 0.5]},
        "motion": {"kind": "linear", "velocity": [0.0, -3.0, 0.0]},
    }
    pool = {"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [1, 0.15]}}
    sim = simulation(volumes=[pool], solids=[plate])
    was = begin(sim)
    steps = ended(sim, 3)
    assert {way for stats in steps for way in stats.left} == {"squeezed"}
    assert gone(steps).mass + steps[-1].liquid.mass == pytest.approx(was.mass, rel=1e-6)
    assert gone(steps).momentum[1] < 0.0


def test_the_last_line_of_a_run_says_what_went_away(tmp_path):
    sides = {"size": [1.0, 1.0], "resolution": 10, "sides": {"right": "open"}}
    fast = DISC | {"velocity": [8.0, 0.0, 0.0]}
    parts = {"volumes": [fast], "time": {"frames": 2}, "output": {"preview": False}}
    summary = run_to_folder(simulation(domain=sides, **parts).scene, tmp_path / "open")
    assert set(summary.left) == {"right"}
    assert f"{summary.left['right']:.3g} kg of liquid went away (right" in closing_line(summary)
    closed = run_to_folder(simulation(**parts | {"volumes": [DISC]}).scene, tmp_path / "closed")
    assert "went away" not in closing_line(closed)


# -- the file ---------------------------------------------------------------------------------------------


def test_stats_have_them_by_name(tmp_path):
    scene = simulation(volumes=[DAM], time={"frames": 1}, output={"budget": True, "preview": False}).scene
    run_to_folder(scene, tmp_path / "run")
    line = json.loads((tmp_path / "run" / "stats.jsonl").read_text().splitlines()[-1])
    assert set(line["liquid"]) == {"mass", "kinetic", "potential", "momentum", "angular"}
    assert len(line["liquid"]["momentum"]) == 3
    assert line["left"] == line["came"] == {}
    assert line["step"] == 1
    pull = -line["liquid"]["mass"] * G * 0.5 * line["dt"]  # from the begin of the run to the middle of its first step
    assert line["by_stage"]["forces"]["momentum"][1] == pytest.approx(pull, rel=1e-4)
