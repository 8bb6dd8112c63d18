"""Kernels of pressure: cut cells and ghost fluid, components, volumes, projection.

Cell (i, j, k) has its lower faces at the same index. `area` is the open fraction of a face, `link` what couples
the pressures across it: area, or area / theta towards air, where theta is the distance to the surface in cells, times
the mobility where densities differ. Pressure is scaled to a velocity potential q = p dt / (rho dx), so
u -= link / area (q_upper - q_lower).
"""

import numpy as np

from glug.jit import kernel, prange

LEAST_THETA = np.float32(0.01)


@kernel(inline=True)
def link_across(area, phi_a, phi_b, liquid_a, liquid_b):
    """The link of a face: area, area / theta where one side is air, 0 where both are.

    theta = clip(phi_in / (phi_in - max(phi_out, 0)), LEAST_THETA, 1) is the ghost-fluid distance.
    """
    if liquid_a and liquid_b:
        return area
    if liquid_a or liquid_b:
        inside, outside = (phi_a, phi_b) if liquid_a else (phi_b, phi_a)
        theta = inside / (inside - max(outside, np.float32(0.0)))
        return area / min(max(theta, LEAST_THETA), np.float32(1.0))
    return np.float32(0.0)


@kernel(inline=True)
def near_liquid(liquid, i, j):
    """Whether a cell above or below the faces with the indices (i, j, ...) is liquid."""
    here, left, below = liquid[i, j], liquid[max(i - 1, 0), j], liquid[i, max(j - 1, 0)]
    found = np.uint8(0)
    for k in range(here.size):
        found |= here[k] | left[k] | below[k]
    return found != 0


@kernel(parallel=True)
def pressure_links(phi, liquid, ax, ay, az, lx, ly, lz, diagonal):
    """Links of the interior faces and the matrix diagonal, into zeros: away from the liquid they stay."""
    ni, nj, nk = phi.shape
    for slab in prange(1, ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk if near_liquid(liquid, i, j) else 0):
                p, c = phi[i, j, k], liquid[i, j, k]
                lx[i, j, k] = link_across(ax[i, j, k], phi[i - 1, j, k], p, liquid[i - 1, j, k], c)
                if j > 0:
                    ly[i, j, k] = link_across(ay[i, j, k], phi[i, j - 1, k], p, liquid[i, j - 1, k], c)
                if k > 0:
                    lz[i, j, k] = link_across(az[i, j, k], phi[i, j, k - 1], p, liquid[i, j, k - 1], c)
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk):
            if liquid[i, j, k]:
                diagonal[i, j, k] = (
                    lx[i, j, k] + lx[i + 1, j, k] + ly[i, j, k] + ly[i, j + 1, k] + lz[i, j, k] + lz[i, j, k + 1]
                )


@kernel(parallel=True)
def divergence_rhs(u, v, w, ax, ay, az, liquid, out):
    """Minus the net open flux out of every liquid cell, over dx^2 [m/s], into zeros."""
    ni, nj, nk = liquid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk if near_liquid(liquid, i, j) else 0):
                if liquid[i, j, k]:
                    out[i, j, k] = (
                        ax[i, j, k] * u[i, j, k]
                        - ax[i + 1, j, k] * u[i + 1, j, k]
                        + ay[i, j, k] * v[i, j, k]
                        - ay[i, j + 1, k] * v[i, j + 1, k]
                        + az[i, j, k] * w[i, j, k]
                        - az[i, j, k + 1] * w[i, j, k + 1]
                    )


@kernel(parallel=True)
def closed_flux(sx, sy, sz, ax, ay, az, liquid, out):
    """Add minus the flux of moving solids through the closed part of the faces of liquid cells."""
    one = np.float32(1.0)
    ni, nj, nk = liquid.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk if near_liquid(liquid, i, j) else 0):
            if liquid[i, j, k]:
                out[i, j, k] += (
                    (one - ax[i, j, k]) * sx[i, j, k]
                    - (one - ax[i + 1, j, k]) * sx[i + 1, j, k]
                    + (one - ay[i, j, k]) * sy[i, j, k]
                    - (one - ay[i, j + 1, k]) * sy[i, j + 1, k]
                    + (one - az[i, j, k]) * sz[i, j, k]
                    - (one - az[i, j, k + 1]) * sz[i, j, k + 1]
                )


@kernel(parallel=True)
def subtract_gradient(q, liquid, lx, ly, lz, ax, ay, az, u, v, w):
    """u -= link / area (q_upper - q_lower) on the faces with a link.

    In float64: what is rounded here has no divergence, so no later projection would remove it.
    """
    ni, nj, nk = liquid.shape
    zero = np.float32(0.0)
    for slab in prange(1, ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk if near_liquid(liquid, i, j) else 0):
                if lx[i, j, k] > zero:
                    slope = np.float64(lx[i, j, k]) / np.float64(ax[i, j, k])
                    u[i, j, k] -= slope * (q[i, j, k] - q[i - 1, j, k])
                if j > 0 and ly[i, j, k] > zero:
                    slope = np.float64(ly[i, j, k]) / np.float64(ay[i, j, k])
                    v[i, j, k] -= slope * (q[i, j, k] - q[i, j - 1, k])
                if k > 0 and lz[i, j, k] > zero:
                    slope = np.float64(lz[i, j, k]) / np.float64(az[i, j, k])
                    w[i, j, k] -= slope * (q[i, j, k] - q[i, j, k - 1])


@kernel
def component_sums(label, liquid, rhs, lx, ly, lz, cells, opening, total):
    """Per component: number of cells, links to air, and sum of the right-hand side."""
    ni, nj, nk = label.shape
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                c = label[i, j, k]
                if c >= 0:
                    cells[c] += 1
                    total[c] += rhs[i, j, k]
                    if not liquid[i - 1, j, k] if i > 0 else False:
                        opening[c] += lx[i, j, k]
                    if not liquid[i + 1, j, k] if i < ni - 1 else False:
                        opening[c] += lx[i + 1, j, k]
                    if not liquid[i, j - 1, k] if j > 0 else False:
                        opening[c] += ly[i, j, k]
                    if not liquid[i, j + 1, k] if j < nj - 1 else False:
                        opening[c] += ly[i, j + 1, k]
                    if not liquid[i, j, k - 1] if k > 0 else False:
                        opening[c] += lz[i, j, k]
                    if not liquid[i, j, k + 1] if k < nk - 1 else False:
                        opening[c] += lz[i, j, k + 1]


@kernel(parallel=True)
def add_per_component(label, amount, rhs):
    """rhs += amount of the cell's component."""
    components, right = label.reshape(-1), rhs.reshape(-1)
    for n in prange(components.size):
        if components[n] >= 0:
            right[n] += amount[components[n]]


@kernel
def component_volumes(label, carried, held, least, total_carried, total_held):
    """Carried and held volume around the cells of each component."""
    flat, c, h = label.ravel(), carried.ravel(), held.ravel()
    for n in range(flat.size):
        p = flat[n]
        if p >= 0 and h[n] >= least:
            total_carried[p] += c[n]
            total_held[p] += h[n]


@kernel
def component_surfaces(label, openness, cells, surface):
    """The number of cells of each component, and of those with open air beside them."""
    ni, nj, nk = label.shape
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                c = label[i, j, k]
                if c < 0:
                    continue
                cells[c] += 1.0
                for di, dj, dk in ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)):
                    a, b, d = i + di, j + dj, k + dk
                    inside = 0 <= a < ni and 0 <= b < nj and 0 <= d < nk
                    if inside and label[a, b, d] < 0 and openness[a, b, d] > 0.0:
                        surface[c] += 1.0
                        break


@kernel(parallel=True)
def add_expansion(label, openness, carried, held, whole, least, dead, gain, most, scale, rhs):
    """rhs += scale times the relative growth that makes held volume the carried one.

    The error of a cell's component (`whole`) counts fully, that of its surroundings only beyond `dead`.
    """
    components, opens, right = label.reshape(-1), openness.reshape(-1), rhs.reshape(-1)
    has, holds = carried.reshape(-1), held.reshape(-1)
    zero = np.float32(0.0)
    for n in prange(components.size):
        c = components[n]
        if c >= 0 and holds[n] >= least:
            excess = has[n] / holds[n] - np.float32(1.0)
            excess = max(excess - dead, zero) + min(excess + dead, zero) + whole[c]
            right[n] += scale * opens[n] * min(max(gain * excess, -most), most)


@kernel(inline=True)
def held_around(openness, i, j, k):
    """What full cells share with the centre of (i, j, k), as particles do: 3/4 of itself, 1/8 of those beside it."""
    ni, nj, nk = openness.shape
    eighth, most = np.float32(0.125), np.float32(0.75)
    total = np.float32(0.0)
    for a in range(max(i - 1, 0), min(i + 2, ni)):
        for b in range(max(j - 1, 0), min(j + 2, nj)):
            across = (most if a == i else eighth) * (most if b == j else eighth)
            if nk == 1:
                total += across * openness[a, b, k]
            else:
                for c in range(max(k - 1, 0), min(k + 2, nk)):
                    total += across * (most if c == k else eighth) * openness[a, b, c]
    return total


@kernel(parallel=True)
def evenness_target(near, liquid, openness, carried, share, gap, gap_share, unsure, most, scale, target):
    """scale times the share of what liquid cells carry too much, and `near` what makes that unsure beyond `unsure`.

    Of what is beyond a `gap`, too much or too little, it is `gap_share`.
    """
    ni, nj, nk = liquid.shape
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                if liquid[i, j, k]:
                    excess = carried[i, j, k] - held_around(openness, i, j, k)
                    if near[i, j, k] > zero:
                        excess = max(excess - unsure, zero)
                    within = min(max(excess, -gap), gap)
                    wanted = share * within + gap_share * (excess - within)
                    # What is cut leaves by what is open of it.
                    target[i, j, k] = scale * openness[i, j, k] * min(max(wanted, -most), most)


@kernel(parallel=True)
def even_sweep(target, liquid, ax, ay, az, q, out):
    """A damped Jacobi sweep for  sum of area (q - q_neighbour) = target  between liquid cells: none leads to air."""
    ni, nj, nk = liquid.shape
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                if not liquid[i, j, k]:
                    continue
                own = q[i, j, k]
                left, diagonal = target[i, j, k], zero
                if i > 0 and liquid[i - 1, j, k]:
                    left += ax[i, j, k] * (q[i - 1, j, k] - own)
                    diagonal += ax[i, j, k]
                if i < ni - 1 and liquid[i + 1, j, k]:
                    left += ax[i + 1, j, k] * (q[i + 1, j, k] - own)
                    diagonal += ax[i + 1, j, k]
                if j > 0 and liquid[i, j - 1, k]:
                    left += ay[i, j, k] * (q[i, j - 1, k] - own)
                    diagonal += ay[i, j, k]
                if j < nj - 1 and liquid[i, j + 1, k]:
                    left += ay[i, j + 1, k] * (q[i, j + 1, k] - own)
                    diagonal += ay[i, j + 1, k]
                if k > 0 and liquid[i, j, k - 1]:
                    left += az[i, j, k] * (q[i, j, k - 1] - own)
                    diagonal += az[i, j, k]
                if k < nk - 1 and liquid[i, j, k + 1]:
                    left += az[i, j, k + 1] * (q[i, j, k + 1] - own)
                    diagonal += az[i, j, k + 1]
                out[i, j, k] = own + np.float32(2 / 3) * left / max(diagonal, np.float32(0.1))


@kernel(parallel=True)
def subtract_inner_gradient(q, liquid, ax, ay, az, u, v, w):
    """u -= q_upper - q_lower on the open faces between liquid cells."""
    ni, nj, nk = liquid.shape
    zero = np.float32(0.0)
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                if liquid[i, j, k]:
                    if i > 0 and liquid[i - 1, j, k] and ax[i, j, k] > zero:
                        u[i, j, k] -= q[i, j, k] - q[i - 1, j, k]
                    if j > 0 and liquid[i, j - 1, k] and ay[i, j, k] > zero:
                        v[i, j, k] -= q[i, j, k] - q[i, j - 1, k]
                    if k > 0 and liquid[i, j, k - 1] and az[i, j, k] > zero:
                        w[i, j, k] -= q[i, j, k] - q[i, j, k - 1]
