"""Kernels of air regions: what each holds, and where it meets the liquid."""

import numpy as np

from glug.jit import kernel, prange

ZERO = np.float32(0.0)


@kernel
def count_cells(label, cells):
    """The cells of each region."""
    for r in label.reshape(-1):
        if r >= 0:
            cells[r] += 1


@kernel(inline=True)
def label_beside(label, i, j, k):
    """The first region among a cell and its neighbours, -1 when there is none."""
    ni, nj, nk = label.shape
    r = label[i, j, k]
    if r < 0 and j < nj - 1:
        r = label[i, j + 1, k]
    if r < 0 and j > 0:
        r = label[i, j - 1, k]
    if r < 0 and i > 0:
        r = label[i - 1, j, k]
    if r < 0 and i < ni - 1:
        r = label[i + 1, j, k]
    if r < 0 and k > 0:
        r = label[i, j, k - 1]
    if r < 0 and k < nk - 1:
        r = label[i, j, k + 1]
    return r


@kernel
def region_volumes(label, openness, fraction, volume):
    """Per region: open volume without liquid, in cells; a liquid cell's air belongs to a region beside it."""
    ni, nj, nk = label.shape
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                air = openness[i, j, k] - fraction[i, j, k]
                if air > ZERO:
                    r = label_beside(label, i, j, k)
                    if r >= 0:
                        volume[r] += air


@kernel
def count_contacts(label, liquid, lx, ly, lz):
    """Number of linked faces between liquid and air."""
    ni, nj, nk = label.shape
    total = 0
    for i in range(1, ni):
        for j in range(nj):
            for k in range(nk):
                wet = liquid[i, j, k]
                total += lx[i, j, k] > ZERO and wet != liquid[i - 1, j, k]
                if j > 0:
                    total += ly[i, j, k] > ZERO and wet != liquid[i, j - 1, k]
                if k > 0:
                    total += lz[i, j, k] > ZERO and wet != liquid[i, j, k - 1]
    return total


@kernel
def list_contacts(label, liquid, lx, ly, lz, cell, region, link):
    """The liquid cell, the air region and the link of every linked face between liquid and air."""
    ni, nj, nk = label.shape
    n = 0
    for i in range(1, ni):
        for j in range(nj):
            for k in range(nk):
                c = (i * nj + j) * nk + k
                wet = liquid[i, j, k]
                for axis in range(3):
                    if (axis == 1 and j == 0) or (axis == 2 and k == 0):
                        continue
                    a = i - 1 if axis == 0 else i
                    b = j - 1 if axis == 1 else j
                    d = k - 1 if axis == 2 else k
                    value = lx[i, j, k] if axis == 0 else (ly[i, j, k] if axis == 1 else lz[i, j, k])
                    if value > ZERO and wet != liquid[a, b, d]:
                        cell[n] = c if wet else (a * nj + b) * nk + d
                        region[n] = label[a, b, d] if wet else label[i, j, k]
                        link[n] = value
                        n += 1


@kernel(parallel=True)
def outflow(label, liquid, u, v, w, ax, ay, az, out):
    """Per layer and region: what flows from air into liquid through open faces, over dx^2 [m/s]."""
    ni, nj, nk = label.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                r = label[i, j, k]
                if r >= 0:
                    total = np.float64(0.0)
                    if i > 0 and liquid[i - 1, j, k]:
                        total -= ax[i, j, k] * np.float64(u[i, j, k])
                    if i < ni - 1 and liquid[i + 1, j, k]:
                        total += ax[i + 1, j, k] * np.float64(u[i + 1, j, k])
                    if j > 0 and liquid[i, j - 1, k]:
                        total -= ay[i, j, k] * np.float64(v[i, j, k])
                    if j < nj - 1 and liquid[i, j + 1, k]:
                        total += ay[i, j + 1, k] * np.float64(v[i, j + 1, k])
                    if k > 0 and liquid[i, j, k - 1]:
                        total -= az[i, j, k] * np.float64(w[i, j, k])
                    if k < nk - 1 and liquid[i, j, k + 1]:
                        total += az[i, j, k + 1] * np.float64(w[i, j, k + 1])
                    out[i, r] += total


@kernel(parallel=True)
def solid_outflow(label, sx, sy, sz, cx, cy, cz, out):
    """Per layer and region: what moving solids take from it through the part of faces that they close."""
    one = np.float32(1.0)
    ni, nj, nk = label.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            regions, total = label[i, j], out[i]
            for k in range(nk):
                if regions[k] >= 0:
                    total[regions[k]] += (
                        np.float64((one - cx[i + 1, j, k]) * sx[i + 1, j, k])
                        - np.float64((one - cx[i, j, k]) * sx[i, j, k])
                        + np.float64((one - cy[i, j + 1, k]) * sy[i, j + 1, k])
                        - np.float64((one - cy[i, j, k]) * sy[i, j, k])
                        + np.float64((one - cz[i, j, k + 1]) * sz[i, j, k + 1])
                        - np.float64((one - cz[i, j, k]) * sz[i, j, k])
                    )


@kernel(parallel=True)
def fill_regions(label, value, q):
    """q = the value of its region in every air cell."""
    regions, filled = label.reshape(-1), q.reshape(-1)
    for n in prange(regions.size):
        if regions[n] >= 0:
            filled[n] = value[regions[n]]


@kernel(parallel=True)
def fill_cells(filled, phi, liquid):
    """Make the marked cells liquid."""
    marked, distance, wet = filled.reshape(-1), phi.reshape(-1), liquid.reshape(-1)
    for n in prange(marked.size):
        if marked[n]:
            distance[n] = -abs(distance[n])
            wet[n] = 1


@kernel(parallel=True)
def fill_links(axis, filled, liquid, area, conduction, link):
    """Links of the marked cells: `conduction` times the area between them, at most that much towards liquid."""
    ni, nj, nk = filled.shape
    di, dj, dk = axis == 0, axis == 1, axis == 2
    for row in prange(nj, ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(dk, nk if j >= dj else 0):
            a, b = filled[i - di, j - dj, k - dk], filled[i, j, k]
            if a and b:
                link[i, j, k] = conduction * area[i, j, k]
            elif (a and liquid[i, j, k]) or (b and liquid[i - di, j - dj, k - dk]):
                link[i, j, k] = min(link[i, j, k], conduction * area[i, j, k])


@kernel(parallel=True)
def mark_regions(label, wanted, out):
    """1 in the cells of the regions that are wanted."""
    regions, marked = label.reshape(-1), out.reshape(-1)
    for n in prange(regions.size):
        marked[n] = regions[n] >= 0 and wanted[regions[n]] != 0


@kernel(parallel=True)
def weigh_links(axis, phi, ratio, link):
    """Divide links by the density on their face over the liquid's; `ratio` is that of air (Goldade 2021, eq. 3.14)."""
    ni, nj, nk = phi.shape
    one = np.float32(1.0)
    di, dj, dk = axis == 0, axis == 1, axis == 2
    for slab in prange(di, ni):
        i = np.int64(slab)
        for j in range(dj, nj):
            for k in range(dk, nk):
                a, b = phi[i - di, j - dj, k - dk], phi[i, j, k]
                inner, outer = min(a, b), max(a, b)
                share = one if outer < ZERO else (inner / (inner - outer) if inner < ZERO else ZERO)
                link[i, j, k] /= share + (one - share) * ratio
