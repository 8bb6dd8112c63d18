"""Stages before any solve: where liquid, solids and air are, and what is to be done about volumes."""

from __future__ import annotations

import math

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.liquid import BEYOND, FAR_FROM_WALL, IntoSolids, fill_hidden, fill_holes, liquid_distance
from glug.geometry.tracking.sampling import surface_distance
from glug.grids.regular import CENTRE, Grid
from glug.particles.transfer import to_cells
from glug.physics.affine.projection import Depths, mark_particles
from glug.physics.air.two_phase import affine_air, two_phase_problem
from glug.physics.densities import distance_of, mobility_of
from glug.physics.pressure.evenness import Evenness
from glug.physics.pressure.problem import PressureProblem, open_cells
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.rigid.bodies import RigidBodies
from glug.simulation.bodies.motion import reduced
from glug.simulation.closed_air import ClosedAir
from glug.simulation.context import StepContext
from glug.simulation.solvers import affine_regions
from glug.simulation.stages.paths import fills_all

CORRECTION_GAIN = 0.1  # share of the volume error that one step corrects (Goldade 2021, section 4.4.1)
MOST_ROUNDS = 3  # in which the surfaces of bubbles are moved, and measured again


def geometry(context: StepContext) -> None:
    """Solids, the liquid's distance, bodies and densities."""
    setting, state, grid = context.setting, context.state, context.grid
    p = state.particles
    solid = setting.solid_field(grid, state.time, state.bodies)
    into = IntoSolids(setting.up, BEYOND if setting.tension > 0.0 else FAR_FROM_WALL)
    if state.surface is not None:
        phi = surface_distance(state.surface.vertices, state.surface.triangles, grid)
    else:
        phi = liquid_distance(p.position, p.volume, p.start, grid, solid.distance, into=into)
    fill_hidden(phi, solid.hidden)
    if setting.scene.solver.air == "vacuum":
        fill_holes(phi, solid.openness, grid.dx)
    context.solid, context.phi = solid, phi
    context.held = setting.held_field(grid, state.time, state.bodies)
    context.fraction = liquid_volume(phi, grid, CENTRE) * solid.openness
    context.bodies = bodies_now(context)
    context.liquids = {n: distance_of(n, p, grid, solid, into) for n in setting.other_densities}
    ratios = [setting.density_ratios[n] for n in context.liquids]
    context.mobility = mobility_of(list(context.liquids.values()), ratios, grid, phi) if ratios else None
    context.freed = None if solid.separating is None else freed_before(grid, state.freed)


def bodies_now(context: StepContext) -> RigidBodies | None:
    """The rigid bodies on the grid, with the velocity that gravity and what they press against give them."""
    setting, state, grid = context.setting, context.state, context.grid
    if not setting.bodies:
        return None
    now = [description.now(body, grid.dim) for description, body in zip(setting.bodies, state.bodies)]
    bodies = RigidBodies.build(grid, context.held, now, setting.density)
    bodies.velocity[:] = [reduced(body, grid.dim) for body in state.bodies]
    falls = np.array([not description.on_axle for description in setting.bodies])
    bodies.velocity[falls, : grid.dim] += context.dt * setting.gravity[: grid.dim]
    bodies.velocity += context.dt * state.pressed
    return bodies


def free_surface(context: StepContext) -> None:
    """The pressure problem of the liquid alone, with air at p = 0."""
    given = context.grid, context.phi, context.held
    context.problem = PressureProblem.build(*given, context.bodies, context.mobility)
    context.wet = wet_cells(context)


def two_phase(context: StepContext) -> None:
    """The pressure problem of liquid and air."""
    given = context.grid, context.phi, context.held
    ratio = context.setting.scene.solver.air_density / context.setting.density
    context.problem = two_phase_problem(*given, ratio, context.bodies, context.mobility)
    context.wet = wet_cells(context)


def wet_cells(context: StepContext) -> np.ndarray:
    """The cells with liquid at their centres, those in open sources too."""
    if context.held is context.solid:
        return context.problem.wet
    return open_cells((context.phi < 0).view(np.uint8), context.solid.area)


def freed_before(grid: Grid, cells: np.ndarray) -> np.ndarray:
    """1 at the cells (n, 3) of the lattice that separating walls let go in the last step."""
    freed = grid.scalar(dtype=np.uint8)
    index = cells - np.asarray(grid.lo)
    inside = ((index >= 0) & (index < grid.shape)).all(axis=1)
    freed[tuple(index[inside].T)] = 1
    return freed


def air(context: StepContext) -> None:
    """Name and measure the closed air."""
    context.air_lost = _close_air(context).lost


def _close_air(context: StepContext) -> ClosedAir:
    context.problem = context.problem.with_closed_air()
    assert context.fraction is not None
    context.air = ClosedAir.find(context.state, context.problem, context.fraction)
    return context.air


def bubbles(context: StepContext) -> None:
    """Give bubbles back what the last step has lost: by moving their surfaces, and what is left by a displacement."""
    strength, rounds = context.setting.scene.solver.volume_correction, 0
    assert context.air is not None
    while rounds < MOST_ROUNDS and context.air.restore(context.state, context.problem, context.phi, strength):
        geometry(context)
        free_surface(context)
        _close_air(context)
        rounds += 1
    context.growth = context.air.growth(context.dt, strength)


def regions(context: StepContext) -> None:
    """Affine regions in the air, deep in the liquid, or in each of several liquids of different densities."""
    tiles, particles = context.setting.scene.solver.tiles, context.state.particles
    context.problem = context.problem.with_affine_regions(affine_depths(context), affine_regions(context.setting))
    if particles.has("tile") and context.problem.regions is not None:
        mark_particles(context.problem.regions.regions, context.grid, 0 if tiles == "whole" else tiles, particles)


def affine_depths(context: StepContext) -> list[Depths]:
    """The fluids in which there are to be affine regions."""
    solver = context.setting.scene.solver
    depths = [affine_air(context.problem)] if solver.air == "affine" else []
    if not solver.tiles:
        return depths
    wet, first = context.wet > 0, context.wet > 0
    parts = {0: first}
    for number, phi in context.liquids.items():
        parts[number] = wet & (phi < 0.0)
        first &= ~parts[number]
    if solver.tile_liquid != "all":
        chosen = list(context.setting.scene.liquids).index(solver.tile_liquid)
        parts = {chosen: parts.get(chosen, first)}  # liquids of the first one's density are one with it
    tile = 0 if solver.tiles == "whole" else solver.tiles
    return depths + [Depths(cells, solver.tile_band, tile) for cells in parts.values()]


def volumes(context: StepContext) -> None:
    """The liquid's volume, and what a displacement is to correct of its drift."""
    assert context.fraction is not None
    context.volume = float(context.fraction.sum(dtype=np.float64)) * context.grid.dx**3
    fraction, context.fraction = context.fraction, None  # overwritten, and not needed any more
    context.correction = context.evenness = None
    strength, grid, p = context.setting.scene.solver.volume_correction, context.grid, context.state.particles
    if strength:
        carried = to_cells(p.volume * np.float32(grid.dx**-3), p, grid)
        context.correction = VolumeCorrection.measure(carried, fraction, grid, CORRECTION_GAIN * strength, context.dt)
        # Evening would shear thick liquids, where only crowds are spread; liquid that leaves a wall is thin for good.
        setting, alone = context.setting, fills_all(context)
        thin = not setting.viscous or (alone and setting.is_thin(context.dt))
        crossed = math.inf if alone else cells_to_cross(context)  # nothing has waves to be damped
        even = thin and context.freed is None
        context.evenness = Evenness(carried, strength, context.dt, crossed, even)


def cells_to_cross(context: StepContext) -> float:
    """How many cells the fastest particle could cross in the step, falling one on its way."""
    v, dx = context.state.particles.velocity, context.grid.dx
    fall = np.sqrt(dx * np.linalg.norm(context.setting.gravity))
    return float(np.abs(v).max(initial=0.0) + fall) * context.dt / dx
