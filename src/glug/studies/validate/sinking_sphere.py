"""`glug validate sinking-sphere`: a ball sinks on the axis of a cylinder of very viscous liquid.

Stokes' speed 2/9 (rho_ball - rho) g a^2 / mu is divided by the factor that the wall costs: 1.680 where the ball's
radius is a fifth of the cylinder's (Haberman and Sayre 1958). The flow is that of the simulation's own solves (project,
viscosity, project, or one Stokes solve) around a ball that stays in place: at vanishing Reynolds number only its speed
changes. Two slip walls through the axis leave a quarter of it. The cylinder is closed 6 radii above and below the ball,
where what it stirs has died away. The negative control is a ball that pressure moves and viscosity only resists
afterwards: its velocity is known to the viscous solve instead of an unknown of it.

Split, pressure and viscosity push the ball one after the other, and its speed depends on the step; in one Stokes solve
it does not.
"""

from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import Grid
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.velocity import LiquidSurroundings
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.solvers.limits import SolveLimits
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

RATIO = 0.2  # the ball's radius over the cylinder's
FACTOR = 1.680  # Haberman and Sayre 1958, Table 1
HEIGHT = 12.0  # of the cylinder, in radii of the ball
DENSITY, BALL, VISCOSITY, GRAVITY, RADIUS = 1000.0, 1100.0, 1.0, 9.81, 0.01  # SI; nu = 1e-3 m2/s
CELLS = (4, 6, 8, 10)  # per radius
STEPS = (0.05,)  # dt nu / a^2
FINER_STEPS = (0.1, 0.025)  # at the coarsest grid
STOKES_STEPS = (0.1, 1.0, 5.0, 25.0)  # at the coarsest grid; the last one at the others
# The slowest motion of the liquid in the cylinder dies away as exp(-t / 1.7), in units of a^2 / nu: after one phase
# its speed is that of steps eight times as long, to a percent, and after the other its own, to a thousandth.
WARM_UP, COARSE, LENGTH = 8.0, 8.0, 6.0
LEAST_STEPS = 2  # of either phase, however long they are


@dataclass(frozen=True)
class Ball:
    """The ball at the origin, about to sink along -y."""

    moving: bool = True

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.linalg.norm(points, axis=-1) - RADIUS

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        return np.full(3, -RADIUS), np.full(3, RADIUS)


@dataclass(frozen=True)
class Tube:
    """All that is not inside the cylinder about the y axis."""

    moving: bool = False

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        return RADIUS / RATIO - np.hypot(points[:, 0], points[:, 2])

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        return np.zeros_like(points)

    def bounds(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        return np.full(3, -np.inf), np.full(3, np.inf)


def stokes_speed() -> float:
    """2/9 (rho_ball - rho) g a^2 / mu [m/s]"""
    return 2.0 / 9.0 * (BALL - DENSITY) * GRAVITY * RADIUS**2 / VISCOSITY


def geometry(cells: int) -> tuple[Grid, np.ndarray, SolidField, RigidBodies]:
    """A quarter of the cylinder, `cells` per radius of the ball: grid, liquid, solids, the ball."""
    dx = RADIUS / cells
    across, along = int(np.ceil(cells / RATIO)) + 6, int(np.ceil(HEIGHT * cells)) + 6
    across, along = -(-across // 8) * 8, -(-along // 8) * 8
    half = 0.5 * HEIGHT * RADIUS
    grid = Grid(dx, (across, along, across), (-3, -3, -3), (0.0, -half, 0.0))
    slip = ((np.inf, 0.0), (0.0, 0.0), (np.inf, 0.0))
    walls = Walls((0.0, -half, 0.0), (np.inf, half, np.inf), slip)
    field = sample_solids(grid, walls, [Tube(), Ball()], 0.0)
    phi = np.full(grid.shape, np.float32(-10.0 * dx), np.float32)
    quarter = 0.25 * BALL * 4.0 / 3.0 * np.pi * RADIUS**3
    sinks = np.zeros((6, 1))
    sinks[1] = 1.0
    ball = Inertia(1, np.zeros(3), BALL, quarter, 0.4 * quarter * RADIUS**2 * np.eye(3), sinks)
    return grid, phi, field, RigidBodies.build(grid, field, [ball], DENSITY)


def settled_speed(cells: int, step: float, *, coupled: bool = True) -> float:
    """The speed [m/s] at which the ball sinks in the end, with steps of `step` a^2 / nu; longer ones come first."""
    grid, phi, field, bodies = geometry(cells)
    pressure = PressureProblem.build(grid, phi, field, bodies)
    velocity, reached = grid.staggered(), grid.staggered()
    floor = 1e-3 * stokes_speed()
    time_unit = RADIUS**2 * DENSITY / VISCOSITY
    for length, each in ((WARM_UP, COARSE * step), (LENGTH, step)):
        dt = each * time_unit
        diffusion = VISCOSITY * dt / (DENSITY * grid.dx**2)
        viscosity = ViscosityProblem.build(grid, phi, field, diffusion, bodies if coupled else None)
        # Weight less buoyancy; the hydrostatic pressure of both is left out.
        push = -GRAVITY * (1.0 - DENSITY / BALL) * dt
        for _ in range(int(np.ceil(length / each))):
            bodies.velocity[0, 1] += push
            pressure.project(velocity, SolveLimits(1e-4, 500, floor))
            around = LiquidSurroundings(grid, field, bodies.walls, pressure.liquid, reached)
            around.extend(velocity, 2, stick=True)
            known = viscosity if coupled else replace(viscosity, solid=replace(field, velocity=bodies.walls))
            known.solve(velocity, SolveLimits(1e-4, 500, floor))
            pressure.project(velocity, SolveLimits(1e-4, 500, floor))
    return -float(bodies.velocity[0, 1])


def settled_speed_at_once(cells: int, step: float) -> float:
    """The same with one Stokes solve in a step."""
    grid, phi, field, bodies = geometry(cells)
    velocity, time_unit = grid.staggered(), RADIUS**2 * DENSITY / VISCOSITY
    for length, each in ((WARM_UP, COARSE * step), (LENGTH, step)):
        dt = each * time_unit
        problem = StokesProblem.build(
            ViscousFluid(grid, phi, field, VISCOSITY * dt / (DENSITY * grid.dx**2), bodies=bodies)
        )
        for _ in range(max(LEAST_STEPS, int(np.ceil(length / each)))):
            bodies.velocity[0, 1] -= GRAVITY * (1.0 - DENSITY / BALL) * dt
            problem.solve(velocity, SolveLimits(1e-5, 500, 1e-6 * stokes_speed()))
    return -float(bodies.velocity[0, 1])


def study(options: StudyOptions) -> list[StudyRow]:
    """A row per grid and step: Stokes' speed over ours, beside the published factor."""
    largest = options.largest_grid or max(CELLS)
    cases = [(n, s) for n in CELLS for s in STEPS if n <= largest] + [(min(CELLS), s) for s in FINER_STEPS]
    rows = []
    for cells, step in sorted(cases):
        factor = stokes_speed() / settled_speed(cells, step)
        table = f"dt nu / a2 = {step:g}"
        rows.append(StudyRow("sinking-sphere", table, cells, "wall factor", "value", factor, FACTOR, factor / FACTOR))
    for cells, step in [(min(CELLS), s) for s in STOKES_STEPS] + [(n, STOKES_STEPS[-1]) for n in CELLS[1:]]:
        if cells <= largest:
            factor = stokes_speed() / settled_speed_at_once(cells, step)
            table = f"stokes, dt nu / a2 = {step:g}"
            rows.append(
                StudyRow("sinking-sphere", table, cells, "wall factor", "value", factor, FACTOR, factor / FACTOR)
            )
    loose = stokes_speed() / settled_speed(min(CELLS), STEPS[0], coupled=False)
    rows.append(
        StudyRow(
            "sinking-sphere", "known to viscosity", min(CELLS), "wall factor", "value", loose, FACTOR, loose / FACTOR
        )
    )
    return rows
