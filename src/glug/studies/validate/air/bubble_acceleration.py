"""A disc of another density in a closed box of liquid (after Goldade 2021, section 4.2.1): how fast does it set off?

A disc of radius 0.15 m in a closed unit square, gravity 1 m/s2, everything at rest; the acceleration of the disc's
centroid after one projection. Published are the figures of two phases; the other models stand beside them.
A constraint bubble has no density: it is right for light discs and wrong for heavy ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.affine.regions import deep_cells, find_regions
from glug.physics.reference.affine import AffineProjection
from glug.physics.reference.bubbles import ConstraintPressure, centroid_velocity, liquid_share, two_phase_pressure
from glug.physics.reference.pressure import ghost_distance
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

GRID, COARSEST = 128, 32
RADIUS = 0.15  # [m]
DENSITY = 1000.0  # [kg/m3] of the liquid
AFFINE_BAND, AFFINE_TILE = 3, 8  # cells
# Density of the disc [kg/m3], acceleration [m/s2] of two phases on 128 x 128 cells.
PUBLISHED = {1e-3: 0.8544, 1.0: 0.8527, 10.0: 0.8381, 100.0: 0.7050, 1000.0: 0.0, 10000.0: -0.8003}


@dataclass(frozen=True)
class DiscInBox:
    """The problem: `phi` is the liquid's distance at cell centres, `disc` the cells outside it."""

    operators: Operators
    phi: np.ndarray
    area: np.ndarray

    @classmethod
    def at(cls, n: int) -> DiscInBox:
        operators = Operators(Grid(1.0 / n, (n, n, 1), dim=2))
        phi = RADIUS - np.linalg.norm(operators.points(CENTRE) - 0.5, axis=1)
        inside = []
        for a, offset in enumerate(operators.faces):
            x = operators.points(offset)[:, a]
            inside.append(((x > 1e-9) & (x < 1.0 - 1e-9)).astype(float))
        return cls(operators, phi, np.concatenate(inside))

    @property
    def disc(self) -> np.ndarray:
        return self.phi >= 0

    @property
    def fall(self) -> np.ndarray:
        """The velocity of everything after a second of gravity."""
        x, y = (np.zeros(self.operators.count(o)) for o in self.operators.faces)
        return np.concatenate([x, y - 1.0])

    def acceleration(self, u: np.ndarray) -> float:
        return float(centroid_velocity(self.operators, self.area, self.disc, u)[1])


def two_phase(problem: DiscInBox, density: float) -> np.ndarray:
    """The projected velocity with a disc of `density` [kg/m3]."""
    cells = np.ones(len(problem.phi), dtype=bool)
    pressure = two_phase_pressure(
        problem.operators, problem.area, problem.phi, cells, density=DENSITY, air_density=density
    )
    return pressure.solve(problem.fall).u


def constraint(problem: DiscInBox, density: float) -> np.ndarray:
    """The same with one pressure in the disc, whose density does not count."""
    theta = ghost_distance(problem.operators, problem.phi)
    bubble = np.where(problem.disc, 0, -1)
    pressure = ConstraintPressure(
        problem.operators, problem.area, ~problem.disc, bubble, theta, density=DENSITY, dt=1.0
    )
    return pressure.solve(problem.fall).u


def affine(problem: DiscInBox, density: float, tile: int = 0) -> np.ndarray:
    """The same as two phases with affine regions in the disc's interior, a band of cells away from its surface."""
    operators = problem.operators
    share = liquid_share(operators, problem.phi)
    mobility = DENSITY / (share * DENSITY + (1.0 - share) * density)
    area, motion = (operators.split(faces, operators.faces) for faces in (problem.area, mobility))
    disc = problem.disc.reshape(operators.grid.shape)
    inside = deep_cells(disc, area, AFFINE_BAND, dim=2)
    regions = find_regions(operators.grid, inside, tile)
    return AffineProjection(operators.grid, area, motion, np.ones_like(disc), regions).project(problem.fall).u


def affine_tiles(problem: DiscInBox, density: float) -> np.ndarray:
    """The same with the interior cut into tiles."""
    return affine(problem, density, AFFINE_TILE)


MODELS: Mapping[str, Callable[[DiscInBox, float], np.ndarray]] = {
    "two-phase": two_phase,
    "constraint": constraint,
    "affine": affine,
    "affine-tiles": affine_tiles,
}


def study(options: StudyOptions) -> list[StudyRow]:
    """A row per density and model; `ratio` is to the published two-phase figure."""
    n = min(options.largest_grid or GRID, GRID)
    problem = DiscInBox.at(max(n, COARSEST))
    rows = []
    for density, published in PUBLISHED.items():
        for name, model in MODELS.items():
            ours = problem.acceleration(model(problem, density))
            ratio = ours / published if published else None
            label = f"density {density:g}"
            rows.append(
                StudyRow(options.name, label, problem.operators.grid.shape[0], name, "value", ours, published, ratio)
            )
    return rows
