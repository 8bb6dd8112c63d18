"""Kernels of particles: sorting by cell, transfers to and from the staggered grid, numbers per cell.

Positions are world coordinates [m]; `corner` is the grid's lower corner, `inverse` is 1 / dx. Particles are
sorted by cell, so that the particles of a slab of cells are contiguous and neighbours in memory are neighbours
in space.
"""

import numpy as np

from glug.grids.kernels import ONE
from glug.jit import kernel, prange

SLAB = 2  # cells along x per slab of `to_grid`: slabs of one colour never touch the same face


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
