"""Steps in which pressure and viscosity push a body one after the other are short, or say that they are not."""

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
