"""Sizes of cells that a scene asks for besides finest ones along the surface: by shapes, by a picture and by the flow.

Shapes and pictures have a largest side of cells at every place. Cells are looked at from the roots down, those with
liquid in them, whatever its particles are: what is asked for does not depend on the tree of the step before.

What the flow asks for is the particles': `detail` [1/m] is one over the largest side of cells around each. It is
carried with them, and forgotten in `refine.decay` seconds: s = max(s_now, s exp(-dt / decay)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from glug.grids.octree.linear.morton import cells_of, inside
from glug.particles import kernels_detail
from glug.particles.leaves import Place
from glug.particles.storage import Particles
from glug.simulation.setting import Setting

if TYPE_CHECKING:
    from glug.simulation.octree.tree import Occupied, StepTree

CALM_SHARE = 1.25  # by so much more must cells be let grow before particles in them are merged
NEVER = 1e-30  # m/s: what a criterion that is off is never below
LEAST = 1e-30  # [m/s]: a smaller limit is none that single precision holds
Asked = list[np.ndarray]  # keys of cells, level by level


def nothing(levels: int) -> Asked:
    """No cell of any level."""
    return [np.zeros(0, np.int64) for _ in range(levels)]


def joined(*asked: Asked) -> Asked:
    """What several ask for."""
    return [np.concatenate(keys) for keys in zip(*asked)]


def largest_sides(setting: Setting, centre: np.ndarray, radius: float, wider: float, finer: float) -> np.ndarray:
    """The largest side [m] that cells may have in balls around points (n, 3), by shapes and by the scene's picture.

    Shapes reach further by `wider` [m], and cells of a picture are `finer` so many times.
    """
    scene, refine = setting.scene, setting.scene.refine
    found = np.full(len(centre), np.inf)
    for wish in refine.shapes:
        touched = wish.shape.distance(centre) < radius + wider
        found[touched] = np.minimum(found[touched], max(wish.size, setting.dx))
    if refine.pixels > 0.0:
        camera, (width, height) = scene.camera, scene.output.preview_size
        assert camera is not None
        forward = np.subtract(camera.target, camera.eye) / math.dist(camera.target, camera.eye)
        offset = centre - np.asarray(camera.eye)
        away = np.linalg.norm(offset, axis=1)
        half = math.tan(math.radians(0.5 * camera.fov))
        corner = half * math.hypot(1.0, width / height)  # the cone around the picture
        ahead = offset @ forward
        aside = np.sqrt(np.maximum(away**2 - ahead**2, 0.0))
        seen = (aside - corner * ahead) / math.hypot(1.0, corner) < radius + wider
        side = refine.pixels * 2.0 * half / height * np.maximum(away - radius, setting.dx) / finer
        found[seen] = np.minimum(found[seen], np.maximum(side[seen], setting.dx))
    return found


def asked_by_places(setting: Setting, held: Occupied, place: Place, wider: float = 0.0, finer: float = 1.0) -> Asked:
    """The cells with liquid that shapes and the picture ask for."""
    levels, refine = held.tree.levels, setting.scene.refine
    if not refine.shapes and refine.pixels == 0.0:
        return nothing(levels)
    found, cells = nothing(levels), held.roots
    for l in range(levels - 1, 0, -1):
        side = place.dx * (1 << l)
        cells = cells[wet_somewhere(held, cells, l)]
        centre = place.corner + side * (cells_of(cells) + 0.5)
        small = largest_sides(setting, centre, 0.5 * math.sqrt(3.0) * side, wider, finer) < 0.999 * side
        cells = found[l - 1] = ((cells[small][:, None] << 3) + np.arange(8)).ravel()
    found[0] = found[0][held.holds(found[0])]
    return found


def wet_somewhere(held: Occupied, cells: np.ndarray, l: int) -> np.ndarray:
    """Which cells of level l have liquid in them: leaves in a cell are one after the other."""
    before = np.append(0, np.cumsum(held.wet > 0))
    first, end = (np.searchsorted(held.tree.key, (cells + n) << (3 * l)) for n in range(2))
    return (before[end] > before[first]) | held.holds(cells << (3 * l))


def asked_by_flow(p: Particles, place: Place, shape: tuple[int, int, int], levels: int) -> list[Asked]:
    """The cells around particles that are as large as their `detail` lets them; for the tree, and for its calm one."""
    if not p.has("detail"):
        return [nothing(levels), nothing(levels)]
    key = place.keys(p.position)
    there = (key >= 0) & inside(key, shape)
    found = []
    for finer in (1.0, CALM_SHARE):
        size = 1.0 / np.maximum(finer * place.dx * p.detail[there, 0].astype(np.float64), 2.0**-levels)
        level = np.floor(np.log2(np.maximum(size, 1.0))).astype(np.int64)
        found.append([np.unique(key[there][level == l] >> (3 * l)) for l in range(levels)])
    return found


def remember(setting: Setting, step: StepTree, p: Particles, dt: float) -> None:
    """What the flow asks for now, or what is left of what it did."""
    if not p.has("detail"):
        return
    refine, tree = setting.scene.refine, step.tree
    p.detail *= np.float32(math.exp(-dt / refine.decay))
    limits = (np.float32(max(x, LEAST) if x > 0.0 else 1.0 / NEVER) for x in (refine.bend, refine.vorticity))
    kernels_detail.raise_detail(
        tree.level, step.wet, p.start, step.lattice.near, step.u, np.float32(setting.dx), *limits, p.detail
    )
