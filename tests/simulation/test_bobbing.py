"""A floating box comes to rest: it moves with the velocity that the liquid beside it moves with."""

import numpy as np
import pytest

from glug.simulation.bodies.contact import Contact
from glug.simulation.simulation import Simulation
from glug.studies.validate.rigid_bodies import floating_scene


def bobbing(seconds: float = 4.0) -> tuple[float, float]:
    """How far the box swings [m], standard deviation, in the first and in the last third of the run."""
    scene = floating_scene(2, 24, 0.5)
    scene["solids"][0]["shape"]["centre"][1] = 0.4 + 0.1 - 0.085
    simulation = Simulation(scene)
    times, heights = [], []
    while simulation.state.time < seconds:
        simulation.step_once()
        times.append(simulation.state.time)
        heights.append(simulation.state.bodies[0].centre[1])
    height, t = np.array(heights), np.array(times)
    return float(height[t < seconds / 3].std()), float(height[t > 2 * seconds / 3].std())


def test_a_floating_box_swings_ever_less() -> None:
    first, last = bobbing()
    assert last < 0.8 * first


def test_a_box_that_lags_behind_the_liquid_swings_ever_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: what the liquid does to it comes as a steady force over the step."""
    advance = Contact.advance
    monkeypatch.setattr(Contact, "advance", lambda self, *now, start: advance(self, *now))
    first, last = bobbing()
    assert last > 1.2 * first
