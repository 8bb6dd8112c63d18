"""Kernels of particles: sorting by cell, transfers to and from the staggered grid, motion.

Positions are world coordinates [m]; `corner` is the grid's lower corner, `inverse` is 1 / dx. Particles are
sorted by cell, so that the particles of a slab of cells are contiguous and neighbours in memory are neighbours
in space.
"""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.grids.kernels import ONE
from glug.jit import kernel, prange

SLAB = 2  # cells along x per slab of `to_grid`: slabs of one colour never touch the same face
# Ralston's third-order Runge-Kutta method: how far ahead its three velocities are taken, and their shares in a step.
AHEAD, SHARES = np.array([0.0, 0.5, 0.75], np.float32), np.array([2 / 9, 3 / 9, 4 / 9], np.float32)
STILL_THERE = np.float32(1.0 - 1e-3)  # of a step: less is not yet all of its parts
BUNCH = 256  # particles that are moved together: what is known of them stays in the cache


# -- sorting ----------------------------------------------------------------------------------------------


@kernel(parallel=True)
def cell_keys(position, volume, corner, inverse, shape, key):
    """Cell of every particle; one past the last for those outside the grid, not finite, or without volume."""
    ni, nj, nk = shape
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        if volume[n, 0] > 0 and x >= 0 and y >= 0 and z >= 0 and x < ni and y < nj and z < nk:
            key[n] = (int(x) * nj + int(y)) * nk + int(z)
        else:
            key[n] = ni * nj * nk


@kernel
def counting_sort(key, start, order):
    """Stable order of the particles by cell; start[c] is the first of cell c, start[-1] those outside."""
    start[:] = 0
    for n in range(key.size):
        start[key[n]] += 1
    total = 0
    for c in range(start.size):
        count = start[c]
        start[c] = total
        total += count
    for n in range(key.size):
        c = key[n]
        order[start[c]] = n
        start[c] += 1
    for c in range(start.size - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@kernel(parallel=True)
def gather_rows(values, order, out):
    """out[n] = values[order[n]] for rows of any width."""
    for n in prange(order.size):
        m = order[n]
        for a in range(values.shape[1]):
            out[n, a] = values[m, a]


# -- transfer to the grid ---------------------------------------------------------------------------------


@kernel(inline=True)
def scatter_row(p, q, k, k1, value, step, fz, mass, field, weight):
    """Two samples along z: value + step (sample - particle), with shares 1 - fz and fz of mass."""
    high = mass * fz
    low = mass - high
    field[p, q, k] += low * (value - step * fz)
    weight[p, q, k] += low
    field[p, q, k1] += high * (value + step * (np.float32(1.0) - fz))
    weight[p, q, k1] += high


@kernel(inline=True)
def scatter(x, y, z, value, ax, ay, az, mass, field, weight):
    """Add a particle at (x, y, z), in samples of `field`, with value + a . (sample - particle) and mass.

    The particle is inside the grid, so only a 2D grid's single sample along z needs care.
    """
    one = np.float32(1.0)
    i, j, k = int(x), int(y), int(z)  # signed: the processor has no way from unsigned integers to floats
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    i, j, k = np.uint64(i), np.uint64(j), np.uint64(k)
    k1 = min(k + ONE, np.uint64(field.shape[2] - 1))
    low = value - ax * fx
    high = low + ax
    wl, wh = mass * (one - fx), mass * fx
    scatter_row(i, j, k, k1, low - ay * fy, az, fz, wl * (one - fy), field, weight)
    scatter_row(i, j + ONE, k, k1, low + ay * (one - fy), az, fz, wl * fy, field, weight)
    scatter_row(i + ONE, j, k, k1, high - ay * fy, az, fz, wh * (one - fy), field, weight)
    scatter_row(i + ONE, j + ONE, k, k1, high + ay * (one - fy), az, fz, wh * fy, field, weight)


@kernel(inline=True)
def slab_of(s, count, colour, ni):
    """First and last layer of slab s out of `count` of a colour, in a grid of `ni` layers.

    Threads take contiguous ranges of s: slabs are dealt out alternately, so that each gets its share.
    """
    dealt = 2 * s if 2 * s < count else 2 * (s - (count + 1) // 2) + 1
    first = (2 * dealt + colour) * SLAB
    return first, min(first + SLAB, ni)


@kernel(parallel=True)
def to_grid(position, velocity, affine, mass, start, shape, corner, inverse, u, v, w, mu, mv, mw):
    """Scatter momentum and mass to the faces, by slabs of cells in two colours: no two threads meet."""
    ni, nj, nk = shape
    half = np.float32(0.5)
    zero = np.float32(0.0)
    slabs = (ni + SLAB - 1) // SLAB
    has_affine = affine.shape[0] > 0
    for colour in range(2):
        count = (slabs + 1 - colour) // 2
        for s in prange(count):
            first, last = slab_of(np.int64(s), count, colour, ni)
            for n in range(start[first * nj * nk], start[last * nj * nk]):
                x = (position[n, 0] - corner[0]) * inverse
                y = (position[n, 1] - corner[1]) * inverse
                z = (position[n, 2] - corner[2]) * inverse
                m = mass[n, 0]
                if has_affine:
                    scatter(
                        x,
                        y - half,
                        z - half,
                        velocity[n, 0],
                        affine[n, 0],
                        affine[n, 1],
                        affine[n, 2],
                        m,
                        u,
                        mu,
                    )
                    scatter(
                        x - half,
                        y,
                        z - half,
                        velocity[n, 1],
                        affine[n, 3],
                        affine[n, 4],
                        affine[n, 5],
                        m,
                        v,
                        mv,
                    )
                    if nk > 1:
                        scatter(
                            x - half,
                            y - half,
                            z,
                            velocity[n, 2],
                            affine[n, 6],
                            affine[n, 7],
                            affine[n, 8],
                            m,
                            w,
                            mw,
                        )
                else:
                    scatter(x, y - half, z - half, velocity[n, 0], zero, zero, zero, m, u, mu)
                    scatter(x - half, y, z - half, velocity[n, 1], zero, zero, zero, m, v, mv)
                    if nk > 1:
                        scatter(x - half, y - half, z, velocity[n, 2], zero, zero, zero, m, w, mw)


@kernel(parallel=True)
def to_cells(position, value, start, shape, corner, inverse, out):
    """Add values to the nearest cell centres with linear weights, by slabs as in `to_grid`."""
    ni, nj, nk = shape
    half, one = np.float32(0.5), np.float32(1.0)
    slabs = (ni + SLAB - 1) // SLAB
    for colour in range(2):
        count = (slabs + 1 - colour) // 2
        for s in prange(count):
            first, last = slab_of(np.int64(s), count, colour, ni)
            for n in range(start[first * nj * nk], start[last * nj * nk]):
                x = (position[n, 0] - corner[0]) * inverse - half
                y = (position[n, 1] - corner[1]) * inverse - half
                z = (position[n, 2] - corner[2]) * inverse - half if nk > 1 else np.float32(0.0)
                i, j, k = np.uint64(int(x)), np.uint64(int(y)), np.uint64(int(z))
                fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
                k1 = min(k + ONE, np.uint64(nk - 1))
                for a in range(2):
                    wx = value[n, 0] * (fx if a else one - fx)
                    for b in range(2):
                        w = wx * (fy if b else one - fy)
                        out[i + np.uint64(a), j + np.uint64(b), k] += w * (one - fz)
                        out[i + np.uint64(a), j + np.uint64(b), k1] += w * fz


@kernel(parallel=True)
def normalise(field, weight, least):
    """field /= weight where weight > least, else zero."""
    values, weights = field.reshape(-1), weight.reshape(-1)
    for n in prange(values.size):
        m = weights[n]
        values[n] = values[n] / m if m > least else np.float32(0.0)


@kernel(parallel=True)
def cell_sums(values, start, scale, out):
    """Sum over the particles of each cell, times `scale`."""
    sums = out.reshape(-1)
    for c in prange(sums.size):
        total = np.float32(0.0)
        for n in range(start[c], start[c + 1]):
            total += values[n, 0]
        sums[c] = total * scale


# -- transfer to the particles ----------------------------------------------------------------------------


@kernel(inline=True)
def inside(field, x, y, z):
    """Trilinear value at (x, y, z), in samples, of a point inside the grid: no clamping but along a 2D z."""
    i, j, k = int(x), int(y), int(z)  # signed: the processor has no way from unsigned integers to floats
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    i, j, k = np.uint64(i), np.uint64(j), np.uint64(k)
    k1 = min(k + ONE, np.uint64(field.shape[2] - 1))
    a = field[i, j, k] + fz * (field[i, j, k1] - field[i, j, k])
    b = field[i, j + ONE, k] + fz * (field[i, j + ONE, k1] - field[i, j + ONE, k])
    c = field[i + ONE, j, k] + fz * (field[i + ONE, j, k1] - field[i + ONE, j, k])
    d = field[i + ONE, j + ONE, k] + fz * (field[i + ONE, j + ONE, k1] - field[i + ONE, j + ONE, k])
    a += fy * (b - a)
    c += fy * (d - c)
    return a + fx * (c - a)


@kernel(parallel=True)
def to_particles_flip(position, velocity, corner, inverse, u, v, w, u0, v0, w0, ratio):
    """velocity = new(x) + ratio (velocity - old(x)): FLIP blended with 1 - ratio of PIC."""
    half = np.float32(0.5)
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        new, old = inside(u, x, y - half, z - half), inside(u0, x, y - half, z - half)
        velocity[n, 0] = new + ratio * (velocity[n, 0] - old)
        new, old = inside(v, x - half, y, z - half), inside(v0, x - half, y, z - half)
        velocity[n, 1] = new + ratio * (velocity[n, 1] - old)
        new, old = inside(w, x - half, y - half, z), inside(w0, x - half, y - half, z)
        velocity[n, 2] = new + ratio * (velocity[n, 2] - old)


@kernel(inline=True)
def affine_row(field, x, y, z):
    """Value and gradient (per sample) of the trilinear interpolant at (x, y, z)."""
    one = np.float32(1.0)
    i, j, k = int(x), int(y), int(z)  # signed: the processor has no way from unsigned integers to floats
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    i, j, k = np.uint64(i), np.uint64(j), np.uint64(k)
    i1, j1, k1 = i + ONE, j + ONE, min(k + ONE, np.uint64(field.shape[2] - 1))
    a00, a01 = field[i, j, k], field[i, j, k1]
    a10, a11 = field[i, j1, k], field[i, j1, k1]
    b00, b01 = field[i1, j, k], field[i1, j, k1]
    b10, b11 = field[i1, j1, k], field[i1, j1, k1]
    gz = (one - fx) * ((one - fy) * (a01 - a00) + fy * (a11 - a10)) + fx * ((one - fy) * (b01 - b00) + fy * (b11 - b10))
    a0, a1 = a00 + fz * (a01 - a00), a10 + fz * (a11 - a10)
    b0, b1 = b00 + fz * (b01 - b00), b10 + fz * (b11 - b10)
    gy = (one - fx) * (a1 - a0) + fx * (b1 - b0)
    a, b = a0 + fy * (a1 - a0), b0 + fy * (b1 - b0)
    return a + fx * (b - a), b - a, gy, gz


@kernel(parallel=True)
def to_particles_apic(position, velocity, affine, corner, inverse, u, v, w):
    """Velocity and its gradient per cell at every particle (APIC, Jiang et al. 2015)."""
    half = np.float32(0.5)
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        velocity[n, 0], affine[n, 0], affine[n, 1], affine[n, 2] = affine_row(u, x, y - half, z - half)
        velocity[n, 1], affine[n, 3], affine[n, 4], affine[n, 5] = affine_row(v, x - half, y, z - half)
        velocity[n, 2], affine[n, 6], affine[n, 7], affine[n, 8] = affine_row(w, x - half, y - half, z)


@kernel(inline=True)
def scatter_slope(x, y, z, ax, ay, az, mass, field):
    """Add mass times a . (sample - particle) to the samples around a particle at (x, y, z): nothing in the sum."""
    one = np.float32(1.0)
    i, j, k = int(x), int(y), int(z)  # signed: the processor has no way from unsigned integers to floats
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    i, j, k = np.uint64(i), np.uint64(j), np.uint64(k)
    k1 = min(k + ONE, np.uint64(field.shape[2] - 1))
    for a in range(2):
        mx, vx = (mass * fx, ax * (one - fx)) if a else (mass * (one - fx), -ax * fx)
        for b in range(2):
            m, value = (mx * fy, vx + ay * (one - fy)) if b else (mx * (one - fy), vx - ay * fy)
            p, q = i + np.uint64(a), j + np.uint64(b)
            field[p, q, k] += m * (one - fz) * (value - az * fz)
            field[p, q, k1] += m * fz * (value + az * (one - fz))


@kernel(parallel=True)
def slopes_to_grid(position, mass, start, near, corner, inverse, u, v, w, du, dv, dw):
    """Scatter mass times what u, v, w differ by between faces and the particles of cells `near`, by slabs."""
    ni, nj, nk = near.shape
    half = np.float32(0.5)
    flags = near.reshape(-1)
    slabs = (ni + SLAB - 1) // SLAB
    for colour in range(2):
        count = (slabs + 1 - colour) // 2
        for s in prange(count):
            first, last = slab_of(np.int64(s), count, colour, ni)
            for c in range(first * nj * nk, last * nj * nk):
                if flags[c] == 0:
                    continue
                for n in range(start[c], start[c + 1]):
                    x = (position[n, 0] - corner[0]) * inverse
                    y = (position[n, 1] - corner[1]) * inverse
                    z = (position[n, 2] - corner[2]) * inverse
                    m = mass[n, 0]
                    _, a, b, d = affine_row(u, x, y - half, z - half)
                    scatter_slope(x, y - half, z - half, a, b, d, m, du)
                    _, a, b, d = affine_row(v, x - half, y, z - half)
                    scatter_slope(x - half, y, z - half, a, b, d, m, dv)
                    if nk > 1:
                        _, a, b, d = affine_row(w, x - half, y - half, z)
                        scatter_slope(x - half, y - half, z, a, b, d, m, dw)


@kernel(parallel=True)
def add_weighed(field, weight, least, change):
    """change = field + change / weight where weight > least, else field."""
    for i in prange(field.shape[0]):
        for j in range(field.shape[1]):
            for k in range(field.shape[2]):
                m = weight[i, j, k]
                change[i, j, k] = field[i, j, k] + (change[i, j, k] / m if m > least else np.float32(0.0))


@kernel(parallel=True)
def follow_cells(start, before, after, keep, values):
    """values = after + keep (values - before) of the particle's cell."""
    old, new = before.ravel(), after.ravel()
    for c in prange(old.size):
        for n in range(start[c], start[c + 1]):
            values[n, 0] = new[c] + keep * (values[n, 0] - old[c])


# -- motion -----------------------------------------------------------------------------------------------


@kernel(inline=True)
def seen_from(x, y, z, field, steps):
    """Trilinear value at (x, y, z), in samples, of a flat field with `steps` to the next sample along x, y and z.

    Narrow integers and one index, so that a loop over points runs eight at a time.
    """
    across, along, up = steps
    i, j, k = np.int32(x), np.int32(y), np.int32(z)
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    at = np.uint32(i * across + j * along + k)
    beside, above = at + np.uint32(across), at + np.uint32(along)
    opposite = above + np.uint32(across)
    a, b, c, d = field[at], field[above], field[beside], field[opposite]
    a += fz * (field[at + up] - a)
    b += fz * (field[above + up] - b)
    c += fz * (field[beside + up] - c)
    d += fz * (field[opposite + up] - d)
    a += fy * (b - a)
    c += fy * (d - c)
    return a + fx * (c - a)


@kernel(inline=True)
def steps_of(field):
    """Steps from a sample of the flat field to the next along x, y and z: none along z where there is one sample."""
    return np.int32(field.shape[1] * field.shape[2]), np.int32(field.shape[2]), np.uint32(field.shape[2] > 1)


@kernel(inline=True)
def flow(flat, steps, ends, count, point, velocity):
    """Velocity at `count` points, in cells; one that has left the grid takes the velocity at its border.

    flat   the components of the velocity, with the `steps` between their samples
    ends   one cell before the end of the grid along x, y and z
    """
    half, one = np.float32(0.5), np.float32(1.0)
    deep = ends[2] > np.float32(0.0)
    for n in range(count):
        point[0, n] = min(ends[0], max(one, point[0, n]))  # in this order what is not a number is inside as well
        point[1, n] = min(ends[1], max(one, point[1, n]))
        point[2, n] = min(ends[2], max(one, point[2, n])) if deep else half
    for n in range(count):
        velocity[0, n] = seen_from(point[0, n], point[1, n] - half, point[2, n] - half, flat[0], steps[0])
    for n in range(count):
        velocity[1, n] = seen_from(point[0, n] - half, point[1, n], point[2, n] - half, flat[1], steps[1])
    for n in range(count):
        velocity[2, n] = seen_from(point[0, n] - half, point[1, n] - half, point[2, n], flat[2], steps[2])


@kernel(inline=True)
def take_parts(count, velocity, most, s):
    """Divide the steps `s` into one part per cell that they cross, `most` at the most; the largest number of parts."""
    largest = np.int64(1)
    for n in range(count):
        fastest = max(abs(velocity[0, n]), max(abs(velocity[1, n]), abs(velocity[2, n])))
        parts = min(1 + int(min(np.float32(most), s[n] * fastest)), most)
        s[n] /= np.float32(parts)
        largest = max(largest, parts)
    return largest


@kernel(parallel=True)
def advect(position, corner, inverse, u, v, w, dt, most):
    """Move particles through the velocity field by Ralston's third-order Runge-Kutta method.

    A particle takes one step per cell that it crosses, `most` at the most; a bunch goes on until its fastest is there.
    """
    total, one = position.shape[0], np.float32(1.0)
    flat_u, flat_v, flat_w = u.reshape(-1), v.reshape(-1), w.reshape(-1)
    for bunch in prange((total + BUNCH - 1) // BUNCH):
        flat, steps = (flat_u, flat_v, flat_w), (steps_of(u), steps_of(v), steps_of(w))
        ends = np.float32(v.shape[0]) - one, np.float32(u.shape[1]) - one, np.float32(u.shape[2]) - one
        first = np.int64(bunch) * BUNCH
        size = np.uint64(min(BUNCH, total - first))
        begin, start = np.empty((3, BUNCH), np.float32), np.empty((3, BUNCH), np.float32)
        velocity, mean = np.zeros((3, BUNCH), np.float32), np.empty((3, BUNCH), np.float32)
        place = np.empty((3, BUNCH), np.float32)
        for a in range(3):
            for n in range(size):
                begin[a, n] = start[a, n] = (position[first + np.int64(n), a] - corner[a]) * inverse
        s, parts, part = np.full(BUNCH, dt * inverse, np.float32), np.int64(1), np.int64(0)
        while part < parts:
            mean[:] = np.float32(0.0)
            for stage in range(3):
                ahead, share = AHEAD[stage], SHARES[stage]
                for a in range(3):
                    for n in range(size):
                        place[a, n] = start[a, n] + ahead * s[n] * velocity[a, n]
                flow(flat, steps, ends, size, place, velocity)
                for a in range(3):
                    for n in range(size):
                        mean[a, n] += share * velocity[a, n]
                if part == 0 and stage == 0:
                    parts = take_parts(size, velocity, most, s)
            for a in range(3):
                for n in range(size):
                    start[a, n] += s[n] * mean[a, n]
            part += 1
            for n in range(size):  # those that are there wait
                s[n] = s[n] if np.float32(part) * s[n] < dt * inverse * STILL_THERE else np.float32(0.0)
        for a in range(3):
            for n in range(size):
                position[first + np.int64(n), a] += (start[a, n] - begin[a, n]) / inverse


@kernel(parallel=True)
def stay_inside(position, corner, inverse, nodes, lower, upper, near):
    """Keep particles inside the walls, and mark those within a cell of a solid.

    `nodes` is the solid distance at cell corners [m]; `lower` and `upper` bound the domain (exactly the
    walls, or infinite at open sides).
    """
    h = np.float32(1.0) / inverse
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        near[n] = trilinear(nodes, x, y, z) < h
        for a in range(3):
            position[n, a] = min(max(position[n, a], lower[a]), upper[a])


# -- keeping the number per cell in bounds ----------------------------------------------------------------


@kernel(inline=True)
def lightest_two(volume, begin, end):
    """The two particles of least volume among those that have any; -1 where there are none."""
    first, second = -1, -1
    for n in range(begin, end):
        v = volume[n, 0]
        if v <= np.float32(0.0):
            continue
        if first < 0 or v < volume[first, 0]:
            first, second = n, first
        elif second < 0 or v < volume[second, 0]:
            second = n
    return first, second


@kernel
def crowded_pairs(volume, start, band, most, heaviest, kept, absorbed, share):
    """Pair the two lightest particles again and again in cells with more than `most`: one gets the other's volume.

    Only cells with a band that is not negative, and only while a pair has at most `heaviest`. `share` is the absorbed
    particle's part of the pair's volume, in the order of the pairs. Returns their number; it stops when the outputs are
    full.
    """
    count, flat = 0, band.ravel()
    for c in range(start.size - 2):
        if flat[c] < 0:
            continue
        surplus = start[c + 1] - start[c] - most
        for _ in range(surplus):
            b, a = lightest_two(volume, start[c], start[c + 1])
            if a < 0 or volume[a, 0] + volume[b, 0] > heaviest:
                break
            if count == kept.size:
                return count
            total = volume[a, 0] + volume[b, 0]
            kept[count], absorbed[count], share[count] = a, b, volume[b, 0] / total
            volume[a, 0], volume[b, 0] = total, np.float32(0.0)
            count += 1
    return count


@kernel
def blend_pairs(values, kept, absorbed, share):
    """Weighted mean of each pair, written to the one that is kept."""
    for n in range(kept.size):
        for q in range(values.shape[1]):
            values[kept[n], q] += share[n] * (values[absorbed[n], q] - values[kept[n], q])


@kernel
def heaviest_in(volume, start, cells, found):
    """The particle of most volume in each of the cells, which have some."""
    for n in range(cells.size):
        most = start[cells[n]]
        for q in range(most + 1, start[cells[n] + 1]):
            if volume[q, 0] > volume[most, 0]:
                most = q
        found[n] = most


@kernel
def sparse_cells(start, band, least, found):
    """Cells surrounded by liquid (band 2) with at least one and fewer than `least` particles; their number."""
    count = 0
    flat = band.ravel()
    for c in range(start.size - 2):
        n = start[c + 1] - start[c]
        if n > 0 and n < least and flat[c] == 2 and count < found.size:
            found[count] = c
            count += 1
    return count
