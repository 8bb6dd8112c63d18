"""Sources pour area x speed x time whatever the steps; sinks and open sides take liquid away."""

import numpy as np
import pytest

from glug.scene import load
from glug.simulation import Simulation
from glug.simulation.inflow import initial_state, leaving, pour
from glug.simulation.setting import Setting
from glug.simulation.state import State

SIZE, CELLS = 1.0, 32
BOX = {"kind": "box", "lower": [0.40625, 0.7, 0.34375], "upper": [0.59375, 0.8, 0.65625]}
PIPE = {"kind": "cylinder", "start": [0.5, 0.7, 0.5], "end": [0.5, 0.8, 0.5], "radius": 0.12}
STEADY = {"liquid": "water", "velocity": [0.0, -0.8, 0.0]}


def scene(**parts) -> dict:
    water = {"density": 1000.0, "viscosity": 0.0}
    return {"domain": {"size": [SIZE] * 3, "resolution": CELLS}, "liquids": {"water": water}, **parts}


def poured(source: dict, steps: np.ndarray) -> tuple[Setting, State, np.ndarray]:
    """The state after pouring at times 0, steps[0], steps[0] + steps[1], ...; the volume after each [m3]."""
    setting = Setting(load(scene(sources=[STEADY | source])))
    state = initial_state(setting)
    volumes = []
    for dt in steps:
        pour(setting, state, float(dt))
        volumes.append(state.particles.volume.sum(dtype=np.float64))
        state.particles.position[:] += np.float32(dt) * state.particles.velocity
        state.time += float(dt)
    return setting, state, np.array(volumes)


def random_steps() -> np.ndarray:
    return np.random.default_rng(2).uniform(0.001, 0.03, 70)


STEPS = pytest.mark.parametrize(
    "steps",
    [np.full(251, 0.004), np.full(101, 0.01), np.full(21, 0.05), random_steps()],
    ids=["0.004", "0.01", "0.05", "uneven"],
)
SIDEWAYS = {"kind": "linear", "velocity": [0.15, 0.0, -0.1]}


# -- flux -------------------------------------------------------------------------------------------------


@STEPS
@pytest.mark.parametrize("motion", [{"kind": "static"}, SIDEWAYS], ids=["static", "moving"])
def test_a_box_pours_area_times_speed_times_time(steps, motion):
    _, _, volumes = poured({"shape": BOX, "motion": motion}, steps)
    flux = 0.1875 * 0.3125 * 0.8
    assert volumes[-1] - volumes[0] == pytest.approx(flux * steps[:-1].sum(), rel=0.01)


def test_pipes_pour_area_times_speed_times_time():
    """One pipe is as exact as the lattice that fills its opening, six or eight particles across a radius: 5%.

    Over many radii the error has no preferred sign.
    """
    radii = np.linspace(0.09, 0.15, 9)
    ratios = []
    for radius in radii:
        _, _, volumes = poured({"shape": PIPE | {"radius": float(radius)}}, np.full(41, 0.025))
        ratios.append((volumes[-1] - volumes[0]) / (np.pi * radius**2 * 0.8 * 1.0))
    assert np.abs(np.array(ratios) - 1.0).max() < 0.05
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.01)


def test_the_flux_is_even():
    """No layer is poured twice or left out: every step adds as much as the others, to a layer of the lattice."""
    steps = np.full(101, 0.01)
    _, _, volumes = poured({"shape": BOX}, steps)
    expected = volumes[0] + 0.1875 * 0.3125 * 0.8 * 0.01 * np.arange(len(volumes))
    layer = 0.1875 * 0.3125 * SIZE / CELLS / 2
    assert np.abs(volumes - expected).max() < 1.3 * layer  # the lattice is jittered by a quarter of a layer


@pytest.mark.parametrize("start", [0.0, 0.02, 0.0137])
def test_a_source_that_opens_is_full_at_once(start):
    _, _, volumes = poured({"shape": BOX, "start": start}, np.full(6, 0.01))
    first = volumes[volumes > 0][0]
    assert first == pytest.approx(0.1875 * 0.3125 * 0.1, rel=0.2)  # 3.2 cells high: 6 or 7 layers of 6.4


def test_liquid_that_pours_is_not_denser_than_its_lattice():
    """Where nothing disturbs it a jet has at most a cell's volume in a cell, up to the jitter."""
    setting, state, _ = poured({"shape": BOX}, np.full(40, 0.01))
    grid = setting.window(state.particles.position)
    state.particles.sort(grid)
    sums = np.add.reduceat(
        np.append(state.particles.volume[:, 0], 0.0),
        np.minimum(state.particles.start[: grid.cells], len(state.particles)),
    )
    counts = np.diff(state.particles.start[: grid.cells + 1])
    assert np.where(counts > 0, sums, 0.0).max() < 1.6 * grid.dx**3


# -- velocity ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motion", "expected"),
    [({"kind": "static"}, [0.0, -0.8, 0.0]), (SIDEWAYS, [0.15, -0.8, -0.1])],
    ids=["static", "moving"],
)
def test_liquid_in_a_source_has_its_velocity(motion, expected):
    setting, state, _ = poured({"shape": BOX, "motion": motion}, np.full(5, 0.01))
    state.particles.velocity[:] = 3.0
    pour(setting, state, 0.01)
    source = setting.scene.sources[0]
    inside = source.distance(state.particles.position.astype(float), state.time) < -1e-6
    assert inside.sum() > 500
    assert np.abs(state.particles.velocity[inside] - expected).max() < 1e-6


def test_liquid_outside_a_source_is_left_alone():
    """Negative control."""
    setting, state, _ = poured({"shape": BOX}, np.full(30, 0.01))
    state.particles.velocity[:] = 3.0
    pour(setting, state, 0.01)
    outside = setting.scene.sources[0].distance(state.particles.position.astype(float), state.time) > 1e-6
    assert outside.sum() > 500
    assert (state.particles.velocity[outside] == 3.0).all()


def test_a_turning_source_turns_its_liquid():
    turn = {"kind": "rotation", "axis": [0, 0, 1], "point": [0.5, 0.75, 0.5], "rate": 2.0}
    setting, state, _ = poured({"shape": BOX, "motion": turn}, np.full(11, 0.02))
    pour(setting, state, 0.02)
    angle = 2.0 * state.time
    own = 0.8 * np.array([np.sin(angle), -np.cos(angle), 0.0])
    p = state.particles
    inside = setting.scene.sources[0].distance(p.position.astype(float), state.time) < -1e-6
    arm = p.position[inside] - np.array([0.5, 0.75, 0.5])
    expected = own + 2.0 * np.stack([-arm[:, 1], arm[:, 0], 0 * arm[:, 0]], axis=1)
    assert np.abs(p.velocity[inside] - expected).max() < 1e-5


# -- times ------------------------------------------------------------------------------------------------


def test_nothing_pours_before_the_start():
    _, _, volumes = poured({"shape": BOX, "start": 0.1}, np.full(20, 0.01))
    assert not volumes[:9].any()
    assert volumes[11] > 0.0


def test_nothing_pours_after_the_stop():
    _, _, volumes = poured({"shape": BOX, "stop": 0.1}, np.full(20, 0.01))
    assert (np.diff(volumes[11:]) == 0.0).all()
    assert volumes[9] > volumes[5]


@pytest.mark.parametrize("dt", [0.01, 0.03, 0.07])
def test_a_source_pours_up_to_its_stop(dt):
    """The total does not depend on where the steps fall."""
    _, _, volumes = poured({"shape": BOX, "stop": 0.5}, np.full(int(0.8 / dt), dt))
    area = 0.1875 * 0.3125
    layer = area * SIZE / CELLS / 2
    assert abs(volumes[-1] - volumes[0] - area * 0.8 * 0.5) < 1.3 * layer


# -- taking away ------------------------------------------------------------------------------------------

POOL = {"liquid": "water", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.5, 1]}}
BLOB = {"liquid": "water", "shape": {"kind": "box", "lower": [0.2, 0.2], "upper": [0.5, 0.5]}}


def test_a_sink_is_empty_after_draining():
    setting = Setting(load(scene(volumes=[POOL], sinks=[{"shape": PIPE | {"start": [0.5, 0.1, 0.5]}}])))
    particles = initial_state(setting).particles
    distance = setting.scene.sinks[0].distance(particles.position.astype(float))
    particles.keep(leaving(setting, particles) < 0)
    assert len(particles) == (distance > 0).sum() < len(distance)


def run(frames: int, **parts) -> Simulation:
    """A flat scene, stepped until `frames`."""
    flat = scene(domain={"size": [1.0, 1.0], "resolution": 16, **parts.pop("domain", {})}, **parts)
    simulation = Simulation(flat)
    while simulation.state.frame < frames:
        simulation.step_once()
    return simulation


def test_a_sink_in_the_floor_takes_the_liquid_that_falls_into_it():
    sink = {"shape": {"kind": "box", "lower": [0.0, 0.0], "upper": [1.0, 0.1]}}
    assert len(run(12, volumes=[BLOB], sinks=[sink]).state.particles) == 0


def test_without_the_sink_the_liquid_stays():
    """Negative control."""
    simulation = run(12, volumes=[BLOB])
    volume = simulation.state.particles.volume.sum()
    assert volume == pytest.approx(0.3 * 0.3 / 16, rel=0.02)


@pytest.mark.parametrize(
    ("side", "gravity"),
    [("left", [-9.81, 0, 0]), ("right", [9.81, 0, 0]), ("bottom", [0, -9.81, 0]), ("top", [0, 9.81, 0])],
)
def test_liquid_leaves_through_an_open_side(side, gravity):
    simulation = run(14, domain={"sides": {side: "open"}}, volumes=[BLOB], gravity=gravity)
    assert len(simulation.state.particles) == 0


def test_an_empty_domain_can_be_stepped_on():
    simulation = run(16, domain={"sides": {"bottom": "open"}}, volumes=[BLOB])
    assert simulation.step_once().liquid_volume == 0.0
