"""Kernels of the Stokes system: what pressures do to velocities, and velocities to the continuity of cells.

`flux` is what one velocity carries through every face, its open area, zero where a face is no unknown. The row of a
cell in B is `flux` at its lower faces less `flux` at its upper ones; B' follows.
"""

import numpy as np

from glug.grids.kernels import ONE
from glug.grids.kernels_blocks import LINES, inner_line
from glug.jit import kernel, prange

ZERO = np.float32(0.0)


@kernel(parallel=True)
def add_gradient(given, sign, p, flux, blocks, out):
    """out = given + sign B' p on the faces, in the precision of p; `out` may be `given`."""
    (gu, gv, gw), (fu, fv, fw), (ou, ov, ow) = given, flux, out
    for t in prange(blocks.shape[0]):
        for n in range(LINES):
            i, j, k0, k1 = inner_line(blocks, t, n, p.shape)
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
        for n in range(LINES):
            i, j, k0, k1 = inner_line(blocks, t, n, mask.shape)
            for k in range(k0, k1):
                a = fu[i, j, k] * u[i, j, k] - fu[i + ONE, j, k] * u[i + ONE, j, k]
                a += fv[i, j, k] * v[i, j, k] - fv[i, j + ONE, k] * v[i, j + ONE, k]
                a += fw[i, j, k] * w[i, j, k] - fw[i, j, k + ONE] * w[i, j, k + ONE]
                out[i, j, k] = given[i, j, k] + sign * a if mask[i, j, k] > ZERO else ZERO
