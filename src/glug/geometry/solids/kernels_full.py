"""Kernels of cells that are full of liquid: marked, closed like solids, and deep."""

import numpy as np

from glug.jit import kernel, prange


@kernel
def fill_ranges(first, last, value, out):
    """`value` in boxes of samples, from `first` (n, 3) to before `last`."""
    for n in range(first.shape[0]):
        for i in range(max(first[n, 0], 0), min(last[n, 0], out.shape[0])):
            for j in range(max(first[n, 1], 0), min(last[n, 1], out.shape[1])):
                for k in range(max(first[n, 2], 0), min(last[n, 2], out.shape[2])):
                    out[i, j, k] = value


@kernel(parallel=True)
def close_full(nodes, full, dx, out):
    """Corners inside full cells are dx deep in a solid, those on their border lie on it."""
    ni, nj, nk = full.shape
    for slab in prange(nodes.shape[0]):
        i = np.int64(slab)
        for j in range(nodes.shape[1]):
            for k in range(nodes.shape[2]):
                some, every = False, True
                for p in range(max(i - 1, np.int64(0)), min(i + 1, ni)):
                    for q in range(max(j - 1, 0), min(j + 1, nj)):
                        for r in range(max(k - 1, 0), min(k + 1, nk)):
                            inside = full[p, q, r] != 0
                            some, every = some or inside, every and inside
                depth = -dx if every else np.float32(0.0)
                out[i, j, k] = min(nodes[i, j, k], depth) if some else nodes[i, j, k]


@kernel(parallel=True)
def sink(phi, full, refine, depth):
    """phi <= depth in full cells."""
    for slab in prange(phi.shape[0]):
        i = np.int64(slab)
        for j in range(phi.shape[1]):
            for k in range(phi.shape[2]):
                if full[i // refine, j // refine, k // refine]:
                    phi[i, j, k] = min(phi[i, j, k], depth)
