"""The tracked surface of a scene (`surface.tracking = "mesh"`): where it begins, and how a step moves it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from glug.geometry.kernels import trilinear_many
from glug.geometry.sampled import sample_box
from glug.geometry.surface import extract
from glug.geometry.tracking.surface import Limits, TrackedSurface
from glug.particles import kernels
from glug.physics.voronoi.liquid import directions
from glug.simulation.context import StepContext
from glug.simulation.setting import Setting
from glug.simulation.stages.transfer import fastest
from glug.simulation.state import State

FINER = 2  # samples per cell in which the scene's volumes are triangulated ...
BEGIN = Limits(shortest=0.8)  # ... before their edges become as long as they are to be
ROUNDS = 6  # of improvement, before the first step
FITS, FARTHEST_FIT = 2, 0.25  # times that its vertices are then moved to where the distance is zero, by so many cells
FAIRING = 0.25  # share of the roughness between neighbours that a step takes away: the grid does not see it
AT_WALL = 0.5  # cells: vertices that near to a solid are moved by the flow alone


def begin(setting: Setting, state: State) -> TrackedSurface:
    """The surface of all volumes of a scene. Its parts keep what they enclose now, rims at walls being a bit round."""
    scene, dx = setting.scene, setting.dx

    def distance(points: np.ndarray) -> np.ndarray:
        found = np.min([volume.shape.distance(points) for volume in scene.volumes], axis=0)
        for solid in setting.solids_with(state.bodies):
            np.maximum(found, -solid.distance(points, state.time), out=found)
        return found

    return triangulated(distance, np.asarray(scene.domain.lower, float), np.asarray(scene.domain.upper, float), dx)


def triangulated(
    distance: Callable[[np.ndarray], np.ndarray], lower: np.ndarray, upper: np.ndarray, dx: float
) -> TrackedSurface:
    """The surface, with edges about dx [m] long, of what of a shape is in a box."""
    surface = TrackedSurface(*extract(sample_box(distance, lower, upper, dx / FINER, 1)), dx, BEGIN)
    for _ in range(ROUNDS):
        surface.improve()
        surface.settle()
        surface.move(surface.smoothing())
    for _ in range(FITS):  # samples round edges off
        off = np.clip(distance(surface.vertices), -FARTHEST_FIT * dx, FARTHEST_FIT * dx)
        surface.move(-off[:, None] * directions(surface.vertices, distance, dx))
    return TrackedSurface(surface.vertices, surface.triangles, dx)


def track(context: StepContext) -> None:
    """Improve the surface, change its topology, and move it with the velocity of the faces."""
    surface, grid = context.state.surface, context.grid
    assert surface is not None
    surface.improve()
    surface.join()
    surface.settle()
    if len(surface.triangles) == 0:
        return
    before = surface.vertices.astype(np.float32)
    after = before.copy()
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    parts = max(1, math.ceil(fastest(context.velocity) * context.dt / grid.dx))
    kernels.advect(after, corner, inverse, *context.velocity, np.float32(context.dt), parts)
    flow = (after - before).astype(np.float64)
    free = ~at_walls(context)
    even = surface.smoothing() + free[:, None] * surface.fairing(FAIRING)
    moved = flow + even
    surface.move(moved + surface.correction(free, at=surface.vertices + moved))


def at_walls(context: StepContext) -> np.ndarray:
    """Which vertices of the surface lie on solids or behind them."""
    surface, grid = context.state.surface, context.grid
    assert surface is not None
    places = ((surface.vertices - grid.corner) / grid.dx).astype(np.float32)
    distance = np.empty((len(places), 1), np.float32)
    trilinear_many(context.solid.distance, places, distance)
    return distance[:, 0] < AT_WALL * grid.dx
