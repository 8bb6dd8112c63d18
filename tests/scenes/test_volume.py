"""Sloshing water keeps its volume, by the solver's fractions and by the surface mesh."""

import numpy as np

from glug.simulation import Simulation


def sloshing(correction: bool) -> tuple[np.ndarray, np.ndarray]:
    """Volume relative to the start over 200 frames: sum of the solver's fractions, and volume of the mesh."""
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 0.75, 0.3], "resolution": 40},
            "time": {"fps": 24, "frames": 200},
            "liquids": {"water": {"material": "water"}},
            "volumes": [
                {
                    "liquid": "water",
                    "shape": {
                        "kind": "intersection",
                        "parts": [
                            {"kind": "half-space", "point": [0.5, 0.3, 0.15], "normal": [0.25, 1.0, 0.0]},
                            {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.75, 0.3]},
                        ],
                    },
                }
            ],
            "solver": {"volume_correction": correction},
            "surface": {"smoothing": 0},
        }
    )
    fractions, meshes = [], []
    for frame in simulation.run():
        if frame.stats:
            fractions.append(frame.stats[-1].liquid_volume)
        if frame.index % 10 == 0:
            meshes.append(frame.surface.volume())
    return np.array(fractions) / fractions[0], np.array(meshes) / meshes[0]


def test_sloshing_water_keeps_its_volume_over_200_frames():
    fractions, meshes = sloshing(correction=True)
    for name, v in (("fractions", fractions), ("mesh", meshes)):
        print(f"corrected, by {name}: {v.min():.4f} .. {v.max():.4f}")
    assert np.abs(fractions - 1.0).max() < 0.02
    assert np.abs(meshes - 1.0).max() < 0.02


def squeezed(correction: bool) -> float:
    """Volume that a pool holds over what its particles carry, two seconds after these were squeezed by 8 percent."""
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 0.75], "resolution": 32},
            "time": {"fps": 24, "frames": 48},
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [1, 0.4]}}],
            "solver": {"volume_correction": correction},
        }
    )
    simulation.state.particles.position[:, 1] *= 0.92
    while simulation.state.frame < 48:
        stats = simulation.step_once()
    return stats.liquid_volume / stats.target_volume


def test_a_squeezed_pool_gets_its_volume_back_and_without_correction_it_does_not():
    corrected, left = squeezed(True), squeezed(False)
    print(f"corrected: {corrected:.4f}, left as it is: {left:.4f}")
    assert abs(corrected - 1.0) < 0.02  # the dead band of a whole pool is 1.5 percent
    assert left < 0.95
