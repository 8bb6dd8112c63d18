"""The stages of `solver.mesh = "octree"`: particles of several sizes, velocities and pressures on a tree.

The tree is made anew in every step. Along the surface and along solids, where leaves are finest, distances and
velocities beyond the surface are found brick by brick (`bricks`), as other scenes find them on their window.
"""

from __future__ import annotations

import math

import numpy as np

from glug.errors import InputError, SolverError
from glug.geometry.fractions import liquid_volume
from glug.geometry.liquid import IntoSolids, band_of, fill_hidden, fill_holes, liquid_distance
from glug.geometry.solids.full import sink_full
from glug.grids.extrapolate import extrapolate as continued
from glug.grids.octree.linear.kernels_faces import largest_along
from glug.grids.octree.linear.kernels_lattice import give_areas
from glug.grids.octree.linear.lattice import WALL
from glug.grids.regular import CENTRE
from glug.particles.kernels import cell_sums
from glug.particles.kernels_leaves import keep_between
from glug.particles.leaves import sort_by_leaf
from glug.particles.levels import MOST_LEVELS, level_of, merge, split
from glug.particles.seeding import Limits, limit_per_cell
from glug.particles.storage import Particles
from glug.physics import advection
from glug.physics.pressure.kernels import closed_flux
from glug.physics.pressure.octree.problem import OctreePressure
from glug.physics.pressure.volume import MOST, dead_band
from glug.physics.velocity import LiquidSurroundings
from glug.physics.viscosity.levels import NEAR_SOLID
from glug.simulation.context import StepContext
from glug.simulation.octree.bricks import bricks
from glug.simulation.octree.sizing import remember
from glug.simulation.octree.tree import StepTree, grow
from glug.simulation.setting import Setting
from glug.simulation.stages.budget import by_group, lattice, relative_mass
from glug.simulation.stages.geometry import CORRECTION_GAIN
from glug.simulation.stages.motion import LEAST_PER_CELL, MOST_PER_CELL, let_in
from glug.simulation.stages.solves import DISPLACED, NOISE
from glug.solvers.limits import SolveLimits


def adapt(context: StepContext) -> None:
    """Grow the tree, and give the particles the sizes of its leaves: too large ones are split, small ones merged."""
    setting, p = context.setting, context.state.particles
    step = context.tree = grow(setting, p, context.state.time)
    fit(setting, p, step)
    nominal = setting.particle_volume
    small = np.flatnonzero(step.levels_at(step.calm, p.position) > level_of(p.volume, nominal))
    for l in range(setting.scene.refine.levels - 1):
        mine = small[level_of(p.volume[small], nominal) == l]
        mine = mine[step.levels_at(step.calm, p.position[mine]) > l]
        context.merged += merge(p, mine, step.place.keys(p.position[mine]) >> (3 * l), setting.density)
    sort_by_leaf(p, step.tree, step.place)


def fit(setting: Setting, p: Particles, step: StepTree) -> None:
    """Split the particles that are too large for their leaves; parts stay inside the walls."""
    if not np.isfinite(p.volume).all():
        raise SolverError("the volume of a particle is not a number")
    largest = level_of(p.volume, setting.particle_volume).max(initial=0)
    if largest > setting.scene.refine.levels:  # a level above the coarsest leaves: none was made that large
        raise SolverError("a particle is larger than the largest cell")
    for _ in range(MOST_LEVELS):  # each round takes a level from them
        level = level_of(p.volume, setting.particle_volume)
        some = np.flatnonzero(level > 0)
        large = some[level[some] > step.levels_at(step.tree, p.position[some])]
        if len(large) == 0:
            return
        split(p, large, setting.dx, setting.particle_volume)
        stay_inside(setting, p.position)


def stay_inside(setting: Setting, position: np.ndarray) -> None:
    """No particle is behind a side of the domain, in place."""
    margin = advection.MARGIN * setting.dx
    lower, upper = (np.asarray(x) + m for x, m in ((setting.walls.lower, margin), (setting.walls.upper, -margin)))
    keep_between(position, lower.astype(np.float32), upper.astype(np.float32))


def reseed(context: StepContext) -> None:
    """Keep the number of particles per cell within bounds where cells are finest."""
    setting, state, step = context.setting, context.state, context.tree
    p, least = state.particles, max(2, math.ceil(LEAST_PER_CELL * setting.per_cell))
    band = np.full(len(step.tree), -1, np.int8)  # coarse leaves keep their particles
    held = (np.diff(p.start[:-1]) > 0).view(np.uint8)
    for brick in bricks(step):
        some = brick.taken(held, 0)
        some[brick.full > 0] = 0
        start = np.zeros(brick.grid.cells + 2, np.int32)
        np.cumsum(some, out=start[1:-1])
        brick.give(band_of(start, brick.grid, brick.closed(setting, state.time), 1), band)
    most = int(MOST_PER_CELL * setting.per_cell)
    whole, seed = setting.particle_volume, setting.scene.seed + state.step
    if limit_per_cell(p, lattice(setting), band, Limits(least, most), whole, seed):
        stay_inside(setting, p.position)
        sort_by_leaf(p, step.tree, step.place)


def geometry(context: StepContext) -> None:
    """The liquid's distance, and what solids leave of finest leaves; coarse ones are full of liquid."""
    setting, state, step = context.setting, context.state, context.tree
    count, dx = len(step.tree), setting.dx
    step.phi, step.fraction = np.full(count, -dx, np.float32), np.ones(count, np.float32)
    step.area, step.wet = np.ones((count, 6), np.float32), np.ones(count, np.uint8)
    nozzles = setting.nozzles(state.time)
    step.inflow = np.zeros(count, np.float32) if setting.moving or nozzles else None
    for brick in bricks(step):
        solid = brick.solid(setting, state.time)
        held = brick.held(setting, state.time) if nozzles else solid
        closed = brick.closed(setting, state.time)
        phi = liquid_distance(*brick.particles(state.particles), brick.grid, closed, into=IntoSolids(setting.up))
        sink_full(phi, brick.full, dx)
        fill_hidden(phi, solid.hidden)
        fill_holes(phi, solid.openness, dx)
        brick.give(phi, step.phi)
        brick.give(liquid_volume(phi, brick.grid, CENTRE) * solid.openness, step.fraction)
        brick.give(((phi < 0) & (solid.openness > 0)).view(np.uint8), step.wet)
        give_areas(brick.cells, brick.mine, *held.area, step.area)
        if step.inflow is not None and held.velocity is not None and held.clear is not None:
            pressed = np.zeros_like(phi)
            closed_flux(*held.velocity, *held.clear, (phi < 0).view(np.uint8), pressed)
            brick.give(pressed, step.inflow)
    context.volume = float((step.fraction * 8.0**step.tree.level).sum(dtype=np.float64)) * dx**3


def pressure_problem(context: StepContext) -> None:
    """The projection of the step on its tree."""
    step = context.tree
    step.problem = OctreePressure.build(step.faces, step.phi, step.area)


def transfer_to_grid(context: StepContext) -> None:
    """The particles' velocity on faces and ghosts, and two samples beyond."""
    setting, step = context.setting, context.tree
    step.u, step.reached = step.transfer.velocities(context.state.particles, setting.particle_volume)
    source = step.u.copy()
    for brick in bricks(step):
        velocity, known = brick.taken_faces(source), brick.taken_faces(step.reached)
        for u, there in zip(velocity, known):
            continued(u, there, 2)
        brick.give_faces(velocity, step.u)
    fill_lattice(step, step.reached)
    step.before = None if setting.apic else step.u.copy()


def fill_lattice(step: StepTree, reached: np.ndarray | None = None) -> None:
    """Ghosts from faces; those behind walls that particles have reached stay as they are, as finest ones do."""
    ghosts, faces = step.lattice, step.faces.count
    ghosts.fill(step.u)
    kept = np.concatenate([number for _, number in step.wall_ghosts])
    if reached is not None:
        kept = np.union1d(kept, faces + ghosts.behind[reached[faces + ghosts.behind] > 0])
    values = step.u[kept].copy()
    ghosts.fill_behind(step.u)
    step.u[kept] = values


def forces(context: StepContext) -> None:
    """Gravity, and what else accelerates the liquid."""
    step, acting = context.tree, context.acting
    faces = step.faces
    axis, u = faces.axis, step.u[: faces.count]
    u += (acting * context.setting.gravity).astype(np.float32)[axis]
    for force in context.forces:
        points = step.place.corner + step.place.dx * faces.position
        found = np.asarray(force(points, context.state.time))
        if found.shape != points.shape:
            raise InputError(f"a force gives accelerations (n, 3) at n points, got an array {found.shape}")
        u += (acting * found[np.arange(len(axis)), axis]).astype(np.float32)
    hold_sources(context)


def hold_sources(context: StepContext) -> None:
    """Faces inside open sources have the sources' velocity, which solves leave as it is."""
    step, t = context.tree, context.state.time
    nozzles = context.setting.nozzles(t)
    if not nozzles:
        return
    points, axis = step.place.corner + step.place.dx * step.faces.position, step.faces.axis
    for nozzle in nozzles:
        inside = nozzle.holds(points, t, NEAR_SOLID * step.place.dx)
        step.u[inside] = nozzle.velocity(points[inside], t)[np.arange(len(inside)), axis[inside]]


def pressure(context: StepContext, name: str = "pressure") -> None:
    """Make the tree's velocity free of divergence."""
    step, solver = context.tree, context.setting.scene.solver
    assert step.problem is not None
    u = step.u[: step.faces.count]
    floor = NOISE * fastest(step)
    limits = SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor)
    _, context.solves[name] = step.problem.project(u, limits, inflow=step.inflow)


def fastest(step: StepTree) -> float:
    """Bound on the speed of faces: the length of the largest components [m/s]."""
    largest = np.zeros(3, np.float32)
    largest_along(step.u[: step.faces.count], step.faces.place[1], largest)
    return math.sqrt(float((largest.astype(np.float64) ** 2).sum()))


def extrapolate(context: StepContext) -> None:
    """Continue the liquid's velocity as far as particles may go."""
    step = context.tree
    continue_velocity(context, beyond(context))
    context.speed = fastest(step)
    if not math.isfinite(context.speed):
        raise SolverError("a velocity is not finite")


def beyond(context: StepContext) -> int:
    """Layers of samples that particles may see beyond the surface."""
    return math.ceil(context.setting.scene.time.cfl) + 2


def continue_velocity(context: StepContext, layers: int, *, stick: bool = False) -> None:
    """Beyond the surface and the walls; see `physics.velocity`."""
    setting, step = context.setting, context.tree
    source = step.u.copy()
    finest = step.wet * (step.tree.level == 0)
    ghosts = step.lattice
    step.u[step.faces.count :][: ghosts.ghosts][ghosts.kind == WALL] = 0.0
    for brick in bricks(step, halo=layers + 3):
        velocity, reached = brick.taken_faces(source), brick.taken_faces(step.reached)
        solid = brick.solid(setting, context.state.time)
        around = LiquidSurroundings(brick.grid, solid, solid.velocity, brick.taken(finest, 0), reached)
        around.extend(velocity, layers, stick=stick)
        brick.give_faces(velocity, step.u)
    fill_lattice(step)


def transfer_to_particles(context: StepContext) -> None:
    """The velocity of the faces, or what the step changed of it, to the particles."""
    step, p = context.tree, context.state.particles
    if step.before is None:
        p.velocity[:], p.affine[:] = step.transfer.apic(p, step.u)
    else:
        step.transfer.flip(p, step.u, step.before, context.setting.scene.solver.flip_ratio)
    step.before = None
    remember(context.setting, step, p, context.dt)


def displace(context: StepContext) -> None:
    """Add to the velocity that moves the particles what gives parts of the liquid their volume back."""
    step, setting, p = context.tree, context.setting, context.state.particles
    problem = step.problem
    assert problem is not None
    label = np.full(len(step.tree), -1)
    label[problem.level.liquid > 0] = problem.label
    count, held_by = len(problem.closed), np.empty(len(step.tree), np.float32)
    cell_sums(p.volume, p.start, np.float32(1.0), held_by)
    carried = np.bincount(label + 1, held_by, count + 1)[1:] / setting.dx**3
    volume = 8.0**step.tree.level
    held = np.bincount(label + 1, step.fraction * volume, count + 1)[1:]
    off = np.where(held > 0.0, carried / np.maximum(held, 1e-30) - 1.0, 0.0)
    beside_air = problem.level.system.rest > 0.0
    surface, cells = (np.bincount(problem.label, values, count) for values in (beside_air, problem.side_area**1.5))
    dead = dead_band(surface, cells, setting.dim)
    off = np.sign(off) * np.maximum(np.abs(off) - dead, 0.0) * ~problem.closed
    rate = np.clip(CORRECTION_GAIN * setting.scene.solver.volume_correction * off, -MOST, MOST) / context.dt
    if not rate.any():
        return
    growth = np.append(rate, 0.0)[label] * volume * setting.dx
    moved = np.zeros(step.faces.count, np.float32)
    limits = SolveLimits(DISPLACED, setting.scene.solver.max_iterations)
    _, context.solves["displace"] = problem.project(moved, limits, inflow=growth)
    step.u[: step.faces.count] += moved
    continue_velocity(context, beyond(context))


def advect(context: StepContext) -> None:
    """Move the particles with the velocity of the faces, and out of solids."""
    setting, state, step, dt = context.setting, context.state, context.tree, context.dt
    p, step.problem = state.particles, None
    before = p.position.copy() if setting.solids else p.position
    mass = relative_mass(setting, p).copy() if setting.solids else p.volume
    speed = fastest(step)
    step.transfer.advect(p, step.u, dt, max(1, math.ceil(speed * dt / setting.dx)))
    lost = leave_solids(context, before)
    stay_inside(setting, p.position)
    if lost > 0.0:
        context.warnings.append(f"{lost:.3g} m3 of liquid were squeezed out between solids and are gone")
        context.left.update(by_group(context, mass, np.where(p.volume[:, 0] > 0.0, -1, 0), ("squeezed",)))
    p.age[:] += np.float32(dt)


def leave_solids(context: StepContext, before: np.ndarray) -> float:
    """Particles of finest leaves out of solids, and not on into them: those of coarse ones are far from any.

    Returns the volume [m3] that found no room.
    """
    setting, state, step, p = context.setting, context.state, context.tree, context.state.particles
    end, lost = state.time + context.dt, 0.0
    for brick in bricks(step):
        rows = brick.rows(p)
        if len(rows) == 0:
            continue
        some = Particles({name: p.attributes[name][rows] for name in ("position", "velocity", "volume")})
        solid = brick.solid(setting, end)
        if setting.solids:
            solids = setting.solids_with(state.bodies)
            obstacles = advection.Obstacles(brick.grid, solid, setting.walls, solids, end)
            lost += advection.leave_solids(some, before[rows], obstacles, context.dt)
        advection.meet_solids(some, brick.grid, brick.taken(step.wet, 0), solid)
        p.position[rows], p.velocity[rows], p.volume[rows] = some.position, some.velocity, some.volume
    return lost


STAGES = {
    "sort": let_in,
    "adapt": adapt,
    "reseed": reseed,
    "geometry": geometry,
    "free_surface": pressure_problem,
    "transfer_to_grid": transfer_to_grid,
    "forces": forces,
    "pressure": pressure,
    "extrapolate": extrapolate,
    "transfer_to_particles": transfer_to_particles,
    "displace": displace,
    "advect": advect,
}
