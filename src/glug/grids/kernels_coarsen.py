"""Kernels between a grid and the one with cells twice as large.

Coarse cell I covers the fine cells 2 (I - 1) and 2 (I - 1) + 1, so a coarse field has room for one empty layer on
either side. Along an axis a sample sits at the centre of a cell or on its lower border ("node").
"""

import numpy as np

from glug.grids.kernels import ONE, block_range, moved
from glug.grids.kernels_blocks import row_range
from glug.jit import kernel, prange

ZERO = np.float32(0.0)


@kernel(inline=True)
def inside(i, n, weight):
    """Sample i and its weight; one outside 0 .. n - 1 has none."""
    return np.uint64(min(max(i, 0), n - 1)), weight if 0 <= i < n else ZERO


@kernel(inline=True)
def begin_row(row, k0, k1, lowest, nk):
    """Clear the row that gathers for the coarse samples k0 .. k1; the fine samples of lowest .. nk that count there."""
    for k in range(k0 + k0, k1 + k1 + ONE + ONE):
        row[k] = ZERO
    return np.uint64(min(max(np.int64(k0) * 2 - 3, lowest), nk)), np.uint64(min(np.int64(k1) * 2 - 1, nk))


@kernel(parallel=True)
def coarsen(fine, weights_i, weights_j, weights_k, mask, coarse, blocks):
    """coarse[I] = sum over o of weights[o] fine[2 I - 3 + o] along every axis, o = 0..3.

    Zero where `mask` is, unless it is empty. Samples outside the fine field count as zero.
    """
    masked = mask.size > 0
    ni, nj, nk = np.int64(fine.shape[0]), np.int64(fine.shape[1]), np.int64(fine.shape[2])
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = block_range(blocks, t, coarse.shape)
        row = np.zeros(np.int64(coarse.shape[2]) * 2 + 6, np.float32)  # row[k + 3] belongs to fine k
        three = np.uint64(3)
        for ci in range(i0, i1):
            for cj in range(j0, j1):
                k0, k1 = row_range(blocks, t, ci, cj)
                if k1 <= k0:
                    continue
                first, last = begin_row(row, k0, k1, 0, nk)
                ja, wa = inside(2 * np.int64(cj) - 3, nj, weights_j[0])
                jb, wb = inside(2 * np.int64(cj) - 2, nj, weights_j[1])
                jc, wc = inside(2 * np.int64(cj) - 1, nj, weights_j[2])
                jd, wd = inside(2 * np.int64(cj), nj, weights_j[3])
                for a in range(4):
                    i, s = inside(2 * np.int64(ci) - 3 + a, ni, weights_i[a])
                    if s == ZERO:
                        continue
                    la, lb, lc, ld = fine[i, ja], fine[i, jb], fine[i, jc], fine[i, jd]
                    sa, sb, sc, sd = s * wa, s * wb, s * wc, s * wd
                    for k in range(first, last):  # four at a time: one would wait for `row`
                        row[k + three] += sa * la[k] + sb * lb[k] + sc * lc[k] + sd * ld[k]
                w0, w1, w2, w3 = weights_k[0], weights_k[1], weights_k[2], weights_k[3]
                for ck in range(k0, k1):
                    k = ck + ck  # of fine 2 ck - 3
                    a = w0 * row[k] + w1 * row[k + ONE] + w2 * row[k + ONE + ONE] + w3 * row[k + three]
                    coarse[ci, cj, ck] = a
                if masked:
                    for ck in range(k0, k1):
                        coarse[ci, cj, ck] = coarse[ci, cj, ck] if mask[ci, cj, ck] > ZERO else ZERO


@kernel(inline=True)
def parents(i, node):
    """The two coarse samples around fine sample i, and the weight of the first."""
    near = i // np.uint64(2) + ONE
    odd = i % np.uint64(2) == ONE
    if node:
        return (near, near + ONE, np.float32(0.5)) if odd else (near, near, np.float32(1.0))
    return (near, near + ONE, np.float32(0.75)) if odd else (near, near - ONE, np.float32(0.75))


@kernel(parallel=True)
def refine(coarse, node_i, node_j, node_k, mask, fine, blocks):
    """fine += the coarse field, interpolated linearly along every axis, where `mask` is positive."""
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = block_range(blocks, t, fine.shape)
        row, line = np.empty(coarse.shape[2] + 2, np.float32), np.empty(2 * coarse.shape[2], np.float32)
        half, near, far, two = np.float32(0.5), np.float32(0.75), np.float32(0.25), np.uint64(2)
        for i in range(i0, i1):
            ia, ib, wi = parents(i, node_i)
            for j in range(j0, j1):
                k0, k1 = row_range(blocks, t, i, j)
                if k1 <= k0:
                    continue
                first, last = k0 >> ONE, min((k1 >> ONE) + np.uint64(3), np.uint64(coarse.shape[2]))
                ja, jb, wj = parents(j, node_j)
                one = np.float32(1.0)
                aa, ab = coarse[ia, ja], coarse[ia, jb]
                ba, bb = coarse[ib, ja], coarse[ib, jb]
                w0, w1, w2, w3 = wi * wj, wi * (one - wj), (one - wi) * wj, (one - wi) * (one - wj)
                for k in range(first, last):
                    row[k] = w0 * aa[k] + w1 * ab[k] + w2 * ba[k] + w3 * bb[k]
                for m in range(k0 >> ONE, (k1 + ONE) >> ONE):  # fine samples 2 m and 2 m + 1
                    a, b, c = row[m], row[m + ONE], row[m + two]
                    line[m + m] = b if node_k else near * b + far * a
                    line[m + m + ONE] = half * (b + c) if node_k else near * b + far * c
                for k in range(k0, k1):
                    fine[i, j, k] += line[k] if mask[i, j, k] > ZERO else ZERO


@kernel(inline=True)
def slope(fine, axis, beyond, i, j, k, most):
    """How much a field changes over `beyond` nodes past its border node (i, j, k); below zero at the lower border."""
    if beyond == 0:
        return ZERO
    a, b, c = moved(axis, 1 if beyond < 0 else -1, i, j, k)
    return np.float32(abs(beyond)) * min(max(fine[i, j, k] - fine[a, b, c], -most), most)


@kernel(parallel=True)
def pick_nodes(fine, most, coarse):
    """Every other node; past the fine field it goes on along every axis as it arrives, by at most `most` a node."""
    last_i, last_j, last_k = fine.shape[0] - 1, fine.shape[1] - 1, fine.shape[2] - 1
    ni, nj, nk = coarse.shape
    for row in prange(ni * nj):
        ci, cj = divmod(np.int64(row), nj)
        i, j = min(max(2 * ci - 2, 0), last_i), min(max(2 * cj - 2, 0), last_j)
        for ck in range(nk):
            k = min(max(2 * ck - 2, 0), last_k)
            value = fine[i, j, k]
            value += slope(fine, 0, 2 * ci - 2 - i, i, j, k, most)
            value += slope(fine, 1, 2 * cj - 2 - j, i, j, k, most)
            coarse[ci, cj, ck] = value + slope(fine, 2, 2 * ck - 2 - k, i, j, k, most)
