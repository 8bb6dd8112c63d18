"""Kernels of the Stokes system: what pressures do to velocities, and velocities to the continuity of cells.

`flux` is what one velocity carries through every face, its open area, zero where a face is no unknown. The row of a
cell in B is `flux` at its lower faces less `flux` at its upper ones; B' follows.
"""

import numpy as np

from glug.grids.kernels import ONE, block_range, inner_range
from glug.grids.kernels_blocks import inner_row, row_range
from glug.jit import kernel, prange

ZERO = np.float32(0.0)


@kernel(parallel=True)
def add_gradient(given, sign, p, flux, blocks, out):
    """out = given + sign B' p on the faces, in the precision of p; `out` may be `given`."""
    (gu, gv, gw), (fu, fv, fw), (ou, ov, ow) = given, flux, out
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, p.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, p.shape)
                for k in range(k0, k1):
                    ou[i, j, k] = gu[i, j, k] + sign * fu[i, j, k] * (p[i, j, k] - p[i - ONE, j, k])
                for k in range(k0, k1):
                    ov[i, j, k] = gv[i, j, k] + sign * fv[i, j, k] * (p[i, j, k] - p[i, j - ONE, k])
                for k in range(k0, k1):
                    ow[i, j, k] = gw[i, j, k] + sign * fw[i, j, k] * (p[i, j, k] - p[i, j, k - ONE])


@kernel(parallel=True)
def add_flux(given, sign, x, flux, mask, blocks, out):
    """out = given + sign B x where `mask` is positive, zero elsewhere; `out` may be `given`."""
    (u, v, w), (fu, fv, fw) = x, flux
    for t in prange(blocks.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(blocks, t, mask.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(blocks, t, i, j, mask.shape)
                for k in range(k0, k1):
                    a = fu[i, j, k] * u[i, j, k] - fu[i + ONE, j, k] * u[i + ONE, j, k]
                    a += fv[i, j, k] * v[i, j, k] - fv[i, j + ONE, k] * v[i, j + ONE, k]
                    a += fw[i, j, k] * w[i, j, k] - fw[i, j, k + ONE] * w[i, j, k + ONE]
                    out[i, j, k] = given[i, j, k] + sign * a if mask[i, j, k] > ZERO else ZERO


@kernel(parallel=True)
def correct(y, give, x, p, faces, cells):
    """x += D^-1 B' y over the blocks `faces`, p -= y over `cells`; `give` is flux / D."""
    (u, v, w), (gu, gv, gw) = x, give
    for t in prange(faces.shape[0]):
        i0, i1, j0, j1, _, _ = inner_range(faces, t, y.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = inner_row(faces, t, i, j, y.shape)
                for k in range(k0, k1):
                    u[i, j, k] += gu[i, j, k] * (y[i, j, k] - y[i - ONE, j, k])
                for k in range(k0, k1):
                    v[i, j, k] += gv[i, j, k] * (y[i, j, k] - y[i, j - ONE, k])
                for k in range(k0, k1):
                    w[i, j, k] += gw[i, j, k] * (y[i, j, k] - y[i, j, k - ONE])
    for t in prange(cells.shape[0]):
        i0, i1, j0, j1, _, _ = block_range(cells, t, y.shape)
        for i in range(i0, i1):
            for j in range(j0, j1):
                k0, k1 = row_range(cells, t, i, j)
                for k in range(k0, k1):
                    p[i, j, k] -= y[i, j, k]
