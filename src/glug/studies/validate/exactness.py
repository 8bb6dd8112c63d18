"""What the assembled problems of glug's variational lab do exactly, whatever the shapes and the grid.

`ours` is the largest error, of a velocity [m/s] or, in `prescribed_pressure_p`, of a pressure [Pa]: rounding. Liquid
and container are wavy discs (in 3D balls), not aligned with the grid.

- `rigid_motion`, `rigid_motion_3d`: free liquid that moves and turns keeps its velocity.
- `rest_full`, `rest_half_full`: gravity for a step of 0.1 s does not move liquid in a container.
- `prescribed_pressure`: a linear pressure on the free surface and inside balances a force; nothing moves. Beside it
  `prescribed_pressure_p`, the error of the pressure.
- `forms`: from a random velocity, the solution with the velocity eliminated against the one with the stresses
  eliminated (viscosity) or with nothing eliminated (Stokes).

The rows `laplacian` are the control: diffusion component by component takes the rotation away.
`tests/physics/test_variational.py` asserts these errors, and has more controls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.geometry.exact_fractions import face_fraction, function_fraction
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.reference.pressure import AreaPressure, ghost_distance, volume_pressure
from glug.physics.reference.viscosity import laplacian_problem, viscosity_problem
from glug.physics.stokes.problem import stokes_problem
from glug.physics.variational import Form, VariationalProblem
from glug.physics.weights import Fractions
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import grids

COARSEST, USUAL_LARGEST, LARGEST_3D = 16, 64, 16
GRAVITY_STEP = 9.81 * 0.1  # g dt [m/s]
MU = 0.7  # [Pa s]
LEVEL = 0.123  # [m] of the liquid that half fills its container
SLOPE = (1.3, -0.4)  # [Pa/m] of a prescribed pressure
Points = np.ndarray  # (n, dim)
Physics = Callable[[Operators, Fractions, Fractions], VariationalProblem]  # of operators, liquid and what is not solid


def square(n: int, dim: int = 2, shift: float | tuple[float, ...] = 0.0) -> Operators:
    """n cells along each side of [-1.5, 1.5]^dim, moved by `shift` cells, along every axis or axis by axis."""
    dx = 3.0 / n
    corner = tuple((-1.5 + dx * np.broadcast_to(shift, 3)).tolist())
    return Operators(Grid(dx, (n, n, n if dim == 3 else 1), origin=corner, dim=dim))


class Blob:
    """A wavy disc or ball: r < R (1 + sum a_k cos(k t + b_k)), as about a signed distance."""

    def __init__(self, radius: float = 1.0, waves: tuple[tuple[float, float], ...] = ((0.1, 0.3), (0.05, 1.0))):
        self.radius, self.waves = radius, waves

    def __call__(self, points: Points) -> np.ndarray:
        r = np.linalg.norm(points, axis=1)
        t = np.arctan2(points[:, 1], points[:, 0])
        edge, slope = np.ones(len(r)), np.zeros(len(r))
        for k, (size, phase) in enumerate(self.waves, start=2):
            edge += size * np.cos(k * t + phase)
            slope -= k * size * np.sin(k * t + phase)
        return (r - self.radius * edge) / np.sqrt(1.0 + (slope / edge) ** 2)


def below(level: float) -> Callable[[Points], np.ndarray]:
    """The half-space y < level."""
    return lambda points: points[:, 1] - level


@dataclass(frozen=True)
class Shaped(Fractions):
    """Fractions, and the distance they are of."""

    phi: Callable[[Points], np.ndarray]


def fractions(operators: Operators, phi: Callable[[Points], np.ndarray]) -> Shaped:
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


def velocity(operators: Operators, field: Callable[[Points], np.ndarray]) -> np.ndarray:
    """The face components of `field(points) -> (n, dim)`, flat."""
    return np.concatenate([field(operators.points(o))[:, a] for a, o in enumerate(operators.faces)])


def rigid(points: Points) -> np.ndarray:
    """A translation and a rotation together."""
    shift = np.array([0.3, -0.7, 0.2])[: points.shape[1]]
    if points.shape[1] == 2:
        return shift + np.column_stack([-points[:, 1], points[:, 0]])
    return shift + np.cross([0.4, -0.2, 1.0], points)


def full_viscosity(operators: Operators, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return viscosity_problem(operators, liquid, fluid, MU)


def published_viscosity(operators: Operators, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return viscosity_problem(operators, liquid, fluid, MU, trace_free=True)


def stokes(operators: Operators, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return stokes_problem(operators, liquid, fluid, MU)


PRESSURES: dict[str, Physics] = {"pressure": area_pressure, "published pressure": volume_pressure, "stokes": stokes}
VISCOSITIES: dict[str, Physics] = {"viscosity": full_viscosity, "published viscosity": published_viscosity}
EVERY_PHYSICS = PRESSURES | VISCOSITIES


def change_of_rigid_motion(physics: Physics, n: int, dim: int) -> float:
    """The largest, of the velocity of a free blob."""
    operators = square(n, dim, shift=0.21)
    liquid = fractions(operators, Blob())
    before = velocity(operators, rigid)
    after = physics(operators, liquid, Fractions.full(operators)).solve(before).u
    return float(np.abs(after - before)[liquid.face > 0].max())


def left_of_gravity(problem: VariationalProblem, operators: Operators) -> float:
    """The largest velocity after a step, among the faces that can move."""
    down = np.array([0.0, -GRAVITY_STEP, 0.0])[: operators.dim]
    fall = velocity(operators, lambda p: np.broadcast_to(down, p.shape))
    return float(np.abs(problem.solve(fall).u[problem.moves]).max())


def motion_at_rest(physics: Physics, n: int, level: float | None) -> float:
    """The largest velocity in a wavy container, full (None) or filled up to a level [m]."""
    operators = square(n, shift=0.37)
    liquid = Fractions.full(operators) if level is None else fractions(operators, below(level))
    return left_of_gravity(physics(operators, liquid, fractions(operators, Blob())), operators)


@dataclass(frozen=True)
class Balanced:
    """A blob with the pressure 3 + slope . x on its surface, pushed by u* = slope: nothing is to move."""

    operators: Operators
    system: VariationalProblem
    outside: np.ndarray  # what acts on the surface, for all rows
    push: np.ndarray

    @classmethod
    def of(cls, physics: Physics, n: int, slope: tuple[float, float]) -> Balanced:
        operators = square(n, shift=0.21)
        system = physics(operators, fractions(operators, Blob()), Fractions.full(operators))
        outside = np.zeros(len(system.rows.liquid))
        outside[system.rows.slices["p"]] = 3.0 + operators.points(CENTRE) @ np.array(slope)
        return cls(operators, system, outside, velocity(operators, lambda p: np.broadcast_to(slope, p.shape)))

    def errors(self, push: np.ndarray) -> tuple[float, float]:
        """The largest velocity [m/s], and the largest error of the multipliers [Pa], of liquid so pushed."""
        solution = self.system.solve(push, s_air=self.outside)
        valid = self.system.valid & (self.system.rows.liquid > 0)
        off = np.abs(solution.s - self.outside)[valid]
        return float(np.abs(solution.u[self.system.moves]).max()), float(off.max())


def random_velocity(operators: Operators) -> np.ndarray:
    return np.random.default_rng(1).normal(size=sum(operators.count(o) for o in operators.faces))


def cut_blob(n: int) -> tuple[Operators, Fractions, Fractions]:
    """A blob of liquid that a tilted wall cuts: a free surface, a wall, and where they meet."""
    operators = square(n, shift=0.37)
    wall = np.array([0.3, 1.0]) / np.hypot(0.3, 1.0)
    return operators, fractions(operators, Blob()), fractions(operators, lambda points: -(points @ wall) - 0.4)


def difference_of_forms(physics: Physics, n: int, forms: tuple[Form, Form]) -> float:
    """Between the velocities, the largest."""
    geometry = cut_blob(n)
    problem, start = physics(*geometry), random_velocity(geometry[0])
    one, other = (problem.solve(start, form=form).u for form in forms)
    return float(np.abs(one - other).max())


def study(options: StudyOptions) -> list[StudyRow]:
    """A row for every exactness, physics and grid."""
    numbers = grids(options.largest_grid, COARSEST, USUAL_LARGEST, USUAL_LARGEST)
    rows = []

    def add(quantity: str, table: str, n: int, error: float) -> None:
        rows.append(StudyRow(options.name, table, n, quantity, "Linf", error))

    for n in numbers:
        for name, physics in EVERY_PHYSICS.items():
            add("rigid_motion", name, n, change_of_rigid_motion(physics, n, 2))
            if n <= LARGEST_3D:
                add("rigid_motion_3d", name, n, change_of_rigid_motion(physics, n, 3))
        add("rigid_motion", "laplacian", n, change_of_rigid_motion(_laplacian, n, 2))
        for name, physics in PRESSURES.items():
            add("rest_full", name, n, motion_at_rest(physics, n, None))
            add("rest_half_full", name, n, motion_at_rest(physics, n, LEVEL))
            balanced = Balanced.of(physics, n, SLOPE)
            u, p = balanced.errors(balanced.push)
            add("prescribed_pressure", name, n, u)
            add("prescribed_pressure_p", name, n, p)
        for name, physics in VISCOSITIES.items():
            add("forms", name, n, difference_of_forms(physics, n, ("stress", "velocity")))
        add("forms", "stokes", n, difference_of_forms(stokes, n, ("stress", "kkt")))
    return sorted(rows, key=lambda row: (row.quantity, row.table, row.grid))


def _laplacian(operators: Operators, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    """Diffusion component by component, the control; it knows no solids."""
    return laplacian_problem(operators, liquid, MU)
