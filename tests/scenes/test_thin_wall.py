"""A plate half a cell thick holds back a pool, wherever it lies between the cells and however it is tilted."""

import numpy as np
import pytest

from glug.simulation import Simulation

CELLS, FRAMES = 16, 24
DX = 1.0 / CELLS
THICK = 0.5 * DX
# Points on the plates, at an arbitrary place within a cell.
STRAIGHT = (0.5 + 0.37 * DX, 0.0)
TILTED = (0.55 + 0.21 * DX, 30.0)


def beyond(position: np.ndarray, at: float, angle: float) -> np.ndarray:
    """Signed distance [m] behind the middle of the plate, whose normal is turned by `angle` [degrees] from x."""
    normal = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0.0])
    return (position - np.array([at, 0.3, 0.25])) @ normal


def held_back(at: float, angle: float, viscosity: float = 0.0, plate: bool = True) -> np.ndarray:
    """How far behind the plate the farthest particle is, frame by frame [m]; negative is in front of it."""
    normal = [float(np.cos(np.radians(angle))), float(np.sin(np.radians(angle))), 0.0]
    front = {"kind": "half-space", "point": [at, 0.3, 0.25], "normal": normal}
    pool = {"kind": "intersection", "parts": [{"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.6, 0.5]}, front]}
    wall = {
        "kind": "box",
        "lower": [at - 0.5 * THICK, -2.0, -2.0],
        "upper": [at + 0.5 * THICK, 2.6, 2.5],
        "rotate": [0.0, 0.0, angle],
        "pivot": [at, 0.3, 0.25],
    }
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 1.0, 0.5], "resolution": CELLS},
            "time": {"fps": 24, "frames": FRAMES},
            "liquids": {"liquid": {"density": 1000.0, "viscosity": viscosity}},
            "volumes": [{"liquid": "liquid", "shape": pool}],
            "solids": [{"name": "plate", "shape": wall}] if plate else [],
        }
    )
    farthest = []
    while simulation.state.frame < FRAMES:
        simulation.step_once()
        farthest.append(beyond(simulation.state.particles.position, at, angle).max())
    assert len(simulation.state.particles) > 4000
    return np.array(farthest)


@pytest.mark.parametrize("viscosity", [0.0, 5.0], ids=["water", "syrup"])
@pytest.mark.parametrize("plate", [STRAIGHT, TILTED], ids=["straight", "tilted"])
def test_no_particle_gets_behind_the_plate(plate, viscosity):
    assert held_back(*plate, viscosity).max() < 0.0


@pytest.mark.parametrize("plate", [STRAIGHT, TILTED], ids=["straight", "tilted"])
def test_without_the_plate_the_water_is_there(plate):
    """Negative control."""
    assert held_back(*plate, plate=False).max() > 0.3


@pytest.mark.parametrize(("bottom", "thickness"), [(0.31, 0.03), (0.41, 0.025), (0.3, 0.1)])
def test_water_over_a_submerged_plate_stays_at_rest(bottom, thickness):
    """A plate thinner than a cell (0.05 m) must not count as air: water would fall into it."""
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 1.0, 1.0], "resolution": 20},
            "time": {"fps": 24, "frames": 8},
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.7, 1]}}],
            "solids": [
                {
                    "name": "plate",
                    "shape": {"kind": "box", "lower": [0.2, bottom, 0.2], "upper": [0.8, bottom + thickness, 0.8]},
                }
            ],
        }
    )
    speeds = []
    while simulation.state.frame < 8:
        simulation.step_once()
        speeds.append(float(np.abs(simulation.state.particles.velocity).max()))
    assert max(speeds) < 0.03 * np.sqrt(9.81 * 0.7)  # 14 cells deep: noise of the surface, no fall
