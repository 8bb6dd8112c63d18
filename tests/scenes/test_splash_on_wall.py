"""A drop thrown at a wall leaves it when the wall lets go, and crawls along it when the wall holds."""

import numpy as np
import pytest

import glug

SPLASH = {
    "domain": {"size": [1.0, 1.0], "resolution": 48},
    "time": {"fps": 50, "frames": 18},
    "volumes": [
        {
            "liquid": "water",
            "shape": {"kind": "sphere", "centre": [0.55, 0.45], "radius": 0.12},
            "velocity": [-3.0, 1.5],
        }
    ],
}
LEANING = {"name": "wall", "shape": {"kind": "box", "centre": [0.2, 0.6], "size": [0.1, 0.7], "rotate": [0, 0, -25]}}


def share_at_wall(walls: str, viscosity: float) -> tuple[float, float]:
    """Share of the liquid within 1.5 cells of a leaning wall: the most of all frames, and the last."""
    solids = [LEANING | {"walls": walls}]
    liquids = {"water": {"density": 1000.0, "viscosity": viscosity}}
    simulation = glug.Simulation(SPLASH | {"liquids": liquids, "solids": solids})
    shares = []
    for frame in simulation.run():
        position, volume = frame.particles["position"], frame.particles["volume"]
        near = simulation.scene.solids[0].distance(position.astype(float)) < 1.5 * simulation.setting.dx
        shares.append(float(volume[near].sum() / volume.sum()))
        assert all(s.converged for step in frame.stats for s in step.solves.values())
    return max(shares), shares[-1]


@pytest.mark.parametrize("viscosity", [0.0, 2.0], ids=["water", "syrup"])
def test_a_drop_thrown_at_a_leaning_wall_leaves_it(viscosity):
    held, gone = share_at_wall("sticking", viscosity), share_at_wall("separating", viscosity)
    print(f"share at the wall, most and after 0.36 s: sticking {held}, separating {gone}")
    assert min(held[0], gone[0]) > 0.2  # both have hit it
    assert held[1] > 0.2
    assert gone[1] < 0.02


def fallen(walls: str, resolution: int = 20) -> float:
    """How far a drop thrown at the ceiling of a box has fallen from it after 0.3 s [m]."""
    scene = {
        "domain": {"size": [0.8, 0.6, 0.8], "resolution": resolution, "walls": {"top": walls}},
        "time": {"fps": 50, "frames": 15},
        "liquids": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "volumes": [
            {
                "liquid": "water",
                "shape": {"kind": "sphere", "centre": [0.4, 0.4, 0.4], "radius": 0.15},
                "velocity": [0.0, 2.5, 0.0],
            }
        ],
    }
    simulation = glug.Simulation(scene)
    for _ in simulation.run():
        pass
    particles = simulation.state.particles
    return 0.6 - float(np.average(particles.position[:, 1], weights=particles.volume[:, 0]))


def test_a_drop_thrown_at_the_ceiling_falls_back():
    held, gone = fallen("sticking"), fallen("separating")
    print(f"below the ceiling after 0.3 s: sticking {held:.3f} m, separating {gone:.3f} m")
    assert gone > 3.0 * held
