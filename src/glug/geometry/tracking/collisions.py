"""Motions without meetings: displacements are shortened until no vertex meets a triangle and no edge an edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug import jit
from glug.geometry.tracking import kernels_pairs

TOGETHER = 6  # passes in which what meets goes on together
MOST_PASSES = 12  # more, in which it is shortened, before vertices that still meet something stay where they are


@dataclass(frozen=True)
class Lattice:
    """Boxes of triangles sorted by the lattice cell of their centres; `arrays` is what kernels take."""

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    size: float  # of a cell: that of the largest box

    @classmethod
    def around(cls, x: np.ndarray, d: np.ndarray, triangles: np.ndarray, grow: float) -> Lattice:
        """What the triangles pass while their vertices move from x to x + d, and `grow` around it."""
        box = np.empty((len(triangles), 6))
        kernels_pairs.boxes(x, d, triangles, grow, box)
        size = float((box[:, 3:] - box[:, :3]).max(initial=0.0)) or 1.0
        buckets = 1 << int(2 * len(box) + 64).bit_length()
        start, order = np.empty(buckets + 1, np.int64), np.empty(len(box), np.int64)
        sorted_box = np.empty_like(box)
        kernels_pairs.sort_boxes(box, size, buckets - 1, start, order, sorted_box)
        return cls((start, order, sorted_box, box), size)


def clean(x: np.ndarray, displacement: np.ndarray, triangles: np.ndarray, near: float) -> tuple[np.ndarray, int]:
    """The displacement (n, 3), changed where vertices would meet something; and the passes that it took.

    Pairs come as near as `near` [m], or half their distance if that is less, and then go on together: a seam between
    two surfaces moves with the liquid on both sides. What that does not settle is shortened; not to move is clean.
    """
    d, count = np.array(displacement, np.float64), len(triangles)
    bits, time, who = np.empty(count, np.uint8), np.empty(count), np.empty((count, 4), np.int64)
    kernels_pairs.own(triangles, bits)
    active = np.ones(count, np.bool_)
    lattice = Lattice.around(x, d, triangles, 0.0)
    passes = 0
    with jit.threads_for(20 * count):
        while True:
            passes += 1
            awake = kernels_pairs.awake_buckets(active, *lattice.arrays[:2])
            given = x, d, triangles, bits, active, awake, lattice.arrays, lattice.size, near
            kernels_pairs.meetings(*given, time, who)
            if not (time < 1.0).any():
                return d, passes
            changed = np.zeros(len(x), np.bool_)
            if passes <= TOGETHER:
                kernels_pairs.together(time, who, 1.0 if passes == 1 else 0.5, d, changed)
                lattice = Lattice.around(x, d, triangles, 0.0)
            else:  # shorter displacements stay in the same boxes
                scale = np.ones(len(x))
                kernels_pairs.shorten(time, who, scale)
                changed = scale < 1.0
                scale[changed] *= 0.8 if passes < TOGETHER + MOST_PASSES else 0.0
                d *= scale[:, None]
            active = changed[triangles].any(axis=1)
