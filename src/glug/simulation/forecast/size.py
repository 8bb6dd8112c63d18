"""How large a scene gets, before it runs."""

import math
from collections.abc import Callable

import numpy as np

from glug.scene import Scene
from glug.scene.bodies import Source
from glug.simulation.octree.seeding import HOLDS_PARTICLES, begun_tree
from glug.simulation.setting import BORDER, Setting

# At the peak of a step and of a frame, measured (`glug bench memory`).
STEP_BYTES_PER_CELL = 140.0  # geometry, velocities, pressure solve
VISCOSITY_BYTES_PER_CELL = 80.0  # what a viscosity solve adds
VARYING_BYTES_PER_CELL = 40.0  # what a viscosity that varies adds
FRAME_BYTES_PER_SAMPLE = 28.0  # per sample of the surface's lattice
BYTES_PER_PARTICLE = 230.0  # half of it copies that are being written
BYTES_PER_LEAF, BYTES_OF_SIZES = 900.0, 110.0  # on an octree, per leaf and per particle (`glug bench octree-step`)
AROUND_LIQUID, BYTES_PER_SITE = 2.5, 6000.0  # Voronoi cells per site in the liquid, and what each takes
SAMPLES = 48  # per axis, to measure the volume of shapes


def estimate(scene: Scene) -> dict[str, float]:
    """Particles, cells of the window and bytes of memory at the largest moment of a run.

    Memory is that of fields and particles, on top of about 0.2 GB for Python, libraries and kernels.
    """
    setting = Setting(scene)
    if begins_on_tree(setting):
        return on_tree(setting)
    if scene.solver.mesh == "voronoi":
        return on_cells(setting)
    lower, upper = scene.domain.lower, scene.domain.upper
    liquid = sum(_volume(v.shape.distance, *v.shape.bounds(), lower, upper) for v in scene.volumes)
    tops = [min(float(v.shape.bounds()[1][1]), float(upper[1])) for v in scene.volumes]
    for source in scene.sources:
        liquid += _flux(source, lower, upper) * max(0.0, min(source.stop, scene.time.duration) - source.start)
        tops.append(min(float(source.bounds(source.start)[1][1]), float(upper[1])))
    room = float(np.prod((upper - lower)[: scene.domain.dim])) * (setting.dx if scene.domain.dim == 2 else 1.0)
    particles = min(liquid, room) / setting.particle_volume
    # Thin liquids splash everywhere; thick ones spread over the floor, up to the highest place where they start.
    size = np.array(upper - lower)
    if setting.viscous:
        size[1] = max(tops) - lower[1]
    cells = 1.0
    for a in range(scene.domain.dim):
        cells *= math.ceil((size[a] / setting.dx + 2 * BORDER) / 8) * 8
    step = STEP_BYTES_PER_CELL
    if setting.viscous:
        step += VISCOSITY_BYTES_PER_CELL + (VARYING_BYTES_PER_CELL if setting.viscosity_varies else 0.0)
    frame = FRAME_BYTES_PER_SAMPLE * scene.surface.resolution**scene.domain.dim
    memory = max(step, frame) * cells + BYTES_PER_PARTICLE * particles
    return {"particles": particles, "cells": cells, "memory": memory}


def begins_on_tree(setting: Setting) -> bool:
    """Whether the first tree says what a run takes: not with sources, and viscous solves take a window as well."""
    scene = setting.scene
    several = scene.solver.mesh == "octree" and scene.refine.levels > 1
    return several and bool(scene.volumes) and not scene.sources and not setting.viscous


def on_tree(setting: Setting) -> dict[str, float]:
    """The same of a scene on an octree as it begins, with its leaves as cells: nothing else is as large."""
    step = begun_tree(setting, HOLDS_PARTICLES)
    centre = step.place.corner + setting.dx * step.tree.centre
    wet = np.any([volume.shape.distance(centre) < 0.0 for volume in setting.scene.volumes], axis=0)
    leaves, particles = float(len(step.tree)), float(setting.per_cell * np.count_nonzero(wet))
    return {"particles": particles, "cells": leaves, "memory": BYTES_PER_LEAF * leaves + BYTES_OF_SIZES * particles}


def on_cells(setting: Setting) -> dict[str, float]:
    """The same of a scene on Voronoi cells as it begins, by the volume and the surface of its shapes."""
    scene, dx, dim = setting.scene, setting.dx, setting.dim
    ends = scene.domain.lower, scene.domain.upper
    volume = surface = 0.0
    for shape in (v.shape for v in scene.volumes):
        lower, upper = (np.asarray(end, float) for end in shape.bounds())

        def near(points: np.ndarray, distance=shape.distance) -> np.ndarray:  # type: ignore[no-untyped-def]
            return np.abs(distance(points)) - dx

        volume += _volume(shape.distance, lower, upper, *ends)
        surface += _volume(near, lower - dx, upper + dx, *ends) / (2.0 * dx)
    deep = dx if dim == 2 else 1.0
    vertices = surface / (dx**2) * (1.15 if dim == 3 else 1.0)
    wet = vertices + volume / deep / (dx**dim) * (2.0 / 8.0 if dim == 3 else 0.29)
    cells = AROUND_LIQUID * wet
    return {"particles": wet, "cells": cells, "memory": BYTES_PER_SITE * cells}


def _volume(
    distance: Callable[[np.ndarray], np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> float:
    """Volume of a shape inside the domain [m3], by sampling."""
    low, high = np.maximum(low, lower), np.minimum(high, upper)
    if np.any(high <= low):
        return 0.0
    axes = [a + (b - a) * (np.arange(SAMPLES) + 0.5) / SAMPLES for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return float((distance(points) < 0.0).mean() * np.prod(high - low))


def _flux(source: Source, lower: np.ndarray, upper: np.ndarray) -> float:
    """Volume poured per second [m3/s]: what enters the shape during a short time, over that time."""
    low, high = source.shape.bounds()
    if not np.isfinite([low, high]).all():  # endless along an axis: what is in the domain counts
        low, high = np.maximum(low, lower), np.minimum(high, upper)
    axes = [a + (b - a) * (np.arange(SAMPLES) + 0.5) / SAMPLES for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    speed = float(np.linalg.norm(source.velocity))
    if speed == 0.0:
        return 0.0
    short = 0.25 * float(np.min(high - low)) / speed
    new = (source.shape.distance(points) < 0.0) & (
        source.shape.distance(points - np.asarray(source.velocity) * short) >= 0.0
    )
    return float(new.mean() * np.prod(high - low)) / short
