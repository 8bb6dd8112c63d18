"""Kernels of pressure on the grids of a multigrid solve.

A level is its links (`lx, ly, lz`, what couples the cells across a face) and the matrix diagonal, zero where a cell is
no unknown.
"""

import numpy as np

from glug.jit import kernel, prange

ZERO = np.float32(0.0)
LEAST_THETA = np.float32(0.1)  # on coarse grids: nearer surfaces are left to the finest


@kernel(parallel=True)
def links_within(axis, link, liquid, out):
    """The links between two liquid cells; zero elsewhere."""
    ni, nj, nk = liquid.shape
    di, dj, dk = axis == 0, axis == 1, axis == 2
    for slab in prange(1, ni):
        i = np.int64(slab)
        for j in range(1, nj):
            for k in range(1, nk):
                both = liquid[i, j, k] != 0 and liquid[i - di, j - dj, k - dk] != 0
                out[i, j, k] = link[i, j, k] if both else ZERO


@kernel(inline=True)
def coarse_link(within, area, scale, phi_a, phi_b, liquid_a, liquid_b):
    if liquid_a and liquid_b:
        return within
    if liquid_a or liquid_b:
        inside, outside = (phi_a, phi_b) if liquid_a else (phi_b, phi_a)
        theta = inside / (inside - max(outside, ZERO)) if inside < ZERO and outside > ZERO else np.float32(1.0)
        return scale * area / min(max(theta, LEAST_THETA), np.float32(1.0)) if outside > ZERO else ZERO
    return ZERO


@kernel(parallel=True)
def coarse_links(axis, phi, liquid, area, scale, link):
    """Links of a coarse grid, in place: those between liquid cells stay, those towards air follow from `phi`."""
    ni, nj, nk = phi.shape
    di, dj, dk = axis == 0, axis == 1, axis == 2
    for slab in prange(1, ni):
        i = np.int64(slab)
        for j in range(1, nj):
            for k in range(1, nk):
                a, b = phi[i - di, j - dj, k - dk], phi[i, j, k]
                la, lb = liquid[i - di, j - dj, k - dk], liquid[i, j, k]
                link[i, j, k] = coarse_link(link[i, j, k], area[i, j, k], scale, a, b, la, lb)


@kernel(parallel=True)
def sum_links(lx, ly, lz, liquid, diagonal):
    """The matrix diagonal; zero outside the liquid."""
    ni, nj, nk = liquid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                a = lx[i, j, k] + lx[i + 1, j, k] + ly[i, j, k] + ly[i, j + 1, k] + lz[i, j, k] + lz[i, j, k + 1]
                diagonal[i, j, k] = a if liquid[i, j, k] else ZERO
