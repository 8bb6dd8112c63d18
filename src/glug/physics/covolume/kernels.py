"""Kernels of pressure on covolume meshes: what faces let through, rows, coarser rows, velocities.

`start`, `face` list the faces of every cell; a face leads from its first cell to its second.
"""

import numpy as np

from glug.jit import kernel, prange

DRY = -1


@kernel(inline=True)
def crossing(low, high):
    """The part of the way from a negative value to one that is not."""
    return low / (low - high)


@kernel(inline=True)
def closed_part(a, b, c):
    """The part of a triangle with these values at its corners where they are negative."""
    a, b, c = min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)
    if a >= 0.0:
        return 0.0
    if c < 0.0:
        return 1.0
    if b >= 0.0:
        return crossing(a, b) * crossing(a, c)
    return 1.0 - (c / (c - a)) * (c / (c - b))


@kernel(parallel=True)
def open_faces(solid, ends, least, opened):
    """The open part of every face from the solids' distance at its corners; less than `least` is closed."""
    for f in prange(ends.shape[0]):
        a, b = solid[ends[f, 0]], solid[ends[f, 1]]
        if ends.shape[1] == 2:
            low, high = min(a, b), max(a, b)
            part = 1.0 - (1.0 if high < 0.0 else 0.0 if low >= 0.0 else crossing(low, high))
        else:
            part = 1.0 - closed_part(a, b, solid[ends[f, 2]])
        opened[f] = part if part >= least else 0.0


@kernel(parallel=True)
def ghost_fractions(beside, wet, phi, least, theta):
    """theta of every face: the part of the way between its pressures that is in the liquid, 1 where all is.

    More than 1 where phi of the pressure that is not `wet` is below 0 as well.
    """
    for f in prange(len(theta)):
        a, b = beside[0, f], beside[1, f]
        theta[f] = 1.0
        if wet[a] != wet[b]:
            theta[f] = max(crossing(min(phi[a], phi[b]), max(phi[a], phi[b])), least)


@kernel(parallel=True)
def links_of(beside, area, distance, opened, theta, number, link):
    """link = w A / (theta d) of the faces with a wet cell: their mobility in the rows."""
    for f in prange(len(link)):
        wet = number[beside[0, f]] >= 0 or number[beside[1, f]] >= 0
        link[f] = opened[f] * area[f] / (theta[f] * distance[f]) if wet else 0.0


@kernel(parallel=True)
def fill_rows(cells, number, start, face, beside, link, first, length, column, value, rest):
    """The row of every wet cell: -link to each neighbour, and what its links to air add to the diagonal."""
    for n in prange(len(cells)):
        c = cells[n]
        at, air = first[n], 0.0
        for o in range(start[c], start[c + 1]):
            f = face[o]
            if link[f] > 0.0:
                other = number[beside[0, f] + beside[1, f] - c]
                if other == DRY:
                    air += link[f]
                else:
                    column[at], value[at] = other, -np.float32(link[f])
                    at += 1
        length[n], rest[n] = at - first[n], np.float32(air)


@kernel(parallel=True)
def outflows(cells, start, face, beside, area, opened, u, wall, out):
    """out = -(what flows out of every wet cell through the open and with the closed part of its faces).

    `wall` has the velocity of the solid of the cell on either side.
    """
    for n in prange(len(cells)):
        c, total = cells[n], 0.0
        for o in range(start[c], start[c + 1]):
            f = face[o]
            side = 0 if beside[0, f] == c else 1
            flow = area[f] * (opened[f] * u[f] + (1.0 - opened[f]) * wall[side, f])
            total += flow if side == 0 else -flow
        out[n] = -total


@kernel(parallel=True)
def push(beside, distance, theta, link, q, wall, opened, u):
    """u -= (q_b - q_a) / (theta d) on the faces that are linked; closed ones take the wall's velocity."""
    for f in prange(len(u)):
        if link[f] > 0.0:
            u[f] -= (q[beside[1, f]] - q[beside[0, f]]) / (theta[f] * distance[f])
        elif opened[f] == 0.0:
            u[f] = wall[0, f]


@kernel(parallel=True)
def coarse_rows(first, members, group, start, length, column, value, rest, begin, entries, to, weight, sums):
    """Rows of groups of unknowns that move together: sums over their members' entries that lead to others."""
    for g in prange(len(first) - 1):
        at, total = begin[g], np.float64(0.0)
        for o in range(first[g], first[g + 1]):
            n = members[o]
            total += np.float64(rest[n])
            for e in range(np.int64(start[n]), np.int64(start[n]) + np.int64(length[n])):
                other = group[column[e]]
                if other == g:
                    continue
                for k in range(begin[g], at):
                    if to[k] == other:
                        weight[k] += value[e]
                        break
                else:
                    to[at], weight[at] = other, value[e]
                    at += 1
        entries[g], sums[g] = at - begin[g], np.float32(total)


@kernel(parallel=True)
def sum_groups(first, members, r, b):
    """b = the sums of r over groups."""
    for g in prange(len(first) - 1):
        total = np.float32(0.0)
        for o in range(first[g], first[g + 1]):
            total += r[members[o]]
        b[g] = total


@kernel(parallel=True)
def add_groups(group, e, scale, x):
    """x += scale e of its group."""
    for n in prange(len(group)):
        x[n] += scale * e[group[n]]
