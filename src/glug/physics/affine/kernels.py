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
def loosen(lower, upper, lx, ly, lz, short, pairs, weight):
    """Take links out of runs of fewer than `short`, in which c + n is linked to t + n, and list them; returns how many.

    A pair is listed from both sides. `lower` and `upper` (3, n) are the numbers of the neighbours, -1 without one.
    """
    count, n = 0, lower.shape[1]
    for a in range(3):
        link = lx if a == 0 else (ly if a == 1 else lz)
        begin = 0
        while begin < n:
            shift = lower[a, begin] - begin
            end = begin + 1
            if lower[a, begin] < 0 or shift == -1:
                begin = end
                continue
            while end < n and lower[a, end] >= 0 and lower[a, end] - end == shift:
                end += 1
            if end - begin < short:
                for c in range(begin, end):
                    t = lower[a, c]
                    pairs[count, 0], pairs[count, 1] = c, t
                    pairs[count + 1, 0], pairs[count + 1, 1] = t, c
                    weight[count], weight[count + 1] = link[c], link[c]
                    count += 2
                    link[c] = ZERO
                    lower[a, c], upper[a, t] = -1, -1
            begin = end
    return count


@kernel
def find_segments(lower, upper, across, pad, longest, table):
    """Cut the numbers into segments of at most `longest`, the length of the pad; returns how many.

    `lower` and `upper` are the numbers of the neighbours that are not loose. Numbers run along y where `across`, along
    z elsewhere. Behind a missing lower neighbour any number may stand, because the link is stored at the upper cell
    and is zero; so it is above a row's end, where the next number has no lower neighbour along z.
    """
    count, n = 0, lower.shape[1]
    shift = np.zeros(6, np.int64)  # neighbour minus own number; `free` while nothing has fixed it
    free = np.int64(1) << 40
    for c in range(n):
        fits = count > 0 and across[c] == across[c - 1] and table[count - 1, 1] < longest
        for m in range(6):
            t = lower[m, c] if m < 3 else upper[m - 3, c]
            wild = t < 0 and (m < 3 or (m == 5 and not across[c]))
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
            elif m >= 3 and not (m == 5 and not across[c]):
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


# -- the faces between regions and pressures -----------------------------------------------------------------
# A segment of faces is (begin, length, region, shape) and the position of its first; `shape` holds the axis, the
# direction in which the segment runs and on which side the region is.


@kernel(inline=True)
def face_segment(faces, s):
    """Begin, length, region, axis, direction and sign."""
    shape = np.int64(faces[s, 3])
    sign = 1.0 if shape < 16 else -1.0
    return np.uint64(faces[s, 0]), np.uint64(faces[s, 1]), np.int64(faces[s, 2]), shape % 4, shape // 4 % 4, sign


@kernel(parallel=True)
def region_response(x, faces, position, first, inverse, y, z):
    """y = J x and z = M_v^-1 y per region (12,); the segments of region r are from first[r] to first[r + 1]."""
    for slot in prange(len(first) - 1):
        region = np.int64(slot)
        sums, out = y[region], z[region]
        sums[:] = 0.0
        for s in range(first[region], first[region + 1]):
            c0, length, _, a, along, sign = face_segment(faces, s)
            whole, moment = x.dtype.type(0.0), x.dtype.type(0.0)
            for n in range(length):
                whole += x[c0 + n]
                moment += x.dtype.type(n) * x[c0 + n]
            total = sign * np.float64(whole)
            sums[4 * a] += total
            for m in range(3):
                sums[4 * a + 1 + m] += position[s, m] * total
            sums[4 * a + 1 + along] += sign * np.float64(moment)
        for m in range(12):
            total = 0.0
            for n in range(12):
                total += inverse[region, m, n] * sums[n]
            out[m] = total


@kernel(inline=True)
def chunk_product(x, z, spring, lx, ly, lz, table, pairs, loose, faces, position, bounds, t, out):
    """A x of a chunk's pressures: what leaves them to their neighbours, and J' z, z the response of the regions.

    Returns the first pressure and their number.

    `bounds` are those of the chunks in pressures, segments, segments of faces and loose pairs.
    """
    first = np.uint64(bounds[t, 0])
    for s in range(bounds[t, 1], bounds[t + 1, 1]):
        c0, length = np.uint64(table[s, 0]), np.uint64(table[s, 1])
        xm, ym, zm = np.uint64(table[s, 2]), np.uint64(table[s, 3]), np.uint64(table[s, 4])
        xp, yp, zp = np.uint64(table[s, 5]), np.uint64(table[s, 6]), np.uint64(table[s, 7])
        o = c0 - first
        for n in range(length):
            out[o + n] = flux(x, spring, lx, ly, lz, c0 + n, xm + n, ym + n, zm + n, xp + n, yp + n, zp + n)
    for p in range(bounds[t, 3], bounds[t + 1, 3]):
        c, other = np.uint64(pairs[p, 0]), np.uint64(pairs[p, 1])
        out[c - first] += loose[p] * (x[c] - x[other])
    for s in range(bounds[t, 2], bounds[t + 1, 2]):
        c0, length, region, a, along, sign = face_segment(faces, s)
        value = z[region, 4 * a]
        for m in range(3):
            value += z[region, 4 * a + 1 + m] * position[s, m]
        start, slope = x.dtype.type(sign * value), x.dtype.type(sign * z[region, 4 * a + 1 + along])
        o = c0 - first
        for n in range(length):
            out[o + n] += start + slope * x.dtype.type(n)
    return first, np.uint64(bounds[t + 1, 0] - bounds[t, 0])


@kernel(parallel=True)
def apply_chunks(d, z, q, spring, lx, ly, lz, table, pairs, loose, faces, position, bounds, longest, sums):
    """q = A d and d . q per chunk, of `longest` pressures at most."""
    for t in prange(len(bounds) - 1):
        out = np.empty(longest, np.float32)
        first, count = chunk_product(d, z, spring, lx, ly, lz, table, pairs, loose, faces, position, bounds, t, out)
        total = np.float64(0.0)
        for n in range(count):
            q[first + n] = out[n]
            total += np.float64(out[n]) * np.float64(d[first + n])
        sums[t] = total


@kernel(parallel=True)
def residual_chunks(b, x, z, r, spring, lx, ly, lz, table, pairs, loose, faces, position, bounds, longest):
    """r = b - A x in float64."""
    for t in prange(len(bounds) - 1):
        out = np.empty(longest, np.float64)
        first, count = chunk_product(x, z, spring, lx, ly, lz, table, pairs, loose, faces, position, bounds, t, out)
        for n in range(count):
            r[first + n] = b[first + n] - out[n]


@kernel
def add_region_diagonal(inverse, faces, position, diagonal):
    """diagonal += that of J' M_v^-1 J, every face by itself; `inverse` is M_v^-1 as (regions, 12, 12)."""
    f = np.ones(4)
    for s in range(len(faces)):
        c0, length, region, a, along, _ = face_segment(faces, s)
        f[1:] = position[s]
        for n in range(length):
            total = 0.0
            for p in range(4):
                for m in range(4):
                    total += f[p] * inverse[region, 4 * a + p, 4 * a + m] * f[m]
            diagonal[c0 + n] += total
            f[1 + along] += 1.0
