"""Kernel of the box smoother: for every face, the faces in its matrix row are solved for together.

`fields` are twelve fields of an operator of `kernels_stress`: its diagonal, c, e and f by axis. A box has BOX members;
`members` has, by the axis of the face in its middle, the axis and the offset of each and the first member in the same
row, and `entries` where the coefficients of its matrix come from: members p >= q, the field, the offset of the sample
and a sign.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.jit import kernel, prange
from glug.physics.viscosity.kernels_stress import X, Y, Z, rest

ZERO, UNIT = np.float32(0.0), np.float32(1.0)
BOX = 15
STRIDE = 4  # boxes of one row this far apart do not touch
LANES = 8  # boxes that are factorised side by side
LEAST_PIVOT = np.float32(1e-6)  # of the diagonal


@kernel(inline=True)
def solve_boxes(matrix, right):
    """right = matrix^-1 right for LANES boxes side by side, by Cholesky factorisation in place."""
    for p in range(BOX):
        for q in range(p):
            for s in range(q):
                for lane in range(LANES):
                    matrix[p, q, lane] -= matrix[p, s, lane] * matrix[q, s, lane]
            for lane in range(LANES):
                matrix[p, q, lane] *= matrix[q, q, lane]
        for lane in range(LANES):
            matrix[BOX, p, lane] = LEAST_PIVOT * matrix[p, p, lane]
        for s in range(p):
            for lane in range(LANES):
                matrix[p, p, lane] -= matrix[p, s, lane] * matrix[p, s, lane]
        for lane in range(LANES):
            matrix[p, p, lane] = UNIT / np.sqrt(max(matrix[p, p, lane], matrix[BOX, p, lane]))
    for p in range(BOX):
        for s in range(p):
            for lane in range(LANES):
                right[p, lane] -= matrix[p, s, lane] * right[s, lane]
        for lane in range(LANES):
            right[p, lane] *= matrix[p, p, lane]
    for back in range(BOX):
        p = BOX - 1 - back
        for s in range(p + 1, BOX):
            for lane in range(LANES):
                right[p, lane] -= matrix[s, p, lane] * right[s, lane]
        for lane in range(LANES):
            right[p, lane] *= matrix[p, p, lane]


@kernel(inline=True)
def inside(n, shape):
    return min(max(n, 0), shape - 1)


@kernel(inline=True)
def assemble_boxes(fields, members, entries, i, j, ks, count, active, matrix):
    """The matrices of `count` boxes around the faces (i, j, ks[lane]); identity for members that are no unknowns."""
    for p in range(BOX):
        m = fields[members[p, 0]]
        a, b = inside(i + members[p, 1], m.shape[0]), inside(j + members[p, 2], m.shape[1])
        for lane in range(LANES):
            active[p, lane] = ZERO
        for lane in range(count):
            active[p, lane] = UNIT if m[a, b, inside(ks[lane] + members[p, 3], m.shape[2])] > ZERO else ZERO
        for q in range(p + 1):
            for lane in range(LANES):
                matrix[p, q, lane] = ZERO
    for n in range(entries.shape[0]):
        p, q, sign = entries[n, 0], entries[n, 1], np.float32(entries[n, 6])
        f = fields[entries[n, 2]]
        a, b = inside(i + entries[n, 3], f.shape[0]), inside(j + entries[n, 4], f.shape[1])
        for lane in range(count):
            matrix[p, q, lane] += sign * f[a, b, inside(ks[lane] + entries[n, 5], f.shape[2])]
    for p in range(BOX):
        for q in range(p):
            for lane in range(LANES):
                matrix[p, q, lane] *= active[p, lane] * active[q, lane]
        for lane in range(LANES):
            matrix[p, p, lane] = matrix[p, p, lane] if active[p, lane] > ZERO else UNIT


@kernel(parallel=True)
def relax_boxes(x, b, mass, fields, members, entries, centres, regular, inverse, blocks, chunk, forward):
    """Solve the boxes around the faces `centres` of `blocks`, one after the other, or in the opposite order.

    Boxes in the middle of uniform liquid (`regular`) share the matrix `inverse`; others are assembled and factorised.
    Rows are passed in chunks (a multiple of STRIDE), of which those without a centre cost nothing. Blocks that run at
    once must not touch.
    """
    (u, v, w), (bu, bv, bw), (mu, mv, mw) = x, b, mass
    cx, cy, cz, ex, ey, ez, fx, fy, fz = fields[3:]
    shape = cx.shape
    stride = np.uint64(STRIDE)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, shape)
        pieces = np.int64((max(k1, k0) - k0 + chunk - ONE) // chunk)
        rows = np.zeros((BOX, shape[2] + 2), np.float32)
        most = shape[2] // STRIDE + 1
        right, step = np.empty((BOX, most), np.float32), np.empty((BOX, most), np.float32)
        matrix, active = np.empty((BOX + 1, BOX, LANES), np.float32), np.empty((BOX, LANES), np.float32)
        some, ks, lanes = np.empty((BOX, LANES), np.float32), np.empty(LANES, np.int64), np.empty(LANES, np.uint64)
        for step_i in range(i1 - i0):
            i = i0 + step_i if forward else i1 - ONE - step_i
            for step_j in range(j1 - j0):
                j = j0 + step_j if forward else j1 - ONE - step_j
                for turn in range(3 * STRIDE * pieces):
                    order = turn // pieces if forward else 3 * STRIDE - 1 - turn // pieces
                    c0 = k0 + np.uint64(turn % pieces) * chunk
                    c1 = min(c0 + chunk, k1)
                    ka, kb = max(c0 - ONE, ONE), min(c1 + ONE, np.uint64(shape[2] - 1))
                    axis, colour = order // STRIDE, order % STRIDE
                    own, mine = centres[axis][i, j], members[axis]
                    first = c0 + np.uint64(colour)
                    count = (max(c1, first) - first + stride - ONE) // stride
                    found = False
                    for lane in range(count):
                        found = found or own[first + stride * lane] != 0
                    if not found:
                        continue
                    # Members in the row of an earlier one are that row, shifted.
                    for p in range(BOX):
                        if mine[p, 4] == p:
                            a, c = np.int64(i) + mine[p, 1], np.int64(j) + mine[p, 2]
                            if 0 < a < shape[0] - 1 and 0 < c < shape[1] - 1:
                                ri, rj, row = np.uint64(a), np.uint64(c), rows[p]
                                if mine[p, 0] == 0:
                                    for k in range(ka, kb):
                                        s = rest(bu, mu, u, v, w, cx, ez, ey, fz, fy, X, Y, Z, ri, rj, k)
                                        row[k] = s if mu[ri, rj, k] > ZERO else ZERO
                                elif mine[p, 0] == 1:
                                    for k in range(ka, kb):
                                        s = rest(bv, mv, v, u, w, cy, ez, ex, fz, fx, Y, X, Z, ri, rj, k)
                                        row[k] = s if mv[ri, rj, k] > ZERO else ZERO
                                else:
                                    for k in range(ka, kb):
                                        s = rest(bw, mw, w, u, v, cz, ey, ex, fy, fx, Z, X, Y, ri, rj, k)
                                        row[k] = s if mw[ri, rj, k] > ZERO else ZERO
                            else:
                                rows[p] = ZERO
                    for p in range(BOX):
                        row, to = rows[mine[p, 4]], right[p]
                        shift = np.uint64(np.int64(first) + mine[p, 3])
                        for lane in range(count):
                            to[lane] = row[shift + stride * lane]
                    for p in range(BOX):
                        to = step[p]
                        for lane in range(count):
                            to[lane] = ZERO
                        for q in range(0, BOX, 5):
                            a = inverse[axis, p]
                            r0, r1, r2, r3, r4 = right[q], right[q + 1], right[q + 2], right[q + 3], right[q + 4]
                            for lane in range(count):
                                part = a[q] * r0[lane] + a[q + 1] * r1[lane] + a[q + 2] * r2[lane]
                                to[lane] += part + a[q + 3] * r3[lane] + a[q + 4] * r4[lane]
                    filled = 0
                    uniform = regular[axis][i, j]
                    for lane in range(count):
                        k = first + stride * lane
                        if own[k] != 0 and not uniform[k]:
                            ks[filled], lanes[filled] = k, lane
                            filled += 1
                        elif own[k] == 0:
                            for p in range(BOX):
                                step[p, lane] = ZERO
                        if filled == LANES or (lane + ONE == count and filled > 0):
                            here = np.int64(i), np.int64(j)
                            assemble_boxes(fields, mine, entries[axis], here[0], here[1], ks, filled, active, matrix)
                            for p in range(BOX):
                                for s in range(filled):
                                    some[p, s] = right[p, lanes[s]]
                                for s in range(filled, LANES):
                                    some[p, s] = ZERO
                            solve_boxes(matrix, some)
                            for p in range(BOX):
                                for s in range(filled):
                                    step[p, lanes[s]] = some[p, s]
                            filled = 0
                    for p in range(BOX):
                        a, c = np.uint64(np.int64(i) + mine[p, 1]), np.uint64(np.int64(j) + mine[p, 2])
                        target, of = x[mine[p, 0]][a, c], step[p]
                        shift = np.uint64(np.int64(first) + mine[p, 3])
                        for lane in range(count):
                            target[shift + stride * lane] += of[lane]
