"""Kernels of bubble tracking: which particles lie beside which air regions."""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.grids.kernels import ONE
from glug.jit import kernel, prange

FRESH, NONE = np.int32(0), np.int32(1)  # a particle without a past, and one beside no air


@kernel(inline=True)
def region_beside(label, i, j, k, side):
    """The region at a cell (side 0) or at one of its six neighbours; -1 where there is none."""
    ni, nj, nk = label.shape
    i, j, k = i + (side == 1) - (side == 2), j + (side == 3) - (side == 4), k + (side == 5) - (side == 6)
    if 0 <= i < ni and 0 <= j < nj and 0 <= k < nk:
        return label[i, j, k]
    return np.int32(-1)


@kernel
def count_edges(label, start, bubble, index_of, edges, fresh):
    """Count, for every region, the particles in its cells and beside them: by their old bubble, and without a past."""
    ni, nj, nk = label.shape
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                c = (i * nj + j) * nk + k
                if start[c + 1] == start[c]:
                    continue
                for side in range(7):
                    r = region_beside(label, i, j, k, side)
                    if r < 0:
                        continue
                    for n in range(start[c], start[c + 1]):
                        b = bubble[n, 0]
                        if b == FRESH:
                            fresh[r] += 1
                        elif b > NONE and index_of[b] >= 0:
                            edges[index_of[b], r] += 1


@kernel(parallel=True)
def rename(label, start, names, bubble):
    """Every particle takes the name of the region at its cell, or else beside it."""
    nj, nk = np.uint64(label.shape[1]), np.uint64(label.shape[2])
    for cell in prange(label.size):
        c = np.uint64(cell)
        if start[c + ONE] == start[c]:
            continue
        name, row = NONE, c // nk
        i, j, k = np.int64(row // nj), np.int64(row % nj), np.int64(c - row * nk)
        for side in range(7):
            r = region_beside(label, i, j, k, side)
            if r >= 0:
                name = names[r]
                break
        for n in range(start[c], start[c + ONE]):
            bubble[n, 0] = name


@kernel(parallel=True)
def shift_particles(position, corner, inverse, phi, shift, nodes, depth, clear):
    """Move particles up to `depth` below the surface inwards by `shift` (in cells), less the deeper they are.

    phi and shift are at cell centres, the solid distance `nodes` at corners: nothing moves within `clear` of solids.
    """
    half, one, zero = np.float32(0.5), np.float32(1.0), np.float32(0.0)
    step = one / inverse
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        if trilinear(nodes, x, y, z) < clear:
            continue
        x, y, z = x - half, y - half, z - half
        amount = trilinear(shift, x, y, z)
        weight = min(max(one + trilinear(phi, x, y, z) / depth, zero), one)
        if amount * weight == zero:
            continue
        gx = trilinear(phi, x + half, y, z) - trilinear(phi, x - half, y, z)
        gy = trilinear(phi, x, y + half, z) - trilinear(phi, x, y - half, z)
        gz = trilinear(phi, x, y, z + half) - trilinear(phi, x, y, z - half)
        length = max(np.sqrt(gx * gx + gy * gy + gz * gz), half * step)
        scale = amount * weight * step / length
        position[n, 0] -= scale * gx
        position[n, 1] -= scale * gy
        position[n, 2] -= scale * gz
