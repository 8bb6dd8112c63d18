"""Scenes with any two features at once: a closed box with a pool, in which everything is in equilibrium."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.stages import Stage

AIRS = ("vacuum", "constraint", "affine", "two-phase")
FEATURES = ("bodies", "slip", "separating", "octree", "heat", "densities", "tiles", *AIRS)
THICK = {"slip", "octree", "heat", "stokes"}  # features of the viscous solve
CELLS = 20
MORE_CELLS = 24  # with an octree: fewer leave no coarse cell between the surface, the walls and a border of two liquids
LEVEL, LAYER = 0.6, 0.3  # the surface and, where there are two liquids, the border between them [m]
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
        "domain": {"size": [1.0, 1.0, 1.0][:dim], "resolution": MORE_CELLS if "octree" in has else CELLS},
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
        made["output"] = {"fields": True}  # where the tree is coarse
    if "stokes" in has:
        made["solver"]["coupling"] = "stokes"
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
    if push and has >= {"separating", "constraint"}:  # in a closed box of liquid and bubbles no wall can let go
        made["domain"]["sides"] = {"top": "open"}
        hole = {"kind": "sphere", "centre": [0.5, 0.3, 0.5][:dim], "radius": 0.15}
        made["volumes"][0]["shape"] = {"kind": "difference", "parts": [box(0.0, LEVEL, dim), hole]}
        del made["volumes"][1]
    return made


def box(lower: float, upper: float, dim: int = 3) -> dict[str, Any]:
    return {"kind": "box", "lower": [0.0, lower, 0.0][:dim], "upper": [1.0, upper, 1.0][:dim]}


def run(made: dict[str, Any], steps: int) -> tuple[Simulation, list[Any]]:
    simulation = Simulation(made)
    return simulation, [simulation.step_once() for _ in range(steps)]


def watched(made: dict[str, Any], steps: int) -> tuple[Simulation, list[Any], dict[str, Any]]:
    """The same, and what was seen: pressure problem and solids of the last step, energies from step to step."""
    seen: dict[str, Any] = {}

    def keep(context: StepContext) -> None:
        seen.update(problem=context.problem, solid=context.solid)

    simulation = Simulation(made, stages=lambda stages: stages.before("extrapolate", Stage("keep", keep)))
    stats, seen["energy"] = [], [energy(simulation)]
    for _ in range(steps):
        stats.append(simulation.step_once())
        seen["energy"].append(energy(simulation))
    return simulation, stats, seen


def energy(simulation: Simulation) -> float:
    """Kinetic, of the liquid and of rigid bodies [J]."""
    setting, p = simulation.setting, simulation.state.particles
    density = setting.density * np.array(setting.density_ratios)
    mass = p.volume[:, 0].astype(float) * (density[p.liquid[:, 0].astype(int)] if p.has("liquid") else density[0])
    total = 0.5 * float(mass @ (p.velocity.astype(float) ** 2).sum(axis=1))
    for description, body in zip(setting.bodies, simulation.state.bodies):
        now = description.now(body, setting.dim)
        total += 0.5 * now.mass * float(body.velocity_of_centre @ body.velocity_of_centre)
        total += 0.5 * float(body.spin @ now.inertia @ body.spin)
    return total


def missing(features: tuple[str, ...], simulation: Simulation, stats: Any, seen: dict[str, Any]) -> list[str]:
    """The features that a pushed scene lacks after all."""
    state, problem = simulation.state, seen["problem"]
    particles = state.particles
    air = problem.wet == 0

    def in_air() -> Any:
        return problem.regions is not None and (problem.regions.regions.label[air] >= 0).any()

    there = {
        "bodies": lambda: problem.bodies is not None and len(problem.body_term.rows[0][0]),  # in the liquid
        "slip": lambda: seen["solid"].slip is not None and seen["solid"].slip.surface is not None,
        "separating": lambda: len(state.freed),
        "octree": lambda: state.fields["level"].max(),  # 0 where cells are finest, and outside the liquid
        "stokes": lambda: "stokes" in stats.solves,
        "heat": lambda: np.ptp(particles.temperature) > 10.0 and np.ptp(particles.viscosity) > 10.0,
        "densities": lambda: simulation.setting.other_densities and len(np.unique(particles.liquid)) == 2,
        "tiles": lambda: (particles.tile > 0).any(),
        "vacuum": lambda: not problem.liquid[air].any() and problem.bubbles is None,
        "constraint": lambda: stats.bubbles,
        "affine": in_air,
        "two-phase": lambda: problem.liquid[air].any() and not in_air(),
    }
    return [feature for feature in features if not there[feature]()]
