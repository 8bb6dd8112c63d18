"""Kernels of the velocity around the liquid, at solids and behind cells that walls let go; and of heat."""

import numpy as np

from glug.geometry.kernels import trilinear
from glug.jit import kernel, prange


@kernel(parallel=True)
def known_faces(axis, liquid, area, least, ends, known):
    """1 at faces of liquid cells that are more than `least` open; `ends` where one of their cells is no liquid."""
    ni, nj, nk = known.shape
    mi, mj, mk = liquid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            faces, opening = known[i, j], area[i, j]
            faces[:] = np.uint8(0)
            for below in range(2):  # the cells above the faces, and those below
                a, b, by = i - below * (axis == 0), j - below * (axis == 1), np.uint64(below * (axis == 2))
                if 0 <= a < mi and 0 <= b < mj:
                    cells = liquid[a, b]
                    for k in range(np.uint64(mk)):
                        faces[by + k] += cells[k] != 0
            for k in range(np.uint64(nk)):
                faces[k] = faces[k] > 0 and opening[k] > (ends if faces[k] == 1 else least)


@kernel(parallel=True)
def adopt_spray(area, reached, least, known):
    """Faces more than `least` open that only particles far from the liquid reach are known: spray keeps its motion."""
    opening, met, faces = area.reshape(-1), reached.reshape(-1), known.reshape(-1)
    for n in prange(faces.size):
        if faces[n] == 0 and met[n] > np.float32(0.0) and opening[n] > least:
            faces[n] = 1


@kernel(parallel=True)
def clear_unknown(known, field):
    """Zero where nothing is known."""
    samples, values = known.reshape(-1), field.reshape(-1)
    for n in prange(samples.size):
        if samples[n] == 0:
            values[n] = np.float32(0.0)


@kernel(inline=True)
def face_centre(axis, i, j, k):
    """The centre of a face of `axis`, in cells from the corner of the window."""
    half = np.float32(0.5)
    x = np.float32(i) if axis == 0 else np.float32(i) + half
    y = np.float32(j) if axis == 1 else np.float32(j) + half
    z = np.float32(k) if axis == 2 else np.float32(k) + half
    return x, y, z


@kernel(parallel=True)
def slip_at_solids(axis, area, nodes, h, u, v, w, sx, sy, sz, moving, out):
    """At the closed faces of `axis`, remove the velocity's component along the normal (free slip).

    u, v, w are extrapolated from the liquid, sx, sy, sz the solid's velocity (read only when `moving`).
    """
    ni, nj, nk = out.shape
    half, zero = np.float32(0.5), np.float32(0.0)
    deep = np.float32(-3.0) * h
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                x, y, z = face_centre(axis, i, j, k)
                if area[i, j, k] > zero or trilinear(nodes, x, y, z) < deep:
                    continue
                gx = trilinear(nodes, x + half, y, z) - trilinear(nodes, x - half, y, z)
                gy = trilinear(nodes, x, y + half, z) - trilinear(nodes, x, y - half, z)
                gz = trilinear(nodes, x, y, z + half) - trilinear(nodes, x, y, z - half)
                norm = gx * gx + gy * gy + gz * gz
                if norm < np.float32(0.01) * h * h:
                    # A solid too thin for the corners to see its sides: nothing passes.
                    own = sx[i, j, k] if axis == 0 else (sy[i, j, k] if axis == 1 else sz[i, j, k])
                    out[i, j, k] = own if moving else zero
                    continue
                into = (
                    gx * trilinear(u, x, y - half, z - half)
                    + gy * trilinear(v, x - half, y, z - half)
                    + gz * trilinear(w, x - half, y - half, z)
                )
                if moving:
                    into -= (
                        gx * trilinear(sx, x, y - half, z - half)
                        + gy * trilinear(sy, x - half, y, z - half)
                        + gz * trilinear(sz, x - half, y - half, z)
                    )
                g = gx if axis == 0 else (gy if axis == 1 else gz)
                out[i, j, k] -= into * g / norm


@kernel(parallel=True)
def beside_freed(freed, liquid, out):
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
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                near = i < mi and j < mj and k < mk and beside[i, j, k] != 0
                near = near or (i >= di and j >= dj and k >= dk and beside[i - di, j - dj, k - dk] != 0)
                if not near:
                    continue
                x, y, z = face_centre(axis, i, j, k)
                if area[i, j, k] > zero and trilinear(nodes, x, y, z) > zero:
                    continue
                away = along_normal(nodes, x, y, z, u, v, w)
                if moving:
                    away -= along_normal(nodes, x, y, z, sx, sy, sz)
                if away > zero:
                    out[i, j, k] = own[i, j, k]


@kernel(inline=True)
def gained(temperature, mass, heavier, own, t, i, j, k):
    """The heat that a cell of temperature t and mass `own` gets from the cell (i, j, k), over the share of a pass."""
    other = mass[i, j, k]
    return min(np.float32(0.5) * (own + other), heavier * min(own, other)) * (temperature[i, j, k] - t)


@kernel(parallel=True)
def exchange_heat(temperature, mass, share, heavier, out):
    """One pass of diffusion between cells that have mass; others keep their value.

    Two cells exchange with the mean of their masses, but no more than `heavier` times the lighter one's.
    """
    ni, nj, nk = temperature.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk):
            t, own = temperature[i, j, k], mass[i, j, k]
            if own <= np.float32(0.0):
                out[i, j, k] = t
                continue
            change = np.float32(0.0)
            if i > 0:
                change += gained(temperature, mass, heavier, own, t, i - 1, j, k)
            if i < ni - 1:
                change += gained(temperature, mass, heavier, own, t, i + 1, j, k)
            if j > 0:
                change += gained(temperature, mass, heavier, own, t, i, j - 1, k)
            if j < nj - 1:
                change += gained(temperature, mass, heavier, own, t, i, j + 1, k)
            if k > 0:
                change += gained(temperature, mass, heavier, own, t, i, j, k - 1)
            if k < nk - 1:
                change += gained(temperature, mass, heavier, own, t, i, j, k + 1)
            out[i, j, k] = t + share * change / own
