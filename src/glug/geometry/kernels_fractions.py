"""Kernel of liquid and solid fractions: control volumes along a row share what is interpolated across it."""

import numpy as np

from glug.geometry.kernels import axis_samples, centre_samples, cube_fraction
from glug.jit import kernel, prange

PAD = np.int64(4)  # samples beyond either end of a line, where it is continued by its last value
CUBIC = np.array([-0.0625, 0.5625, 0.5625, -0.0625])


@kernel(inline=True)
def interpolate_line(field, ni, nj, index, weight, first, last, line):
    """line[PAD + k] = the samples of rows of `field` along z with tensor-product weights, for first <= k < last."""
    n = np.int64(field.shape[2])
    begin, end = np.uint64(max(first, 0)), np.uint64(min(last, n))
    pad = np.uint64(PAD)
    for p in range(ni):
        for q in range(nj):
            w = weight[0, p] * weight[1, q]
            row = field[index[0, p], index[1, q]]
            if p == 0 and q == 0:
                for k in range(begin, end):
                    line[pad + k] = w * row[k]
            else:
                for k in range(begin, end):
                    line[pad + k] += w * row[k]
    for k in range(first, 0):
        line[PAD + k] = line[PAD]
    for k in range(n, last):
        line[PAD + k] = line[PAD + n - 1]


@kernel(inline=True)
def along_line(line, k, kind):
    """The value at side 0 of a control volume at k (see `axis_samples`)."""
    if kind != 0:
        return line[PAD + (k if kind == 1 else k - 1)]
    at = PAD + k - 2
    return CUBIC[0] * line[at] + CUBIC[1] * line[at + 1] + CUBIC[2] * line[at + 2] + CUBIC[3] * line[at + 3]


@kernel(inline=True)
def middle_of_line(line, k, kind):
    """The value in the middle of a control volume at k (see `centre_samples`)."""
    return line[PAD + k] if kind == 0 else along_line(line, k + (1 if kind == 1 else 0), 0)


@kernel(inline=True)
def fill_row(near, far, row):
    """row = 1 where the sample that goes with it is below -far, else 0; returns whether any is within `far` of zero.

    The last sample goes with all that are left.
    """
    shared = np.uint64(min(near.size, row.size))
    cut = np.int32(0)
    for k in range(shared):
        row[k] = np.float32(1.0) if near[k] < -far else np.float32(0.0)
        cut |= np.int32(not abs(near[k]) > far)  # what is not a number shows in the fraction
    for k in range(shared, np.uint64(row.size)):
        row[k] = np.float32(1.0) if near[near.size - 1] < -far else np.float32(0.0)
        cut |= np.int32(not abs(near[near.size - 1]) > far)
    return cut != 0


@kernel(parallel=True)
def volume_fraction(field, kx, ky, kz, far, reach, out):
    """Fraction of every control volume of `out` where `field` is negative.

    kx, ky, kz place the control volumes relative to the samples (see `axis_samples`); a control volume whose
    nearest sample is farther than `far` from zero, or its middle farther than `reach`, is not cut. Between the corners
    of a control volume the function is taken as linear, with the correction of `gather_corners`.
    """
    ni, nj, nk = out.shape
    mi, mj, mk = field.shape
    for slab in prange(ni):
        i = np.int64(slab)
        v = np.empty(8, np.float64)
        index, weight = np.empty((2, 4), np.int64), np.empty((2, 4), np.float64)
        lines = np.empty((5, mk + 2 * PAD), np.float64)  # at the four corners across the row, and in the middle
        for j in range(nj):
            near = field[min(i, mi - 1), min(j, mj - 1)]
            if not fill_row(near, far, out[i, j]):
                continue
            first, last = nk, np.int64(0)
            for k in range(nk):
                if not abs(near[min(k, mk - 1)]) > far:
                    first, last = min(first, k), k + 1
            for a in range(2):
                na = axis_samples(i, a, kx, mi, index[0], weight[0])
                for b in range(2):
                    nb = axis_samples(j, b, ky, mj, index[1], weight[1])
                    interpolate_line(field, na, nb, index, weight, first - 2, last + 3, lines[2 * a + b])
            na = centre_samples(i, kx, mi, index[0], weight[0])
            nb = centre_samples(j, ky, mj, index[1], weight[1])
            interpolate_line(field, na, nb, index, weight, first - 2, last + 3, lines[4])
            for k in range(first, last):
                if abs(near[min(k, mk - 1)]) > far:
                    continue
                middle = middle_of_line(lines[4], k, kz)
                if abs(middle) > reach:
                    out[i, j, k] = np.float32(1.0) if middle < 0.0 else np.float32(0.0)
                    continue
                mean = 0.0
                for n in range(8):
                    v[n] = along_line(lines[n >> 1], k + (n & 1), kz)
                    mean += 0.125 * v[n]
                excess = (mean - middle) * (2.0 / 3.0)
                for n in range(8):
                    v[n] -= excess
                out[i, j, k] = cube_fraction(v)
