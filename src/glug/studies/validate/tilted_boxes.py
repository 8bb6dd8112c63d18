"""Walls that the grid does not follow (Batty 2010, section 2.5): volume weights, open areas, and whole cells.

rotated-vortex. A rotation about the centre of a square box, projected: a vortex that fills the box. The box is tilted
by 30 degrees; errors are those of the velocity, turned back, against the box along a fine grid, at points throughout
the box. The aligned box on the same grid shows what the tilt costs.

paddle. Gas at rest in a round container, in which a flat paddle starts to turn about the centre. The energy of the gas
cannot depend on the angle of the paddle. The spread is the difference between the largest and least energy over a
quarter turn, in parts of the mean.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from glug.grids.mesh import Fractions
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE
from glug.physics.reference.pressure import AreaPressure, volume_pressure
from glug.physics.variational import VariationalProblem
from glug.studies.problems.manufactured import centred_grid
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import convergence_rows, grids

SCHEMES = ("volumes", "open-area", "voxelised")
COARSEST, USUAL = 32, 128
Shape = Callable[[np.ndarray], np.ndarray]

BOX = 0.75  # half the side of the tilted box [m]: whole cells on every grid when it is aligned
TILT = np.pi / 6
FINE = 256  # cells of the aligned reference
WITHIN = 0.9  # part of the box in which velocities are compared: between samples in the open

PADDLE = (0.6, 0.1)  # half length and thickness [m]
CONTAINER = 1.2  # [m]
ANGLES = np.arange(8) * np.pi / 16  # a quarter turn


def box(half: tuple[float, float], angle: float) -> Shape:
    """Signed distance to a rectangle turned by `angle`."""

    def distance(points: np.ndarray) -> np.ndarray:
        q = np.abs(points @ rotation(angle)) - half
        return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)

    return distance


def rotation(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


class Room:
    """The open part of the plane, where `shape` is negative, on n x n cells."""

    def __init__(self, n: int, shape: Shape):
        self.grid = centred_grid(n)
        self.operators = Operators(self.grid)
        self.shape = shape
        self.open = self.operators.fractions(shape)

    def problem(self, scheme: str) -> VariationalProblem:
        ops = self.operators
        if scheme == "volumes":
            return volume_pressure(ops, Fractions.full(ops), self.open)
        if scheme == "open-area":
            area = ops.open_area(self.shape)
            return AreaPressure(ops, area, np.abs(ops.D) @ area > 0)
        wall = self.shape(ops.points(CENTRE)) >= 0
        return AreaPressure.voxelised(ops, ~wall, wall)

    def spin(self, within: float = np.inf) -> np.ndarray:
        """The velocity (-y, x) on the faces nearer to the centre than `within`, flat."""
        parts = []
        for a, offset in enumerate(self.operators.faces):
            x, y = self.operators.points(offset).T
            parts.append(np.where(np.hypot(x, y) < within, (-y, x)[a], 0.0))
        return np.concatenate(parts)


def vortex(n: int, scheme: str, angle: float, places: np.ndarray) -> np.ndarray:
    """Velocities (m, 2) at `places` in the box's own frame."""
    room = Room(n, box((BOX, BOX), angle))
    found = room.problem(scheme).solve(room.spin()).u
    turned = places @ rotation(angle).T
    components = []
    for offset, u in zip(room.operators.faces, room.operators.split(found, room.operators.faces)):
        x, y, _ = room.grid.coordinates(offset)
        components.append(RegularGridInterpolator((x, y), u[:, :, 0])(turned))
    return np.column_stack(components) @ rotation(angle)


def rotated_vortex(numbers: list[int], name: str) -> list[StudyRow]:
    line = np.linspace(-WITHIN * BOX, WITHIN * BOX, 60)
    places = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    exact = vortex(FINE, "open-area", 0.0, places)
    rows = []
    for label, scheme, angle in (("aligned", "open-area", 0.0), *((f"tilted, {s}", s, TILT) for s in SCHEMES)):

        def errors(n: int, scheme: str = scheme, angle: float = angle) -> dict[str, tuple[float, float]]:
            speed = np.linalg.norm(vortex(n, scheme, angle, places) - exact, axis=1)
            return {"speed": (float(speed.max()), float(speed.mean() * (2 * WITHIN * BOX) ** 2))}

        rows += convergence_rows(name, label, numbers, errors)
    return rows


def stirred_energy(n: int, scheme: str, angle: float) -> float:
    """Kinetic energy [J/m at 1 kg/m3] of the gas that the paddle sets in motion at 1 rad/s."""
    paddle = box(PADDLE, angle)
    room = Room(n, lambda p: np.maximum(np.linalg.norm(p, axis=1) - CONTAINER, -paddle(p)))
    still = np.zeros(len(room.open.face))
    middle = 0.5 * (CONTAINER + np.hypot(*PADDLE))
    found = room.problem(scheme).solve(still, u_wall=room.spin(middle)).u
    return float(0.5 * (room.open.face * found**2).sum() * room.grid.dx**2)


def stirred(numbers: list[int], name: str) -> list[StudyRow]:
    rows = []
    for scheme in SCHEMES:
        for n in numbers:
            energy = np.array([stirred_energy(n, scheme, angle) for angle in ANGLES])
            for quantity, value in (("energy", energy.mean()), ("energy_spread", np.ptp(energy) / energy.mean())):
                rows.append(StudyRow(name, scheme, n, quantity, "value", float(value)))
    return sorted(rows, key=lambda row: row.quantity)


def study(options: StudyOptions) -> list[StudyRow]:
    numbers = grids(options.largest_grid, COARSEST, USUAL, USUAL)
    return (rotated_vortex if options.name == "rotated-vortex" else stirred)(numbers, options.name)
