"""Particles of several sizes: one of level l stands for the eighth part of a cell of that level.

Splitting makes eight of one, at the centres of its octants; merging makes one of those in a cell of their own level.
Both keep volume, momentum and the centre of mass to rounding. Splitting a particle with an affine part, and merging
what moves linearly, keep the velocity field; what a merge takes of kinetic energy is returned.
"""

from __future__ import annotations

import numpy as np

from glug.particles import kernels_leaves as kernels
from glug.particles.storage import Particles

MOST_LEVELS = 10
OCTANTS = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])


def level_of(volume: np.ndarray, nominal: float) -> np.ndarray:
    """The level (n,) int8 of particles by their volume (n, 1); `nominal` is that of a finest one."""
    ends = (nominal * 8.0 ** (np.arange(MOST_LEVELS) + 0.5)).astype(np.float32)
    level = np.empty(len(volume), np.int8)
    kernels.levels_of_particles(volume, ends, level)
    return level


def split(p: Particles, rows: np.ndarray, dx: float, nominal: float) -> None:
    """Replace particles by eight each; `dx` is the side of a finest cell. The particles are to be sorted again."""
    if len(rows) == 0:
        return
    old = {name: values[rows] for name, values in p.attributes.items()}
    apart = 0.125 * dx * np.ldexp(1.0, level_of(old["volume"], nominal).astype(np.int32))  # a quarter of its side
    shift = (apart[:, None, None] * OCTANTS).astype(np.float32)
    new = {name: np.repeat(values, 8, axis=0) for name, values in old.items() if name not in ("id", "position")}
    new["volume"] = new["volume"] * np.float32(0.125)
    if "affine" in old:
        gradient = old["affine"].reshape(-1, 3, 3) / np.float32(dx)
        new["velocity"] = new["velocity"] + np.einsum("nab,npb->npa", gradient, shift).reshape(-1, 3)
    new["position"] = (old["position"][:, None, :] + shift).reshape(-1, 3)
    for name, values in new.items():  # the first part in the place of the whole
        p.attributes[name][rows] = values[::8]
    others = np.arange(8 * len(rows)) % 8 > 0
    p.append(**{name: values[others] for name, values in new.items()})


def merge(p: Particles, rows: np.ndarray, group: np.ndarray, density: float = 1.0) -> float:
    """Replace the particles of every group by one; `group` numbers those of `rows`. Returns the kinetic energy lost.

    Means are weighed by volume; ages, ids and other integers are those of the first. The others stay with no volume,
    until the next sort.
    """
    if len(rows) == 0:
        return 0.0
    order = np.argsort(group, kind="stable")
    rows, group = rows[order], group[order]
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    several = np.diff(np.append(first, len(rows))) > 1
    rows = rows[np.repeat(several, np.diff(np.append(first, len(rows))))]
    group = group[np.repeat(several, np.diff(np.append(first, len(group))))]
    if len(rows) == 0:
        return 0.0
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    volume = p.volume[rows].astype(np.float64)
    total = np.add.reduceat(volume, first)
    before = 0.5 * density * float((volume * p.velocity[rows].astype(np.float64) ** 2).sum())
    for name, values in p.attributes.items():
        if name == "volume":
            values[rows[first]] = total
        elif name not in p.INTEGERS and name != "age":
            values[rows[first]] = np.add.reduceat(volume * values[rows], first) / total
    after = 0.5 * density * float((total * p.velocity[rows[first]].astype(np.float64) ** 2).sum())
    gone = np.ones(len(rows), bool)
    gone[first] = False
    p.volume[rows[gone]] = 0.0
    return before - after
