"""Blobs, containers and levels for the tests of the assembled problems."""

import numpy as np

from glug.geometry.exact_fractions import function_fraction
from glug.grids.operators import Operators
from glug.grids.regular import Grid
from glug.physics.weights import Fractions


def square(n: int, dim: int = 2, shift: float = 0.0) -> Operators:
    """n cells along each side of [-1.5, 1.5]^dim, moved by `shift` cells along every axis."""
    dx = 3.0 / n
    corner = -1.5 + shift * dx
    return Operators(Grid(dx, (n, n, n if dim == 3 else 1), origin=(corner, corner, corner), dim=dim))


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


def fractions(operators: Operators, phi) -> Fractions:
    parts = 8 if operators.dim == 2 else 3
    return Fractions.measure(operators, lambda offset: function_fraction(operators.grid, offset, phi, parts))


def velocity(operators: Operators, field) -> np.ndarray:
    """The face components of `field(points) -> (n, dim)`, flat."""
    return np.concatenate([field(operators.points(o))[:, a] for a, o in enumerate(operators.faces)])


def rigid(points: np.ndarray) -> np.ndarray:
    """A translation and a rotation together."""
    shift = np.array([0.3, -0.7, 0.2])[: points.shape[1]]
    if points.shape[1] == 2:
        return shift + np.column_stack([-points[:, 1], points[:, 0]])
    return shift + np.cross([0.4, -0.2, 1.0], points)
