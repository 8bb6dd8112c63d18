"""What a source pours is what the liquid holds: thick liquid that hangs from it does not draw it out faster."""

import numpy as np
import pytest

import glug
from glug.scene import load
from glug.simulation.setting import Setting

CELLS = 48
FALLING, END = range(3, 9), 14  # frames: the stream falls; it has landed, and piles up
MESHES = ("regular", "octree")


def surplus(mesh: str, frames: int, **more: object) -> np.ndarray:
    """Volume on the grid over what was poured, less one, at every frame of `ketchup`."""
    changes = {"domain.resolution": CELLS, "solver.mesh": mesh, **more}
    simulation = glug.Simulation(load("ketchup", changes))  # type: ignore[arg-type]
    found = [0.0]
    while simulation.state.frame < frames:
        stats = simulation.step_once()
        poured = simulation.state.particles.volume.sum(dtype=np.float64)
        if simulation.state.frame == len(found):
            found.append(stats.liquid_volume / poured - 1.0)
    return np.array(found)


@pytest.mark.parametrize("mesh", MESHES)
def test_a_stream_of_ketchup_has_the_volume_that_was_poured(mesh):
    """Where it lands, liquid less than a cell above the table touches it: at 48 cells that is up to 4 % at once."""
    found = surplus(mesh, END)
    assert np.abs(found[FALLING]).max() < 0.02
    assert abs(found[END]) < 0.02
    assert np.abs(found).max() < 0.04


def test_a_source_that_lets_itself_be_drawn_out_makes_space_of_nothing(monkeypatch):
    """The control: solves that only begin with the source's velocity."""
    monkeypatch.setattr(Setting, "nozzles", lambda setting, t: [])
    assert surplus("regular", 5)[3:].min() > 0.1


@pytest.mark.parametrize("mesh", MESHES)
def test_water_from_a_moving_source_leaves_at_its_speed(mesh):
    """Just below the opening, in a step of its own: gravity is none of the source's."""
    source = {
        "shape": {"kind": "box", "lower": [0.25, 0.7, 0.25], "upper": [0.75, 0.9, 0.75]},
        "liquid": "water",
        "velocity": [0.0, -0.8, 0.0],
        "motion": {"kind": "linear", "velocity": [0.2, 0.0, 0.0]},
    }
    scene = {
        "name": "tap",
        "domain": {"size": [1, 1, 1], "resolution": 32},
        "time": {"fps": 24},
        "liquids": {"water": {"material": "water"}},
        "sources": [source],
        "solver": {"mesh": mesh},
    }
    simulation = glug.Simulation(load(scene))
    for _ in range(3):
        simulation.step_once()
    p, (nozzle,) = simulation.state.particles, simulation.setting.nozzles(simulation.state.time)
    deep = nozzle.distance(p.position.astype(np.float64), simulation.state.time) < -2.0 / 32
    assert deep.sum() > 1000
    assert np.abs(p.velocity[deep] - [0.2, -0.8, 0.0]).max() < 0.02  # gravity gives 0.1 m/s a step
