"""A checkpoint that is not a state of its scene is refused, and one that is goes on."""

import numpy as np
import pytest

import glug
from glug.errors import InputError

SCENE = {
    "name": "tank",
    "domain": {"size": [1.0, 1.0], "resolution": 16},
    "time": {"frames": 2},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}}],
}


@pytest.fixture
def checkpoint():
    simulation = glug.Simulation(SCENE)
    return {name: np.array(values) for name, values in simulation.checkpoint().items()}


def test_a_whole_checkpoint_goes_on(checkpoint):
    assert glug.Simulation.restore(SCENE, checkpoint).state.step == 0


def spoilt(data, name, change):
    data[name] = change(data[name])
    return data


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("particles.velocity", lambda a: a[:-5]),
        ("particles.velocity", lambda a: a * np.float32(np.nan)),
        ("particles.velocity", lambda a: a.astype(np.float64)),
        ("particles.velocity", lambda a: a.ravel()),
        ("particles.position", lambda a: a + np.float32(1e6)),
        ("particles.volume", lambda a: -a),
        ("particles.id", lambda a: a.astype(np.float32)),
        ("counters", lambda a: -a - 1),
        ("counters", lambda a: a[:2]),
        ("clock", lambda a: a * np.inf),
        ("clock", lambda a: a - [0.0, 9.0, 0.0]),
    ],
)
def test_a_damaged_array_is_named(checkpoint, name, change):
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match=name):
        glug.Simulation.restore(SCENE, spoilt(checkpoint, name, change))


@pytest.mark.parametrize("name", ["particles.velocity", "counters", "clock", "particles.id"])
def test_a_missing_array_is_named(checkpoint, name):
    del checkpoint[name]
    with pytest.raises(InputError, match=f"'{name}' is missing"):
        glug.Simulation.restore(SCENE, checkpoint)
