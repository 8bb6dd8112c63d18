"""Sampled distances made ready for tracing: one buffer of samples, and blurred densities for soft light."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import affine_transform, gaussian_filter

from glug.geometry.sampled import SampledDistance

# Blur of the density levels, in cells of the density lattice; a cone of light reads the one of its width.
BLURS = (0.0, 1.0, 2.0, 4.0)
DENSITY_CELLS = 56  # along the longest side
FLOOR_CELLS = 2  # what ends so near the floor [samples] stands on it
MARGIN_CELLS = 10  # of the density lattice, so that blurred densities fade to zero inside it


@dataclass(frozen=True)
class Volumes:
    """Volume v has its samples at samples[table[v, 0]:] in C order, table[v, 1:] of them per axis.

    place[v] is the position of its first sample [m] and the spacing [m]. Volume 0 is the liquid, the others
    are solids. density[level, i, j, k] is the part of space taken by (liquid, solids) around
    density_place[:3] + (i, j, k) density_place[3], blurred by BLURS[level].
    """

    samples: np.ndarray
    table: np.ndarray
    place: np.ndarray
    density: np.ndarray
    density_place: np.ndarray


def gather(
    liquid: SampledDistance,
    solids: list[SampledDistance],
    opacities: list[float],
    floor: float = -np.inf,
) -> Volumes:
    """Crop each distance to what is inside it, close it at its border, and join them.

    What stands on the floor (height y [m]) goes on below it, where nobody looks, instead of being closed.
    """
    cropped = [_crop(distance, floor) for distance in (liquid, *solids)]
    sizes = [distance.values.size for distance in cropped]
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = np.array([[o, *d.values.shape] for o, d in zip(offsets, cropped)], dtype=np.int64)
    place = np.array([[*d.corner, d.spacing] for d in cropped], dtype=np.float32)
    samples = np.concatenate([distance.values.ravel() for distance in cropped])
    density, density_place = _densities(cropped, [1.0, *opacities])
    return Volumes(samples, table, place, density, density_place)


def _crop(distance: SampledDistance, floor: float) -> SampledDistance:
    """The samples around the inside, within a layer outside; eight outside samples if nothing is inside."""
    values, h = np.asarray(distance.values, dtype=np.float32), distance.spacing
    corner = list(distance.corner)
    # Samples on the floor itself are zero: what counts is the first layer above.
    hidden = int(np.clip(np.ceil((floor - corner[1]) / h + 0.49), 0, values.shape[1])) if floor > -np.inf else 0
    values = values[:, hidden:]
    corner[1] += hidden * h
    inside = values < 0.0
    if not inside.any():
        return SampledDistance(np.full((2, 2, 2), h, np.float32), distance.corner, h)
    cut = []
    for axis in range(3):
        others = tuple(a for a in range(3) if a != axis)
        taken = np.flatnonzero(inside.any(axis=others))
        first, last = max(taken[0] - 3, 0), min(taken[-1] + 4, values.shape[axis])
        cut.append(slice(first, last))
        corner[axis] += (first - 1) * h
    closed = np.pad(values[tuple(cut)], 1, constant_values=np.float32(h))
    if corner[1] - FLOOR_CELLS * h < floor:
        closed[:, 0] = closed[:, 1]
        closed = np.concatenate([closed[:, :1]] * FLOOR_CELLS + [closed], axis=1)
        corner[1] -= FLOOR_CELLS * h
    return SampledDistance(np.ascontiguousarray(closed), (corner[0], corner[1], corner[2]), h)


def _densities(distances: list[SampledDistance], opacities: list[float]) -> tuple[np.ndarray, np.ndarray]:
    full = [d for d in distances if d.values.size > 8] or distances
    lower = np.min([d.corner for d in full], axis=0)
    upper = np.max([np.add(d.corner, np.multiply(d.values.shape, d.spacing)) for d in full], axis=0)
    h = float((upper - lower).max()) / DENSITY_CELLS
    first = lower - MARGIN_CELLS * h
    shape = np.ceil((upper - lower) / h).astype(int) + 2 * MARGIN_CELLS
    taken = np.zeros((2, *shape), np.float32)
    for number, (distance, opacity) in enumerate(zip(distances, opacities)):
        kind = 0 if number == 0 else 1
        part = np.float32(opacity**2) * _taken(distance, first, h, tuple(shape))
        np.maximum(taken[kind], part, out=taken[kind])
    levels = [
        np.stack([gaussian_filter(part, blur, mode="constant", truncate=2.5) if blur else part for part in taken])
        for blur in BLURS
    ]
    density = np.ascontiguousarray(np.moveaxis(np.stack(levels), 1, -1))
    return density, np.array([*first, h], dtype=np.float32)


def _taken(distance: SampledDistance, first: np.ndarray, h: float, shape: tuple[int, ...]) -> np.ndarray:
    """Part of each cell of a lattice that is inside, by averages over blocks of samples."""
    part = np.clip(0.5 - distance.values / np.float32(distance.spacing), 0.0, 1.0)
    block = max(1, round(h / distance.spacing))
    part = np.pad(part, [(0, -n % block) for n in part.shape])
    for axis in range(3):
        sums = np.add.reduceat(part, np.arange(0, part.shape[axis], block), axis=axis)
        part = sums / np.float32(block)
    step = block * distance.spacing
    start = np.asarray(distance.corner) + 0.5 * (step - distance.spacing)  # centre of the first block
    return affine_transform(
        part, np.full(3, h / step), (first - start) / step, output_shape=shape, order=1, mode="constant"
    )
