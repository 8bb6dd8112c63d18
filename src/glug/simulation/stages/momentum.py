"""Stages that keep the momentum and the angular momentum of liquid in free flight.

Solves keep both but for what weights and particles differ in; velocities that are continued beyond the surface, and
particles that turn on their paths while their velocity does not, lose some of them in every step. Liquid that touches
nothing gets that back as a rigid motion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.liquid import band_of
from glug.grids.connected import label_parts
from glug.particles import kernels_momenta
from glug.particles.momenta import Groups, Momenta, momenta_of, momenta_of_flow, set_momenta
from glug.simulation.context import StepContext
from glug.simulation.stages.transfer import fastest, masses


@dataclass(frozen=True)
class FreeFlight:
    """The parts of the liquid that touch nothing in a step, and the momenta that the step begins with."""

    groups: Groups
    mass: np.ndarray  # (n, 1) of the particles
    begin: Momenta


def weigh(context: StepContext) -> None:
    """Find the liquid in free flight, with forces and before any solve."""
    context.flight = None
    setting, state = context.setting, context.state
    if setting.air_has_pressure:
        return  # air flows; a bubble presses alike on all sides of what it surrounds
    groups = flying(context)
    if groups is not None:
        particles, given = state.particles, masses(context.setting, state.particles)
        mass = particles.volume if given is None else given
        context.flight = FreeFlight(groups, mass, with_forces(context, mass, groups))


def with_forces(context: StepContext, mass: np.ndarray, groups: Groups) -> Momenta:
    """The momenta of groups of particles, and what forces have added on the faces.

    FLIP's particles know more than the faces, and faces beside a surface more than the particles there (`add_slopes`).
    """
    particles, grid = context.state.particles, context.grid
    pushed = momenta_of_flow(particles, mass, grid, groups, context.velocity)
    if context.before is None:
        return pushed
    own = momenta_of(particles, mass, grid, groups)
    brought = momenta_of_flow(particles, mass, grid, groups, context.before)
    momentum = own.momentum + pushed.momentum - brought.momentum
    return replace(own, momentum=momentum, angular=own.angular + pushed.angular - brought.angular)


def flying(context: StepContext) -> Groups | None:
    """The particles of every part of the liquid that no solid is near; spray within reach of a part belongs to it."""
    components, particles, grid = context.problem.components, context.state.particles, context.grid
    if touched(context, components.label, len(components.cells)).all():
        return None
    near = band_of(particles.start, grid, context.solid.distance, 1) > 0
    label, count = label_parts(near.view(np.uint8), context.solid.area)
    free = touched(context, label, count) == 0
    number = np.where(free, np.cumsum(free) - 1, -1).astype(np.int32)
    group = np.empty(len(particles), np.int32)
    kernels_momenta.group_particles(particles.start, label, number, group)
    return Groups(group, int(free.sum())) if free.any() else None


def touched(context: StepContext, label: np.ndarray, count: int) -> np.ndarray:
    """1 for the parts that are near enough to a solid to reach it in this step."""
    cells = max(context.setting.scene.time.cfl, fastest(context.velocity) * context.dt / context.grid.dx)
    reach = (math.ceil(cells) + 1) * context.grid.dx
    found = np.zeros(count, np.uint8)
    kernels_momenta.touched_parts(label, context.held.distance, np.float32(reach), found)
    return found


def keep_momentum(context: StepContext) -> None:
    """Give liquid in free flight the momentum and angular momentum back that the step has lost, and its path."""
    flight = context.flight
    if flight is not None:
        begin = flight.begin
        path = context.dt * begin.momentum / np.maximum(begin.mass, 1e-300)[:, None]
        wanted = replace(begin, centre=begin.centre + path)
        set_momenta(context.state.particles, flight.mass, context.grid, flight.groups, wanted)
        context.flight = None
