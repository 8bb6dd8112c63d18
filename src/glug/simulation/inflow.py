"""Liquid that comes and goes: initial volumes, sources, sinks, open sides."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from glug.particles.seeding import Distance, Lattice, fill_region, seed_region
from glug.particles.storage import Particles
from glug.scene.bodies import Solid, Volume
from glug.scene.schema import SIDES
from glug.scene.shapes.transform import moved_bounds
from glug.simulation.setting import Setting
from glug.simulation.state import State

WAYS_OUT = (*SIDES, "sinks")


Fill = Callable[[Volume, Distance], tuple[np.ndarray, np.ndarray]]


def initial_state(setting: Setting, fill: Fill | None = None) -> State:
    """The scene at time zero: its volumes filled with particles.

    fill  gives the places of particles in a volume, where a distance is negative, and their sizes over a whole one's;
          equal ones when None
    """
    fill = fill or partial(_fill_equally, setting)
    particles = Particles.empty(setting.particle_names)
    scene = setting.scene
    lower, upper = scene.domain.lower, scene.domain.upper
    for number, volume in enumerate(scene.volumes):
        earlier = scene.volumes[:number]

        def distance(points: np.ndarray, volume=volume, earlier=earlier) -> np.ndarray:  # type: ignore[no-untyped-def]
            d = volume.shape.distance(points)
            for a in range(setting.dim):  # liquid ends at the domain's sides
                np.maximum(d, lower[a] - points[:, a], out=d)
                np.maximum(d, points[:, a] - upper[a], out=d)
            for other in earlier:
                np.maximum(d, -other.shape.distance(points), out=d)
            return d

        points, shares = fill(volume, distance)
        inside = _admissible(setting, points, setting.solids, 0.0)
        _add(setting, particles, points[inside], volume.liquid, volume.velocity_at, shares[inside])
    bodies = [description.begin() for description in setting.bodies]
    pressed = np.zeros((len(bodies), 3 if setting.dim == 2 else 6))
    contact = setting.contact.begin(bodies) if setting.contact is not None else np.zeros(0)
    return State(particles, bodies=bodies, pressed=pressed, contact=contact)


def _fill_equally(setting: Setting, volume: Volume, distance: Distance) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = setting.scene.domain.lower, setting.scene.domain.upper
    box = volume.shape.bounds()
    lattice = Lattice(lower, setting.dx, setting.per_cell, setting.dim, setting.scene.seed)
    return fill_region(distance, np.maximum(box[0], lower), np.minimum(box[1], upper), lattice)


def pour(setting: Setting, state: State, dt: float) -> list[tuple[Particles, Particles]]:
    """Let the sources pour over the next `dt` [s] and set the velocity of the liquid inside them.

    The liquid in a source is a jittered lattice that moves with it: what enters the source's shape between
    the last time and now is new. The flux is exact and even, whatever the steps.
    Returns the particles that it changed, as they were (none, where they are new) and as they are.
    """
    t = state.time
    changes = []
    for number, source in enumerate(setting.scene.sources):
        if t < source.start or state.emitted_to >= source.stop:
            continue
        relative = np.asarray(source.velocity, dtype=float)
        if setting.dim == 2:
            relative[2] = 0.0
        begin, end = max(state.emitted_to, source.start), min(t, source.stop)
        # Several thin layers when the liquid crosses more than half a cell between two steps.
        count = math.ceil(float(np.abs(relative).max()) * (end - begin) / (0.5 * setting.dx))
        times = np.linspace(begin, end, count + 1)
        layers = [(float(b), float(b - a)) for a, b in pairwise(times)]
        if state.emitted_to < source.start:  # it opens: all that is in it is new
            layers.insert(0, (source.start, math.inf))
        R, x = source.motion.pose(t)
        domain = moved_bounds((setting.scene.domain.lower, setting.scene.domain.upper), R.T, -R.T @ x)
        poured = [np.zeros((0, 3))]
        for when, elapsed in layers:
            ahead = relative * (t - when)
            room = domain[0] - ahead, domain[1] - ahead  # what begins elsewhere does not end in the domain
            poured.append(_layer(setting, source, relative, when - source.start, elapsed, number, room) + ahead)
        world = np.concatenate(poured) @ R.T + x
        world = world[_admissible(setting, world, setting.solids_with(state.bodies), t)]
        old = len(state.particles)
        _add(setting, state.particles, world, source.liquid, lambda p, s=source, t=t: s.velocity_at(p, t))
        changes.append((state.particles.chosen(slice(0)), state.particles.chosen(slice(old, None))))
        if source.active(t):
            changes.append(_drive(setting, state.particles, source, t))
    state.emitted_to = t
    return changes


def _layer(setting, source, relative, since, elapsed, number, room):  # type: ignore[no-untyped-def]
    """Points, in the source's own frame, that are in its shape `since` its start and were not `elapsed` before.

    Only those in the box `room`.
    """
    shift = relative * since

    def distance(points: np.ndarray) -> np.ndarray:
        d = source.shape.distance(points)
        if math.isfinite(elapsed):
            np.maximum(d, -source.shape.distance(points - relative * elapsed), out=d)
        return d

    box = source.shape.bounds()
    domain, seed = setting.scene.domain, setting.scene.seed + 101 * (number + 1)
    # The lattice is anchored at the domain and shifted with the flow.
    lattice = Lattice(domain.lower + shift, setting.dx, setting.per_cell, setting.dim, seed)
    lower, upper = np.maximum(box[0], room[0] - lattice.spacing), np.minimum(box[1], room[1] + lattice.spacing)
    return seed_region(distance, lower, upper, lattice)


def _drive(  # type: ignore[no-untyped-def]
    setting: Setting, particles: Particles, source, t: float
) -> tuple[Particles, Particles]:
    """Liquid inside a source moves as the source says. Returns it before and after."""
    lower, upper = source.bounds(t)
    p = particles.position
    near = np.ones(len(p), np.bool_)
    for a in range(setting.dim):
        near &= (p[:, a] >= lower[a]) & (p[:, a] <= upper[a])
    index = np.flatnonzero(near)
    index = index[source.distance(p[index].astype(np.float64), t) < 0.0]
    before = particles.chosen(index)
    particles.velocity[index] = source.velocity_at(p[index].astype(np.float64), t)
    if particles.has("affine"):
        particles.affine[index] = 0.0
    return before, particles.chosen(index)


def leaving(setting: Setting, particles: Particles) -> np.ndarray:
    """By which of `WAYS_OUT` every particle leaves (int8): through an open side or into a sink. -1: it stays."""
    p = particles.position
    way = np.full(len(p), -1, np.int8)
    domain = setting.scene.domain
    for a in range(setting.dim):
        if math.isinf(setting.walls.lower[a]):
            way[p[:, a] < domain.lower[a]] = 2 * a
        if math.isinf(setting.walls.upper[a]):
            way[p[:, a] > domain.upper[a]] = 2 * a + 1
    for sink in setting.scene.sinks:
        way[sink.distance(p.astype(np.float64)) <= 0.0] = len(SIDES)
    return way


def _admissible(setting: Setting, points: np.ndarray, solids: list[Solid], t: float) -> np.ndarray:
    """Which points are inside the domain and outside solids."""
    keep = np.ones(len(points), np.bool_)
    domain = setting.scene.domain
    for a in range(setting.dim):
        keep &= (points[:, a] > domain.lower[a]) & (points[:, a] < domain.upper[a])
    for solid in solids:
        lower, upper = solid.bounds(t)
        near = np.flatnonzero(keep & ((points > lower) & (points < upper)).all(axis=1))
        keep[near] = solid.distance(points[near], t) > 0.0
    return keep


def _add(  # type: ignore[no-untyped-def]
    setting: Setting,
    particles: Particles,
    points: np.ndarray,
    liquid: str,
    velocity,
    shares: np.ndarray | float = 1.0,
) -> None:
    """New particles of the named liquid, each with its share of a whole particle's volume."""
    if len(points) == 0:
        return
    kind = setting.scene.liquids[liquid]
    values: dict[str, np.ndarray | float] = {
        "volume": setting.particle_volume * shares,
        "velocity": velocity(points),
    }
    if particles.has("viscosity"):
        values["viscosity"] = kind.viscosity.at(points, kind.temperature)
    if particles.has("temperature"):
        values["temperature"] = float(kind.temperature)
    if particles.has("liquid"):
        values["liquid"] = float(list(setting.scene.liquids).index(liquid))
    particles.append(points.astype(np.float32), **values)
