"""Kernels of pressure where links differ by orders of magnitude.

Rows are written in differences of neighbours: a diagonal rounded to float32 is not the sum of its links, and beside
links of 1000 what is lost weighs as much as a link of 1e-4 to p = 0, of either sign. Differences of nearly equal
numbers are exact.

Between grids, links are conductances: half of the one inside a pair of cells, the one between two pairs and half of the
one inside the other are in series (Alcouffe et al. 1981). `spring` ties cells to p = 0 beside the links.
"""

import numpy as np

from glug.grids.kernels import ONE, block_range, inner_range
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
HALF = np.float32(0.5)
UNIT = np.float32(1.0)


@kernel(inline=True)
def flux(x, lx, ly, lz, i, j, k):
    """What leaves a cell to its neighbours."""
    c = x[i, j, k]
    a = lx[i, j, k] * (c - x[i - ONE, j, k]) + lx[i + ONE, j, k] * (c - x[i + ONE, j, k])
    a += ly[i, j, k] * (c - x[i, j - ONE, k]) + ly[i, j + ONE, k] * (c - x[i, j + ONE, k])
    return a + lz[i, j, k] * (c - x[i, j, k - ONE]) + lz[i, j, k + ONE] * (c - x[i, j, k + ONE])


@kernel(parallel=True)
def apply_differences(d, q, lx, ly, lz, spring, diagonal, blocks, sums):
    """q = A d over active blocks; d . q per block."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, diagonal.shape)
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                row = ZERO
                for k in range(k0, k1):
                    a = flux(d, lx, ly, lz, i, j, k) + spring[i, j, k] * d[i, j, k]
                    v = a if diagonal[i, j, k] > ZERO else ZERO
                    q[i, j, k] = v
                    row += v * d[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def residual_differences(b, x, r, lx, ly, lz, spring, diagonal, blocks):
    """r = b - A x in float32."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, diagonal.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    a = b[i, j, k] - flux(x, lx, ly, lz, i, j, k) - spring[i, j, k] * x[i, j, k]
                    r[i, j, k] = a if diagonal[i, j, k] > ZERO else ZERO


# -- between grids: coarse cell I covers the fine cells 2 (I - 1) and 2 (I - 1) + 1 --------------------------------


@kernel(parallel=True)
def transfer_weights(axis, link, diagonal, blocks, weight):
    """The share that the next pair of cells along `axis` has in a cell's interpolated value; its own pair has the rest.

    Along the line from the middle of one pair to that of the next pressures fall as the resistances do.
    """
    di, dj, dk = np.uint64(axis == 0), np.uint64(axis == 1), np.uint64(axis == 2)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, diagonal.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    odd = (i * di + j * dj + k * dk) % np.uint64(2)  # the upper cell of its pair
                    even = ONE - odd
                    inner = link[i + even * di, j + even * dj, k + even * dk]
                    outer = link[i + odd * di, j + odd * dj, k + odd * dk]
                    w = ZERO
                    if diagonal[i, j, k] > ZERO and inner > ZERO and outer > ZERO:
                        # The cell across, and the link inside its pair.
                        oi, oj, ok = i + odd * di - even * di, j + odd * dj - even * dj, k + odd * dk - even * dk
                        far = link[oi + odd * di, oj + odd * dj, ok + odd * dk]
                        beyond = HALF / far if diagonal[oi, oj, ok] > ZERO and far > ZERO else ZERO
                        w = HALF / inner / (HALF / inner + UNIT / outer + beyond)
                    weight[i, j, k] = w


@kernel(inline=True)
def blend(x, y, z, aa, ab, ba, bb, own, other):
    """Between eight coarse values by three weights; the rows are (own, next) along x and y."""
    near = aa[own] + z * (aa[other] - aa[own])
    near += y * (ab[own] + z * (ab[other] - ab[own]) - near)
    far = ba[own] + z * (ba[other] - ba[own])
    far += y * (bb[own] + z * (bb[other] - bb[own]) - far)
    return near + x * (far - near)


@kernel(parallel=True)
def refine_weighted(coarse, wx, wy, wz, mask, fine, blocks):
    """fine += the coarse field, interpolated by weights along every axis, where `mask` is positive."""
    two = np.uint64(2)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t, fine.shape)
        for i in range(i0, i1):
            ia = i // two + ONE
            ib = ia - ONE + two * (i & ONE)
            for j in range(j0, j1):
                ja = j // two + ONE
                jb = ja - ONE + two * (j & ONE)
                aa, ab, ba, bb = coarse[ia, ja], coarse[ia, jb], coarse[ib, ja], coarse[ib, jb]
                px, py, pz, on, out = wx[i, j], wy[i, j], wz[i, j], mask[i, j], fine[i, j]
                for m in range(k0 // two, (k1 + ONE) // two):
                    k = m + m
                    v = blend(px[k], py[k], pz[k], aa, ab, ba, bb, m + ONE, m)
                    out[k] += v if on[k] > ZERO else ZERO
                for m in range(k0 // two, k1 // two):
                    k = m + m + ONE
                    v = blend(px[k], py[k], pz[k], aa, ab, ba, bb, m + ONE, m + two)
                    out[k] += v if on[k] > ZERO else ZERO


@kernel(parallel=True)
def coarsen_weighted(fine, wx, wy, wz, mask, coarse, blocks):
    """The transpose: coarse = sums of the fine field by the weights, where `mask` is positive."""
    ni, nj, nk = np.int64(fine.shape[0]), np.int64(fine.shape[1]), np.int64(fine.shape[2])
    three = np.uint64(3)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = block_range(blocks, t, coarse.shape)
        first = np.uint64(min(max(2 * np.int64(k0) - 3, 0), nk))
        last = np.uint64(max(min(2 * np.int64(k1) + 2, nk), 0))
        own = np.zeros(np.int64(coarse.shape[2]) * 2 + 6, np.float32)  # at k + 3 what fine k gives to its pair
        other = np.zeros_like(own)  # and to the next
        for ci in range(i0, i1):
            for cj in range(j0, j1):
                for k in range(first, last):
                    own[k + three] = ZERO
                    other[k + three] = ZERO
                for a in range(4):
                    i = 2 * np.int64(ci) - 3 + a
                    sx = UNIT if a == 1 or a == 2 else ZERO  # the weight is |sx - wx|
                    for b in range(4):
                        j = 2 * np.int64(cj) - 3 + b
                        sy = UNIT if b == 1 or b == 2 else ZERO
                        if i < 0 or i >= ni or j < 0 or j >= nj:
                            continue
                        u, v = np.uint64(i), np.uint64(j)
                        f, px, py, pz = fine[u, v], wx[u, v], wy[u, v], wz[u, v]
                        for k in range(first, last):
                            s = abs(sx - px[k]) * abs(sy - py[k]) * f[k]
                            other[k + three] += s * pz[k]
                            own[k + three] += s - s * pz[k]
                for ck in range(k0, k1):
                    k = ck + ck  # of fine 2 ck - 3
                    v = other[k] + own[k + ONE] + own[k + ONE + ONE] + other[k + three]
                    coarse[ci, cj, ck] = v if mask[ci, cj, ck] > ZERO else ZERO


@kernel(parallel=True)
def coarse_unknowns(diagonal, tied, liquid, spring):
    """Coarse cells with a fine unknown in them (uint8), and the springs of those, `tied`, side by side."""
    ni, nj, nk = diagonal.shape
    for slab in prange(1, liquid.shape[0] - 1):
        ci = np.int64(slab)
        for cj in range(1, liquid.shape[1] - 1):
            for ck in range(1, liquid.shape[2] - 1):
                found, total = False, ZERO
                for i in range(2 * ci - 2, min(2 * ci, ni)):
                    for j in range(2 * cj - 2, min(2 * cj, nj)):
                        for k in range(2 * ck - 2, min(2 * ck, nk)):
                            found = found or diagonal[i, j, k] > ZERO
                            total += tied[i, j, k]
                liquid[ci, cj, ck] = found
                spring[ci, cj, ck] = total


@kernel(inline=True)
def inside(diagonal, i, j, k):
    ni, nj, nk = diagonal.shape
    return 0 <= i < ni and 0 <= j < nj and 0 <= k < nk and diagonal[i, j, k] > ZERO


@kernel(parallel=True)
def series_links(axis, link, diagonal, liquid, out, spring):
    """The links of the coarse grid along `axis`, and what ties its cells to p = 0, added to `spring`.

    Those are links inside a coarse cell, and between two coarse unknowns, of which one end is not an unknown.
    """
    di, dj, dk = np.int64(axis == 0), np.int64(axis == 1), np.int64(axis == 2)
    ni, nj, nk = diagonal.shape
    for slab in prange(1, spring.shape[0]):
        ci = np.int64(slab)
        for cj in range(1, spring.shape[1]):
            for ck in range(1, spring.shape[2]):
                total, tied = ZERO, ZERO
                own = liquid[ci, cj, ck] > 0
                both = own and liquid[ci - di, cj - dj, ck - dk] > 0
                next_too = own and inside(liquid, ci + di, cj + dj, ck + dk)
                for i in range(2 * ci - 2, min(2 * ci - di, ni)):
                    for j in range(2 * cj - 2, min(2 * cj - dj, nj)):
                        for k in range(2 * ck - 2, min(2 * ck - dk, nk)):
                            between = link[i, j, k]
                            within = link[i + di, j + dj, k + dk]
                            here = inside(diagonal, i, j, k)
                            below = inside(diagonal, i - di, j - dj, k - dk)
                            above = inside(diagonal, i + di, j + dj, k + dk)
                            if between > ZERO and (here or below):
                                resistance = UNIT / between
                                if here and within > ZERO:
                                    resistance += HALF / within
                                if below and link[i - di, j - dj, k - dk] > ZERO:
                                    resistance += HALF / link[i - di, j - dj, k - dk]
                                if here == below or not both:
                                    total += UNIT / resistance
                                elif here:
                                    tied += UNIT / resistance
                            if here != above:
                                tied += within
                            if next_too and above and not inside(diagonal, i + 2 * di, j + 2 * dj, k + 2 * dk):
                                beyond = link[i + 2 * di, j + 2 * dj, k + 2 * dk]
                                if beyond > ZERO:
                                    tied += UNIT / (UNIT / beyond + (HALF / within if within > ZERO else ZERO))
                out[ci, cj, ck] = total
                spring[ci, cj, ck] += tied
