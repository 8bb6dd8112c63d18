"""Stages of a liquid on Voronoi cells around its tracked surface (`solver.mesh = "voronoi"`).

The surface moves with the velocity of the last step, cells are put around it, the velocity comes onto their faces from
where it was, and is projected there with the surface's tension (Brochu, Batty and Bridson 2010). Without liquid, all
of them do nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from glug.errors import InputError, SolverError
from glug.scene.schema import SIDES
from glug.simulation import voronoi
from glug.simulation.context import StepContext
from glug.simulation.frame import Amounts
from glug.simulation.setting import Setting


def track(context: StepContext) -> None:
    """Improve the surface, change its topology, and move it with the velocity of the last step."""
    context.liquid = voronoi.liquid_of(context.setting, context.state)
    if has_liquid(context):
        context.liquid.move(context.dt)


def drain(context: StepContext) -> None:
    """Leave out the parts of the surface that are outside open sides with all that they are."""
    setting, surface = context.setting, context.liquid.surface
    way = leaving(setting, surface.vertices, surface.part, len(surface.target))
    for number in np.unique(way[way >= 0]):
        gone = way == number
        context.left[SIDES[number]] = amounts_of(context, gone)
    context.liquid.pace = context.liquid.pace[way < 0]
    context.liquid.swept = context.liquid.swept[way[surface.part] < 0]
    surface.drop(way >= 0)
    if not has_liquid(context):
        voronoi.forget(context.state)


def leaving(setting: Setting, vertices: np.ndarray, part: np.ndarray, count: int) -> np.ndarray:
    """The number of the open side that every part is outside of; -1: none."""
    way, domain = np.full(count, -1), setting.scene.domain
    for a in range(setting.dim):
        for number, wall, beyond in (
            (2 * a, setting.walls.lower[a], vertices[:, a] < domain.lower[a]),
            (2 * a + 1, setting.walls.upper[a], vertices[:, a] > domain.upper[a]),
        ):
            if math.isinf(wall):
                outside = np.bincount(part, ~beyond, count) == 0
                way[outside & (way < 0)] = number
    return way


def amounts_of(context: StepContext, gone: np.ndarray) -> Amounts:
    """Of some parts of the surface (k,), by the means of their vertices."""
    setting, surface, liquid = context.setting, context.liquid.surface, context.liquid
    total = Amounts()
    for number in np.flatnonzero(gone):
        x = surface.vertices[surface.part == number]
        mass = setting.density * float(surface.target[number]) * (setting.dx if setting.dim == 2 else 1.0)
        place, velocity = np.zeros(3), np.zeros(3)
        place[: setting.dim] = x.mean(axis=0)
        if callable(liquid.velocity):
            velocity[: setting.dim] = liquid.velocity(x).mean(axis=0)
        vectors = mass * velocity, mass * np.cross(place, velocity)
        momentum, angular = ((float(v[0]), float(v[1]), float(v[2])) for v in vectors)
        kinetic, potential = 0.5 * mass * float(velocity @ velocity), -mass * float(place @ setting.gravity)
        total = total + Amounts(mass, kinetic, potential, momentum, angular)
    return total


def remesh(context: StepContext) -> None:
    """Put cells around the surface."""
    if has_liquid(context):
        context.embedded = context.liquid.cells_now()


def advect(context: StepContext) -> None:
    """Velocities of the faces, from where their liquid was a step ago."""
    if has_liquid(context):
        context.u = context.liquid.brought(context.embedded, context.dt)


def forces(context: StepContext) -> None:
    """Gravity, and what else accelerates the liquid."""
    if not has_liquid(context):
        return
    setting, mesh = context.setting, context.embedded.mesh
    pull = np.broadcast_to(setting.gravity[: setting.dim], mesh.face_position.shape)
    points = voronoi.lifted(setting, mesh.face_position)
    for force in context.forces:
        found = np.asarray(force(points, context.state.time))
        if found.shape != points.shape:
            raise InputError(f"a force gives accelerations (n, 3) at n points, got an array {found.shape}")
        pull = pull + found[:, : setting.dim]
    context.u += context.dt * (pull * mesh.face_normal).sum(axis=1)


def pressure(context: StepContext) -> None:
    """Project the velocities of the faces, with the surface's tension."""
    if not has_liquid(context):
        return
    liquid = context.liquid
    context.u, context.used = liquid.solve(context.embedded, context.u, context.dt)
    assert liquid.stats is not None
    context.solves["pressure"] = liquid.stats
    if not np.isfinite(context.u).all():
        raise SolverError("the velocity is no longer finite; the last checkpoint is from before")


def reconstruct(context: StepContext) -> None:
    """The velocity everywhere from that of the faces; the sites in the liquid are the particles of the state."""
    setting, state, liquid = context.setting, context.state, context.liquid
    if has_liquid(context):
        liquid.reconstruct(context.embedded, context.u, context.used)
        if not context.forces:  # whose momentum is not known
            gained = context.dt * setting.gravity[: setting.dim]
            context.u = liquid.keep_momentum(context.embedded, context.u, context.used, gained)
        voronoi.keep(setting, state, liquid, context.u, context.used)
    context.volume = liquid.volume() * (setting.dx if setting.dim == 2 else 1.0)
    context.speed = float(np.linalg.norm(state.particles.velocity, axis=1).max(initial=0.0))


def has_liquid(context: StepContext) -> bool:
    return len(context.liquid.surface.triangles) > 0


STAGES: Mapping[str, Callable[[StepContext], None]] = {
    "track": track,
    "drain": drain,
    "remesh": remesh,
    "advect": advect,
    "forces": forces,
    "pressure": pressure,
    "reconstruct": reconstruct,
}
