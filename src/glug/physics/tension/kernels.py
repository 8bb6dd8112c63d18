"""Kernels of surface tension: paraboloids through points of the liquid's surface."""

import math

import numpy as np

from glug.jit import kernel, prange

MOST = 6  # coefficients of a paraboloid: 1, u, v, u^2, u v, v^2; 3 of a parabola
RIDGE = 1e-9  # of the trace, on the diagonal: a solution, if a poor one, where points lie on a line


@kernel(inline=True)
def tangents(nx, ny, nz, flat):
    """Two unit vectors across a unit normal; in 2D the first lies in the plane."""
    if flat:
        return -ny, nx, 0.0, 0.0, 0.0, 1.0
    if abs(nx) <= abs(ny) and abs(nx) <= abs(nz):
        ax, ay, az = 0.0, nz, -ny
    elif abs(ny) <= abs(nz):
        ax, ay, az = -nz, 0.0, nx
    else:
        ax, ay, az = ny, -nx, 0.0
    size = 1.0 / math.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax * size, ay * size, az * size
    return ax, ay, az, ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax


@kernel(inline=True)
def eliminate(G, b, m):
    """Solve the symmetric positive G c = b in place, c in b."""
    for p in range(m):
        for q in range(p + 1, m):
            f = G[q, p] / G[p, p]
            for r in range(p, m):
                G[q, r] -= f * G[p, r]
            b[q] -= f * b[p]
    for p in range(m - 1, -1, -1):
        for q in range(p + 1, m):
            b[p] -= G[p, q] * b[q]
        b[p] /= G[p, p]


@kernel(inline=True)
def mean_curvature(c, m):
    """k1 + k2 of the graph with the coefficients c, positive where it bends away from its normal."""
    if m == 3:
        return -2.0 * c[2] / (1.0 + c[1] * c[1]) ** 1.5
    fu, fv = c[1], c[2]
    bent = (1.0 + fv * fv) * 2.0 * c[3] - 2.0 * fu * fv * c[4] + (1.0 + fu * fu) * 2.0 * c[5]
    return -bent / (1.0 + fu * fu + fv * fv) ** 1.5


@kernel(parallel=True)
def fit_paraboloids(position, normal, begin, other, weight, flat, out):
    """k1 + k2 [1/cell] of the paraboloid that is nearest to the points around each, weighted least squares.

    `other` (with `weight`) lists the neighbours of point n from begin[n] to begin[n + 1]. Coordinates across the normal
    are stretched to the length of the chord: a sphere then is a paraboloid, h = kappa |chord|^2 / 4, and met exactly.
    Too few points have no curvature.
    """
    m = 3 if flat else 6
    for point in prange(len(position)):
        n = np.int64(point)
        G, b, basis = np.zeros((MOST, MOST)), np.zeros(MOST), np.ones(MOST)
        nx, ny, nz = normal[n, 0], normal[n, 1], normal[n, 2]
        ax, ay, az, bx, by, bz = tangents(nx, ny, nz, flat)
        for at in range(begin[n], begin[n + 1]):
            o, w = other[at], weight[at]
            dx = position[o, 0] - position[n, 0]
            dy = position[o, 1] - position[n, 1]
            dz = position[o, 2] - position[n, 2]
            h = dx * nx + dy * ny + dz * nz
            u = dx * ax + dy * ay + dz * az
            v = dx * bx + dy * by + dz * bz
            across = u * u + v * v
            stretch = math.sqrt(1.0 + h * h / across) if across > 1e-12 else 1.0
            u, v = u * stretch, v * stretch
            basis[1] = u
            if flat:
                basis[2] = u * u
            else:
                basis[2], basis[3], basis[4], basis[5] = v, u * u, u * v, v * v
            for p in range(m):
                b[p] += w * basis[p] * h
                for q in range(m):
                    G[p, q] += w * basis[p] * basis[q]
        trace = 0.0
        for p in range(m):
            trace += G[p, p]
        for p in range(m):
            G[p, p] += RIDGE * trace
        if begin[n + 1] - begin[n] > m:
            eliminate(G, b, m)
            out[n] = mean_curvature(b, m)
        else:
            out[n] = 0.0
