"""The tracked surface of a scene (`surface.tracking = "mesh"`): where it begins, and how a step moves it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from glug.geometry.kernels import trilinear_many
from glug.geometry.sampled import sample_box
from glug.geometry.solids.field import SolidField
from glug.geometry.surface import extract
from glug.geometry.tracking.sampling import surface_distance
from glug.geometry.tracking.shore import LEAST_SLOPE, Solids, directions, slopes
from glug.geometry.tracking.surface import Limits, TrackedSurface
from glug.grids.regular import Grid
from glug.particles import kernels_motion as kernels
from glug.physics import advection
from glug.simulation.context import StepContext
from glug.simulation.setting import Setting
from glug.simulation.stages.transfer import fastest
from glug.simulation.state import State

FINER = 2  # samples per cell in which the scene's volumes are triangulated ...
BEGIN = Limits(shortest=0.8)  # ... before their edges become as long as they are to be
ROUNDS = 6  # of improvement, before the first step
FITS, FARTHEST_FIT = 2, 0.25  # times that its vertices are then moved to where the distance is zero, by so many cells
FAIRING = 0.25  # share of the roughness between neighbours that a step takes away: the grid does not see it
BEHIND = 2.0  # cells behind the sides of the domain where the first surface is looked for
LEFT = 0.5  # cells beyond the surface from where on particles are brought back


def begin(setting: Setting, state: State) -> TrackedSurface:
    """The surface of all volumes of a scene, which goes on behind the solids that they touch."""
    scene, dx = setting.scene, setting.dx
    solids = setting.solids_with(state.bodies)

    def liquid(points: np.ndarray) -> np.ndarray:
        return np.min([volume.shape.distance(points) for volume in scene.volumes], axis=0)

    def solid(points: np.ndarray) -> np.ndarray:
        sides = np.minimum(points - setting.walls.lower, setting.walls.upper - points).min(axis=1)
        return np.min([sides, *(solid.distance(points, state.time) for solid in solids)], axis=0)

    behind = BEHIND * dx
    ends = np.asarray(scene.domain.lower, float) - behind, np.asarray(scene.domain.upper, float) + behind
    surface = triangulated(Solids(solid, dx, setting.up).continued(liquid), *ends, dx)
    grid = setting.window(state.particles.position, state.bodies)
    field = setting.solid_field(grid, state.time, state.bodies)
    stepped = sampled_solids(setting, field, grid)  # as steps measure them: edges are a bit round
    surface.keep_volumes(stepped.outside(surface.vertices))
    return surface


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
    """Improve the surface, change its topology, move it with the velocity of the faces, and its particles with it."""
    surface = context.state.surface
    assert surface is not None
    now, then = solids_at(context, context.state.time), solids_at(context, context.state.time + context.dt)
    surface.improve()
    surface.join()
    surface.settle(now.outside(surface.vertices))
    if len(surface.triangles) == 0:
        return
    x = surface.vertices
    shore = now.beside(x, surface.normals())
    flow = carried(context, shore.before(x))
    flow = shore.along(flow, flow, 1.0)
    receded = then.distance(x + flow) - now.distance(x + flow)
    flow -= np.where(shore.free, 0.0, receded)[:, None] * shore.way
    moved = flow + shore.clear[:, None] * (surface.smoothing() + surface.fairing(FAIRING))
    surface.move(moved + surface.correction(shore.free, at=then.outside(x + moved)))
    bring_back(context, then)


def solids_at(context: StepContext, time: float) -> Solids:
    """All solids at a time of the step."""
    setting, state, grid = context.setting, context.state, context.grid
    same = time == state.time or not setting.moving
    field = context.solid if same else setting.solid_field(grid, time, state.bodies)
    return sampled_solids(setting, field, grid)


def sampled_solids(setting: Setting, field: SolidField, grid: Grid) -> Solids:
    """The solids of a scene by their distance at the corners of cells."""
    return Solids(lambda points: sampled(field.distance, grid, points), grid.dx, setting.up)


def sampled(field: np.ndarray, grid: Grid, points: np.ndarray, offset: float = 0.0) -> np.ndarray:
    """Values (n,) at points (n, 3) of a field whose samples are `offset` cells from the corners of cells."""
    found = np.empty((len(points), 1), np.float32)
    trilinear_many(field, ((points - grid.corner) / grid.dx - offset).astype(np.float32), found)
    return found[:, 0].astype(np.float64)


def carried(context: StepContext, points: np.ndarray) -> np.ndarray:
    """How far the velocity of the faces carries points in the step [m]."""
    grid, before = context.grid, points.astype(np.float32)
    after = before.copy()
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    parts = max(1, math.ceil(fastest(context.velocity) * context.dt / grid.dx))
    kernels.advect(after, corner, inverse, *context.velocity, np.float32(context.dt), parts)
    return (after - before).astype(np.float64)


def bring_back(context: StepContext, solids: Solids) -> None:
    """Particles that the surface has left behind come back to it: what is beyond it is air.

    Alone in the air they would keep the velocity that they have from one step to the next, and add to it. Those so far
    from it that its distance is not known have no way back, and where solids leave no room there they stay.
    """
    surface, grid, p = context.state.surface, context.grid, context.state.particles
    assert surface is not None
    phi = surface_distance(surface.vertices, surface.triangles, grid)

    def distance(points: np.ndarray) -> np.ndarray:
        return sampled(phi, grid, points, 0.5)

    beyond = np.flatnonzero(distance(p.position) > LEFT * grid.dx)
    if len(beyond) == 0:
        return
    x = p.position[beyond].astype(np.float64)
    slope = slopes(x, distance, grid.dx)
    back = x - distance(x)[:, None] * slope
    known = (slope**2).sum(axis=1) > LEAST_SLOPE**2
    room = known & (solids.distance(back) > advection.MARGIN * grid.dx)
    p.position[beyond[room]] = back[room]
