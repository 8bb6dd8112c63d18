"""Kernels of the viscous operator A = M + E' K V E on faces, matrix-free.

Faces are indexed like the cell above them. `c` = (cx, cy, cz) is 2 mu dt / (rho dx^2) times the liquid fraction of the
cell for its strains along x, y, z, one field on the finest grid;
`e` = (ex, ey, ez) is mu dt / (rho dx^2) times that of the edges along x, y, z, which carry the shear of the other two
axes. `f` couples the two components of a shear: it is `e`, over the cut distances where a wall cuts them. `m` is what
acts on a face alone: its mass and what walls add; zero where there is no unknown.

Differences are taken before products, so that a rigid motion cancels before it is rounded.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.grids.kernels_blocks import inner_row
from glug.jit import kernel, prange

ZERO = np.float32(0.0)


@kernel(inline=True)
def stress_u(u, v, w, cx, ey, ez, fy, fz, i, j, k):
    """Row of E' K V E of the x-face (i, j, k)."""
    c = u[i, j, k]
    a = cx[i, j, k] * (c - u[i + ONE, j, k]) + cx[i - ONE, j, k] * (c - u[i - ONE, j, k])
    a += ez[i, j, k] * (c - u[i, j - ONE, k]) + ez[i, j + ONE, k] * (c - u[i, j + ONE, k])
    a += ey[i, j, k] * (c - u[i, j, k - ONE]) + ey[i, j, k + ONE] * (c - u[i, j, k + ONE])
    a += fz[i, j, k] * (v[i, j, k] - v[i - ONE, j, k])
    a -= fz[i, j + ONE, k] * (v[i, j + ONE, k] - v[i - ONE, j + ONE, k])
    a += fy[i, j, k] * (w[i, j, k] - w[i - ONE, j, k])
    return a - fy[i, j, k + ONE] * (w[i, j, k + ONE] - w[i - ONE, j, k + ONE])


@kernel(inline=True)
def stress_v(u, v, w, cy, ex, ez, fx, fz, i, j, k):
    """Row of E' K V E of the y-face (i, j, k)."""
    c = v[i, j, k]
    a = cy[i, j, k] * (c - v[i, j + ONE, k]) + cy[i, j - ONE, k] * (c - v[i, j - ONE, k])
    a += ez[i, j, k] * (c - v[i - ONE, j, k]) + ez[i + ONE, j, k] * (c - v[i + ONE, j, k])
    a += ex[i, j, k] * (c - v[i, j, k - ONE]) + ex[i, j, k + ONE] * (c - v[i, j, k + ONE])
    a += fz[i, j, k] * (u[i, j, k] - u[i, j - ONE, k])
    a -= fz[i + ONE, j, k] * (u[i + ONE, j, k] - u[i + ONE, j - ONE, k])
    a += fx[i, j, k] * (w[i, j, k] - w[i, j - ONE, k])
    return a - fx[i, j, k + ONE] * (w[i, j, k + ONE] - w[i, j - ONE, k + ONE])


@kernel(inline=True)
def stress_w(u, v, w, cz, ex, ey, fx, fy, i, j, k):
    """Row of E' K V E of the z-face (i, j, k)."""
    c = w[i, j, k]
    a = cz[i, j, k] * (c - w[i, j, k + ONE]) + cz[i, j, k - ONE] * (c - w[i, j, k - ONE])
    a += ey[i, j, k] * (c - w[i - ONE, j, k]) + ey[i + ONE, j, k] * (c - w[i + ONE, j, k])
    a += ex[i, j, k] * (c - w[i, j - ONE, k]) + ex[i, j + ONE, k] * (c - w[i, j + ONE, k])
    a += fy[i, j, k] * (u[i, j, k] - u[i, j, k - ONE])
    a -= fy[i + ONE, j, k] * (u[i + ONE, j, k] - u[i + ONE, j, k - ONE])
    a += fx[i, j, k] * (v[i, j, k] - v[i, j, k - ONE])
    return a - fx[i, j + ONE, k] * (v[i, j + ONE, k] - v[i, j + ONE, k - ONE])


@kernel(inline=True)
def stiffness_u(cx, ey, ez, i, j, k):
    """Diagonal of E' K V E of the x-face (i, j, k)."""
    return cx[i, j, k] + cx[i - ONE, j, k] + ez[i, j, k] + ez[i, j + ONE, k] + ey[i, j, k] + ey[i, j, k + ONE]


@kernel(inline=True)
def stiffness_v(cy, ex, ez, i, j, k):
    """Diagonal of E' K V E of the y-face (i, j, k)."""
    return cy[i, j, k] + cy[i, j - ONE, k] + ez[i, j, k] + ez[i + ONE, j, k] + ex[i, j, k] + ex[i, j, k + ONE]


@kernel(inline=True)
def stiffness_w(cz, ex, ey, i, j, k):
    """Diagonal of E' K V E of the z-face (i, j, k)."""
    return cz[i, j, k] + cz[i, j, k - ONE] + ey[i, j, k] + ey[i + ONE, j, k] + ex[i, j, k] + ex[i, j + ONE, k]


@kernel(parallel=True)
def apply_viscosity(x, q, m, c, e, f, blocks, sums):
    """q = A x over active blocks; x . q per block."""
    u, v, w = x
    qu, qv, qw = q
    mu, mv, mw = m
    cx, cy, cz = c
    ex, ey, ez = e
    fx, fy, fz = f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                row = ZERO
                for k in range(k0, k1):
                    mass = mu[i, j, k]
                    a = mass * u[i, j, k] + stress_u(u, v, w, cx, ey, ez, fy, fz, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qu[i, j, k] = a
                    row += a * u[i, j, k]
                for k in range(k0, k1):
                    mass = mv[i, j, k]
                    a = mass * v[i, j, k] + stress_v(u, v, w, cy, ex, ez, fx, fz, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qv[i, j, k] = a
                    row += a * v[i, j, k]
                for k in range(k0, k1):
                    mass = mw[i, j, k]
                    a = mass * w[i, j, k] + stress_w(u, v, w, cz, ex, ey, fx, fy, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qw[i, j, k] = a
                    row += a * w[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def residual_viscosity(b, x, r, m, c, e, f, blocks):
    """r = b - A x, in the precision of x."""
    u, v, w = x
    bu, bv, bw = b
    ru, rv, rw = r
    mu, mv, mw = m
    cx, cy, cz = c
    ex, ey, ez = e
    fx, fy, fz = f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = bu[i, j, k] - mu[i, j, k] * u[i, j, k] - stress_u(u, v, w, cx, ey, ez, fy, fz, i, j, k)
                    ru[i, j, k] = a if mu[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = bv[i, j, k] - mv[i, j, k] * v[i, j, k] - stress_v(u, v, w, cy, ex, ez, fx, fz, i, j, k)
                    rv[i, j, k] = a if mv[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = bw[i, j, k] - mw[i, j, k] * w[i, j, k] - stress_w(u, v, w, cz, ex, ey, fx, fy, i, j, k)
                    rw[i, j, k] = a if mw[i, j, k] > ZERO else ZERO


@kernel(parallel=True)
def relax_viscosity(x, b, m, c, e, f, blocks, starts, forward, times):
    """Gauss-Seidel sweeps over rows along z, in order within every block, or in the opposite order: the adjoint.

    The faces of one row move together. Blocks of one colour, starts[n] .. starts[n + 1], run at once.
    """
    u, v, w = x
    bu, bv, bw = b
    mu, mv, mw = m
    cx, cy, cz = c
    ex, ey, ez = e
    fx, fy, fz = f
    count = starts.shape[0] - 1
    for turn in range(times * count):
        colour = turn % count if forward else count - 1 - turn % count
        for t in prange(starts[colour], starts[colour + 1]):
            i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
            row = np.empty(cx.shape[2], np.float32)
            for step_i in range(i1 - i0):
                i = i0 + step_i if forward else i1 - ONE - step_i
                for step_j in range(j1 - j0):
                    j = j0 + step_j if forward else j1 - ONE - step_j
                    k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                    for component in range(3 if k1 > k0 else 0):
                        axis = component if forward else 2 - component
                        if axis == 0:
                            for k in range(k0, k1):
                                a = (
                                    bu[i, j, k]
                                    - mu[i, j, k] * u[i, j, k]
                                    - stress_u(u, v, w, cx, ey, ez, fy, fz, i, j, k)
                                )
                                g = mu[i, j, k] + stiffness_u(cx, ey, ez, i, j, k)
                                row[k] = u[i, j, k] + a / g if mu[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                u[i, j, k] = row[k]
                        elif axis == 1:
                            for k in range(k0, k1):
                                a = (
                                    bv[i, j, k]
                                    - mv[i, j, k] * v[i, j, k]
                                    - stress_v(u, v, w, cy, ex, ez, fx, fz, i, j, k)
                                )
                                g = mv[i, j, k] + stiffness_v(cy, ex, ez, i, j, k)
                                row[k] = v[i, j, k] + a / g if mv[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                v[i, j, k] = row[k]
                        else:
                            for k in range(k0, k1):
                                a = (
                                    bw[i, j, k]
                                    - mw[i, j, k] * w[i, j, k]
                                    - stress_w(u, v, w, cz, ex, ey, fx, fy, i, j, k)
                                )
                                g = mw[i, j, k] + stiffness_w(cz, ex, ey, i, j, k)
                                row[k] = w[i, j, k] + a / g if mw[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                w[i, j, k] = row[k]


@kernel(parallel=True)
def relax_polynomial(x, before, b, m, c, e, f, blocks, keep, step):
    """before = x + keep (x - before) + step (b - A x) / diagonal: one term of a Chebyshev iteration."""
    u, v, w = x
    pu, pv, pw = before
    bu, bv, bw = b
    mu, mv, mw = m
    cx, cy, cz = c
    ex, ey, ez = e
    fx, fy, fz = f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = bu[i, j, k] - mu[i, j, k] * u[i, j, k] - stress_u(u, v, w, cx, ey, ez, fy, fz, i, j, k)
                    g = mu[i, j, k] + stiffness_u(cx, ey, ez, i, j, k)
                    a = u[i, j, k] + keep * (u[i, j, k] - pu[i, j, k]) + step * a / g
                    pu[i, j, k] = a if mu[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = bv[i, j, k] - mv[i, j, k] * v[i, j, k] - stress_v(u, v, w, cy, ex, ez, fx, fz, i, j, k)
                    g = mv[i, j, k] + stiffness_v(cy, ex, ez, i, j, k)
                    a = v[i, j, k] + keep * (v[i, j, k] - pv[i, j, k]) + step * a / g
                    pv[i, j, k] = a if mv[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = bw[i, j, k] - mw[i, j, k] * w[i, j, k] - stress_w(u, v, w, cz, ex, ey, fx, fy, i, j, k)
                    g = mw[i, j, k] + stiffness_w(cz, ex, ey, i, j, k)
                    a = w[i, j, k] + keep * (w[i, j, k] - pw[i, j, k]) + step * a / g
                    pw[i, j, k] = a if mw[i, j, k] > ZERO else ZERO


@kernel(parallel=True)
def viscosity_diagonal(m, c, e, blocks, g):
    """Diagonal of A; zero where there is no unknown."""
    mu, mv, mw = m
    cx, cy, cz = c
    ex, ey, ez = e
    gu, gv, gw = g
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = mu[i, j, k]
                    gu[i, j, k] = a + stiffness_u(cx, ey, ez, i, j, k) if a > ZERO else ZERO
                    a = mv[i, j, k]
                    gv[i, j, k] = a + stiffness_v(cy, ex, ez, i, j, k) if a > ZERO else ZERO
                    a = mw[i, j, k]
                    gw[i, j, k] = a + stiffness_w(cz, ex, ey, i, j, k) if a > ZERO else ZERO
