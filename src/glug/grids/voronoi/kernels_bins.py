"""Points in bins: which of them are in balls, and which balls hold some."""

import numpy as np

from glug.jit import kernel, prange


@kernel(parallel=True)
def crowded(points, bins, centre, radius, own, found):
    """Whether a point lies inside a ball, other than the two that are its own."""
    start, order, corner, shape, width = bins
    dim = points.shape[1]
    for i in prange(len(centre)):
        lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
        for a in range(dim):
            lo[a] = max(int(np.floor((centre[i, a] - radius[i] - corner[a]) / width)), 0)
            hi[a] = min(int(np.floor((centre[i, a] + radius[i] - corner[a]) / width)), shape[a] - 1)
        found[i] = False
        for bx in range(lo[0], hi[0] + 1):
            for by in range(lo[1], hi[1] + 1):
                for bz in range(lo[2], hi[2] + 1):
                    b = (bx * shape[1] + by) * shape[2] + bz
                    for o in range(start[b], start[b + 1]):
                        p, size = order[o], 0.0
                        if p == own[i, 0] or p == own[i, 1]:
                            continue
                        for a in range(dim):
                            size += (points[p, a] - centre[i, a]) ** 2
                        found[i] |= size <= radius[i] * radius[i]


@kernel
def covered(points, bins, centre, radius, found):
    """Mark the points that are in one of some balls."""
    start, order, corner, shape, width = bins
    dim = points.shape[1]
    lo, hi = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for i in range(len(centre)):
        for a in range(dim):
            lo[a] = max(int(np.floor((centre[i, a] - radius[i] - corner[a]) / width)), 0)
            hi[a] = min(int(np.floor((centre[i, a] + radius[i] - corner[a]) / width)), shape[a] - 1)
        for bx in range(lo[0], hi[0] + 1):
            for by in range(lo[1], hi[1] + 1):
                for bz in range(lo[2], hi[2] + 1):
                    b = (bx * shape[1] + by) * shape[2] + bz
                    for o in range(start[b], start[b + 1]):
                        size = 0.0
                        for a in range(dim):
                            size += (points[order[o], a] - centre[i, a]) ** 2
                        if size <= radius[i] * radius[i]:
                            found[order[o]] = True
