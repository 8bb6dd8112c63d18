"""The particles that a scene on an octree begins with: as large as the leaves that they fill.

Cells are looked at from the roots down, and divided where they are not full of liquid: nothing is as large as the
finest cells of the volumes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glug.grids.octree.linear.build import cells_at
from glug.grids.octree.linear.morton import cells_of, inside, keys_of
from glug.particles.seeding import JITTER, Lattice, fill_parts
from glug.simulation.octree.tree import HALF_DIAGONAL, Occupied, StepTree, box_of, grow_around, place_of
from glug.simulation.setting import Setting

FLUSH = 1e-3  # cells: sides of a volume that near to a closed side of the domain lie on it
HOLDS_PARTICLES = -0.5  # of the way from the centre of a cell to its side: the middle of an octant is inside
Depth = tuple[float, Callable[[np.ndarray], np.ndarray]]


def begun_tree(setting: Setting, least: float = 0.0) -> StepTree:
    """The tree of the scene's volumes, with the finest cells that `filled_cells` finds."""
    return grow_around(setting, Occupied.by(filled_cells(setting, least), box_of(setting)[1]), 0.0)


def filled_cells(setting: Setting, least: float = 0.0) -> list[np.ndarray]:
    """Sorted keys, by level, of the largest cells that are full of liquid, and of finest ones that hold some.

    A coarse one is a finest cell away from the surface at least, which would be as coarse otherwise. `least` is how
    deep the centre of a finest one is, over half its side: with HOLDS_PARTICLES all that particles are seeded in.
    """
    place, levels, dx = place_of(setting), setting.scene.refine.levels, setting.dx
    depths = [depth_in(setting, volume.shape) for volume in setting.scene.volumes]
    shape = box_of(setting)[1]
    found, cells = [], _roots(setting)
    for l in range(levels - 1, -1, -1):
        cells = cells[inside(cells, cells_at(shape, l))]
        side = (1 << l) * dx
        centre = place.corner + side * (cells_of(cells) + 0.5)
        full, some = np.zeros(len(cells), np.bool_), np.zeros(len(cells), np.bool_)
        for half, depth in depths:
            deep = depth(centre)
            full |= deep >= half * side + dx if l else deep > least * half * side
            some |= deep > -half * side
        for solid in setting.solids if l else ():
            full &= solid.distance(centre, 0.0) > HALF_DIAGONAL * side
        found.append(np.sort(cells[full]))
        cells = ((cells[some & ~full][:, None] << 3) + np.arange(8)).ravel()
    return found[::-1]


def _roots(setting: Setting) -> np.ndarray:
    """Keys of the roots around the volumes."""
    place, root = place_of(setting), setting.dx * (1 << (setting.scene.refine.levels - 1))
    found = []
    for volume in setting.scene.volumes:
        lower, upper = volume.shape.bounds()
        lower, upper = np.maximum(lower, setting.scene.domain.lower), np.minimum(upper, setting.scene.domain.upper)
        first = np.maximum(np.floor((lower - place.corner) / root), 0).astype(np.int64)
        count = np.maximum(np.ceil((upper - place.corner) / root).astype(np.int64) - first, 0)
        found.append(keys_of(np.indices(count).reshape(3, -1).T + first))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def depth_in(setting: Setting, shape) -> Depth:  # type: ignore[no-untyped-def]
    """How deep [m] points lie in a shape, and how deep the centre of a cube inside it does, over its side.

    A box along the axes goes on behind the closed sides of the domain on which it ends.
    """
    lower, upper = (np.array(x, float) for x in shape.bounds())
    corners = np.array([np.where(pick, lower, upper) for pick in np.ndindex(2, 2, 2)])
    middle = 0.5 * (lower + upper)
    if not (np.isfinite(corners).all() and (shape.distance(middle + (1.0 - 1e-6) * (corners - middle)) < 0.0).all()):
        return HALF_DIAGONAL, lambda points: -shape.distance(points)
    near = FLUSH * setting.dx
    lower[lower < np.asarray(setting.walls.lower) + near] = -np.inf
    upper[upper > np.asarray(setting.walls.upper) - near] = np.inf
    return 0.5, lambda points: np.minimum(points - lower, upper - points).min(axis=1)


def seed_leaves(
    setting: Setting, step: StepTree, distance: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Points that fill the leaves of a tree where `distance` is negative, and their volumes over a nominal one."""
    points, shares = [], []
    for l in range(step.tree.levels):
        cells = cells_of(step.tree.key[step.tree.level == l] >> (3 * l))
        lattice = Lattice(step.place.corner, setting.dx * (1 << l), setting.per_cell, 3, setting.scene.seed)
        if l == 0:
            place, share = fill_parts(distance, lattice.points_in(cells, JITTER), lattice)
        else:
            place = np.concatenate([np.zeros((0, 3)), *lattice.points_in(cells, JITTER)])
            place = place[distance(place) < 0.0]
            share = np.full(len(place), 8.0**l)
        points.append(place)
        shares.append(share)
    return np.concatenate(points), np.concatenate(shares)
