"""Studies of rigid bodies: `added-mass`, `floating` and `tight-channel`.

added-mass     a cylinder set in motion in a cylinder full of liquid carries the mass (b^2 + a^2) / (b^2 - a^2) of what
               it displaces (Lamb 1932, article 77): fractions of volume, as published, and of area, as in scenes
floating       draught of a box in a tank against Archimedes, in 2D and 3D scenes, below the level measured beside it;
               and the largest speed that boxes of 1/100 to 10 times the liquid's density have late in a run.
               A level underside is felt in whole cells: the draught of a box quite at rest is right to 0.3 cells
tight-channel  how far the box of the scene has sunk after one second, and what share of its free acceleration it begins
               with: with gaps of half a cell, and on a grid of whole cells, where it is stuck
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from glug.geometry.exact_fractions import ball_fraction, face_fraction
from glug.grids.operators import Operators
from glug.grids.regular import Grid
from glug.physics.reference.pressure import AreaPressure
from glug.physics.reference.rigid import Body, RigidPressure
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

INNER, OUTER = 0.4, 1.0  # radii [m] of the cylinders
ADDED = (OUTER**2 + INNER**2) / (OUTER**2 - INNER**2)
WATER = 1000.0


def study(options: StudyOptions) -> list[StudyRow]:
    """The rows of the study that is asked for."""
    return STUDIES[options.name](options)


# -- added mass --------------------------------------------------------------------------------------------


def cylinders(cells: int, areas: bool) -> RigidPressure:
    """A cylinder in a concentric one, both in a square of `cells`; fractions of volume, or of area."""
    grid = Grid(2.4 / cells, (cells, cells, 1), origin=(-1.2, -1.2, 0.0), dim=2)
    operators = Operators(grid)

    def fractions(radius: float) -> np.ndarray:
        if not areas:
            return np.concatenate([ball_fraction(grid, o, radius) for o in operators.faces])
        return np.concatenate([face_fraction(grid, a, lambda x: np.linalg.norm(x, axis=1) - radius) for a in (0, 1)])

    inner = fractions(INNER)
    problem = AreaPressure(operators, np.maximum(fractions(OUTER) - inner, 0.0), np.ones(grid.cells, bool))
    return RigidPressure(problem, [Body.at(operators, inner, 1.0)])


def added_mass(options: StudyOptions) -> list[StudyRow]:
    rows = []
    for table, areas in (("volumes", False), ("areas", True)):
        for cells in (32, 64, 128, 256):
            if cells > (options.largest_grid or 256):
                continue
            coupled = cylinders(cells, areas)
            _, (v,), _ = coupled.solve(np.zeros(len(coupled.problem.moves)), [np.array([1.0, 0.0, 0.0])])
            ours = 1.0 / float(v[0]) - 1.0
            rows.append(StudyRow("added-mass", table, cells, "added mass", "value", ours, ADDED, ours / ADDED))
    return rows


# -- floating ----------------------------------------------------------------------------------------------


def floating_scene(dim: int, resolution: int, ratio: float) -> dict[str, Any]:
    """A box at its draught's height above the water of a tank; `ratio` is its density over the water's."""
    depth = [] if dim == 2 else [0.6]
    size = [0.3, 0.2, *([] if dim == 2 else [0.3])]
    height = 0.42 + 0.1 if ratio < 1.0 else 0.22
    return {
        "name": "floating",
        "domain": {"size": [1.0, 0.8, *depth], "resolution": resolution},
        "time": {"fps": 24, "frames": 240},
        "liquids": {"water": {"density": WATER, "viscosity": 0.0}},
        "volumes": [{"shape": {"kind": "box", "lower": [0.0] * dim, "upper": [1.0, 0.4, *depth]}, "liquid": "water"}],
        "solids": [
            {
                "name": "box",
                "shape": {"kind": "box", "centre": [0.5, height, *([] if dim == 2 else [0.3])], "size": size},
                "density": ratio * WATER,
            }
        ],
    }


def draught(dim: int, resolution: int, ratio: float, seconds: float) -> float:
    """Mean depth [m] of the box's underside below the water, over the second half of the run.

    The box begins three tenths too high. As long as both ends are in the water, what a tilted box has below the level
    is its width times that depth.
    """
    from glug.simulation.simulation import Simulation

    scene = floating_scene(dim, resolution, ratio)
    scene["solids"][0]["shape"]["centre"][1] = 0.4 + 0.1 - 0.7 * 0.2 * ratio
    scene["output"] = {"fields": True}
    simulation = Simulation(scene)
    depths, steps = [], []
    while simulation.state.time < seconds:
        dt = simulation.step_once().dt
        if simulation.state.time > 0.5 * seconds:
            depths.append(level_beside(simulation.state.fields, dim) - (simulation.state.bodies[0].centre[1] - 0.1))
            steps.append(dt)
    return float(np.average(depths, weights=steps))


def level_beside(fields: dict[str, np.ndarray], dim: int) -> float:
    """Mean height [m] of the surface, a tenth of a metre or more from the box and a twentieth from the walls."""
    phi, dx = fields["phi"], float(fields["dx"])
    x, y, z = (c + dx * (np.arange(n) + 0.5) for c, n in zip(fields["corner"], phi.shape))
    beside = (np.abs(x - 0.5) > 0.25) & (np.abs(x - 0.5) < 0.45)
    inside = np.abs(z - 0.3) < 0.25 if dim == 3 else np.ones(1, np.bool_)
    columns = np.moveaxis(phi[beside][:, :, inside], 1, -1).reshape(-1, len(y)).astype(float)
    below, above = columns[:, :-1], columns[:, 1:]
    crossing = (below < 0.0) & (above >= 0.0)
    top = crossing.shape[1] - 1 - np.argmax(crossing[:, ::-1], axis=1)
    n = np.arange(len(top))
    return float((y[top] + dx * below[n, top] / (below[n, top] - above[n, top]))[crossing.any(axis=1)].mean())


def restless(ratio: float, steps: int = 500) -> float:
    """Largest speed [m/s] of a box in the last fifth of `steps` steps, in 2D."""
    from glug.simulation.simulation import Simulation

    simulation = Simulation(floating_scene(2, 32, ratio))
    largest = 0.0
    for n in range(steps):
        simulation.step_once()
        if n >= 0.8 * steps:
            largest = max(largest, float(np.linalg.norm(simulation.state.bodies[0].velocity_of_centre)))
    return largest


def neutral(resolution: int, ratio: float, steps: int = 100) -> float:
    """Largest speed in `steps` steps, over g t, of a ball of `ratio` times the density in a full closed 3D box."""
    from glug.simulation.simulation import Simulation

    scene = floating_scene(3, resolution, ratio)
    scene["domain"]["size"] = [0.6, 0.6, 0.6]
    scene["volumes"][0]["shape"]["upper"] = [0.6, 0.6, 0.6]
    scene["solids"][0]["shape"] = {"kind": "sphere", "centre": [0.31, 0.29, 0.3], "radius": 0.12}
    simulation = Simulation(scene)
    largest = 0.0
    for _ in range(steps):
        simulation.step_once()
        largest = max(largest, float(np.linalg.norm(simulation.state.bodies[0].velocity_of_centre)))
    return largest / (9.81 * simulation.state.time)


def floating(options: StudyOptions) -> list[StudyRow]:
    rows = [
        StudyRow("floating", f"3D, full box, density {ratio:g}", 24, "largest speed / g t", "value", neutral(24, ratio))
        for ratio in (1.0, 1.1)
    ]
    most = options.largest_grid or 1000
    for dim, resolution, seconds in ((2, 32, 8.0), (2, 64, 8.0), (3, 32, 4.0)):
        for ratio in (0.25, 0.5, 0.75) if dim == 2 else (0.5,):
            if resolution > most:
                continue
            ours, truth = draught(dim, resolution, ratio, seconds), 0.2 * ratio
            table = f"{dim}D, density {ratio:g}"
            rows.append(StudyRow("floating", table, resolution, "draught [m]", "value", ours, truth, ours / truth))
    for ratio in (0.01, 0.1, 1.0, 10.0):
        rows.append(
            StudyRow(
                "floating",
                f"density {ratio:g}",
                32,
                "largest speed in steps 400 to 500 [m/s]",
                "value",
                restless(ratio),
            )
        )
    return rows


# -- tight channel -----------------------------------------------------------------------------------------


def tube(cells: int, voxelised: bool) -> RigidPressure:
    """A box three times as dense as the water in a tube `cells` wide, half a cell from each wall; open at the top."""
    high = 3 * cells
    grid = Grid(1.0 / cells, (cells, high, 1), dim=2)
    operators = Operators(grid)
    lower, upper = np.array([0.5 / cells, 1.0]), np.array([1.0 - 0.5 / cells, 1.6])

    def box(points: np.ndarray) -> np.ndarray:
        return np.maximum(lower - points, points - upper).max(axis=1)

    closed = np.concatenate([face_fraction(grid, a, box) for a in (0, 1)])
    x, y = (operators.points(o) for o in operators.faces)
    walls = np.concatenate([(x[:, 0] < 1e-9) | (x[:, 0] > 1 - 1e-9), y[:, 1] < 1e-9])
    if voxelised:
        inside = (box(operators.points((0.5, 0.5, 0.5))) < 0.5 / cells).astype(float)
        closed = (np.abs(operators.D.T) @ inside > 0).astype(float)
    area = np.where(walls, 0.0, 1.0 - closed)
    wet = np.ones(grid.cells, bool)
    wet[operators.points((0.5, 0.5, 0.5))[:, 1] > 2.8] = False  # air above
    problem = AreaPressure(operators, area, wet, dt=0.01)
    return RigidPressure(problem, [Body.at(operators, np.where(walls, 0.0, closed), 3.0)])


def first_share(cells: int, voxelised: bool) -> float:
    """The box's acceleration in the first step, over that of its weight less buoyancy without any flow."""
    coupled = tube(cells, voxelised)
    fall = -9.81 * coupled.problem.dt
    falling = fall * coupled.problem.rows.mesh.face_normal[:, 1]
    _, (v,), _ = coupled.solve(falling, [np.array([0.0, fall, 0.0])])
    return float(v[1] / (fall * (1.0 - 1.0 / 3.0)))


def tight_channel(options: StudyOptions) -> list[StudyRow]:
    from glug.scene import load
    from glug.simulation.simulation import Simulation

    rows = []
    for cells in (8, 16, 32):
        for table, voxelised in (("areas", False), ("whole cells", True)):
            share = first_share(cells, voxelised)
            rows.append(StudyRow("tight-channel", table, cells, "share of free acceleration", "value", share))
    simulation = Simulation(load("tight-channel"))
    begin = simulation.state.bodies[0].centre[1]
    while simulation.state.time < 1.0:
        simulation.step_once()
    sunk = float(begin - simulation.state.bodies[0].centre[1])
    rows.append(StudyRow("tight-channel", "scene", 96, "sunk after 1 s [m]", "value", sunk))
    return rows


STUDIES: dict[str, Callable[[StudyOptions], list[StudyRow]]] = {
    "added-mass": added_mass,
    "floating": floating,
    "tight-channel": tight_channel,
}
