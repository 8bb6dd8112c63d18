"""A ball that falls into a pool without gravity: what it keeps of its energy, on any mesh."""

from __future__ import annotations

from typing import Any

from glug.simulation import Simulation

DURATION = 0.025  # s: the ball has gone down by 2/3 of its diameter


def scene(mesh: str, fps: int, cells: int = 20) -> dict[str, Any]:
    """Radius 20 mm, 1 m/s; the pool is 20 mm deep and 100 mm wide."""
    pool = {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [0.1, 0.02, 0.1]}
    ball = {"kind": "sphere", "centre": [0.05, 0.044, 0.05], "radius": 0.02}
    return {
        "name": "impact",
        "domain": {"size": [0.1, 0.1, 0.1], "resolution": cells, "sides": "slip"},
        "time": {"fps": fps, "frames": round(DURATION * fps)},
        "gravity": [0.0, 0.0, 0.0],
        "liquids": {"water": {"density": 1000.0, "viscosity": 0.0, "surface_tension": 0.072}},
        "volumes": [
            {"liquid": "water", "shape": pool},
            {"liquid": "water", "shape": ball, "velocity": [0.0, -1.0, 0.0]},
        ],
        "solver": {"mesh": mesh},
        "output": {"preview": False},
    }


def kept(mesh: str, fps: int, cells: int = 20) -> float:
    """The energy after `DURATION` over that after the first step."""
    simulation, energy = Simulation(scene(mesh, fps, cells), threads=1), []
    while simulation.state.time < DURATION - 1e-9:
        liquid = simulation.step_once().liquid
        assert liquid is not None
        energy.append(liquid.kinetic)
    return energy[-1] / energy[0]
