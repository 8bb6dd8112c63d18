"""Scenes whose air counts: bubbles keep their volume, checkpoints keep their names, and dry cavities do no harm."""

import numpy as np
import pytest

from glug.scene import load
from glug.simulation import Simulation

POOL = {
    "domain": {"size": [0.5, 1.0], "resolution": 48},
    "time": {"fps": 60, "frames": 20},
    "liquids": {"water": {"material": "water"}},
    "volumes": [
        {
            "liquid": "water",
            "shape": {
                "kind": "difference",
                "parts": [
                    {"kind": "box", "lower": [0.0, 0.0], "upper": [0.5, 0.8]},
                    {"kind": "sphere", "centre": [0.25, 0.3], "radius": 0.12},
                ],
            },
        }
    ],
}


def bubble_of(air: str, frames: int, **more) -> tuple[Simulation, list[float]]:
    """A 2D run, and the volume of air below the surface in every step, over that in the first."""
    simulation = Simulation(load({**POOL, "solver": {"air": air, "volume_correction": 1.0, **more}}))
    trapped = []
    while simulation.state.frame < frames:
        stats = simulation.step_once()
        assert not stats.warnings
        trapped.append(sorted(b["volume"] for b in stats.bubbles))
    return simulation, trapped


def test_a_bubble_keeps_its_volume_and_rises():
    simulation, trapped = bubble_of("constraint", 12)
    bubble = [v[0] for v in trapped]  # the air above the pool is larger
    assert all(len(v) == 2 for v in trapped)
    assert max(abs(v / bubble[0] - 1.0) for v in bubble) < 0.05
    assert simulation.state.particles.bubble.max() >= 2


def test_in_a_vacuum_it_collapses():
    simulation, _ = bubble_of("vacuum", 12)
    position = simulation.state.particles.position
    inside = np.hypot(position[:, 0] - 0.25, position[:, 1] - 0.3) < 0.06
    assert inside.any()


def test_a_checkpoint_keeps_the_bubbles():
    first, _ = bubble_of("constraint", 4)
    second = Simulation.restore(first.scene, first.checkpoint())
    for simulation in (first, second):
        for _ in range(3):
            simulation.step_once()
    np.testing.assert_array_equal(first.state.bubbles.names, second.state.bubbles.names)
    np.testing.assert_array_equal(first.state.bubbles.rest, second.state.bubbles.rest)
    np.testing.assert_array_equal(first.state.particles.position, second.state.particles.position)


@pytest.mark.parametrize("air", ["two-phase", "affine"])
def test_two_phases_run(air: str):
    simulation, _ = bubble_of(air, 6)
    position = simulation.state.particles.position
    below = np.hypot(position[:, 0] - 0.25, position[:, 1] - 0.3) < 0.06
    assert not below.any()  # the bubble is still there


@pytest.mark.parametrize("top", ["closed", "open"])
def test_a_dry_cavity_does_no_harm(top: str):
    cavity = {
        "kind": "difference",
        "parts": [
            {"kind": "box", "lower": [0.1, 0.85], "upper": [0.4, 0.98]},
            {"kind": "box", "lower": [0.15, 0.88], "upper": [0.35, 0.95]},
        ],
    }
    scene = {**POOL, "solids": [{"name": "box", "shape": cavity}], "solver": {"air": "constraint"}}
    simulation = Simulation(load({**scene, "domain": {**POOL["domain"], "sides": {"top": top}}}))
    for _ in range(3):
        stats = simulation.step_once()
        assert not stats.warnings and np.isfinite(stats.max_speed)


@pytest.mark.parametrize("air", ["vacuum", "constraint", "affine", "two-phase"])
def test_a_body_that_closes_pockets_of_liquid_is_held_by_them_in_any_air(air):
    """At 24 cells the gaps beside the box are closed: pockets of water are left, linked by nothing but the box."""
    simulation = Simulation(load("tight-channel", {"domain.resolution": 24, "solver.air": air}))
    for _ in range(4):
        stats = simulation.step_once()
    assert all(solve.converged for solve in stats.solves.values())
    assert np.abs(simulation.state.bodies[0].velocity_of_centre).max() < 1e-6


def flight(*left_out):
    """How far a ring of liquid around a bubble in a closed box is off its path [cells], and what it has of its spin."""
    ring = {
        "kind": "difference",
        "parts": [
            {"kind": "sphere", "centre": [0.4, 0.5], "radius": 0.2},
            {"kind": "sphere", "centre": [0.4, 0.5], "radius": 0.07},
        ],
    }
    scene = load(
        {
            "domain": {"size": [1.0, 1.0], "resolution": 48},
            "time": {"fps": 60, "frames": 20},
            "gravity": [0.0, 0.0, 0.0],
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": ring, "velocity": [0.5, 0.2], "spin": [0.0, 0.0, 3.0]}],
            "solver": {"air": "constraint", "transfer": "flip"},
        }
    )
    simulation = Simulation(scene, stages=lambda stages: stages.without(*left_out))
    p = simulation.state.particles

    def moments():
        m, x, v = p.volume[:, 0] / p.volume.sum(), p.position.astype(float), p.velocity.astype(float)
        centre, mean = m @ x, m @ v
        return centre, mean, m @ np.cross(x - centre, v - mean)[:, 2]

    begin, velocity, spun = moments()
    *_, frame = simulation.run()
    p = simulation.state.particles
    end, _, spin = moments()
    assert len(frame.stats[-1].bubbles) == 2
    return np.abs(end - begin - frame.time * velocity).max() / simulation.setting.dx, spin / spun


def test_liquid_around_a_bubble_flies_on_and_without_keeping_its_momentum_it_does_not():
    """A bubble presses alike on all sides of it."""
    off, spin = flight()
    assert off < 1e-3 and spin == pytest.approx(1.0, abs=1e-3)
    off, _ = flight("weigh", "keep_momentum")
    assert off > 0.1
