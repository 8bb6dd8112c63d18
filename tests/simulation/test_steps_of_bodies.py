"""Steps in which pressure and viscosity push a body one after the other are short, or say that they are not."""

import math

import pytest

import glug
from glug.simulation.setting import STEP_OF_BODIES
from glug.simulation.stages.motion import choose_time_step

RADIUS, DENSITY, VISCOSITY = 0.1, 1000.0, 100.0
SCENE = {
    "domain": {"size": [1.0, 1.0, 1.0], "resolution": 12},
    "time": {"fps": 2.0},
    "gravity": [0.0, -0.01, 0.0],
    "liquids": {"syrup": {"density": DENSITY, "viscosity": VISCOSITY}},
    "volumes": [{"liquid": "syrup", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.8, 1]}}],
    "solids": [
        {"name": "ball", "density": 1100.0, "shape": {"kind": "sphere", "centre": [0.5, 0.4, 0.5], "radius": RADIUS}}
    ],
}
LONGEST = STEP_OF_BODIES * RADIUS**2 * DENSITY / VISCOSITY  # 0.025 s


def test_steps_follow_the_viscous_time_of_the_body():
    simulation = glug.Simulation(SCENE)
    dt = choose_time_step(simulation.setting, simulation.state)
    assert 0.9 * LONGEST < dt < 1.02 * LONGEST


def test_without_a_body_they_do_not():
    simulation = glug.Simulation(SCENE | {"solids": []})
    assert choose_time_step(simulation.setting, simulation.state) > 3.0 * LONGEST


def test_a_longer_step_is_reported():
    few = glug.Simulation(SCENE | {"time": {"fps": 2.0, "max_substeps": 2}}).step_once()
    enough = glug.Simulation(SCENE).step_once()
    assert any("time.max_substeps" in warning for warning in few.warnings)
    assert not any("time.max_substeps" in warning for warning in enough.warnings)


def test_in_one_solve_steps_may_be_longer():
    """Pressure and viscosity push at once: a ball sinks as fast in long steps as in short ones."""
    made = SCENE | {"solver": {"coupling": "stokes"}, "time": {"fps": 2.0, "cfl": 20.0}}
    simulation = glug.Simulation(made)
    assert choose_time_step(simulation.setting, simulation.state) > 3.0 * LONGEST
    speeds = []
    for fps in (2.0, 10.0):
        simulation = glug.Simulation(made | {"time": {"fps": fps, "cfl": 20.0}})
        while simulation.state.time < 0.999:
            stats = simulation.step_once()
            assert all(solve.converged for solve in stats.solves.values()) and not stats.warnings
        speeds.append(-simulation.state.bodies[0].velocity_of_centre[1])
    free = 2.0 / 9.0 * 100.0 * 0.01 * RADIUS**2 / VISCOSITY
    assert 0.5 * free < speeds[0] < free
    assert abs(speeds[0] / speeds[1] - 1.0) < 0.03


@pytest.mark.parametrize("thickness", [0.1, 30.0])
def test_what_turns_outside_the_domain_makes_no_step_shorter(thickness):
    """The wall of a bucket may be as thick as one likes; by its corners the thick one turns at 85 m/s."""
    hollow = {"kind": "cylinder", "start": [0.5, 0.1, 0.5], "end": [0.5, 50.0, 0.5], "radius": 0.4}
    block = {"kind": "box", "centre": [0.5, 0.5, 0.5], "size": [1.0 + 2 * thickness] * 3}
    bucket = {
        "name": "bucket",
        "shape": {"kind": "difference", "parts": [block, hollow]},
        "motion": {"kind": "rotation", "axis": [0, 1, 0], "point": [0.5, 0.0, 0.5], "rate": 2.0},
    }
    water = {"liquid": "water", "shape": {"kind": "box", "lower": [0.3, 0.2, 0.3], "upper": [0.7, 0.4, 0.7]}}
    of = {
        "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
        "time": {"fps": 10},
        "liquids": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "volumes": [water],
        "solids": [bucket],
    }
    simulation = glug.Simulation(of)
    # The corners of the domain are at 0.71 m from the axis, and cross two cells of 1/16 m in a step.
    assert choose_time_step(simulation.setting, simulation.state) >= 0.5 * 0.125 / (2.0 * math.sqrt(0.5))


def test_what_turns_into_the_domain_counts_while_it_is_outside():
    """A hammer whose axle is on the top edge, outside when the step is chosen and when the frame ends."""
    hammer = {
        "name": "hammer",
        "shape": {"kind": "sphere", "centre": [0.5, 1.5, 0.5], "radius": 0.1},
        "motion": {"kind": "rotation", "axis": [0, 0, 1], "point": [0.5, 1.0, 0.5], "rate": 2.0 * math.pi * 10.0},
    }
    of = SCENE | {"domain": {"size": [1.0, 1.0, 1.0], "resolution": 16}, "time": {"fps": 10.0}, "solids": [hammer]}
    simulation = glug.Simulation(of)
    crossed = 2.0 * math.pi * 10.0 * 0.5 * choose_time_step(simulation.setting, simulation.state) * 16.0
    assert crossed < 2.1
