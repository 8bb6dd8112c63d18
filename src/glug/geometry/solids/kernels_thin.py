"""Kernels of solids thinner than a cell: which samples of a cell are joined, and what faces show of them.

The 27 samples of a cell that are half a cell apart are the bits of an integer, sample (p, q, r) bit 9 p + 3 q + r.
"""

import numpy as np

from glug.geometry.kernels import positive_fraction
from glug.jit import kernel

SAMPLES = 27
STRIDES = (9, 3, 1)
# Samples with the coordinate 1 along every axis: those that have neighbours on both sides.
BETWEEN = (0o000777000, 0o070070070, 0o222222222)
# Samples that have a neighbour on the lower side along y and z (along x, shifts leave the bits).
ABOVE_Y, ABOVE_Z = 0o770770770, 0o666666666
BELOW_Y, BELOW_Z = 0o077077077, 0o333333333


@kernel(inline=True)
def count_bits(bits):
    count = 0
    while bits != 0:
        bits &= bits - 1
        count += 1
    return count


@kernel(inline=True)
def largest_part(fluid):
    """Of the samples `fluid`, those in the largest connected part."""
    largest, most, left = 0, 0, fluid
    while left != 0:
        part, before = left & -left, 0
        while part != before:
            before = part
            part |= fluid & ((part << 9) | (part >> 9))
            part |= fluid & (((part << 3) & ABOVE_Y) | ((part >> 3) & BELOW_Y))
            part |= fluid & (((part << 1) & ABOVE_Z) | ((part >> 1) & BELOW_Z))
        count = count_bits(part)
        if count > most:
            largest, most = part, count
        left &= ~part
    return largest


@kernel
def join_samples(fine, parts, hides):
    """The open samples in the largest part of every cell, and whether a solid lies between two open ones of it.

    fine  solid distance at the samples of every cell, (n, 27)
    """
    for n in range(len(fine)):
        fluid = 0
        for s in range(SAMPLES):
            if fine[n, s] > np.float32(0.0):
                fluid |= 1 << s
        parts[n] = largest_part(fluid)
        hides[n] = False
        for a in range(3):
            hides[n] |= (~fluid & BETWEEN[a] & (fluid << STRIDES[a]) & (fluid >> STRIDES[a])) != 0


@kernel
def cut_faces(axis, cells, number, fine, parts, area):
    """The open fraction of the faces of `cells` across `axis`, from their 3 x 3 samples.

    number  where a cell is in `cells`, or -1
    parts   samples that are open to a cell; a sample of a face is open when both cells say so
    """
    b, c = (axis + 1) % 3, (axis + 2) % 3
    value = np.empty((3, 3))
    for n in range(len(cells)):
        for side in range(2):
            i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
            step = 2 * side - 1
            x, y, z = i + step * (axis == 0), j + step * (axis == 1), k + step * (axis == 2)
            ni, nj, nk = number.shape
            inside = 0 <= x < ni and 0 <= y < nj and 0 <= z < nk
            other = number[x, y, z] if inside else -1
            if side == 0 and other >= 0:
                continue  # the lower cell sees to it
            for q in range(3):
                for r in range(3):
                    rest = q * STRIDES[b] + r * STRIDES[c]
                    here, there = rest + 2 * side * STRIDES[axis], rest + 2 * (1 - side) * STRIDES[axis]
                    shown = (parts[n] >> here) & 1
                    if other >= 0:
                        shown &= parts[other] >> there
                    value[q, r] = abs(fine[n, here]) if shown else -abs(fine[n, here])
            total = 0.0
            for q in range(2):
                for r in range(2):
                    total += positive_fraction(value[q, r], value[q + 1, r], value[q + 1, r + 1], value[q, r + 1])
            area[i + side * (axis == 0), j + side * (axis == 1), k + side * (axis == 2)] = 0.25 * total
