"""Kernels of free parts: forces on them and rigid motions of them, by the label of every face.

Labels are those of pairs of cells along every axis, 0 where there is none. A run is a piece of a row along z with one
label: i, j, k0, k1 and the label. A rigid motion is three velocities and three angular velocities around the corner of
the window, with lengths in cells.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.grids.kernels_blocks import inner_row
from glug.jit import kernel, prange
from glug.physics.viscosity.kernels_stress import X, Y, Z

ZERO = np.float32(0.0)


@kernel(inline=True)
def pulls(weight, neighbour):
    """Whether a stress sample ties a face to a neighbour that is no unknown."""
    return (weight > ZERO) & (not neighbour > ZERO)


@kernel(inline=True)
def holds(g, mass, c, ev, ew, a, b, d, i, j, k):
    """Whether a wall holds the face (i, j, k), if that is an unknown; samples and steps are those of `stress`."""
    before, after = (i - a[0], j - a[1], k - a[2]), (i + a[0], j + a[1], k + a[2])
    low_v, high_v = (i - b[0], j - b[1], k - b[2]), (i + b[0], j + b[1], k + b[2])
    low_w, high_w = (i - d[0], j - d[1], k - d[2]), (i + d[0], j + d[1], k + d[2])
    s = pulls(c[i, j, k], g[after]) | pulls(c[before], g[before])
    s |= pulls(ev[i, j, k], g[low_v]) | pulls(ev[high_v], g[high_v])
    s |= pulls(ew[i, j, k], g[low_w]) | pulls(ew[high_w], g[high_w])
    return (g[i, j, k] > ZERO) & (s | (g[i, j, k] > mass[i, j, k]))


@kernel(parallel=True)
def find_held(m, mass, c, e, blocks, held):
    """held[block] = how many of its unknown faces a wall holds."""
    (gu, gv, gw), (mu, mv, mw), (cx, cy, cz), (ex, ey, ez) = m, mass, c, e
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        count = 0
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                row = 0
                for k in range(k0, k1):
                    row += holds(gu, mu, cx, ez, ey, X, Y, Z, i, j, k)
                for k in range(k0, k1):
                    row += holds(gv, mv, cy, ez, ex, Y, X, Z, i, j, k)
                for k in range(k0, k1):
                    row += holds(gw, mw, cz, ey, ex, Z, X, Y, i, j, k)
                count += row
        held[t] = count


@kernel(parallel=True)
def mark_pairs(m, blocks, pairs):
    """1 at pairs of cells along every axis any of whose lower faces is an unknown; blocks are of even size."""
    mu, mv, mw = m
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, (mu.shape[0] - 1, mu.shape[1], mu.shape[2]))
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, mu.shape)
                for k in range(k0, k1):
                    if mu[i, j, k] > ZERO or mv[i, j, k] > ZERO or mw[i, j, k] > ZERO:
                        pairs[i >> ONE, j >> ONE, k >> ONE] = 1


@kernel(inline=True)
def end_of_run(labels, i, j, k, last):
    """The first cell after k along z with another label."""
    line = labels[i >> ONE, j >> ONE]
    part = line[k >> ONE]
    k = ((k >> ONE) + ONE) << ONE
    while k < last and line[k >> ONE] == part:
        k += ONE + ONE
    return min(k, last)


@kernel(parallel=True)
def list_runs(labels, shape, blocks, first, runs):
    """The runs of every block in a window of `shape`, from first[block] on; with empty `runs`, how many they are."""
    count_only = runs.shape[0] == 0
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, shape)
        n = np.int64(0) if count_only else np.int64(first[t])
        for i in range(i0, i1):
            for j in range(j0, j1):
                k, last = inner_row(blocks, t, i, j, shape)
                while k < last:
                    end, part = end_of_run(labels, i, j, k, last), labels[i >> ONE, j >> ONE, k >> ONE]
                    if part > 0:
                        if not count_only:
                            runs[n, 0], runs[n, 1], runs[n, 2], runs[n, 3], runs[n, 4] = i, j, k, end, part
                        n += 1
                    k = end
        if count_only:
            first[t] = n


@kernel(inline=True)
def run(runs, n):
    """i, j, k0, k1 and the label of run n."""
    i, j, k0, k1 = np.uint64(runs[n, 0]), np.uint64(runs[n, 1]), np.uint64(runs[n, 2]), np.uint64(runs[n, 3])
    return i, j, k0, k1, runs[n, 4]


@kernel(inline=True)
def row_sums(u, m, weighted, i, j, k0, k1):
    """The sum of a component along a row, and that of its moments, both times `m` if `weighted`."""
    total, moment = np.float32(0.0), np.float32(0.0)
    for k in range(k0, k1):
        a = u[i, j, k] * (m[i, j, k] if weighted else np.float32(1.0))
        total += a
        moment += a * np.float32(np.int32(k - k0))
    return np.float64(total), np.float64(moment) + (np.float64(k0) + 0.5) * np.float64(total)


@kernel(parallel=True)
def moments(x, weight, weighted, runs, starts, out):
    """out[slab, part] = force and torque of x (times `weight`, if `weighted`) on every part.

    The runs of one slab are starts[slab] .. starts[slab + 1].
    """
    (u, v, w), (mu, mv, mw) = x, weight
    for slab in prange(len(starts) - 1):
        own = out[slab]
        own[:] = 0.0
        for n in range(starts[slab], starts[slab + 1]):
            i, j, k0, k1, part = run(runs, n)
            p, q = np.float64(i) + 0.5, np.float64(j) + 0.5
            a, za = row_sums(u, mu, weighted, i, j, k0, k1)
            b, zb = row_sums(v, mv, weighted, i, j, k0, k1)
            c, _ = row_sums(w, mw, weighted, i, j, k0, k1)
            own[part, 0] += a
            own[part, 1] += b
            own[part, 2] += c
            own[part, 3] += q * c - zb
            own[part, 4] += za - p * c
            own[part, 5] += p * b - q * a


@kernel(inline=True)
def add_row(u, m, weighted, i, j, k0, k1, start, slope):
    """u += start + slope (k - k0) at the unknowns of a row, times `m` if `weighted`."""
    for k in range(k0, k1):
        a = start + slope * np.float32(np.int32(k - k0))
        g = m[i, j, k]
        u[i, j, k] += a * g if weighted else (a if g > ZERO else ZERO)


@kernel(parallel=True)
def add_motions(x, weight, weighted, runs, motion):
    """x += the rigid motion of every part at its unknown faces, times `weight` if `weighted`."""
    (u, v, w), (mu, mv, mw) = x, weight
    for n in prange(runs.shape[0]):
        i, j, k0, k1, part = run(runs, n)
        p, q, r, d = np.float64(i) + 0.5, np.float64(j) + 0.5, np.float64(k0) + 0.5, motion[part]
        a, slope_a = np.float32(d[0] + d[4] * r - d[5] * q), np.float32(d[4])
        b, slope_b = np.float32(d[1] + d[5] * p - d[3] * r), np.float32(-d[3])
        c = np.float32(d[2] + d[3] * q - d[4] * p)
        add_row(u, mu, weighted, i, j, k0, k1, a, slope_a)
        add_row(v, mv, weighted, i, j, k0, k1, b, slope_b)
        add_row(w, mw, weighted, i, j, k0, k1, c, ZERO)


@kernel(parallel=True)
def stiffness_of_motions(weight, runs, starts, out):
    """out[slab, part] = R' M R of the six rigid motions of every part, with the masses `weight`."""
    mu, mv, mw = weight
    for slab in prange(len(starts) - 1):
        own = out[slab]
        own[:] = 0.0
        row = np.zeros((3, 6))
        row[0, 0] = row[1, 1] = row[2, 2] = 1.0
        for n in range(starts[slab], starts[slab + 1]):
            i, j, k0, k1, part = run(runs, n)
            for k in range(k0, k1):
                p, q, r = i + 0.5, j + 0.5, k + 0.5
                row[0, 4], row[0, 5] = r, -q
                row[1, 3], row[1, 5] = -r, p
                row[2, 3], row[2, 4] = q, -p
                for c in range(3):
                    m = np.float64(mu[i, j, k] if c == 0 else (mv[i, j, k] if c == 1 else mw[i, j, k]))
                    if m > 0.0:
                        for a in range(6):
                            for b in range(6):
                                own[part, a, b] += m * row[c, a] * row[c, b]
