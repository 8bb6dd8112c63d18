"""Moving particles through the velocity field, and keeping them out of solids."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glug.geometry.solids.field import Solid, SolidField, Walls
from glug.grids.regular import Grid, Staggered
from glug.particles import kernels_motion as kernels
from glug.particles.seeding import gradient
from glug.particles.storage import Particles

MARGIN = 0.01  # cells between a particle and a solid, at least
STRIDE = 0.2  # cells between the places at which a path is tested: plates half a cell thick do not slip between two
CONTACT = 0.05  # cells: a particle as near to a solid touches it
HALVINGS = 8  # of a stride, to find where a path enters a solid: less than MARGIN is left of it


def advect(particles: Particles, grid: Grid, velocity: Staggered, dt: float, max_speed: float) -> None:
    """Third-order Runge-Kutta, in as many parts as the fastest particle crosses cells."""
    parts = max(1, math.ceil(max_speed * dt / grid.dx))
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.advect(particles.position, corner, inverse, *velocity, np.float32(dt), parts)


@dataclass(frozen=True)
class Obstacles:
    """All that no particle may pass through, at a time [s]."""

    grid: Grid
    field: SolidField
    walls: Walls
    solids: Sequence[Solid]
    time: float


class DistanceTo:
    """A solid's exact distance at points that move now and then: asked for again only where they have."""

    def __init__(self, solid: Solid, mine: np.ndarray, t: float):
        self.solid, self.mine, self.t = solid, mine, t  # `mine`: numbers of the points that it is asked for
        self._where = np.full((len(mine), 3), np.nan)
        self._distance = np.empty(len(mine))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The distance (n,) [m] at those of `points` that are `mine`; not to be changed."""
        now = points[self.mine]
        moved = (now != self._where).any(axis=1)
        if moved.any():
            self._distance[moved] = self.solid.distance(now[moved], self.t)
            self._where[moved] = now[moved]
        return self._distance


def leave_solids(particles: Particles, before: np.ndarray, obstacles: Obstacles, dt: float) -> float:
    """Afterwards no particle is inside a solid or behind a wall, and none has passed through one.

    What is still inside one goes back to where it was, or where a moving solid has carried that, if there is room.
    Returns the volume [m3] of liquid that found none between solids, not to a MARGIN; its particles lose it.

    The sampled distance says which of them are near a solid, and the exact one where it is: between samples that lie in
    solids there may be room, and plates may be thinner than a cell. `before` are the positions `dt` ago.
    """
    p, grid, walls = particles.position, obstacles.grid, obstacles.walls
    solids, t = obstacles.solids, obstacles.time
    margin = MARGIN * grid.dx
    lower = (np.asarray(walls.lower) + margin).astype(np.float32)
    upper = (np.asarray(walls.upper) - margin).astype(np.float32)
    near = np.empty(len(p), np.bool_)
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.stay_inside(p, corner, inverse, obstacles.field.distance, lower, upper, near)
    if not solids:
        return 0.0
    near |= np.abs(p - before).max(axis=1) > 0.5 * grid.dx  # fast enough to be beyond a solid by now
    if not near.any():
        return 0.0
    index = np.flatnonzero(near)
    points, start = p[index].astype(np.float64), before[index].astype(np.float64)
    reach = np.abs(points - start).max(initial=0.0) + grid.dx
    close = [DistanceTo(s, _within(s, points, t, reach + _travel(s, t, dt)), t) for s in solids]
    for distance in close:
        some = points[distance.mine]
        _stop_at(distance.solid, start[distance.mine], some, distance(points), grid, t, dt)
        points[distance.mine] = some
    for _ in range(4):
        moved = np.zeros(len(points), np.bool_)
        for distance in close:
            d = distance(points)
            inside = d < 0.5 * margin
            if inside.any():
                index_inside = distance.mine[inside]
                push = (margin - d[inside])[:, None]
                points[index_inside] += push * _normal(distance.solid, points[index_inside], grid, t)
                moved[index_inside] = True
        np.clip(points, walls.lower + np.full(3, margin), walls.upper - np.full(3, margin), out=points)
        if not moved.any():
            break
    back = inside_any(close, points)
    points[back] = start[back]
    for distance in close if back.any() else ():
        if distance.solid.moving:
            pushed = distance.mine[distance(points) < 0.0]
            points[pushed] += dt * distance.solid.velocity(points[pushed], t)
    np.clip(points, walls.lower + np.full(3, margin), walls.upper - np.full(3, margin), out=points)
    p[index] = points
    lost = index[inside_any(close, points, margin)]
    volume = float(particles.volume[lost].sum(dtype=np.float64))
    particles.volume[lost] = 0.0  # the next sort drops them
    return volume


def meet_solids(particles: Particles, grid: Grid, wet: np.ndarray, field: SolidField) -> None:
    """Particles outside `wet` cells that touch solids, by their sampled distance, lose what leads them into these.

    Pressure does that in the liquid, and there it would be biased: noise that leads away would stay, and draw liquid to
    the walls. Those of a film too thin to be seen would fall on, faster with every step, and
    press on the liquid with all of it when they are seen at last.
    """
    corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    near, moving = np.float32(CONTACT * grid.dx), field.velocity is not None
    own = field.area if field.velocity is None else field.velocity
    kernels.meet_solids(
        particles.position, particles.velocity, corner, inverse, wet, field.distance, near, *own, moving
    )


def inside_any(distances: Sequence[DistanceTo], points: np.ndarray, depth: float = 0.0) -> np.ndarray:
    """bool (n,): points deeper than `depth` in a solid."""
    inside = np.zeros(len(points), np.bool_)
    for distance in distances:
        inside[distance.mine] |= distance(points) < -depth
    return inside


def _within(solid: Solid, points: np.ndarray, t: float, reach: float) -> np.ndarray:
    """Numbers of the points within `reach` of the solid's box."""
    lower, upper = solid.bounds(t)
    return np.flatnonzero(((points > lower - reach) & (points < upper + reach)).all(axis=1))


def _travel(solid: Solid, t: float, dt: float) -> float:
    """How far a solid's corners move within `dt`, at most."""
    if not solid.moving:
        return 0.0
    lower, upper = solid.bounds(t)
    box = np.where(np.isfinite([lower, upper]), [lower, upper], 0.0)
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    return dt * float(np.linalg.norm(solid.velocity(corners, t), axis=1).max())


def _normal(solid: Solid, points: np.ndarray, grid: Grid, t: float) -> np.ndarray:
    return gradient(lambda q: solid.distance(q, t), points, 1e-3 * grid.dx, grid.dim)


def _stop_at(
    solid: Solid, start: np.ndarray, points: np.ndarray, at_end: np.ndarray, grid: Grid, t: float, dt: float
) -> None:
    """Points whose path from `start` passes through the solid slide along the side that they met; in place.

    at_end  the solid's distance at the points
    """
    if solid.moving:  # the path as the solid sees it
        start = start + dt * solid.velocity(start, t)
    path = points - start
    length = np.linalg.norm(path, axis=1)
    at_start = solid.distance(start, t)
    # A path is nowhere nearer than the distances at its ends less its length allow.
    far = np.maximum(at_start, 0.0) + np.maximum(at_end, 0.0) > length
    chosen = np.flatnonzero((at_start > 0.0) & ~far)
    if len(chosen) == 0:
        return
    origin, way = start[chosen], path[chosen]
    count = max(2, math.ceil(float(length[chosen].max()) / (STRIDE * grid.dx)))
    entered, low = np.ones(len(chosen)), np.zeros(len(chosen))
    met = np.zeros(len(chosen), np.bool_)
    for n in range(1, count + 1):
        inside = ~met & (solid.distance(origin + (n / count) * way, t) < 0.0)
        entered[inside], low[inside] = n / count, (n - 1) / count
        met |= inside
    chosen, origin, way, entered, low = chosen[met], origin[met], way[met], entered[met], low[met]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + entered)
        inside = solid.distance(origin + middle[:, None] * way, t) < 0.0
        entered, low = np.where(inside, middle, entered), np.where(inside, low, middle)
    hit = origin + low[:, None] * way
    normal = _normal(solid, hit, grid, t)
    # Those still inside on the side that they met are pushed out there anyway.
    through = (at_end[chosen] >= 0.0) | ((normal * _normal(solid, points[chosen], grid, t)).sum(axis=1) <= 0.0)
    rest = (1.0 - low)[:, None] * way
    rest -= normal * (rest * normal).sum(axis=1, keepdims=True)
    slid = hit + MARGIN * grid.dx * normal + rest
    blocked = solid.distance(slid, t) < 0.0  # sliding leads into another part of the solid
    slid[blocked] = (hit + MARGIN * grid.dx * normal)[blocked]
    points[chosen[through]] = slid[through]
