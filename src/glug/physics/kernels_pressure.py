"""Kernels of pressure on the grids of a multigrid solve.

A level is its links (`lx, ly, lz`, what couples the cells across a face) and the matrix diagonal, zero where a cell is
no unknown.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.grids.kernels_blocks import inner_row
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
LEAST_THETA = np.float32(0.1)  # on coarse grids: nearer surfaces are left to the finest


@kernel(inline=True)
def neighbours(x, lx, ly, lz, i, j, k):
    """What the neighbours of a cell add to its row."""
    a = lx[i, j, k] * x[i - ONE, j, k] + lx[i + ONE, j, k] * x[i + ONE, j, k]
    a += ly[i, j, k] * x[i, j - ONE, k] + ly[i, j + ONE, k] * x[i, j + ONE, k]
    return a + lz[i, j, k] * x[i, j, k - ONE] + lz[i, j, k + ONE] * x[i, j, k + ONE]


@kernel(parallel=True)
def relax_pressure(x, b, lx, ly, lz, diagonal, blocks, forward):
    """A Gauss-Seidel sweep over rows along z, in order within each block, or in the opposite order.

    The cells of one row move together. Blocks that run at once must not touch.
    """
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, diagonal.shape)
        row = np.empty(diagonal.shape[2], np.float32)
        for step_i in range(i1 - i0):
            i = i0 + step_i if forward else i1 - ONE - step_i
            for step_j in range(j1 - j0):
                j = j0 + step_j if forward else j1 - ONE - step_j
                k0, k1 = inner_row(blocks, t, i, j, diagonal.shape)
                for k in range(k0, k1):
                    g = diagonal[i, j, k]
                    row[k] = (b[i, j, k] + neighbours(x, lx, ly, lz, i, j, k)) / g if g > ZERO else ZERO
                for k in range(k0, k1):
                    x[i, j, k] = row[k]


@kernel(parallel=True)
def residual_pressure_fast(b, x, r, lx, ly, lz, diagonal, blocks):
    """r = b - A x in float32."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, diagonal.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, diagonal.shape)
                for k in range(k0, k1):
                    g = diagonal[i, j, k]
                    a = b[i, j, k] - g * x[i, j, k] + neighbours(x, lx, ly, lz, i, j, k)
                    r[i, j, k] = a if g > ZERO else ZERO


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
