"""Kernels of pressure on the grids of a multigrid solve.

A level is its links (`lx, ly, lz`, what couples the cells across a face) and the matrix diagonal, zero where a cell is
no unknown.
"""

import numpy as np

from glug.grids.kernels import ONE, block_range
from glug.grids.kernels_blocks import row_range
from glug.grids.kernels_coarsen import begin_row, inside, parents
from glug.jit import kernel, prange
from glug.physics.pressure.kernels_rows import GENERAL, bounds

ZERO = np.float32(0.0)
MOST_HELD = np.float32(4.0)  # what ties a coarse cell to air over what ties the fine ones around it, at most
ROUNDING = np.float32(1e-6)
LEAST_THETA = np.float32(0.1)  # on coarse grids: nearer surfaces are left to the finest


@kernel(parallel=True)
def coarsen_links(axis, link, liquid, weights_i, weights_j, weights_k, coarse, blocks):
    """`kernels_coarsen.coarsen` of the links between two liquid cells."""
    ni, nj, nk = np.int64(liquid.shape[0]), np.int64(liquid.shape[1]), np.int64(liquid.shape[2])
    di, dj, dk = np.uint64(axis == 0), np.uint64(axis == 1), np.uint64(axis == 2)
    three = np.uint64(3)
    w0, w1, w2, w3 = weights_k[0], weights_k[1], weights_k[2], weights_k[3]
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = block_range(blocks, t, coarse.shape)
        row = np.zeros(np.int64(coarse.shape[2]) * 2 + 6, np.float32)  # row[k + 3] belongs to fine k
        for ci in range(i0, i1):
            for cj in range(j0, j1):
                k0, k1 = row_range(blocks, t, ci, cj)
                first, last = begin_row(row, k0, k1, 1, nk)
                for a in range(4 if k1 > k0 else 0):
                    i, wi = inside(2 * np.int64(ci) - 3 + a, ni, weights_i[a])
                    for b in range(4):
                        j, wj = inside(2 * np.int64(cj) - 3 + b, nj, weights_j[b])
                        s = wi * wj
                        if s == ZERO or i == np.uint64(0) or j == np.uint64(0):  # cells at the border are no liquid
                            continue
                        line, here, there = link[i, j], liquid[i, j], liquid[i - di, j - dj]
                        for k in range(first, last):
                            row[k + three] += s * line[k] if here[k] & there[k - dk] else ZERO
                for ck in range(k0, k1):
                    k = ck + ck  # of fine 2 ck - 3
                    coarse[ci, cj, ck] = w0 * row[k] + w1 * row[k + ONE] + w2 * row[k + ONE + ONE] + w3 * row[k + three]


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


@kernel(inline=True)
def spread_to_parents(value, i, j, k, out):
    """Add the restriction of one fine sample at cell (i, j, k)."""
    ia, ib, wi = parents(i, False)
    ja, jb, wj = parents(j, False)
    ka, kb, wk = parents(k, False)
    one = np.float32(1.0)
    out[ia, ja, ka] += value * wi * wj * wk
    out[ia, ja, kb] += value * wi * wj * (one - wk)
    out[ia, jb, ka] += value * wi * (one - wj) * wk
    out[ia, jb, kb] += value * wi * (one - wj) * (one - wk)
    out[ib, ja, ka] += value * (one - wi) * wj * wk
    out[ib, ja, kb] += value * (one - wi) * wj * (one - wk)
    out[ib, jb, ka] += value * (one - wi) * (one - wj) * wk
    out[ib, jb, kb] += value * (one - wi) * (one - wj) * (one - wk)


@kernel(inline=True)
def towards(link, liquid, i, j, k):
    """A link to the cell (i, j, k), if that is liquid."""
    return link if liquid[i, j, k] else ZERO


@kernel(inline=True)
def spring(g, xm, xp, ym, yp, zm, zp, liquid, i, j, k):
    """What ties a cell of diagonal g to air: all but its links to liquid."""
    a = towards(xm, liquid, i - ONE, j, k) + towards(xp, liquid, i + ONE, j, k)
    a = a + towards(ym, liquid, i, j - ONE, k) + towards(yp, liquid, i, j + ONE, k)
    rest = g - (a + towards(zm, liquid, i, j, k - ONE) + towards(zp, liquid, i, j, k + ONE))
    return rest if rest > ROUNDING * g else ZERO


@kernel(parallel=True)
def coarsen_springs(lx, ly, lz, diagonal, scale, rows, start, cell, entry, liquid, numbers, starts, held):
    """Add to `held` on the coarse grid the restriction of what ties cells to air: no cell of uniform links is tied.

    Blocks by colour as in `kernels_pressure_rows.relax_pressure`.
    """
    for colour in range(starts.shape[0] - 1):
        for task in prange(starts[colour], starts[colour + 1]):
            for n in range(np.uint64(start[numbers[task]]), np.uint64(start[numbers[task] + 1])):
                i, j, k0, k1, kind, e0, e1 = bounds(rows, n)
                if kind == GENERAL:
                    for k in range(k0, k1):
                        g = diagonal[i, j, k]
                        if g > ZERO:
                            xm, xp, ym, yp = lx[i, j, k], lx[i + ONE, j, k], ly[i, j, k], ly[i, j + ONE, k]
                            a = spring(g, xm, xp, ym, yp, lz[i, j, k], lz[i, j, k + ONE], liquid, i, j, k)
                            if a > ZERO:
                                spread_to_parents(a, i, j, k, held)
                for e in range(e0, e1):
                    k = np.uint64(cell[e])
                    xm, xp, ym, yp, zm, zp = (
                        entry[e, 0],
                        entry[e, 1],
                        entry[e, 2],
                        entry[e, 3],
                        entry[e, 4],
                        entry[e, 5],
                    )
                    a = spring(entry[e, 6], xm, xp, ym, yp, zm, zp, liquid, i, j, k)
                    if a > ZERO:
                        spread_to_parents(a, i, j, k, held)


@kernel(parallel=True)
def coarse_diagonal(lx, ly, lz, liquid, held, scale, diagonal):
    """The matrix diagonal of a coarse grid.

    Air thinner than a coarse cell: what ties fine cells to it (`held`) must not be lost, or the level is singular.
    Air behind a wall thinner than a coarse cell: what no fine cell touches must not hold the liquid there.
    """
    ni, nj, nk = liquid.shape
    for slab in prange(1, ni - 1):
        i = np.uint64(slab)
        for j in range(ONE, np.uint64(nj - 1)):
            for k in range(ONE, np.uint64(nk - 1)):
                xm, xp, ym, yp = lx[i, j, k], lx[i + ONE, j, k], ly[i, j, k], ly[i, j + ONE, k]
                zm, zp = lz[i, j, k], lz[i, j, k + ONE]
                a = xm + xp + ym + yp + zm + zp
                tied = spring(a, xm, xp, ym, yp, zm, zp, liquid, i, j, k)
                most = MOST_HELD * held[i, j, k]
                a += min(most - tied, ZERO) if tied > ZERO else min(held[i, j, k], scale)
                diagonal[i, j, k] = a if liquid[i, j, k] else ZERO
