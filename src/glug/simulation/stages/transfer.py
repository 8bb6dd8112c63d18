"""Stages between particles and faces: velocities to the grid, forces on it, its velocity continued, and back."""

from __future__ import annotations

import math

import numpy as np

from glug.errors import InputError, SolverError
from glug.grids.extrapolate import extrapolate as continued
from glug.grids.regular import FACES, Staggered, copied
from glug.particles import transfer
from glug.particles.storage import Particles
from glug.physics.rigid.bodies import wall_velocity
from glug.physics.velocity import LiquidSurroundings
from glug.simulation.context import StepContext
from glug.simulation.setting import Setting
from glug.simulation.stages.paths import UNSEEN, ahead, pushed_again, remembered
from glug.solvers.cg import largest_in

BESIDE_AIR = 1.5  # cells: half a one to the face, one from there


def transfer_to_grid(context: StepContext) -> None:
    """The particles' velocity on the faces that they reach, and two samples beyond."""
    setting, particles = context.setting, context.state.particles
    # In 3D it would damp what gains nothing, and triangles see their own samples, and more of their noise.
    sloped = setting.dim == 2 and setting.scene.solver.mesh == "regular" and not setting.apic and not context.full
    near = beside_air(context.phi, setting.dx) if sloped else None
    context.velocity, context.reached = transfer.to_grid(
        particles, context.grid, setting.particle_volume, masses(setting, particles), near
    )
    for a in context.grid.axes:  # faces of liquid cells that no particle reaches take their neighbours' velocity
        continued(context.velocity[a], (context.reached[a] > 0).view(np.uint8), 2)
    context.before = None if setting.apic else copied(context.velocity)


def beside_air(phi: np.ndarray, dx: float) -> np.ndarray:
    """1 (uint8) in cells from which particles reach faces that see air within a cell, and none beyond the window."""
    near = (phi > np.float32(-BESIDE_AIR * dx)).view(np.uint8)
    for a in range(near.ndim):
        if near.shape[a] > 1:
            ends = np.moveaxis(near, a, 0)
            ends[0] = ends[-1] = 0
    return near


def masses(setting: Setting, p: Particles) -> np.ndarray | None:
    """Of particles, relative to the first liquid's density; None when all have the same."""
    if not setting.other_densities:
        return None
    return p.volume * np.array(setting.density_ratios, np.float32)[p.liquid[:, 0].astype(np.int64)][:, None]


def forces(context: StepContext) -> None:
    """Gravity, and what else accelerates the liquid."""
    context.again = pushed_again(context)
    with remembered(context):
        accelerate(context)
    hold_sources(context)


def hold_sources(context: StepContext) -> None:
    """Faces inside open sources have the sources' velocity, which solves leave as it is."""
    held, first = context.held, len(context.setting.solids)
    if held is context.solid:
        return
    assert held.owner is not None and held.velocity is not None
    for a in context.grid.axes:
        inside = (held.owner[a] >= first) & (held.area[a] == 0.0)
        np.copyto(context.velocity[a], held.velocity[a], where=inside)


def accelerate(context: StepContext) -> None:
    """Change the velocity by what forces do in the time that they act."""
    for a in context.grid.axes:
        context.velocity[a][:] += np.float32(context.acting * context.setting.gravity[a])
    for force in context.forces:
        for a in context.grid.axes:
            points = context.grid.points(FACES[a])
            found = np.asarray(force(points.reshape(-1, 3), context.state.time))
            if found.shape != (points.size // 3, 3):
                raise InputError(f"a force gives accelerations (n, 3) at n points, got an array {found.shape}")
            context.velocity[a][:] += (context.acting * found[:, a].reshape(points.shape[:3])).astype(np.float32)


def extrapolate(context: StepContext) -> None:
    """Continue the liquid's velocity as far as particles may go, and keep what separating walls have let go."""
    continue_velocity(context)
    context.speed = fastest(context.velocity)
    if not math.isfinite(context.speed):
        raise SolverError("a velocity is not finite")
    if context.freed is not None:
        context.state.freed = (np.argwhere(context.freed) + context.grid.lo).astype(np.int32)


def continue_velocity(context: StepContext, velocity: Staggered | None = None) -> None:
    """As far as particles may go: the context's, or another one of the same liquid."""
    setting, layers = context.setting, math.ceil(context.setting.scene.time.cfl) + 2
    around_liquid(context, layers, stick=setting.viscous, freed=context.freed, velocity=velocity)


def around_liquid(
    context: StepContext,
    layers: int,
    *,
    stick: bool,
    freed: np.ndarray | None = None,
    velocity: Staggered | None = None,
) -> None:
    """Continue the liquid's velocity `layers` samples outwards; see `physics.velocity`."""
    solid, walls = context.solid, wall_velocity(context.solid, context.bodies)
    around = LiquidSurroundings(context.grid, solid, walls, context.wet, context.reached)
    around.extend(context.velocity if velocity is None else velocity, layers, stick=stick, freed=freed)


def output_fields(context: StepContext) -> None:
    """Keep what `output.fields` asks for.

    `time` is that of the velocity: the middle of the step where it is a leapfrog's, and where pushes act at both ends
    of a path, faces have seen those of its begin.
    """
    setting, grid = context.setting, context.grid
    whole = setting.viscous and not setting.is_thin(context.dt)  # what of the step viscosity has acted for
    later = 0.5 * context.dt if context.leapfrog else context.acting
    time = context.state.time + (context.dt if whole else later)
    u, v, w = context.velocity
    assert context.q is not None
    pressure = (context.q * (setting.density * setting.dx / context.acting)).astype(np.float32)
    own = {"phi": context.phi, "u": u, "v": v, "w": w, "p": pressure, "corner": grid.corner, "dx": np.array(grid.dx)}
    context.state.fields = own | {"time": np.array(time)} | context.fields


def transfer_to_particles(context: StepContext) -> None:
    """The velocity of the faces, or what the step changed of it, to the particles."""
    particles, grid, velocity = context.state.particles, context.grid, ahead(context)
    if context.pushed is not None:
        continue_velocity(context, velocity)
    if context.before is None:
        transfer.to_particles_apic(particles, grid, velocity)
    else:
        ratio = context.setting.scene.solver.flip_ratio
        if context.again > 0.0:
            velocity, ratio = calmed(context, velocity, ratio)
        transfer.to_particles_flip(particles, grid, velocity, context.before, ratio)
    context.before = context.pushed = None  # memory, for what follows


def calmed(context: StepContext, velocity: Staggered, ratio: float) -> tuple[Staggered, float]:
    """Velocity and ratio of a FLIP transfer that also takes a share of what faces do not see of the particles.

    Of `d`, what particles have beyond the faces, faces would see `s`: `new + ratio ((1 - share) d + share s)`.
    """
    particles, grid = context.state.particles, context.grid
    assert context.before is not None
    own = particles.velocity.copy()
    transfer.to_particles_flip(particles, grid, grid.staggered(), context.before, 1.0)
    seen, _ = transfer.to_grid(particles, grid, context.setting.particle_volume)
    particles.velocity[:] = own
    u, v, w = (new + np.float32(ratio * UNSEEN) * s for new, s in zip(velocity, seen))
    return (u, v, w), ratio * (1.0 - UNSEEN)


def fastest(velocity: Staggered) -> float:
    """Bound on the speed: the length of the largest components [m/s]."""
    return math.sqrt(sum(largest_in(u) ** 2 for u in velocity))
