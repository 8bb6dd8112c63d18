"""Volumes of the parts of a surface: cavities belong to the liquid around them, and parts inherit what they kept."""

import numpy as np

from glug.geometry.tracking import kernels_components


def without_cavities(x: np.ndarray, triangles: np.ndarray, part: np.ndarray, volume: np.ndarray) -> np.ndarray:
    """The volume (k,) of liquid in every part, from what the parts enclose (k,).

    A cavity is a part of negative volume: the part around it has less, and it has none of its own.
    """
    liquid = np.array(volume)
    cavities, bodies = np.flatnonzero(volume < 0.0), np.flatnonzero(volume >= 0.0)
    if len(cavities) == 0:
        return liquid
    owner = part[triangles[:, 0]]
    boxes = {b: (x[part == b].min(axis=0), x[part == b].max(axis=0)) for b in bodies}
    for cavity in cavities:
        point = x[np.flatnonzero(part == cavity)[0]]
        around = [b for b, (lower, upper) in boxes.items() if (lower < point).all() and (point < upper).all()]
        around = [b for b in around if kernels_components.winding(x, triangles[owner == b], point) > 0.5]
        if around:  # the smallest, where liquid floats in a cavity of other liquid
            liquid[min(around, key=lambda b: volume[b])] += volume[cavity]
        liquid[cavity] = 0.0
    return liquid


def inherited(before: np.ndarray, target: np.ndarray, part: np.ndarray, volume: np.ndarray) -> np.ndarray:
    """Target volumes (k,) of new parts: old and new ones that share vertices keep the sum, in proportion to `volume`.

    `before` and `part` are the old and new numbers of the vertices; -1 for vertices that had none.
    """
    old, new = len(target), len(volume)
    known = before >= 0
    pairs = np.unique(np.stack([before[known], old + part[known]], axis=1), axis=0)
    cluster = np.empty(old + new, np.int64)
    count = kernels_components.label(pairs, cluster)
    kept = np.bincount(cluster[:old], target, count)
    now = np.bincount(cluster[old:], volume, count)
    share = np.divide(kept, now, out=np.ones(count), where=(now > 0.0) & (kept > 0.0))
    return volume * share[cluster[old:]]
