"""Viscous problems of scenes, as the viscosity stage of a step sees them, for the bench of octrees.

`beam` is the library's beam, `figure` a compact figure of balls that stands on a floor it sticks to, both in their
first step of 1/48 s under gravity; their distances are those of the shapes. The library's other scenes are run for
some frames and stopped before the next viscous solve.
"""

from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.blocks import TILE
from glug.grids.regular import CENTRE, Grid, Staggered

DT, GRAVITY = 1.0 / 48.0, 9.81
# Centres and radii in heights of the figure: body, head, ears, arms, legs.
BALLS = (
    ((0.5, 0.38, 0.5), 0.36),
    ((0.5, 0.76, 0.5), 0.22),
    ((0.35, 0.92, 0.5), 0.08),
    ((0.65, 0.92, 0.5), 0.08),
    ((0.18, 0.52, 0.58), 0.13),
    ((0.82, 0.52, 0.58), 0.13),
    ((0.34, 0.16, 0.66), 0.17),
    ((0.66, 0.16, 0.66), 0.17),
)
FRAMES = {"buckling-sheet": 40, "melting": 12, "letter-mixer": 30}  # until there is something to solve


@dataclass
class ViscousInput:
    """What a viscous solve is given; `diffusion` is mu dt / (rho dx^2)."""

    grid: Grid
    phi: np.ndarray
    solid: SolidField
    diffusion: np.ndarray | float
    velocity: Staggered

    @property
    def voxels(self) -> int:
        """Cells with liquid in them."""
        return int((self.phi < 0).sum())


def viscous_input(case: str, n: int) -> ViscousInput:
    """`case` at `n` cells: along the figure's height, or along the longest side of a scene."""
    return figure(n) if case == "figure" else beam(n) if case == "beam" else captured(case, n)


def window(lower: tuple[float, ...], upper: tuple[float, ...], dx: float, pad: int = 5) -> Grid:
    """Whole tiles around a box."""
    lo = [int(np.floor(x / dx)) - pad for x in lower]
    shape = [-(-(int(np.ceil(x / dx)) + pad - a) // TILE) * TILE for x, a in zip(upper, lo)]
    return Grid(dx, (shape[0], shape[1], shape[2]), (lo[0], lo[1], lo[2]))


def falling(grid: Grid) -> Staggered:
    """The velocity after a step of free fall."""
    u, v, w = grid.staggered()
    v[:] = -GRAVITY * DT
    return u, v, w


def figure(n: int) -> ViscousInput:
    """Height 0.3 m, 1000 Pa s, 1000 kg/m3."""
    height = 0.3
    dx = height / n
    grid = window((0.05 * height, 0.0, 0.14 * height), (0.95 * height, height, 0.86 * height), dx)
    x, y, z = np.meshgrid(*(c.astype(np.float32) for c in grid.coordinates(CENTRE)), indexing="ij", sparse=True)
    phi = np.full(grid.shape, np.inf, np.float32)
    for (cx, cy, cz), r in BALLS:
        d = np.sqrt((x - height * cx) ** 2 + (y - height * cy) ** 2 + (z - height * cz) ** 2) - np.float32(height * r)
        np.minimum(phi, d, out=phi)
    solid = sample_solids(grid, Walls((-np.inf, 0.02 * height, -np.inf), (np.inf,) * 3), [], 0.0)
    return ViscousInput(grid, phi, solid, 1000.0 * DT / (1000.0 * dx * dx), falling(grid))


def beam(n: int) -> ViscousInput:
    """The box of the scene `viscous-beam`, stuck to the wall x = 0."""
    from glug.scene import load

    scene = load("viscous-beam", {"domain.resolution": n})
    dx, shape = scene.domain.dx, scene.volumes[0].shape
    lower, upper = shape.bounds()
    grid = window(tuple(lower), tuple(upper), dx)
    x, y, z = np.meshgrid(*(c.astype(np.float32) for c in grid.coordinates(CENTRE)), indexing="ij", sparse=True)
    sides = [np.maximum(low - c, c - high) for c, low, high in zip((x, y, z), lower, upper)]
    sides[0] = x - np.float32(upper[0])  # it goes on into the wall
    phi = np.maximum(np.maximum(sides[0], sides[1]), sides[2]).astype(np.float32)
    solid = sample_solids(grid, Walls((0.0, -np.inf, -np.inf), (np.inf,) * 3), [], 0.0)
    liquid = scene.liquids["paste"]
    assert liquid.viscosity.kind == "constant"
    diffusion = liquid.viscosity.value * DT / (liquid.density * dx * dx)
    return ViscousInput(grid, phi, solid, diffusion, falling(grid))


def captured(case: str, n: int) -> ViscousInput:
    """A library scene at the viscous solve that follows FRAMES frames."""
    from glug.scene import load
    from glug.simulation import Simulation, StepContext
    from glug.simulation.stages.solves import viscous_fluid
    from glug.simulation.stages.transfer import around_liquid
    from glug.simulation.step import run_stages

    simulation = Simulation(load(case, {"domain.resolution": n, "time.frames": FRAMES[case]}))
    for _ in simulation.run():
        pass
    context = run_stages(StepContext(simulation.setting, simulation.state), simulation.stages.upto("viscosity"))
    around_liquid(context, 2, stick=True)
    fluid = viscous_fluid(context, context.dt)
    return ViscousInput(fluid.grid, fluid.phi, fluid.solid, fluid.diffusion, context.velocity)
