"""Which bubble is which from step to step, and what volume each is to have (Goldade 2021, section 4.4.1).

Particles beside a bubble carry its name. A bubble of this step descends from those whose names its particles carry:
a graph of old and new bubbles. Connected parts of it share their rest volume,

    V0_i = V_i / (sum of V over the part's new bubbles) * (sum of V0 over its old ones)        (eq. 4.25)

so that it is kept over any merge and split. A bubble without ancestors, beside particles that have a past, is a void
that opened between particles: it is to vanish.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glug.particles.storage import Particles
from glug.physics.air import kernels_tracking as kernels
from glug.physics.air.regions import AirRegions

FIRST_NAME = 2  # of a bubble: 0 is a particle without a past, 1 one beside no air
LEAST_SHARE = 0.05  # of the particles of a bubble, old or new, that make an edge: fewer lie in a film between two
SMALLEST = 1e-300  # [m3]: a region may have no volume at all, between solids
GAIN = 1.0  # share of a bubble's error that one step corrects: what a step loses does not add up
LEAST_CLOSED = 0.5  # of the cells of a void, that one step closes
MOST = 0.05  # relative change of volume that one step may ask of a bubble that is kept


@dataclass(frozen=True)
class BubbleMemory:
    """The bubbles of the step before: names that are never used again, and rest volumes [m3] (infinite where open)."""

    names: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    rest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    next_name: int = FIRST_NAME

    def save(self) -> dict[str, np.ndarray]:
        return {
            "bubbles.names": self.names,
            "bubbles.rest": self.rest,
            "bubbles.next": np.array(self.next_name),
        }

    @classmethod
    def restore(cls, data: dict[str, np.ndarray]) -> "BubbleMemory":
        if "bubbles.names" not in data:
            return cls()
        return cls(np.array(data["bubbles.names"]), np.array(data["bubbles.rest"]), int(data["bubbles.next"]))


@dataclass(frozen=True)
class Tracked:
    """The bubbles of this step; entries follow the air regions."""

    memory: BubbleMemory

    @property
    def void(self) -> np.ndarray:
        """Whether a region is one that is to vanish: it opened between particles, in this step or before."""
        return self.memory.rest == 0.0

    def missing(self, volume: np.ndarray, room: np.ndarray) -> np.ndarray:
        """What every region is to gain [m3]; nothing where it is open.

        volume, room  [m3] that it has, and that its cells have room for: of a void whose cells are almost full
                      little is left to lose, but it lasts until particles come
        """
        wanted = np.where(np.isfinite(self.memory.rest), self.memory.rest, volume) - volume
        return np.where(self.void, -np.maximum(volume, LEAST_CLOSED * room), wanted)

    def growth(self, volume: np.ndarray, room: np.ndarray, dt: float, strength: float) -> np.ndarray:
        """What every region is to gain per time [m3/s]; `strength` scales the correction, 0 is none."""
        if strength == 0.0:
            return np.zeros(len(volume))
        missing = self.missing(volume, room)
        change = np.clip(GAIN * strength * missing, -MOST * volume, MOST * volume)
        return np.where(self.void, missing, change) / dt


def rest_volumes(
    edges: np.ndarray, old_rest: np.ndarray, volume: np.ndarray, fresh: np.ndarray, is_open: np.ndarray
) -> np.ndarray:
    """Rest volumes [m3] of the new bubbles, zero where they are voids.

    edges     (old, new) whether a new bubble descends from an old one
    old_rest  infinite where open
    fresh     whether particles without a past lie beside a new bubble: it is kept with the volume it has
    """
    old, new = edges.shape
    rest = np.where(is_open, np.inf, np.maximum(volume, SMALLEST))
    pairs = np.argwhere(edges)
    graph = sparse.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], old + pairs[:, 1])), shape=(old + new,) * 2)
    count, part = connected_components(graph, directed=False)
    has_parent = edges.any(axis=0)
    void = ~has_parent & ~fresh & ~is_open
    rest[void] = 0.0
    mine, size = part[old:], np.maximum(volume, SMALLEST)
    total, sizes = np.bincount(part[:old], old_rest, count), np.bincount(mine, size, count)
    # With open air on either side there is no amount to share: what is cut off from it is kept as it is.
    whole = np.isfinite(total) & (np.bincount(mine, is_open | fresh, count) == 0)
    shared = has_parent & whole[mine]
    rest[shared] = size[shared] / sizes[mine[shared]] * total[mine[shared]]
    lost = np.ones(old, dtype=bool) if new == 0 else ~edges.any(axis=1)
    whole = np.isfinite(rest) & (rest > 0.0)
    if lost.any() and not is_open.any() and not fresh.any() and whole.any() and np.isfinite(old_rest).all():
        # What has become too small to be seen belongs to the others.
        rest[whole] *= 1.0 + old_rest[lost].sum() / rest[whole].sum()
    return rest


def follow(memory: BubbleMemory, particles: Particles, regions: AirRegions, volume: np.ndarray) -> Tracked:
    """Name the regions of this step, whose `volume` [m3] is given; the (sorted) particles take the names."""
    index_of = np.full(memory.next_name, -1, np.int32)
    index_of[memory.names] = np.arange(len(memory.names))
    counts = np.zeros((len(memory.names), len(regions)), np.int32)
    fresh = np.zeros(len(regions), np.int64)
    kernels.count_edges(regions.label, particles.start, particles.bubble, index_of, counts, fresh)
    edges = significant(counts)
    rest = rest_volumes(edges, memory.rest, volume, fresh > counts.sum(axis=0), regions.open)
    names, next_name = inherit(edges, memory, volume)
    kernels.rename(regions.label, particles.start, names, particles.bubble)
    return Tracked(BubbleMemory(names, rest, next_name))


def significant(counts: np.ndarray) -> np.ndarray:
    """Which edges have enough particles on either of their sides."""
    of_old, of_new = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    return (counts > 0) & ((counts >= LEAST_SHARE * of_old) | (counts >= LEAST_SHARE * of_new))


def inherit(edges: np.ndarray, memory: BubbleMemory, volume: np.ndarray) -> tuple[np.ndarray, int]:
    """Every old name, the largest bubble's first, goes to its largest heir without one; the rest get new names."""
    names = np.full(edges.shape[1], -1, np.int32)
    old, new = np.nonzero(edges)
    order = np.lexsort((new, -volume[new], old, -np.nan_to_num(memory.rest, posinf=1e300)[old]))
    given = np.zeros(len(edges), np.bool_)
    for o, heir in zip(old[order], new[order]):
        if not given[o] and names[heir] < 0:
            names[heir], given[o] = memory.names[o], True
    unnamed = np.flatnonzero(names < 0)
    names[unnamed] = memory.next_name + np.arange(len(unnamed))
    return names, memory.next_name + len(unnamed)
