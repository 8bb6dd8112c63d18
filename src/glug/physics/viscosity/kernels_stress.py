"""Kernels of the viscous operator A = M + E' K V E on faces, matrix-free.

Faces are indexed like the cell above them. `c` = (cx, cy, cz) is 2 mu dt / (rho dx^2) times the liquid fraction of the
cell for its strains along x, y, z, one field on the finest grid;
`e` = (ex, ey, ez) is mu dt / (rho dx^2) times that of the edges along x, y, z, which carry the shear of the other two
axes. `f` couples the two components of a shear: it is `e`, over the cut distances where a wall cuts them. `m` is what
acts on a face alone: its mass and what walls add; zero where there is no unknown.

Differences are taken before products, so that a rigid motion cancels before it is rounded. The rows are those of
`grids.strain_stencil`, to which a test holds them entry by entry.

What is done at a face is written once for all components; its loops are not. With a row in a function of its own, or
its component chosen as the loop runs, a product takes 5.3 ns per unknown instead of 1.7; with fields that are taken out
of their tuples inside the loop, 2.7.
"""

import numpy as np

from glug.grids.kernels import ONE, inner_range
from glug.grids.kernels_blocks import inner_row
from glug.jit import kernel, prange

ZERO = np.float32(0.0)
NONE = np.uint64(0)
X, Y, Z = (ONE, NONE, NONE), (NONE, ONE, NONE), (NONE, NONE, ONE)  # steps along the axes


@kernel(inline=True)
def stress(u, v, w, c, ev, ew, fv, fw, a, b, d, i, j, k):
    """Row of E' K V E of the face (i, j, k) of u, whose shears with v are at the edges `ev`, with w at `ew`.

    a, b, d are the steps along the axes of u, v, w.
    """
    before, after = (i - a[0], j - a[1], k - a[2]), (i + a[0], j + a[1], k + a[2])
    low_v, high_v = (i - b[0], j - b[1], k - b[2]), (i + b[0], j + b[1], k + b[2])
    low_w, high_w = (i - d[0], j - d[1], k - d[2]), (i + d[0], j + d[1], k + d[2])
    beside_v = (i + b[0] - a[0], j + b[1] - a[1], k + b[2] - a[2])
    beside_w = (i + d[0] - a[0], j + d[1] - a[1], k + d[2] - a[2])
    x = u[i, j, k]
    s = c[i, j, k] * (x - u[after]) + c[before] * (x - u[before])
    s += ev[i, j, k] * (x - u[low_v]) + ev[high_v] * (x - u[high_v])
    s += ew[i, j, k] * (x - u[low_w]) + ew[high_w] * (x - u[high_w])
    s += fv[i, j, k] * (v[i, j, k] - v[before])
    s -= fv[high_v] * (v[high_v] - v[beside_v])
    s += fw[i, j, k] * (w[i, j, k] - w[before])
    return s - fw[high_w] * (w[high_w] - w[beside_w])


@kernel(inline=True)
def stiffness(c, ev, ew, a, b, d, i, j, k):
    """Diagonal of E' K V E of the same face."""
    before = (i - a[0], j - a[1], k - a[2])
    high_v, high_w = (i + b[0], j + b[1], k + b[2]), (i + d[0], j + d[1], k + d[2])
    return c[i, j, k] + c[before] + ev[i, j, k] + ev[high_v] + ew[i, j, k] + ew[high_w]


@kernel(inline=True)
def rest(r, m, u, v, w, c, ev, ew, fv, fw, a, b, d, i, j, k):
    """r - A x of the same face, where r is the right-hand side of u."""
    return r[i, j, k] - m[i, j, k] * u[i, j, k] - stress(u, v, w, c, ev, ew, fv, fw, a, b, d, i, j, k)


@kernel(parallel=True)
def apply_viscosity(x, q, m, c, e, f, blocks, sums):
    """q = A x over active blocks; x . q per block."""
    (u, v, w), (qu, qv, qw) = x, q
    (mu, mv, mw), (cx, cy, cz), (ex, ey, ez), (fx, fy, fz) = m, c, e, f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        total = np.float64(0.0)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                row = ZERO
                for k in range(k0, k1):
                    mass = mu[i, j, k]
                    a = mass * u[i, j, k] + stress(u, v, w, cx, ez, ey, fz, fy, X, Y, Z, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qu[i, j, k] = a
                    row += a * u[i, j, k]
                for k in range(k0, k1):
                    mass = mv[i, j, k]
                    a = mass * v[i, j, k] + stress(v, u, w, cy, ez, ex, fz, fx, Y, X, Z, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qv[i, j, k] = a
                    row += a * v[i, j, k]
                for k in range(k0, k1):
                    mass = mw[i, j, k]
                    a = mass * w[i, j, k] + stress(w, u, v, cz, ey, ex, fy, fx, Z, X, Y, i, j, k)
                    a = a if mass > ZERO else ZERO
                    qw[i, j, k] = a
                    row += a * w[i, j, k]
                total += np.float64(row)
        sums[t] = total


@kernel(parallel=True)
def residual_viscosity(b, x, r, m, c, e, f, blocks):
    """r = b - A x, in the precision of x."""
    (u, v, w), (bu, bv, bw), (ru, rv, rw) = x, b, r
    (mu, mv, mw), (cx, cy, cz), (ex, ey, ez), (fx, fy, fz) = m, c, e, f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = rest(bu, mu, u, v, w, cx, ez, ey, fz, fy, X, Y, Z, i, j, k)
                    ru[i, j, k] = a if mu[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = rest(bv, mv, v, u, w, cy, ez, ex, fz, fx, Y, X, Z, i, j, k)
                    rv[i, j, k] = a if mv[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = rest(bw, mw, w, u, v, cz, ey, ex, fy, fx, Z, X, Y, i, j, k)
                    rw[i, j, k] = a if mw[i, j, k] > ZERO else ZERO


@kernel(parallel=True)
def relax_viscosity(x, b, m, c, e, f, blocks, starts, forward, times):
    """Gauss-Seidel sweeps over rows along z, in order within every block, or in the opposite order: the adjoint.

    The faces of one row move together. Blocks of one colour, starts[n] .. starts[n + 1], run at once.
    """
    (u, v, w), (bu, bv, bw) = x, b
    (mu, mv, mw), (cx, cy, cz), (ex, ey, ez), (fx, fy, fz) = m, c, e, f
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
                                a = rest(bu, mu, u, v, w, cx, ez, ey, fz, fy, X, Y, Z, i, j, k)
                                g = mu[i, j, k] + stiffness(cx, ez, ey, X, Y, Z, i, j, k)
                                row[k] = u[i, j, k] + a / g if mu[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                u[i, j, k] = row[k]
                        elif axis == 1:
                            for k in range(k0, k1):
                                a = rest(bv, mv, v, u, w, cy, ez, ex, fz, fx, Y, X, Z, i, j, k)
                                g = mv[i, j, k] + stiffness(cy, ez, ex, Y, X, Z, i, j, k)
                                row[k] = v[i, j, k] + a / g if mv[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                v[i, j, k] = row[k]
                        else:
                            for k in range(k0, k1):
                                a = rest(bw, mw, w, u, v, cz, ey, ex, fy, fx, Z, X, Y, i, j, k)
                                g = mw[i, j, k] + stiffness(cz, ey, ex, Z, X, Y, i, j, k)
                                row[k] = w[i, j, k] + a / g if mw[i, j, k] > ZERO else ZERO
                            for k in range(k0, k1):
                                w[i, j, k] = row[k]


@kernel(parallel=True)
def relax_polynomial(x, before, b, m, c, e, f, blocks, keep, step):
    """before = x + keep (x - before) + step (b - A x) / diagonal: one term of a Chebyshev iteration."""
    (u, v, w), (bu, bv, bw), (pu, pv, pw) = x, b, before
    (mu, mv, mw), (cx, cy, cz), (ex, ey, ez), (fx, fy, fz) = m, c, e, f
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = rest(bu, mu, u, v, w, cx, ez, ey, fz, fy, X, Y, Z, i, j, k)
                    g = mu[i, j, k] + stiffness(cx, ez, ey, X, Y, Z, i, j, k)
                    a = u[i, j, k] + keep * (u[i, j, k] - pu[i, j, k]) + step * a / g
                    pu[i, j, k] = a if mu[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = rest(bv, mv, v, u, w, cy, ez, ex, fz, fx, Y, X, Z, i, j, k)
                    g = mv[i, j, k] + stiffness(cy, ez, ex, Y, X, Z, i, j, k)
                    a = v[i, j, k] + keep * (v[i, j, k] - pv[i, j, k]) + step * a / g
                    pv[i, j, k] = a if mv[i, j, k] > ZERO else ZERO
                for k in range(k0, k1):
                    a = rest(bw, mw, w, u, v, cz, ey, ex, fy, fx, Z, X, Y, i, j, k)
                    g = mw[i, j, k] + stiffness(cz, ey, ex, Z, X, Y, i, j, k)
                    a = w[i, j, k] + keep * (w[i, j, k] - pw[i, j, k]) + step * a / g
                    pw[i, j, k] = a if mw[i, j, k] > ZERO else ZERO


@kernel(parallel=True)
def viscosity_diagonal(m, c, e, blocks, g):
    """Diagonal of A; zero where there is no unknown."""
    (mu, mv, mw), (cx, cy, cz), (ex, ey, ez), (gu, gv, gw) = m, c, e, g
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, cx.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, cx.shape)
                for k in range(k0, k1):
                    a = mu[i, j, k]
                    gu[i, j, k] = a + stiffness(cx, ez, ey, X, Y, Z, i, j, k) if a > ZERO else ZERO
                    a = mv[i, j, k]
                    gv[i, j, k] = a + stiffness(cy, ez, ex, Y, X, Z, i, j, k) if a > ZERO else ZERO
                    a = mw[i, j, k]
                    gw[i, j, k] = a + stiffness(cz, ey, ex, Z, X, Y, i, j, k) if a > ZERO else ZERO
