"""Blobs, containers and levels for the tests of the assembled problems."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.geometry.exact_fractions import face_fraction, function_fraction
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.reference_pressure import AreaPressure, ghost_distance
from glug.physics.weights import Fractions


def square(n: int, dim: int = 2, shift: float | tuple[float, ...] = 0.0) -> Operators:
    """n cells along each side of [-1.5, 1.5]^dim, moved by `shift` cells, along every axis or axis by axis."""
    dx = 3.0 / n
    corner = tuple((-1.5 + dx * np.broadcast_to(shift, 3)).tolist())
    return Operators(Grid(dx, (n, n, n if dim == 3 else 1), origin=corner, dim=dim))


class Blob:
    """A wavy disc or ball: r < R (1 + sum a_k cos(k t + b_k)), as about a signed distance."""

    def __init__(self, radius: float = 1.0, waves: tuple[tuple[float, float], ...] = ((0.1, 0.3), (0.05, 1.0))):
        self.radius, self.waves = radius, waves

    def __call__(self, points: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(points, axis=1)
        t = np.arctan2(points[:, 1], points[:, 0])
        edge, slope = np.ones(len(r)), np.zeros(len(r))
        for k, (size, phase) in enumerate(self.waves, start=2):
            edge += size * np.cos(k * t + phase)
            slope -= k * size * np.sin(k * t + phase)
        return (r - self.radius * edge) / np.sqrt(1.0 + (slope / edge) ** 2)


def below(level: float):
    """The half-space y < level."""
    return lambda points: points[:, 1] - level


@dataclass(frozen=True)
class Shaped(Fractions):
    """Fractions, and the distance they are of."""

    phi: Callable[[np.ndarray], np.ndarray]


def fractions(operators: Operators, phi) -> Shaped:
    parts = 8 if operators.dim == 2 else 3
    found = Fractions.measure(operators, lambda offset: function_fraction(operators.grid, offset, phi, parts))
    return Shaped(found.cell, found.face, found.edge, phi)


def area_pressure(operators: Operators, liquid: Fractions, fluid: Fractions) -> AreaPressure:
    """The default projection: open areas and ghost-fluid distances, of the shapes or of all space."""
    area = np.ones_like(fluid.face)
    if isinstance(fluid, Shaped):
        area = np.concatenate([face_fraction(operators.grid, a, fluid.phi) for a in range(operators.dim)])
    phi = np.full(operators.count(CENTRE), -1.0)
    if isinstance(liquid, Shaped):
        phi = liquid.phi(operators.points(CENTRE))
    wet = (phi < 0) & (np.abs(operators.D) @ area > 0)
    return AreaPressure(operators, area, wet, ghost_distance(operators, phi))


def velocity(operators: Operators, field) -> np.ndarray:
    """The face components of `field(points) -> (n, dim)`, flat."""
    return np.concatenate([field(operators.points(o))[:, a] for a, o in enumerate(operators.faces)])


def rigid(points: np.ndarray) -> np.ndarray:
    """A translation and a rotation together."""
    shift = np.array([0.3, -0.7, 0.2])[: points.shape[1]]
    if points.shape[1] == 2:
        return shift + np.column_stack([-points[:, 1], points[:, 0]])
    return shift + np.cross([0.4, -0.2, 1.0], points)
