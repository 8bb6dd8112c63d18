"""What the condition at the free surface does to a viscous liquid (Batty 2010, section 3.7, in 2D).

Three viscous solves run the same scenes: the variational one, whose surface is free of traction, and two that treat
each velocity component on its own: with no gradient across the surface (`neumann`), and with the liquid's own
velocity continued and held behind it (`dirichlet`).

rotating-disc    a thick disc turns without gravity: nothing should stop it. Quantities `spin_after_1`, `_10`,
                 `_100` are the share of its spin (angular momentum over moment of inertia) left after as many
                 frames. The stages that give liquid in free flight its spin back are left out, because the solves are
                 compared. Transfers between particles and grid and projections take some of it, whatever the
                 viscosity: `no viscosity` is the same run without the viscous solve. After 10 frames, at 64 cells, it
                 has 0.920 of its spin, and the variational run 0.916: nearly all of the loss is theirs. Later the
                 control tells nothing, because without viscosity nothing keeps the disc round.
beam-conditions  a thick beam sticks out of a wall and sags. It should bend: `tip_angle` is how far its last
                 quarter has turned [degrees], `tip_drop` how far that has come down, as a share of free fall.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import grids

CONDITIONS = {
    "variational": {"viscosity": "auto"},
    "neumann": {"viscosity": "laplacian"},
    "dirichlet": {"viscosity": "laplacian-dirichlet"},
}
CONTROL = {"no viscosity": {"viscosity": "none", "transfer": "apic"}}  # of the disc: what the other stages lose
COARSEST, USUAL_LARGEST = 32, 64
GRAVITY = 9.81


def disc(n: int, condition: str) -> Simulation:
    """A disc of 0.6 m, one turn a second, a frame is 1/48 of a turn; mu dt / (rho dx^2) is 100 at 32 cells."""
    return Simulation(
        {
            "name": "rotating-disc",
            "domain": {"size": [1.0, 1.0], "resolution": n, "sides": "open"},
            "time": {"fps": 48, "frames": 100, "cfl": 4},
            "gravity": [0, 0],
            "liquids": {"paste": {"density": 1000.0, "viscosity": 4700.0}},
            "volumes": [
                {
                    "liquid": "paste",
                    "shape": {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.3},
                    "spin": [0, 0, 2 * np.pi],
                }
            ],
            "solver": (CONDITIONS | CONTROL)[condition],
        },
        stages=lambda stages: stages.without("weigh", "keep_momentum"),
    )


def spin(simulation: Simulation) -> float:
    """Angular momentum about the centre of mass over the moment of inertia [rad/s]."""
    p = simulation.state.particles
    mass = p.volume[:, :1].astype(np.float64)
    x, v = p.position[:, :2].astype(np.float64), p.velocity[:, :2].astype(np.float64)
    x, v = x - (mass * x).sum(0) / mass.sum(), v - (mass * v).sum(0) / mass.sum()
    cross = x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
    return float((mass[:, 0] * cross).sum() / (mass * x**2).sum())


def disc_values(n: int, condition: str, frames: tuple[int, ...] = (1, 10, 100)) -> dict[str, float]:
    simulation = disc(n, condition)
    before = spin(simulation)
    values = {}
    for frame in frames:
        advance(simulation, frame)
        values[f"spin_after_{frame}"] = spin(simulation) / before
    return values


def beam(n: int, condition: str) -> Simulation:
    """A beam of 0.36 m by 0.1 m on a wall that cuts cells."""
    return Simulation(
        {
            "name": "beam-conditions",
            "domain": {"size": [0.64, 0.64], "resolution": n, "sides": "open"},
            "time": {"fps": 24, "frames": 6},
            "gravity": [0, -GRAVITY],
            "liquids": {"paste": {"density": 1000.0, "viscosity": 10000.0}},
            "volumes": [{"liquid": "paste", "shape": {"kind": "box", "lower": [0.06, 0.4], "upper": [0.453, 0.5]}}],
            "solids": [{"name": "wall", "shape": {"kind": "box", "lower": [-0.1, -0.1], "upper": [0.093, 0.9]}}],
            "solver": (CONDITIONS | CONTROL)[condition],
        }
    )


def beam_values(n: int, condition: str) -> dict[str, float]:
    simulation = beam(n, condition)
    p = simulation.state.particles
    tip = np.sort(p.id[p.position[:, 0] > 0.363, 0])
    before = positions(simulation, tip)
    fall = drop = 0.0
    while simulation.state.frame < simulation.scene.time.frames:
        dt = simulation.step_once().dt
        fall += GRAVITY * dt
        drop += fall * dt
    after = positions(simulation, tip)
    both = np.isfinite(after[:, 0])
    a, b = before[both], after[both]
    fallen = float((a - b)[:, 1].mean())
    a, b = a - a.mean(0), b - b.mean(0)
    turned = np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())
    return {"tip_angle": -float(np.degrees(turned)), "tip_drop": fallen / drop}


def positions(simulation: Simulation, ids: np.ndarray) -> np.ndarray:
    """Places (n, 2) [m] of the particles `ids`, NaN for those that are gone."""
    p = simulation.state.particles
    found = dict(zip(p.id[:, 0].tolist(), p.position[:, :2].astype(np.float64)))
    return np.array([found.get(i, np.full(2, np.nan)) for i in ids.tolist()])


def advance(simulation: Simulation, frame: int) -> None:
    while simulation.state.frame < frame:
        simulation.step_once()


VALUES = {"rotating-disc": disc_values, "beam-conditions": beam_values}


def _rows(name: str, numbers: list[int]) -> Iterator[StudyRow]:
    for condition in CONDITIONS | (CONTROL if name == "rotating-disc" else {}):
        for n in numbers:
            begin = time.perf_counter()
            values: dict[str, Any] = VALUES[name](n, condition)
            seconds = time.perf_counter() - begin
            for quantity, value in values.items():
                yield StudyRow(name, condition, n, quantity, "value", value, seconds=seconds)


def study(options: StudyOptions) -> list[StudyRow]:
    """A table per condition."""
    return list(_rows(options.name, grids(options.largest_grid, COARSEST, USUAL_LARGEST, USUAL_LARGEST)))
