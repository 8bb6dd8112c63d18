"""Kernels of the projection on a sparse tree: divergence, rows of the matrix, gradient, coarse grids.

Lengths are in finest cells. A face between equal leaves of level l links them by area 2^l, by area 2^l / theta towards
air. A coarse face of side H, divided into four, has the row g = (mean of the fine q - coarse q) / (3/4 H) once, with
the weight w = 3/4 H^3 area: w g g' couples the coarse leaf with each fine one by H / 3 and the fine ones with each
other by H / 12. Where some of the five are air the row is scaled by s = sum of all g phi / sum of the liquid's g phi.
"""

import numpy as np

from glug.grids.octree.linear.kernels import ABSENT, OUTSIDE
from glug.grids.octree.linear.kernels_faces import ONE, own_face, part, sibling
from glug.jit import kernel, prange
from glug.physics.pressure.kernels import link_across

ZERO, UNIT, QUARTER, THIRD = np.float32(0.0), np.float32(1.0), np.float32(0.25), np.float32(1.0 / 3.0)
MOST_SCALE = np.float32(100.0)  # of the row of a divided face between liquid and air


@kernel(inline=True)
def side_of(l):
    """The side of a leaf of level l."""
    return np.float32(ONE << np.int64(l))


@kernel(inline=True)
def plain_link(area, phi, liquid, links, n, side, other):
    """The link of a face of leaf n to an equal leaf or to absent space, in units of the leaf's side."""
    if other == ABSENT:
        return area[n, side] if liquid[n] else ZERO
    open_part = area[other, side ^ 1] if side & 1 else area[n, side]  # one number for both leaves
    return link_across(open_part, phi[n], phi[other], liquid[n], liquid[other])


@kernel(inline=True)
def divided_face(key, level, links, area, phi, liquid, fine, axis, side, coarse):
    """s times the open area of the face between a coarse leaf and four fine ones, of which `fine` is one.

    `side` is that of the fine ones towards the coarse one; also how many of the fine ones are liquid.
    """
    total, wet, open_part, count = -phi[coarse], -phi[coarse] if liquid[coarse] else ZERO, ZERO, 0
    for number in range(4):
        j = sibling(links, key, level, fine, axis, number)
        if j < 0:  # dropped: as if there were no pressure
            return ZERO, 0
        total += QUARTER * phi[j]
        open_part += QUARTER * area[j, side]
        if liquid[j]:
            wet += QUARTER * phi[j]
            count += 1
    if count == 4 and liquid[coarse]:
        return open_part, count
    if (count == 0 and not liquid[coarse]) or total * wet <= ZERO:
        return ZERO, count
    return open_part * min(total / wet, MOST_SCALE), count


@kernel(inline=True)
def row_entries(key, level, links, area, phi, liquid, number, n, column, value, at):
    """Write the entries of leaf n from `at` on; returns where they end, and the sum of the whole row."""
    rest = ZERO
    h = side_of(level[n])
    for side in range(6):
        other = np.int64(links[n, side])
        if other == OUTSIDE:
            continue
        axis = side >> 1
        if other == ABSENT or level[other] == level[n]:
            link = h * plain_link(area, phi, liquid, links, n, side, other)
            if other != ABSENT and liquid[other]:
                if link > ZERO:
                    column[at], value[at] = number[other], -link
                    at += 1
            else:
                rest += link
        elif level[other] > level[n]:
            s, count = divided_face(key, level, links, area, phi, liquid, n, axis, side, other)
            if s <= ZERO:
                continue
            weight = s * np.float32(2.0) * h * THIRD  # H / 3
            rest += weight * (np.float32(count) * QUARTER - (UNIT if liquid[other] else ZERO))
            if liquid[other]:
                column[at], value[at] = number[other], -weight
                at += 1
            for j in range(1, 4):
                near = sibling(links, key, level, n, axis, j)
                if liquid[near]:
                    column[at], value[at] = number[near], weight * QUARTER
                    at += 1
        else:
            s, count = divided_face(key, level, links, area, phi, liquid, other, axis, side ^ 1, n)
            if s <= ZERO:
                continue
            weight = s * h * THIRD
            rest += weight * np.float32(4 - count)
            for j in range(4):
                near = part(links, other, axis, j)
                if liquid[near]:
                    column[at], value[at] = number[near], -weight
                    at += 1
    return at, rest


@kernel(parallel=True)
def most_entries(level, links, number, most):
    """How many entries off the diagonal the row of every liquid leaf may have."""
    for leaf in prange(number.shape[0]):
        n = np.int64(leaf)
        if number[n] >= 0:
            count = 0
            for side in range(6):
                other = links[n, side]
                if other >= 0:
                    count += 1 if level[other] == level[n] else 4
            most[number[n]] = count


@kernel(parallel=True)
def fill_rows(key, level, links, area, phi, liquid, number, start, length, rest, column, value):
    """The rows of all liquid leaves: entries from `start` on, how many, and the sum of each row."""
    for leaf in prange(number.shape[0]):
        n = np.int64(leaf)
        row = np.int64(number[n])
        if row >= 0:
            at = np.int64(start[row])
            end, total = row_entries(key, level, links, area, phi, liquid, number, n, column, value, at)
            length[row], rest[row] = end - at, total


@kernel(inline=True)
def flow_out(links, level, area, first, owned, u, n, side):
    """The flow of u through a side of leaf n, along the axis, in units of a finest face."""
    other = np.int64(links[n, side])
    if other == OUTSIDE:
        return 0.0
    f = own_face(first, owned, n, side)
    scale = np.float64(ONE << (2 * np.int64(level[n])))
    if f >= 0:
        return scale * np.float64(area[n, side]) * np.float64(u[f])
    if level[other] == level[n]:
        return scale * np.float64(area[other, side ^ 1]) * np.float64(u[own_face(first, owned, other, side ^ 1)])
    total = 0.0
    for j in range(4):
        near = part(links, other, side >> 1, j)
        total += np.float64(area[near, side ^ 1]) * np.float64(u[own_face(first, owned, near, side ^ 1)])
    return 0.25 * scale * total


@kernel(parallel=True)
def divergence(links, level, area, first, owned, u, number, out):
    """Minus the net flow out of every liquid leaf."""
    for leaf in prange(number.shape[0]):
        n = np.int64(leaf)
        if number[n] >= 0:
            total = 0.0
            for axis in range(3):
                total += flow_out(links, level, area, first, owned, u, n, 2 * axis)
                total -= flow_out(links, level, area, first, owned, u, n, 2 * axis + 1)
            out[number[n]] = np.float32(total)


@kernel(parallel=True)
def subtract_gradient(key, level, links, area, phi, liquid, first, owned, q, u):
    """u -= G q on all faces of liquid leaves that are open at all; q is zero in the air."""
    for leaf in prange(links.shape[0]):
        n = np.int64(leaf)
        for side in range(6):
            f = own_face(first, owned, n, side)
            if f < 0 or area[n, side] <= ZERO:
                continue
            other = np.int64(links[n, side])
            equal = other == ABSENT or level[other] == level[n]
            if equal and not liquid[n] and (other == ABSENT or not liquid[other]):
                continue
            sign = -1.0 if side & 1 else 1.0  # leaf n is above a lower side
            if equal:
                link = plain_link(area, phi, liquid, links, n, side, other)
                beyond = 0.0 if other == ABSENT else q[other]
                slope = np.float64(link) / np.float64(area[n, side]) * (q[n] - beyond) / np.float64(side_of(level[n]))
            else:
                s, _ = divided_face(key, level, links, area, phi, liquid, n, side >> 1, side, other)
                mean, open_part = 0.0, 0.0
                for j in range(4):
                    near = sibling(links, key, level, n, side >> 1, j)
                    if near >= 0:
                        mean += 0.25 * q[near]
                        open_part += 0.25 * np.float64(area[near, side])
                scale = np.float64(s) / open_part if open_part > 0.0 else 0.0
                slope = scale * (mean - q[other]) / (1.5 * np.float64(side_of(level[n])))
            u[f] -= np.float32(sign * slope)


@kernel(parallel=True)
def merge_fields(key, level, first, l, area, phi, liquid, out_area, out_phi, out_liquid):
    """Coarse open areas and distances are means; a coarse leaf is liquid if its distance says so and one in it is."""
    for n in prange(first.shape[0] - 1):
        begin, end = first[n], first[n + 1]
        mean, wet = ZERO, False
        for c in range(begin, end):
            mean += phi[c]
            wet = wet or liquid[c] != 0
        out_phi[n] = mean / np.float32(end - begin)
        out_liquid[n] = wet and out_phi[n] < ZERO
        for side in range(6):
            total, count = ZERO, ZERO
            for c in range(begin, end):
                if level[c] < l and ((key[c] >> (3 * np.int64(level[c]) + (side >> 1))) & ONE) != (side & 1):
                    continue
                total += area[c, side]
                count += UNIT
            out_area[n, side] = total / count if count > ZERO else ZERO


@kernel(parallel=True)
def restrict(r, begin, end, b):
    """b = P' r for piecewise constant P: the sum over the unknowns of every coarse one."""
    fine, out = r[0][0, 0], b[0][0, 0]
    for n in prange(begin.shape[0]):
        total = ZERO
        for c in range(begin[n], end[n]):
            total += fine[c]
        out[n] = total


@kernel(parallel=True)
def interpolate(e, begin, end, x):
    """x += P e."""
    coarse, out = e[0][0, 0], x[0][0, 0]
    for n in prange(begin.shape[0]):
        for c in range(begin[n], end[n]):
            out[c] += coarse[n]


@kernel
def join(start, length, column, root):
    """Union-find over the entries of a matrix: the root of a part is its first row."""
    for n in range(start.shape[0]):
        for o in range(np.int64(start[n]), np.int64(start[n]) + np.int64(length[n])):
            a, b = np.int64(n), np.int64(column[o])
            while root[a] != a:
                root[a] = root[root[a]]
                a = np.int64(root[a])
            while root[b] != b:
                root[b] = root[root[b]]
                b = np.int64(root[b])
            if a < b:
                root[b] = a
            elif b < a:
                root[a] = b
    for n in range(root.shape[0]):
        root[n] = root[root[n]]
