"""What a source pours is what the liquid holds: thick liquid that hangs from it does not draw it out faster."""

import numpy as np
import pytest

import glug
from glug.scene import load
from glug.simulation.setting import Setting
from glug.simulation.stages import momentum

CELLS = 48
FALLING, END = range(3, 9), 16  # frames: the stream falls; it has landed, and piles up
MESHES = ("regular", "octree", "tetrahedra")
SOLVES = (("regular", "split"), ("octree", "split"), ("regular", "stokes"))


def surplus(mesh: str, coupling: str, frames: int) -> np.ndarray:
    """Volume on the grid over what was poured, less one, at every frame of `ketchup`."""
    changes = {"domain.resolution": CELLS, "solver.mesh": mesh, "solver.coupling": coupling}
    simulation = glug.Simulation(load("ketchup", changes))  # type: ignore[arg-type]
    found = [0.0]
    while simulation.state.frame < frames:
        stats = simulation.step_once()
        poured = simulation.state.particles.volume.sum(dtype=np.float64)
        if simulation.state.frame == len(found):
            found.append(stats.liquid_volume / poured - 1.0)
    return np.array(found)


@pytest.mark.parametrize(("mesh", "coupling"), SOLVES)
def test_a_stream_of_ketchup_has_the_volume_that_was_poured(mesh, coupling):
    """Where it lands, liquid less than a cell above the table touches it: at 48 cells that is up to 4 % at once."""
    found = surplus(mesh, coupling, END)
    assert np.abs(found[FALLING]).max() < 0.02
    assert abs(found[END]) < 0.02
    assert np.abs(found).max() < 0.04


@pytest.mark.parametrize("coupling", ["split", "stokes"])
def test_a_source_that_lets_itself_be_drawn_out_makes_space_of_nothing(monkeypatch, coupling):
    """The control: solves that only begin with the source's velocity."""
    monkeypatch.setattr(Setting, "nozzles", lambda setting, t: [])
    assert surplus("regular", coupling, 5)[3:].min() > 0.1


def leaving(dim: int, liquid: dict[str, object], solver: dict[str, object]) -> np.ndarray:
    """Velocities of the particles deep in a source that moves, after three steps."""
    shape = {"kind": "box", "lower": [0.25, 0.7, 0.25][:dim], "upper": [0.75, 0.9, 0.75][:dim]}
    source = {
        "shape": shape,
        "liquid": "poured",
        "velocity": [0.0, -0.8, 0.0][:dim],
        "motion": {"kind": "linear", "velocity": [0.2, 0.0, 0.0][:dim]},
    }
    scene = {
        "name": "tap",
        "domain": {"size": [1, 1, 1][:dim], "resolution": 32},
        "time": {"fps": 24},
        "liquids": {"poured": liquid},
        "sources": [source],
        "solver": solver,
    }
    simulation = glug.Simulation(load(scene))
    for _ in range(3):
        simulation.step_once()
    p, t = simulation.state.particles, simulation.state.time
    deep = simulation.scene.sources[0].distance(p.position.astype(np.float64), t) < -2.0 / 32
    return p.velocity[deep]


@pytest.mark.parametrize("mesh", MESHES)
def test_water_from_a_moving_source_leaves_at_its_speed(mesh):
    """Just below the opening, in a step of its own: gravity is none of the source's."""
    found = leaving(3, {"material": "water"}, {"mesh": mesh})
    assert len(found) > 1000
    assert np.abs(found - [0.2, -0.8, 0.0]).max() < 0.02  # gravity gives 0.1 m/s a step


@pytest.mark.parametrize("dim", [2, 3])
def test_honey_from_a_moving_source_leaves_at_its_speed_in_a_stokes_solve(dim):
    found = leaving(dim, {"material": "honey"}, {"coupling": "stokes"})
    assert len(found) > 100
    assert np.abs(found - [0.2, -0.8, 0.0]).max() < 0.02


@pytest.mark.parametrize("dim", [2, 3])
def test_honey_that_is_not_held_falls_out_of_its_source(dim, monkeypatch):
    """The control: where the stream pulls, honey leaves faster than it is poured."""
    monkeypatch.setattr(Setting, "nozzles", lambda setting, t: [])
    found = leaving(dim, {"material": "honey"}, {"coupling": "stokes"})
    assert found[:, 1].min() < -0.85


def stream_on_tetrahedra() -> np.ndarray:
    """Volume on the grid over what was poured, less one, at frames of water that falls from a source."""
    shape = {"kind": "box", "lower": [0.35, 0.7, 0.35], "upper": [0.65, 0.85, 0.65]}
    scene = {
        "name": "tap",
        "domain": {"size": [1, 1, 1], "resolution": 24},
        "time": {"fps": 24},
        "liquids": {"water": {"material": "water"}},
        "sources": [{"shape": shape, "liquid": "water", "velocity": [0.0, -0.5, 0.0]}],
        "solver": {"mesh": "tetrahedra", "tetrahedra": {"levels": 2, "band": 2}},
    }
    simulation, found = glug.Simulation(load(scene)), []
    while simulation.state.frame < 6:
        stats = simulation.step_once()
        found += [stats.liquid_volume / stats.target_volume - 1.0] if simulation.state.substep == 0 else []
    return np.array(found)


def test_a_stream_on_tetrahedra_holds_as_much_as_its_source_does():
    """The source's own surface is rough: it holds 7 % less than its particles have, from the first frame on."""
    found = stream_on_tetrahedra()
    assert np.abs(found - found[0]).max() < 0.025


def test_a_stream_on_tetrahedra_draws_out_a_source_that_is_not_held(monkeypatch):
    """The control."""
    monkeypatch.setattr(Setting, "nozzles", lambda setting, t: [])
    found = stream_on_tetrahedra()
    assert found.max() - found[0] > 0.1


def falling(dim: int) -> np.ndarray:
    """How the mean velocity of a stream of honey changes in a second [m/s2], after its source has closed."""
    scene = {
        "name": "tap",
        "domain": {"size": [1, 1, 1][:dim], "resolution": 40},
        "time": {"fps": 48},
        "liquids": {"honey": {"material": "honey"}},
        "sources": [
            {
                "shape": {"kind": "box", "lower": [0.4, 0.75, 0.4][:dim], "upper": [0.6, 0.9, 0.6][:dim]},
                "liquid": "honey",
                "velocity": [0.3, -1.0, 0.0][:dim],
                "stop": 0.05,
            }
        ],
        "solver": {"coupling": "stokes"},
    }
    simulation, found = glug.Simulation(load(scene)), []
    while simulation.state.time < 0.14:
        simulation.step_once()
        p = simulation.state.particles
        found.append((simulation.state.time, *np.average(p.velocity, axis=0, weights=p.volume.ravel())))
    t, velocity = np.array(found)[:, 0], np.array(found)[:, 1:]
    return (np.diff(velocity, axis=0) / np.diff(t)[:, None])[t[:-1] > 0.1]


@pytest.mark.parametrize("dim", [2, 3])
def test_a_stream_that_has_left_its_source_falls_freely_in_stokes_solves(dim):
    assert np.abs(falling(dim) - [0.0, -9.81, 0.0]).max() < 1e-3


def test_without_what_free_flight_gives_back_it_would_not(monkeypatch):
    monkeypatch.setattr(momentum, "flying", lambda context: None)
    assert np.abs(falling(3) - [0.0, -9.81, 0.0]).max() > 5e-3
