"""Where liquid meets walls and air at once, and what of the walls coarse grids see there."""

import numpy as np

from glug.grids.kernels import any_of
from glug.jit import kernel, prange
from glug.physics.viscosity.kernels import beside, sample_beside


@kernel(parallel=True)
def mark_contact(mass, stopping, full, reach, marked):
    """1 at cells with a lower face that is partly liquid and a corner nearer than `reach` to what stops one."""
    ni, nj, nk = marked.shape
    zero = np.float32(0.0)
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k in range(nk):
            partly = zero < mass[0][i, j, k] < full or zero < mass[1][i, j, k] < full
            partly = partly or zero < mass[2][i, j, k] < full
            near = min(min(stopping[0][i, j, k], stopping[1][i, j, k]), stopping[2][i, j, k]) < reach
            marked[i, j, k] = partly and near


@kernel
def spread_marks(marked, reach, found):
    """1 at cells that are marked, or at most `reach` from one along every axis."""
    ni, nj, nk = marked.shape
    for i in range(ni):
        for j in range(nj):
            if not any_of(marked[i, j]):
                continue
            for k in range(nk):
                if marked[i, j, k]:
                    for x in range(max(i - reach, 0), min(i + reach + 1, ni)):
                        for y in range(max(j - reach, 0), min(j + reach + 1, nj)):
                            for z in range(max(k - reach, 0), min(k + reach + 1, nk)):
                                found[x, y, z] = 1


@kernel(inline=True)
def touches_solid(axis, s, cell, shear_b, shear_c, i, j, k):
    """Whether a stress acts between a face of `axis` and a face in a solid beside it."""
    for side in range(6):
        if s[beside(axis, side, i, j, k)]:
            field = cell if side < 2 else (shear_b if side < 4 else shear_c)
            if field[sample_beside(axis, side, i, j, k)] > np.float32(0.0):
                return True
    return False


@kernel(inline=True)
def share(along, o):
    """Weight of fine sample 2 I - 3 + o in coarse sample I: between nodes along the face's axis, else cells."""
    if along:
        return (0.5, 1.0, 0.5, 0.0)[o]
    return (0.25, 0.75, 0.75, 0.25)[o]


@kernel(parallel=True)
def release_faces(axis, m, s, cell, shear_b, shear_c, most, mass, solid):
    """Clear `solid` at coarse faces with mass, if at most `most` of the fine faces that they move touch a solid.

    `m`, `s` and the stresses are those of the fine grid, `mass` and `solid` those of the coarse one.
    """
    ni, nj, nk = solid.shape
    for slab in prange(ni):
        i = np.int64(slab)
        for j in range(nj):
            for k in range(nk):
                if not solid[i, j, k] or not mass[i, j, k] > np.float32(0.0):
                    continue
                held = total = 0.0
                for p in range(4):
                    for q in range(4):
                        for r in range(4):
                            x, y, z = 2 * i - 3 + p, 2 * j - 3 + q, 2 * k - 3 + r
                            if min(x, y, z) < 1 or x > m.shape[0] - 2 or y > m.shape[1] - 2 or z > m.shape[2] - 2:
                                continue
                            if m[x, y, z] > np.float32(0.0):
                                w = share(axis == 0, p) * share(axis == 1, q) * share(axis == 2, r)
                                total += w
                                if w > 0.0 and touches_solid(axis, s, cell, shear_b, shear_c, x, y, z):
                                    held += w
                if held <= most * total:
                    solid[i, j, k] = 0
