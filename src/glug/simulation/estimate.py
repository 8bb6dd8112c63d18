"""How large a scene gets, before it runs."""

import math

import numpy as np

from glug.scene import Scene
from glug.simulation.setting import BORDER, Setting

# Measured by `glug bench step`: what a step holds at its peak.
BYTES_PER_CELL = 150.0
BYTES_PER_PARTICLE = 110.0
SAMPLES = 48  # per axis, to measure the volume of shapes


def estimate(scene: Scene) -> dict[str, float]:
    """Particles, cells of the window and bytes of memory at the largest moment of a run."""
    setting = Setting(scene)
    lower, upper = scene.domain.lower, scene.domain.upper
    liquid = sum(_volume(v.shape.distance, *v.shape.bounds(), lower, upper) for v in scene.volumes)
    reach_low = [np.maximum(v.shape.bounds()[0], lower) for v in scene.volumes]
    reach_high = [np.minimum(v.shape.bounds()[1], upper) for v in scene.volumes]
    for source in scene.sources:
        duration = max(0.0, min(source.stop, scene.time.duration) - source.start)
        liquid += _flux(source, setting.dx) * duration
        reach_low.append(np.maximum(source.bounds(source.start)[0], lower))
        reach_high.append(np.minimum(source.bounds(source.start)[1], upper))
    room = float(np.prod((upper - lower)[: scene.domain.dim])) * (setting.dx if scene.domain.dim == 2 else 1.0)
    liquid = min(liquid, room)
    # Liquid spreads over the floor but seldom rises: the window is the domain up to the highest start.
    size = np.array(upper - lower)
    size[1] = np.max(reach_high, axis=0)[1] - lower[1]
    cells = 1.0
    for a in range(scene.domain.dim):
        cells *= math.ceil((size[a] / setting.dx + 2 * BORDER) / 8) * 8
    particles = liquid / setting.particle_volume
    memory = BYTES_PER_CELL * cells + BYTES_PER_PARTICLE * particles
    return {"particles": particles, "cells": cells, "memory": memory}


def _volume(distance, low, high, lower, upper) -> float:  # type: ignore[no-untyped-def]
    """Volume of a shape inside the domain [m3], by sampling."""
    low, high = np.maximum(low, lower), np.minimum(high, upper)
    if np.any(high <= low):
        return 0.0
    axes = [a + (b - a) * (np.arange(SAMPLES) + 0.5) / SAMPLES for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return float((distance(points) < 0.0).mean() * np.prod(high - low))


def _flux(source, dx: float) -> float:  # type: ignore[no-untyped-def]
    """Volume poured per second [m3/s]: what enters the shape during a short time, over that time."""
    low, high = source.shape.bounds()
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
