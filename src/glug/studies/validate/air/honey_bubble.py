"""`glug validate honey-bubble`: a bubble rises on the axis of a closed cylinder of very viscous liquid.

Air has no viscosity, so nothing holds the liquid back along the bubble: it rises half as fast again as Stokes' sphere,
at U = 1/3 rho g a^2 / mu (Hadamard 1911; Rybczynski 1911), and the wall costs a factor of 1.390 where the bubble's
radius is a fifth of the cylinder's (Haberman and Sayre 1958, for a fluid sphere without viscosity). The flow is that of
one Stokes solve with a constraint bubble, in steps so long that it is steady; the bubble stays in place, and its speed
is that of its centroid by the flux through its surface. Two slip walls through the axis leave a quarter.
`lost` is the net flux into the bubble over that of its rise.
"""

import numpy as np

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.bubbles import centroid_velocity
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.solvers.limits import SolveLimits
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.sinking_sphere import DENSITY, GRAVITY, HEIGHT, RADIUS, RATIO, VISCOSITY, Tube

CELLS = (4, 6, 8, 10)  # per radius
FACTOR = 1.390  # (1 + 1.1379 r^5) / (1 - 1.4034 r + 1.1378 r^5 - 0.72603 r^6), r = 0.2
STEP, STEPS = 25.0, 3  # dt nu / a^2, after which the flow is steady to a thousandth


def free_speed() -> float:
    """rho g a^2 / (3 mu) [m/s]"""
    return DENSITY * GRAVITY * RADIUS**2 / (3.0 * VISCOSITY)


def rise(cells: int) -> tuple[float, float]:
    """Speed of the bubble [m/s], and the net flux into it over that of its rise."""
    dx, half = RADIUS / cells, 0.5 * HEIGHT * RADIUS
    across, along = (-(-(int(np.ceil(n * cells)) + 6) // 8) * 8 for n in (1.0 / RATIO, HEIGHT))
    grid = Grid(dx, (across, along, across), (-3, -3, -3), (0.0, -half, 0.0))
    slip = ((np.inf, 0.0), (0.0, 0.0), (np.inf, 0.0))
    field = sample_solids(grid, Walls((0.0, -half, 0.0), (np.inf, half, np.inf), slip), [Tube()], 0.0)
    x = np.where(grid.points(CENTRE) < 0.0, [-1.0, 1.0, -1.0], 1.0) * grid.points(
        CENTRE
    )  # its mirror image behind walls
    phi = np.minimum(RADIUS - np.linalg.norm(x, axis=-1), 4.0 * dx).astype(np.float32)
    air = PressureProblem.build(grid, phi, field).with_closed_air()
    dt = STEP * RADIUS**2 * DENSITY / VISCOSITY
    assert air.bubbles is not None
    diffusion = VISCOSITY * dt / (DENSITY * dx**2)
    problem = StokesProblem.build(ViscousFluid(grid, phi, field, diffusion)).with_bubbles(air.bubbles)
    velocity = grid.staggered()
    for _ in range(STEPS):
        velocity[1][:] -= np.float32(GRAVITY * dt)
        problem.solve(velocity, SolveLimits(1e-6, 500))
    bubble = (air.bubbles.regions.label == air.bubbles.number[0]).reshape(-1)
    flat = np.concatenate([(u * a).ravel() for u, a in zip(velocity, field.area)]).astype(np.float64)
    speed = float(centroid_velocity(Operators(grid), np.ones_like(flat), bubble, flat)[1])
    return speed, float(air.bubbles.outflow(velocity)[0]) / (0.25 * np.pi * cells**2 * abs(speed))


def study(options: StudyOptions) -> list[StudyRow]:
    """A row per grid: the free speed over ours, beside the published factor."""
    largest = options.largest_grid or max(CELLS)
    rows = []
    for cells in (n for n in CELLS if n <= largest):
        speed, lost = rise(cells)
        factor = free_speed() / speed
        rows.append(StudyRow("honey-bubble", "stokes", cells, "wall factor", "value", factor, FACTOR, factor / FACTOR))
        rows.append(StudyRow("honey-bubble", "stokes", cells, "lost", "value", lost))
    return rows
