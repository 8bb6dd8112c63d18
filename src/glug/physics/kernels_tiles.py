"""Kernels of affine regions: moments and velocities of their faces, and the pressure matrix without their cells.

Pressures are numbered so that runs of consecutive numbers have neighbours with consecutive numbers as well: a segment
(begin, length, and where its six neighbours begin) is a loop over contiguous memory. Absent neighbours begin in a pad
of zeros behind the last pressure.

A region's velocity along axis a at x is sum_m v[a, m] f_m(x), f = (1, x, y, z) in cells from its centre.
"""

import numpy as np

from glug.jit import kernel, prange

ZERO = np.float32(0.0)


# -- faces of regions ----------------------------------------------------------------------------------------


@kernel(inline=True)
def owned(label, region, axis, i, j, k):
    """Whether the face with this index belongs to the region, which may be on either side of it."""
    ni, nj, nk = label.shape
    if i < ni and j < nj and k < nk and label[i, j, k] == region:
        return True
    i, j, k = i - (axis == 0), j - (axis == 1), k - (axis == 2)
    return i >= 0 and j >= 0 and k >= 0 and label[i, j, k] == region


@kernel(parallel=True)
def face_moments(axis, label, boxes, centre, moments):
    """moments[region] += f f' of the faces of `axis`."""
    for slot in prange(len(boxes)):
        region = np.int64(slot)
        f = np.ones(4)
        for i in range(boxes[region, 0], boxes[region, 1] + (axis == 0)):
            f[1] = i + 0.5 * (axis != 0) - centre[region, 0]
            for j in range(boxes[region, 2], boxes[region, 3] + (axis == 1)):
                f[2] = j + 0.5 * (axis != 1) - centre[region, 1]
                for k in range(boxes[region, 4], boxes[region, 5] + (axis == 2)):
                    if owned(label, region, axis, i, j, k):
                        f[3] = k + 0.5 * (axis != 2) - centre[region, 2]
                        for m in range(4):
                            for n in range(4):
                                moments[region, m, n] += f[m] * f[n]


@kernel(parallel=True)
def region_velocity(axis, u, label, boxes, centre, v, write):
    """On the faces of `axis`, u = v . f of their region if `write`; otherwise v += f u; `v` (regions, 4)."""
    for slot in prange(len(boxes)):
        region = np.int64(slot)
        for i in range(boxes[region, 0], boxes[region, 1] + (axis == 0)):
            x = i + 0.5 * (axis != 0) - centre[region, 0]
            for j in range(boxes[region, 2], boxes[region, 3] + (axis == 1)):
                y = j + 0.5 * (axis != 1) - centre[region, 1]
                for k in range(boxes[region, 4], boxes[region, 5] + (axis == 2)):
                    if not owned(label, region, axis, i, j, k):
                        continue
                    z = k + 0.5 * (axis != 2) - centre[region, 2]
                    if write:
                        u[i, j, k] = v[region, 0] + v[region, 1] * x + v[region, 2] * y + v[region, 3] * z
                    else:
                        v[region, 0] += u[i, j, k]
                        v[region, 1] += x * u[i, j, k]
                        v[region, 2] += y * u[i, j, k]
                        v[region, 3] += z * u[i, j, k]


# -- the matrix of the free faces ----------------------------------------------------------------------------


@kernel(parallel=True)
def link_pressures(axis, cell, number, label, link, lower, upper, lower_region, upper_region, links, spring, diagonal):
    """Neighbours of every pressure along `axis`: their numbers, their regions, and the link to the lower one.

    Links to what is neither (air) tie the pressure down: `spring`; all but those to regions add up to the `diagonal`.
    """
    nj, nk = label.shape[1], label.shape[2]
    di, dj, dk = np.int64(axis == 0), np.int64(axis == 1), np.int64(axis == 2)
    for n in prange(len(cell)):
        c = np.int64(cell[n])
        i, j, k = c // (nj * nk), c // nk % nj, c % nk
        below, above = label[i - di, j - dj, k - dk], label[i + di, j + dj, k + dk]
        down = link[i, j, k] if below < 0 else ZERO
        up = link[i + di, j + dj, k + dk] if above < 0 else ZERO
        lower[n], upper[n] = number[i - di, j - dj, k - dk], number[i + di, j + dj, k + dk]
        lower_region[n], upper_region[n] = below, above
        links[n] = down if lower[n] >= 0 else ZERO
        spring[n] += (ZERO if lower[n] >= 0 else down) + (ZERO if upper[n] >= 0 else up)
        diagonal[n] += down + up


@kernel
def find_segments(lower, upper, rows, pad, longest, table):
    """Cut the numbers into segments of at most `longest`, the length of the pad; returns how many.

    `lower` and `upper` (3, n) are the numbers of the neighbours, -1 where there is none. The first `rows` numbers run
    along z. Behind a missing lower neighbour any number may stand, because the link is stored at the upper cell and
    is zero; so it is above a row's end, where the next number begins a row.
    """
    count, n = 0, lower.shape[1]
    shift = np.zeros(6, np.int64)  # neighbour minus own number; `free` while nothing has fixed it
    free = np.int64(1) << 40
    for c in range(n):
        fits = count > 0 and c != rows and table[count - 1, 1] < longest
        for m in range(6):
            t = lower[m, c] if m < 3 else upper[m - 3, c]
            wild = t < 0 and (m < 3 or (m == 5 and c < rows))
            want = free if wild else (pad + n if t < 0 else t - c)  # pad + n: missing above
            if want == free:
                continue
            known = shift[m] != free
            if (known and shift[m] != want) or (fits and not known and table[count - 1, 0] + want < 0):
                fits = False
        if not fits:
            table[count, 0], table[count, 1] = c, 0
            count += 1
            shift[:] = free
        table[count - 1, 1] += 1
        for m in range(6):
            t = lower[m, c] if m < 3 else upper[m - 3, c]
            if t >= 0:
                shift[m] = t - c
            elif m >= 3 and not (m == 5 and c < rows):
                shift[m] = pad + n
            begin = table[count - 1, 0]
            if shift[m] == free:
                table[count - 1, 2 + m] = begin + 1 if m == 5 else pad
            else:
                table[count - 1, 2 + m] = pad if shift[m] == pad + n else begin + shift[m]
    return count


@kernel(inline=True)
def flux(x, spring, lx, ly, lz, c, xm, ym, zm, xp, yp, zp):
    """What leaves the cell with number c to its neighbours, in differences (see `kernels_contrast`), and to air."""
    v = x[c]
    a = spring[c] * v + lx[c] * (v - x[xm]) + lx[xp] * (v - x[xp])
    a += ly[c] * (v - x[ym]) + ly[yp] * (v - x[yp])
    return a + lz[c] * (v - x[zm]) + lz[zp] * (v - x[zp])


@kernel(parallel=True)
def apply_segments(d, q, spring, lx, ly, lz, table, chunks, sums):
    """q = A d without the regions; d . q per chunk of segments."""
    for t in prange(chunks.shape[0] - 1):
        total = np.float64(0.0)
        for s in range(chunks[t], chunks[t + 1]):
            c0, length = np.uint64(table[s, 0]), np.uint64(table[s, 1])
            xm, ym, zm = np.uint64(table[s, 2]), np.uint64(table[s, 3]), np.uint64(table[s, 4])
            xp, yp, zp = np.uint64(table[s, 5]), np.uint64(table[s, 6]), np.uint64(table[s, 7])
            row = ZERO
            for n in range(length):
                v = flux(d, spring, lx, ly, lz, c0 + n, xm + n, ym + n, zm + n, xp + n, yp + n, zp + n)
                q[c0 + n] = v
                row += v * d[c0 + n]
            total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def residual_segments(b, x, r, regions, spring, lx, ly, lz, table, chunks):
    """r = b - A x - regions in float64."""
    for t in prange(chunks.shape[0] - 1):
        for s in range(chunks[t], chunks[t + 1]):
            c0, length = np.uint64(table[s, 0]), np.uint64(table[s, 1])
            xm, ym, zm = np.uint64(table[s, 2]), np.uint64(table[s, 3]), np.uint64(table[s, 4])
            xp, yp, zp = np.uint64(table[s, 5]), np.uint64(table[s, 6]), np.uint64(table[s, 7])
            for n in range(length):
                c = c0 + n
                v = flux(x, spring, lx, ly, lz, c, xm + n, ym + n, zm + n, xp + n, yp + n, zp + n)
                r[c] = b[c] - v - regions[c]


# -- the faces between regions and pressures -----------------------------------------------------------------
# A segment of faces: (begin, length, axis, sign, region, direction in which it runs) and the position of its first.


@kernel(parallel=True)
def region_sums(x, faces, position, order, first, y):
    """y = J x per region (3, 4)."""
    for slot in prange(len(first) - 1):
        region = np.int64(slot)
        y[region] = 0.0
        for o in range(first[region], first[region + 1]):
            s = order[o]
            c0 = np.uint64(faces[s, 0])
            whole, moment = np.float64(0.0), np.float64(0.0)
            for n in range(np.uint64(faces[s, 1])):
                value = np.float64(x[c0 + n])
                whole += value
                moment += np.float64(n) * value
            a, sign, along = faces[s, 2], faces[s, 3], faces[s, 5]
            y[region, a, 0] += sign * whole
            for m in range(3):
                y[region, a, 1 + m] += sign * position[s, m] * whole
            y[region, a, 1 + along] += sign * moment


@kernel(parallel=True)
def spread_regions(z, faces, position, begin, end, q):
    """q += J' z for the segments from `begin` to `end`, none of which share a pressure."""
    for s in prange(begin, end):
        a, sign, region, along = faces[s, 2], faces[s, 3], faces[s, 4], faces[s, 5]
        value = z[region, a, 0]
        for m in range(3):
            value += z[region, a, 1 + m] * position[s, m]
        value, slope = sign * value, sign * z[region, a, 1 + along]
        c0 = np.uint64(faces[s, 0])
        for n in range(np.uint64(faces[s, 1])):
            q[c0 + n] += value + slope * np.float64(n)


@kernel
def add_region_diagonal(inverse, faces, position, diagonal):
    """diagonal += that of J' S J, every face by itself; `inverse` is S as (regions, 3, 4, 4), its diagonal blocks."""
    f = np.ones(4)
    for s in range(len(faces)):
        block = inverse[faces[s, 4], faces[s, 2]]
        f[1:] = position[s]
        for n in range(faces[s, 1]):
            total = 0.0
            for p in range(4):
                for m in range(4):
                    total += f[p] * block[p, m] * f[m]
            diagonal[faces[s, 0] + n] += total
            f[1 + faces[s, 5]] += 1.0
