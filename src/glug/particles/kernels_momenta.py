"""Kernels of the momenta of particles, and of the parts of a liquid that they belong to."""

import numpy as np

from glug.jit import kernel, prange

BLOCKS = 16  # of particles, each summed by one thread: the same bits for any number of them


@kernel(inline=True)
def spread_of(s):
    """Variance of the two shares of a particle at s, in samples: what its gradient adds to a first moment."""
    f = s - np.floor(s)
    return f * (np.float32(1.0) - f)


@kernel(parallel=True)
def momenta(position, velocity, affine, mass, group, origin, corner, inverse, flat, out):
    """Sums over the particles of every group into out (blocks, groups, 11), about `origin`.

    mass, mass x (3), momentum (3), angular momentum (3), twice the kinetic energy. Groups below 0 are left out.
    """
    half = np.float32(0.5)
    count = position.shape[0]
    width = -(-count // BLOCKS)
    has_affine = affine.shape[0] > 0
    h = 1.0 / inverse
    for block in prange(BLOCKS):
        for n in range(block * width, min((block + 1) * width, count)):
            g = group[n]
            if g < 0:
                continue
            m = float(mass[n, 0])
            x, y, z = position[n, 0] - origin[0], position[n, 1] - origin[1], position[n, 2] - origin[2]
            u, v, w = float(velocity[n, 0]), float(velocity[n, 1]), float(velocity[n, 2])
            lx, ly, lz, e = y * w - z * v, z * u - x * w, x * v - y * u, u * u + v * v + w * w
            if has_affine:
                sx = (position[n, 0] - corner[0]) * inverse
                sy = (position[n, 1] - corner[1]) * inverse
                sz = (position[n, 2] - corner[2]) * inverse
                # Across its own axis a component is sampled at the middles of cells.
                ax, ay = h * spread_of(sx - half), h * spread_of(sy - half)
                az = 0.0 if flat else h * spread_of(sz - half)
                lx += ay * affine[n, 7] - az * affine[n, 5]
                ly += az * affine[n, 2] - ax * affine[n, 6]
                lz += ax * affine[n, 3] - ay * affine[n, 1]
                own = spread_of(sx) * affine[n, 0] ** 2 + spread_of(sy) * affine[n, 4] ** 2
                e += own + inverse * (ax * (affine[n, 3] ** 2 + affine[n, 6] ** 2))
                e += inverse * (ay * (affine[n, 1] ** 2 + affine[n, 7] ** 2))
                if not flat:
                    e += spread_of(sz) * affine[n, 8] ** 2
                    e += inverse * (az * (affine[n, 2] ** 2 + affine[n, 5] ** 2))
            out[block, g, 0] += m
            out[block, g, 1] += m * x
            out[block, g, 2] += m * y
            out[block, g, 3] += m * z
            out[block, g, 4] += m * u
            out[block, g, 5] += m * v
            out[block, g, 6] += m * w
            out[block, g, 7] += m * lx
            out[block, g, 8] += m * ly
            out[block, g, 9] += m * lz
            out[block, g, 10] += m * e


@kernel(parallel=True)
def inertia(position, mass, group, centre, corner, inverse, wide, out):
    """Second moments xx, yy, zz, xy, yz, zx of every group about its centre, into out (blocks, groups, 6).

    `wide` particles spread over the samples around them, as in `momenta`.
    """
    count = position.shape[0]
    width = -(-count // BLOCKS)
    half, square = np.float32(0.5), wide / (inverse * inverse)
    for block in prange(BLOCKS):
        for n in range(block * width, min((block + 1) * width, count)):
            g = group[n]
            if g >= 0:
                m = float(mass[n, 0])
                x, y, z = position[n, 0] - centre[g, 0], position[n, 1] - centre[g, 1], position[n, 2] - centre[g, 2]
                sx = (position[n, 0] - corner[0]) * inverse - half
                sy = (position[n, 1] - corner[1]) * inverse - half
                sz = (position[n, 2] - corner[2]) * inverse - half
                out[block, g, 0] += m * (x * x + square * spread_of(sx))
                out[block, g, 1] += m * (y * y + square * spread_of(sy))
                out[block, g, 2] += m * (z * z + square * spread_of(sz))
                out[block, g, 3] += m * x * y
                out[block, g, 4] += m * y * z
                out[block, g, 5] += m * z * x


@kernel(parallel=True)
def move_rigidly(position, velocity, affine, group, centre, shift, push, spin, dx, flat):
    """Move every group by `shift`, and add the velocity `push` and the rotation `spin` about its centre to it."""
    has_affine = affine.shape[0] > 0
    for n in prange(position.shape[0]):
        g = group[n]
        if g >= 0:
            x, y, z = position[n, 0] - centre[g, 0], position[n, 1] - centre[g, 1], position[n, 2] - centre[g, 2]
            a, b, c = spin[g, 0], spin[g, 1], spin[g, 2]
            velocity[n, 0] += np.float32(push[g, 0] + b * z - c * y)
            velocity[n, 1] += np.float32(push[g, 1] + c * x - a * z)
            velocity[n, 2] += np.float32(push[g, 2] + a * y - b * x)
            for q in range(3):
                position[n, q] += np.float32(shift[g, q])
            if has_affine:
                affine[n, 1] -= np.float32(c * dx)
                affine[n, 3] += np.float32(c * dx)
                if not flat:
                    affine[n, 2] += np.float32(b * dx)
                    affine[n, 5] -= np.float32(a * dx)
                    affine[n, 6] -= np.float32(b * dx)
                    affine[n, 7] += np.float32(a * dx)


@kernel(parallel=True)
def touched_parts(label, nodes, reach, touched):
    """touched[part] = 1 where a cell of a part is within `reach` [m] of a solid (`nodes`: distance at corners)."""
    ni, nj, _ = label.shape
    for row in prange(ni * nj):
        i, j = divmod(np.int64(row), nj)
        for k, part in enumerate(label[i, j]):
            if part >= 0 and not touched[part]:
                near = nodes[i, j, k]
                for a in range(2):
                    for b in range(2):
                        for c in range(2):
                            near = min(near, nodes[i + a, j + b, k + c])
                if near < reach:
                    touched[part] = 1


@kernel(parallel=True)
def group_particles(start, label, number, group):
    """group = number[part] of the part that a particle's cell belongs to."""
    parts = label.reshape(-1)
    for cell in prange(parts.size):
        for n in range(start[cell], start[cell + 1]):
            group[n] = number[parts[cell]]
