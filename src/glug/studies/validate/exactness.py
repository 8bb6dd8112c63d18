"""What the assembled problems of glug's variational lab do exactly, whatever the shapes and the mesh.

`ours` is the largest error, of a velocity [m/s] or, in `prescribed_pressure_p`, of a pressure [Pa]: rounding. Liquid
and container are wavy discs (in 3D balls), not aligned with the grid.

- `rigid_motion`, `rigid_motion_3d`: free liquid that moves and turns keeps its velocity.
- `rest_full`, `rest_half_full`: gravity for a step of 0.1 s does not move liquid in a container.
- `prescribed_pressure`: a linear pressure on the free surface and inside balances a force; nothing moves. Beside it
  `prescribed_pressure_p`, the error of the pressure.
- `forms`: from a random velocity, the solution with the velocity eliminated against the one with the stresses
  eliminated (viscosity) or with nothing eliminated (Stokes).

The rows `laplacian` are the control: diffusion component by component takes the rotation away. The rows are those of
regular grids; `tests/physics/test_variational.py` asserts these errors on other meshes too, and has more controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from glug.grids.mesh import Distance, Fractions, StrainMesh, face_velocities
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.tree import Octree
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.reference.pressure import AreaPressure, ghost_distance, volume_pressure
from glug.physics.reference.viscosity import laplacian_problem, viscosity_problem
from glug.physics.stokes.problem import stokes_problem
from glug.physics.variational import Form, VariationalProblem
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import grids

COARSEST, USUAL_LARGEST, LARGEST_3D = 16, 64, 16
GRAVITY_STEP = 9.81 * 0.1  # g dt [m/s]
MU = 0.7  # [Pa s]
LEVEL = 0.123  # [m] of the liquid that half fills its container
SLOPE = (1.3, -0.4, 0.9)  # [Pa/m] of a prescribed pressure
DOWN = (0.0, -1.0, 0.0)
LEVELS, BAND = 3, 1.5  # of trees, and how far from a surface their leaves are finest [leaves]
Points = np.ndarray  # (n, dim)
Physics = Callable[[StrainMesh, Fractions, Fractions], VariationalProblem]  # of liquid and what is not solid


def square(n: int, dim: int = 2, shift: float | tuple[float, ...] = 0.0) -> Operators:
    """n cells along each side of [-1.5, 1.5]^dim, moved by `shift` cells, along every axis or axis by axis."""
    return Operators(_cells(n, dim, shift))


def tree(n: int, dim: int, shift: float | tuple[float, ...], surfaces: Sequence[Distance]) -> OctreeOperators:
    """The same cube as a tree with n finest leaves along a side, fine along the surfaces."""
    grid = _cells(n, dim, shift)
    points = grid.points(CENTRE).reshape(-1, 3)[:, :dim]
    near = [np.abs(surface(points)) < BAND * np.sqrt(dim) * grid.dx for surface in surfaces]
    finest = np.any(near, axis=0).reshape(grid.shape)
    return OctreeOperators(Octree.refined(finest, LEVELS, dim), dx=grid.dx, corner=grid.origin)


def _cells(n: int, dim: int, shift: float | tuple[float, ...]) -> Grid:
    dx = 3.0 / n
    corner = tuple((-1.5 + dx * np.broadcast_to(shift, 3)).tolist())
    return Grid(dx, (n, n, n if dim == 3 else 1), origin=corner, dim=dim)


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


def below(level: float, down: Sequence[float] = DOWN) -> Distance:
    """The half-space below `level` [m], y < level where down is down."""
    return lambda points: -(points @ np.array(down)[: points.shape[1]]) - level


@dataclass(frozen=True)
class Shaped(Fractions):
    """Fractions, and the distance they are of."""

    distance: Distance


def fractions(mesh: StrainMesh, distance: Distance) -> Shaped:
    found = mesh.fractions(distance)
    return Shaped(found.cell, found.face, found.edge, distance)


def area_pressure(mesh: StrainMesh, liquid: Fractions, fluid: Fractions) -> AreaPressure:
    """The default projection: open areas and ghost-fluid distances, of the shapes or of all space."""
    area = mesh.open_area(fluid.distance) if isinstance(fluid, Shaped) else np.ones_like(fluid.face)
    phi = liquid.distance(mesh.cell_position) if isinstance(liquid, Shaped) else np.full(len(liquid.cell), -1.0)
    wet = (phi < 0) & (np.abs(mesh.D) @ area > 0)
    return AreaPressure(mesh, area, wet, ghost_distance(mesh, phi))


def rigid(points: Points) -> np.ndarray:
    """A translation and a rotation together."""
    shift = np.array([0.3, -0.7, 0.2])[: points.shape[1]]
    if points.shape[1] == 2:
        return shift + np.column_stack([-points[:, 1], points[:, 0]])
    return shift + np.cross([0.4, -0.2, 1.0], points)


def full_viscosity(mesh: StrainMesh, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return viscosity_problem(mesh, liquid, fluid, MU)


def published_viscosity(mesh: StrainMesh, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return viscosity_problem(mesh, liquid, fluid, MU, trace_free=True)


def stokes(mesh: StrainMesh, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    return stokes_problem(mesh, liquid, fluid, MU)


PRESSURES: dict[str, Physics] = {"pressure": area_pressure, "published pressure": volume_pressure, "stokes": stokes}
VISCOSITIES: dict[str, Physics] = {"viscosity": full_viscosity, "published viscosity": published_viscosity}
EVERY_PHYSICS = PRESSURES | VISCOSITIES


def change_of_rigid_motion(physics: Physics, mesh: StrainMesh) -> float:
    """The largest, of the velocity of a free blob."""
    liquid = fractions(mesh, Blob())
    before = face_velocities(mesh, rigid)
    after = physics(mesh, liquid, Fractions.full(mesh)).solve(before).u
    return float(np.abs(after - before)[liquid.face > 0].max())


def left_of_gravity(problem: VariationalProblem, down: Sequence[float] = DOWN) -> float:
    """The largest velocity after a step, among the faces that can move."""
    mesh = problem.rows.mesh
    fall = GRAVITY_STEP * mesh.face_normal @ np.array(down)[: mesh.dim]
    return float(np.abs(problem.solve(fall).u[problem.moves]).max())


def motion_at_rest(physics: Physics, mesh: StrainMesh, level: float | None, down: Sequence[float] = DOWN) -> float:
    """The largest velocity in a wavy container, full (None) or filled up to a level [m]."""
    liquid = Fractions.full(mesh) if level is None else fractions(mesh, below(level, down))
    return left_of_gravity(physics(mesh, liquid, fractions(mesh, Blob())), down)


@dataclass(frozen=True)
class Balanced:
    """A blob with the pressure 3 + slope . x on its surface, pushed by u* = slope: nothing is to move."""

    system: VariationalProblem
    outside: np.ndarray  # what acts on the surface, for all rows
    push: np.ndarray

    @classmethod
    def of(cls, physics: Physics, mesh: StrainMesh, slope: Sequence[float]) -> Balanced:
        system = physics(mesh, fractions(mesh, Blob()), Fractions.full(mesh))
        along = np.array(slope)[: mesh.dim]
        outside = np.zeros(len(system.rows.liquid))
        outside[system.rows.slices["p"]] = 3.0 + mesh.cell_position @ along
        return cls(system, outside, mesh.face_normal @ along)

    def errors(self, push: np.ndarray) -> tuple[float, float]:
        """The largest velocity [m/s], and the largest error of the multipliers [Pa], of liquid so pushed."""
        solution = self.system.solve(push, s_air=self.outside)
        valid = self.system.valid & (self.system.rows.liquid > 0)
        off = np.abs(solution.s - self.outside)[valid]
        return float(np.abs(solution.u[self.system.moves]).max()), float(off.max())


def random_velocity(mesh: StrainMesh) -> np.ndarray:
    return np.random.default_rng(1).normal(size=len(mesh.face_volume))


def tilted_wall(points: Points) -> np.ndarray:
    """Of what is in front of it."""
    wall = np.array([0.3, 1.0, 0.0])[: points.shape[1]] / np.hypot(0.3, 1.0)
    return -(points @ wall) - 0.4


def cut_blob(mesh: StrainMesh) -> tuple[StrainMesh, Fractions, Fractions]:
    """A blob of liquid that a tilted wall cuts: a free surface, a wall, and where they meet."""
    return mesh, fractions(mesh, Blob()), fractions(mesh, tilted_wall)


def difference_of_forms(physics: Physics, mesh: StrainMesh, forms: tuple[Form, Form]) -> float:
    """Between the velocities, the largest."""
    problem, start = physics(*cut_blob(mesh)), random_velocity(mesh)
    one, other = (problem.solve(start, form=form).u for form in forms)
    return float(np.abs(one - other).max())


def study(options: StudyOptions) -> list[StudyRow]:
    """A row for every exactness, physics and grid."""
    numbers = grids(options.largest_grid, COARSEST, USUAL_LARGEST, USUAL_LARGEST)
    rows = []

    def add(quantity: str, table: str, n: int, error: float) -> None:
        rows.append(StudyRow(options.name, table, n, quantity, "Linf", error))

    for n in numbers:
        mesh, other = square(n, shift=0.21), square(n, shift=0.37)
        for name, physics in EVERY_PHYSICS.items():
            add("rigid_motion", name, n, change_of_rigid_motion(physics, mesh))
            if n <= LARGEST_3D:
                add("rigid_motion_3d", name, n, change_of_rigid_motion(physics, square(n, 3, shift=0.21)))
        add("rigid_motion", "laplacian", n, change_of_rigid_motion(_laplacian, mesh))
        for name, physics in PRESSURES.items():
            add("rest_full", name, n, motion_at_rest(physics, other, None))
            add("rest_half_full", name, n, motion_at_rest(physics, other, LEVEL))
            balanced = Balanced.of(physics, mesh, SLOPE)
            u, p = balanced.errors(balanced.push)
            add("prescribed_pressure", name, n, u)
            add("prescribed_pressure_p", name, n, p)
        for name, physics in VISCOSITIES.items():
            add("forms", name, n, difference_of_forms(physics, other, ("stress", "velocity")))
        add("forms", "stokes", n, difference_of_forms(stokes, other, ("stress", "kkt")))
    return sorted(rows, key=lambda row: (row.quantity, row.table, row.grid))


def _laplacian(mesh: StrainMesh, liquid: Fractions, fluid: Fractions) -> VariationalProblem:
    """Diffusion component by component, the control; it knows no solids."""
    return laplacian_problem(mesh, liquid, MU)
