"""Volume drift is corrected by moving the liquid, not by pushing it."""

from typing import Any

import numpy as np
import pytest

from glug.particles.storage import Particles
from glug.physics.advection import CONTACT
from glug.simulation import Simulation
from glug.simulation.setting import Setting

TRANSFERS = pytest.mark.parametrize("transfer", ["flip", "apic"])
SQUEEZED = 1.1  # particles carry this much more than the liquid holds


def column(dim: int, transfer: str, gravity: float = 0.0) -> dict[str, Any]:
    """Water that fills the lower half of a box."""
    return {
        "name": "column",
        "domain": {"size": [0.5, 1.0, 0.5][:dim], "resolution": 16, "sides": "slip"},
        "time": {"fps": 24, "frames": 1},
        "gravity": [0, -gravity, 0],
        "liquids": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [-1] * dim, "upper": [2, 0.5, 2][:dim]}}],
        "solver": {"transfer": transfer},
    }


def squeezed(scene: dict[str, Any], *without: str) -> Simulation:
    simulation = Simulation(scene, stages=lambda s: s.without(*without))
    simulation.state.particles.volume[:] *= np.float32(SQUEEZED)
    return simulation


def clear_of_walls(particles: Particles, setting: Setting) -> np.ndarray:
    x, room = particles.position[:, : setting.dim], 2.0 * CONTACT * setting.dx
    lower, upper = (np.asarray(side)[: setting.dim] for side in (setting.walls.lower, setting.walls.upper))
    return ((x > lower + room) & (x < upper - room)).all(axis=1)


@TRANSFERS
@pytest.mark.parametrize("dim", [2, 3])
def test_a_displacement_leaves_the_velocities_of_particles_as_they_are(dim, transfer):
    """Bit by bit; only their places differ, and what those lose that come to touch walls."""
    moved, unmoved = squeezed(column(dim, transfer, 9.81)), squeezed(column(dim, transfer, 9.81), "displace")
    stats = moved.step_once()
    unmoved.step_once()
    assert "displace" in stats.solves
    one, other = moved.state.particles, unmoved.state.particles
    assert np.array_equal(np.argsort(one.id[:, 0]), np.argsort(other.id[:, 0]))
    away = clear_of_walls(one, moved.setting) & clear_of_walls(other, moved.setting)
    assert one.velocity[away].tobytes() == other.velocity[away].tobytes()
    assert one.affine_or_none.tobytes() == other.affine_or_none.tobytes()
    assert not np.array_equal(one.position, other.position)


@TRANSFERS
def test_a_squeezed_column_grows_to_its_volume(transfer):
    simulation = squeezed(column(2, transfer))
    first = simulation.step_once().liquid_volume
    for _ in range(80):
        last = simulation.step_once()
    carried = float(simulation.state.particles.volume.sum(dtype=float))
    assert first < 0.93 * carried
    # The dead band of a component is 1.5% of its volume, and its surface is known to about another.
    assert last.liquid_volume == pytest.approx(carried, rel=0.025)
    assert np.abs(simulation.state.particles.velocity).max() < 1e-6  # without gravity nothing sets it in motion


def test_without_the_stage_it_stays_squeezed():
    """Negative control."""
    simulation = squeezed(column(2, "flip"), "displace")
    first = simulation.step_once().liquid_volume
    for _ in range(20):
        last = simulation.step_once()
    assert last.liquid_volume == pytest.approx(first, rel=1e-3)
