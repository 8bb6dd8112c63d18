"""Kernels that move particles, and stop them at walls and solids."""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.jit import kernel, prange

# Ralston's third-order Runge-Kutta method: how far ahead its three velocities are taken, and their shares in a step.
AHEAD, SHARES = np.array([0.0, 0.5, 0.75], np.float32), np.array([2 / 9, 3 / 9, 4 / 9], np.float32)
STILL_THERE = np.float32(1.0 - 1e-3)  # of a step: less is not yet all of its parts
BUNCH = 256  # particles that are moved together: what is known of them stays in the cache


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


@kernel(parallel=True)
def meet_solids(position, velocity, corner, inverse, wet, nodes, near, u, v, w, moving):
    """Take from particles nearer to solids than `near` [m] what of their velocity leads into them; none in wet cells.

    `nodes` is the solid distance at cell corners [m]; (u, v, w) is the solids' velocity on faces, read if `moving`.
    In a corner what is sampled is the product of the distances, and its slope less than 1: it counts by that.
    """
    half, e = np.float32(0.5), near * inverse
    ni, nj, nk = wet.shape
    for n in prange(position.shape[0]):
        x = (position[n, 0] - corner[0]) * inverse
        y = (position[n, 1] - corner[1]) * inverse
        z = (position[n, 2] - corner[2]) * inverse
        s = trilinear(nodes, x, y, z)
        held = wet[min(max(int(x), 0), ni - 1), min(max(int(y), 0), nj - 1), min(max(int(z), 0), nk - 1)]
        if s < near and held == 0:
            gx = trilinear(nodes, x + e, y, z) - trilinear(nodes, x - e, y, z)
            gy = trilinear(nodes, x, y + e, z) - trilinear(nodes, x, y - e, z)
            gz = trilinear(nodes, x, y, z + e) - trilinear(nodes, x, y, z - e)
            into = velocity[n, 0] * gx + velocity[n, 1] * gy + velocity[n, 2] * gz
            if moving:
                into -= trilinear(u, x, y - half, z - half) * gx
                into -= trilinear(v, x - half, y, z - half) * gy
                into -= trilinear(w, x - half, y - half, z) * gz
            size = gx * gx + gy * gy + gz * gz
            touches = s < np.float32(0.0) or np.float32(4.0) * s * s < size
            if touches and into < np.float32(0.0) and size > np.float32(0.0):
                velocity[n, 0] -= into / size * gx
                velocity[n, 1] -= into / size * gy
                velocity[n, 2] -= into / size * gz
