"""Stages that move: time, particles, rigid bodies, and what comes and goes."""

from __future__ import annotations

import math

import numpy as np

from glug.geometry.liquid import band_of
from glug.geometry.solids.field import SolidField
from glug.grids.connected import open_cells
from glug.grids.regular import Grid
from glug.particles.seeding import HEAVIEST, Limits, fill_up, limit_per_cell
from glug.particles.storage import Particles
from glug.physics import advection
from glug.physics import heat as heat_exchange
from glug.scene.bodies import Solid, Source
from glug.scene.schema import Domain
from glug.simulation.bodies.motion import coast, reduced
from glug.simulation.context import StepContext
from glug.simulation.frame import Amounts
from glug.simulation.inflow import WAYS_OUT, leaving, pour
from glug.simulation.setting import Setting
from glug.simulation.stages.budget import by_group, carried_by, relative_mass
from glug.simulation.stages.transfer import fastest
from glug.simulation.state import State

LEAST_PER_CELL = 0.4  # of the nominal number of particles, before a cell inside the liquid gets more
MOST_PER_CELL = 2.0  # of the nominal number, before particles of a cell are merged
LEAST_IN_FULL, MOST_IN_FULL = 0.5, 1.5  # the same where liquid fills all there is
HEAVIEST_IN_FULL = 2.0 * HEAVIEST  # fewer particles hold a crowd there
ROOM = 0.005  # of all that is open, that seeding may leave of a full box
NEARLY = 0.9  # of all that fractions take for open: with less a box is not full


def time_step(context: StepContext) -> None:
    """How long the step takes."""
    context.dt = choose_time_step(context.setting, context.state)
    setting = context.setting
    implicit = (
        "" if setting.scene.solver.tension == "implicit" else ', solver.tension = "implicit" ten times as long ones'
    )
    for longest, wants, more in (
        (setting.capillary_step, "surface tension wants", implicit),
        (setting.longest_step, "bodies in viscous liquid want", ', solver.coupling = "stokes" any (in 3D)'),
    ):
        if context.dt > longest * (1.0 + 1e-6):
            context.warnings.append(
                f"{wants} steps of at most {longest:.2g} s, this one takes {context.dt:.2g} s: "
                f"a larger time.fps or time.max_substeps allows them{more}"
            )


def choose_time_step(setting: Setting, state: State) -> float:
    """The largest equal step to the next frame in which nothing crosses more than `cfl` cells."""
    times = setting.scene.time
    remaining = (state.frame + 1) / times.fps - state.time
    reach = setting.cells_a_step * setting.dx
    v, pull = state.particles.velocity, reach * float(np.linalg.norm(setting.gravity))
    speed = math.sqrt(sum(float(np.abs(v[:, a]).max(initial=0.0)) ** 2 for a in range(3))) if len(v) else 0.0
    end = state.time + remaining
    bodies: list[Solid | Source] = [
        *(s for s in setting.solids_with(state.bodies) if s.moving),
        *(s for s in setting.scene.sources if s.active(state.time)),
    ]
    # A body at rest must not fall farther than `reach` within the step either: v t + g t^2 is that at most.
    tracked = setting.scene.solver.mesh == "voronoi"
    speed = 0.5 * speed + math.sqrt(0.25 * speed**2 + pull) if tracked else speed + math.sqrt(pull)
    room = setting.scene.domain
    speed = max([speed, *(moving_speed(body, t, room) for body in bodies for t in (state.time, end))])
    longest = min(setting.longest_step, setting.capillary_step, setting.surface_step)
    steps = max(1, math.ceil(remaining * speed / reach - 1e-6), math.ceil(remaining / longest - 1e-6))
    steps = max(1, min(steps, times.max_substeps - state.substep))
    return remaining / steps


def moving_speed(body: Solid | Source, t: float, room: Domain) -> float:
    """Largest speed [m/s] of a solid or of a source's liquid at the corners of its bounding box, in the domain.

    What is outside moves nothing: the wall of a bucket that turns may be as thick as one likes. One that is outside
    as a whole counts as it is: it may be on its way in.
    """
    lower, upper = body.bounds(t)
    box = np.array([np.maximum(lower, room.lower), np.minimum(upper, room.upper)])
    if (box[0] > box[1]).any():
        box = np.array([np.where(np.isfinite(c), c, 0.0) for c in (lower, upper)])
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    velocity = body.velocity(corners, t) if isinstance(body, Solid) else body.velocity_at(corners, t)
    return float(np.linalg.norm(velocity, axis=1).max())


def let_in(context: StepContext) -> None:
    """Pour what comes in."""
    setting = context.setting
    changes = pour(setting, context.state, context.dt)
    if setting.scene.sources:
        each = (carried_by(setting, after) - carried_by(setting, before) for before, after in changes)
        context.came["sources"] = sum(each, start=Amounts())


def sort(context: StepContext) -> None:
    """Pour what comes in, find the window, and sort the particles by its cells."""
    setting, state = context.setting, context.state
    let_in(context)
    context.grid = setting.window(state.particles.position, state.bodies)
    state.particles.sort(context.grid)


def reseed(context: StepContext) -> None:
    """Keep the number of particles per cell within bounds inside the liquid."""
    setting, state, grid = context.setting, context.state, context.grid
    p, solid = state.particles, setting.solid_field(grid, state.time, state.bodies)
    seed, nominal = setting.scene.seed + state.step, setting.per_cell
    context.full = setting.scene.solver.air == "vacuum" and fills_up(p, solid, grid)
    if context.full:  # no surface could be spoilt, and no cell may be empty
        least, most, heaviest = math.ceil(LEAST_IN_FULL * nominal), int(MOST_IN_FULL * nominal), HEAVIEST_IN_FULL
        for n in range(least):
            if not fill_up(p, grid, solid.openness > 0.5, least, seed + n):
                break
            p.sort(grid)
    else:
        least, most, heaviest = max(2, math.ceil(LEAST_PER_CELL * nominal)), int(MOST_PER_CELL * nominal), HEAVIEST
    inside = band_of(p.start, grid, solid.distance, 1)
    if limit_per_cell(p, grid, inside, Limits(least, most, heaviest), setting.particle_volume, seed):
        p.sort(grid)


def fills_up(p: Particles, solid: SolidField, grid: Grid) -> bool:
    """Whether the particles have the volume of all that is open, so that there is no air.

    Cells with an open face count: fractions behind the edges of a box are a little more than nothing.
    """
    carried = float(p.volume.sum(dtype=np.float64)) / grid.dx**3
    if carried < NEARLY * float(solid.openness.sum(dtype=np.float64)):
        return False
    reached = open_cells(np.ones(grid.shape, np.uint8), solid.area) > 0
    return carried > (1.0 - ROOM) * float(solid.openness[reached].sum(dtype=np.float64))


def heat(context: StepContext) -> None:
    """Exchange heat between the cells that hold liquid; where viscosity depends on temperature it follows."""
    setting, particles = context.setting, context.state.particles
    heat = setting.scene.heat
    if heat is not None and particles.has("temperature"):
        heat_exchange.diffuse(particles, relative_mass(setting, particles), context.grid, heat.diffusivity, context.dt)
    if setting.viscous and particles.has("temperature") and particles.has("viscosity"):
        follow_temperature(setting, particles)


def follow_temperature(setting: Setting, p: Particles) -> None:
    """Particles whose law depends on temperature take its viscosity."""
    for number, law in enumerate(setting.laws):
        if law.kind == "temperature":
            mine = p.liquid[:, 0] == number if p.has("liquid") else np.ones(len(p), np.bool_)
            p.viscosity[mine, 0] = law.at(p.position[mine], p.temperature[mine, 0])


def bodies(context: StepContext) -> None:
    """Move the bodies, against what they meet.

    A body that rests on something would fall into it in every solve, and the liquid with it, if what holds it
    came only afterwards. So the solves have seen the contact of the last step; here it is taken back, for
    the contact of this step to be found anew.
    """
    setting, state, bodies, dt = context.setting, context.state, context.bodies, context.dt
    if bodies is None:
        return
    velocity = bodies.velocity - dt * state.pressed
    if setting.contact is None:
        state.bodies = [coast(s, b, v, dt) for s, b, v in zip(setting.bodies, state.bodies, velocity)]
        return
    term = context.problem.body_term
    in_liquid = np.array([len(cells) > 0 for cells, _ in (term.rows if term is not None else [])])
    start = np.array([reduced(body, context.grid.dim) for body in state.bodies])
    start[in_liquid] = bodies.velocity[in_liquid]
    now = state.contact, state.bodies, velocity, state.time, dt
    state.contact, state.bodies = setting.contact.advance(*now, start=start)
    change = np.array([reduced(body, context.grid.dim) for body in state.bodies]) - velocity
    state.pressed = steady_contact(setting, change / dt)


def steady_contact(setting: Setting, acceleration: np.ndarray) -> np.ndarray:
    """What of the contacts' acceleration (n, m) bears weight or buoyancy: a blow is not felt again."""
    size = np.linalg.norm(acceleration[:, : setting.dim], axis=1)
    ratio = np.array([setting.density / (description.solid.density or 1.0) for description in setting.bodies])
    most = float(np.linalg.norm(setting.gravity)) * np.maximum(1.0, ratio)
    return acceleration * np.minimum(1.0, most / np.maximum(size, 1e-300))[:, None]


def advect(context: StepContext) -> None:
    """Move the particles with the velocity of the faces, and out of solids."""
    wet = context.wet
    # For the memory: nothing below asks for them.
    context.forget("problem", "phi", "wet", "freed", "liquids", "mobility", "correction", "evenness", "q")
    setting, state, dt, grid = context.setting, context.state, context.dt, context.grid
    p = state.particles
    before = p.position.copy() if setting.solids else p.position
    mass = relative_mass(setting, p).copy() if setting.solids else p.volume
    advection.advect(p, grid, context.velocity, dt, fastest(context.velocity))
    end = state.time + dt
    after = setting.solid_field(grid, end, state.bodies) if setting.moving else context.solid
    obstacles = advection.Obstacles(grid, after, setting.walls, setting.solids_with(state.bodies), end)
    lost = advection.leave_solids(p, before, obstacles, dt)
    advection.meet_solids(p, grid, wet, after)
    if lost > 0.0:
        context.warnings.append(f"liquid was squeezed out between solids and is gone: {lost:.3g} m3 in this step")
        context.left.update(by_group(context, mass, np.where(p.volume[:, 0] > 0.0, -1, 0), ("squeezed",)))
    p.age[:] += np.float32(dt)


def clock(context: StepContext) -> None:
    """Move the clock, exactly onto the frame when this step reaches it."""
    state, fps = context.state, context.setting.scene.time.fps
    end = (state.frame + 1) / fps
    state.time = end if state.time + context.dt > end - 1e-9 / fps else state.time + context.dt
    state.last_dt = context.dt
    state.step += 1
    state.substep += 1
    if state.time == end:
        state.frame += 1
        state.substep = 0


def drain(context: StepContext) -> None:
    """Remove what has left through sinks and open sides."""
    particles = context.state.particles
    way = leaving(context.setting, particles)
    if (way >= 0).any():
        context.left.update(by_group(context, relative_mass(context.setting, particles), way, WAYS_OUT))
        particles.keep(way < 0)
