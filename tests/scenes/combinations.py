"""Scenes with any two features at once: a closed box with a pool, in which everything is in equilibrium."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from glug.simulation import Simulation

AIRS = ("vacuum", "constraint", "affine", "two-phase")
FEATURES = ("bodies", "slip", "separating", "octree", "heat", "densities", "tiles", *AIRS)
THICK = {"slip", "octree", "heat"}  # features of the viscous solve
CELLS, LEVEL, LAYER = 20, 0.6, 0.3  # the surface and, where there are two liquids, the border between them [m]
LIGHT, HEAVY, THICKNESS = 1000.0, 1400.0, 50.0  # [kg/m3], [Pa s]
RADIUS = 0.17  # [m] of the rigid ball, half in either liquid where there are two


def pairs() -> list[tuple[str, str]]:
    """All pairs but those of two kinds of air."""
    return [pair for pair in combinations(FEATURES, 2) if not set(pair) <= set(AIRS)]


def scene(*features: str, push: float = 0.0, dim: int = 3, light_on_top: float = LIGHT) -> dict[str, Any]:
    """The scene with these features; `push` [m/s] sets the liquid in motion."""
    has = set(features)
    law: Any = THICKNESS if has & THICK else 0.0
    if "heat" in has:
        law = {"kind": "temperature", "table": [[20.0, 200.0], [80.0, 2.0]]}
    liquids = {"first": {"density": light_on_top, "viscosity": law, "temperature": 20.0}}
    lower = "first"
    if "densities" in has or "heat" in has:
        lower = "second"
        density = HEAVY if "densities" in has else light_on_top
        liquids["second"] = {"density": density, "viscosity": law, "temperature": 80.0}
    made: dict[str, Any] = {
        "domain": {"size": [1.0, 1.0, 1.0][:dim], "resolution": CELLS},
        "time": {"fps": 100},
        "liquids": liquids,
        "volumes": [
            {"shape": box(0.0, LAYER, dim), "liquid": lower, "velocity": [push, 0.0, 0.0]},
            {"shape": box(LAYER, LEVEL, dim), "liquid": "first", "velocity": [push, 0.0, 0.0]},
        ],
        "solids": [],
        "solver": {"viscosity": "multigrid" if has & THICK else "none", "tolerance": {"viscosity": 1e-5}},
    }
    if "heat" in has:
        made["heat"] = {"diffusivity": 1e-3}
    if "octree" in has:
        made["solver"]["viscosity"] = "octree"
    if "tiles" in has:
        made["solver"] |= {"tiles": 6, "tile_band": 2}
    if "separating" in has:
        made["domain"]["walls"] = "separating"
    if "slip" in has:
        made["domain"]["slip_length"] = 0.1
        shape = {"kind": "sphere", "centre": [0.75, 0.2, 0.3][:dim], "radius": 0.13}
        made["solids"].append({"name": "smooth", "shape": shape, "slip_length": 0.2})
    if "bodies" in has:
        made["solids"].append(
            {
                "name": "ball",
                "shape": {"kind": "sphere", "centre": [0.4, 0.3, 0.55][:dim], "radius": RADIUS},
                "density": 0.5 * (LIGHT + HEAVY) if "densities" in has else LIGHT,
                "slip_length": 0.1 if "slip" in has else 0.0,
            }
        )
    for air in has & set(AIRS):
        made["solver"]["air"] = air
    return made


def box(lower: float, upper: float, dim: int = 3) -> dict[str, Any]:
    return {"kind": "box", "lower": [0.0, lower, 0.0][:dim], "upper": [1.0, upper, 1.0][:dim]}


def run(made: dict[str, Any], steps: int) -> tuple[Simulation, list[Any]]:
    simulation = Simulation(made)
    return simulation, [simulation.step_once() for _ in range(steps)]
