"""Kernels of free bodies: forces on them and rigid motions of them, by the label of every face.

Labels are those of pairs of cells along every axis, 0 where there is none; a rigid motion is three velocities and three
angular velocities around the corner of the window, with lengths in cells.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.jit import kernel, prange

HALF = np.float32(0.5)


@kernel(parallel=True)
def moments(x, weight, weighted, labels, blocks, starts, out):
    """out[slab, body] = force and torque of x (times `weight`, if `weighted`) on every body.

    The blocks of one slab are starts[slab] .. starts[slab + 1].
    """
    u, v, w = x
    mu, mv, mw = weight
    for slab in prange(len(starts) - 1):
        own = out[slab]
        own[:] = 0.0
        for t in range(starts[slab], starts[slab + 1]):
            i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, (u.shape[0] - 1, u.shape[1], u.shape[2]))
            for i in range(i0, i1):
                for j in range(j0, j1):
                    for k in range(k0, k1):
                        body = labels[i >> ONE, j >> ONE, k >> ONE]
                        if body == 0:
                            continue
                        a, b, c = np.float64(u[i, j, k]), np.float64(v[i, j, k]), np.float64(w[i, j, k])
                        if weighted:
                            a *= mu[i, j, k]
                            b *= mv[i, j, k]
                            c *= mw[i, j, k]
                        own[body, 0] += a
                        own[body, 1] += b
                        own[body, 2] += c
                        own[body, 3] += (j + 0.5) * c - (k + 0.5) * b
                        own[body, 4] += (k + 0.5) * a - (i + 0.5) * c
                        own[body, 5] += (i + 0.5) * b - (j + 0.5) * a


@kernel(parallel=True)
def add_motions(x, weight, weighted, labels, blocks, motion):
    """x += the rigid motion of every body at its unknown faces, times `weight` if `weighted`."""
    u, v, w = x
    mu, mv, mw = weight
    zero = np.float32(0.0)
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, (u.shape[0] - 1, u.shape[1], u.shape[2]))
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    body = labels[i >> ONE, j >> ONE, k >> ONE]
                    if body == 0:
                        continue
                    p, q, r = i + 0.5, j + 0.5, k + 0.5
                    a = np.float32(motion[body, 0] + motion[body, 4] * r - motion[body, 5] * q)
                    b = np.float32(motion[body, 1] + motion[body, 5] * p - motion[body, 3] * r)
                    c = np.float32(motion[body, 2] + motion[body, 3] * q - motion[body, 4] * p)
                    u[i, j, k] += a * mu[i, j, k] if weighted else (a if mu[i, j, k] > zero else zero)
                    v[i, j, k] += b * mv[i, j, k] if weighted else (b if mv[i, j, k] > zero else zero)
                    w[i, j, k] += c * mw[i, j, k] if weighted else (c if mw[i, j, k] > zero else zero)


@kernel(parallel=True)
def stiffness_of_motions(weight, labels, blocks, starts, out):
    """out[slab, body] = R' M R of the six rigid motions of every body, with the masses `weight`."""
    mu, mv, mw = weight
    for slab in prange(len(starts) - 1):
        own = out[slab]
        own[:] = 0.0
        row = np.zeros((3, 6))
        row[0, 0] = row[1, 1] = row[2, 2] = 1.0
        for t in range(starts[slab], starts[slab + 1]):
            i0, i1, j0, j1, k0, k1 = inner_range(blocks, t, (mu.shape[0] - 1, mu.shape[1], mu.shape[2]))
            for i in range(i0, i1):
                for j in range(j0, j1):
                    for k in range(k0, k1):
                        body = labels[i >> ONE, j >> ONE, k >> ONE]
                        if body == 0:
                            continue
                        p, q, r = i + 0.5, j + 0.5, k + 0.5
                        row[0, 4], row[0, 5] = r, -q
                        row[1, 3], row[1, 5] = -r, p
                        row[2, 3], row[2, 4] = q, -p
                        for c in range(3):
                            m = np.float64(mu[i, j, k] if c == 0 else (mv[i, j, k] if c == 1 else mw[i, j, k]))
                            if m > 0.0:
                                for a in range(6):
                                    for b in range(6):
                                        own[body, a, b] += m * row[c, a] * row[c, b]
