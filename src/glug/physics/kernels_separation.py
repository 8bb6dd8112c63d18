"""Kernels of walls that let go: what they do not hold, and the velocity behind cells that open."""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.jit import kernel, prange
from glug.physics.kernels_viscosity import shear_faces


@kernel(parallel=True)
def spread(freed, liquid, out):
    """out = the freed cells, and the cells next to them (corners too) that are not liquid."""
    ni, nj, nk = freed.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                found = freed[i, j, k] != 0
                if not found and liquid[i, j, k] == 0:
                    for a in range(max(i - 1, 0), min(i + 2, ni)):
                        for b in range(max(j - 1, 0), min(j + 2, nj)):
                            for c in range(max(k - 1, 0), min(k + 2, nk)):
                                found = found or freed[a, b, c] != 0
                out[i, j, k] = found


@kernel(inline=True)
def along_normal(nodes, x, y, z, u, v, w):
    """The slope of the solid distance times a velocity: positive where it leads out of the solid."""
    half = np.float32(0.5)
    gx = trilinear(nodes, x + half, y, z) - trilinear(nodes, x - half, y, z)
    gy = trilinear(nodes, x, y + half, z) - trilinear(nodes, x, y - half, z)
    gz = trilinear(nodes, x, y, z + half) - trilinear(nodes, x, y, z - half)
    out = gx * trilinear(u, x, y - half, z - half)
    return out + gy * trilinear(v, x - half, y, z - half) + gz * trilinear(w, x - half, y - half, z)


@kernel(parallel=True)
def let_go(axis, area, nodes, beside, u, v, w, sx, sy, sz, moving, own, out):
    """At closed faces of `axis` and those in solids, beside cells that open, take the liquid's velocity `own`.

    Only where it leads away from the solid. u, v, w are the extrapolated velocity (`own` the one of `axis`), sx, sy,
    sz the solid's (read only when `moving`).
    """
    ni, nj, nk = out.shape
    mi, mj, mk = beside.shape
    di, dj, dk = axis == 0, axis == 1, axis == 2
    half, zero = np.float32(0.5), np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        x = np.float32(i) if axis == 0 else np.float32(i) + half
        for j in range(nj):
            y = np.float32(j) if axis == 1 else np.float32(j) + half
            for k in range(nk):
                near = i < mi and j < mj and k < mk and beside[i, j, k] != 0
                near = near or (i >= di and j >= dj and k >= dk and beside[i - di, j - dj, k - dk] != 0)
                if not near:
                    continue
                z = np.float32(k) if axis == 2 else np.float32(k) + half
                if area[i, j, k] > zero and trilinear(nodes, x, y, z) > zero:
                    continue
                away = along_normal(nodes, x, y, z, u, v, w)
                if moving:
                    away -= along_normal(nodes, x, y, z, sx, sy, sz)
                if away > zero:
                    out[i, j, k] = own[i, j, k]


@kernel(parallel=True)
def loosen_edges(axis, freed, sa, sb, e):
    """Drop the shear samples along `axis` between a freed cell and a solid face, in place.

    `sa`, `sb` are the solid faces of the two axes after `axis`.
    """
    ni, nj, nk = e.shape
    flat = freed.shape[2] == 1
    di, dj, dk = axis != 0, axis != 1, axis != 2 and not flat
    for slab in prange(1, ni - 1):
        i = np.int64(slab)
        for j in range(1, nj - 1):
            for k in range(0 if flat else 1, nk if flat else nk - 1):
                if not e[i, j, k] > np.float32(0.0):
                    continue
                opens = False
                for a in range(i - di, i + 1):
                    for b in range(j - dj, j + 1):
                        for c in range(k - dk, k + 1):
                            opens = opens or freed[a, b, c] != 0
                if opens:
                    a0, a1, b0, b1 = shear_faces(axis, i, j, k)
                    if sa[a0] or sa[a1] or sb[b0] or sb[b1]:
                        e[i, j, k] = np.float32(0.0)
