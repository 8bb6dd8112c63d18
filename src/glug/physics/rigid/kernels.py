"""Kernels over the faces of rigid bodies: what flows through them, their velocity, and bodies as liquid."""

import numpy as np

from glug.jit import kernel, prange


@kernel(inline=True)
def cells_beside(axis, face, shape):
    """The cells above and below a face (flat), -1 beyond the grid, and whether any of them is at its border."""
    ni, nj, nk = np.uint32(shape[0]), np.uint32(shape[1]), np.uint32(shape[2])
    one = np.uint32(1)
    rows, columns = nj + one if axis == 1 else nj, nk + one if axis == 2 else nk
    line, k = np.uint32(face) // columns, np.uint32(face) % columns
    i, j = line // rows, line % rows
    at, last = (i, ni) if axis == 0 else ((j, nj) if axis == 1 else (k, nk))
    step = nj * nk if axis == 0 else (nk if axis == 1 else one)
    above = np.int64((i * nj + j) * nk + k)
    border = at <= one or at >= last - one
    border = border or (axis != 0 and (i == 0 or i == ni - one))
    border = border or (axis != 1 and (j == 0 or j == nj - one)) or (axis != 2 and (k == 0 or k == nk - one))
    return above if at < last else -1, above - np.int64(step) if at > 0 else -1, border


@kernel
def gather_rows(ends, index, closed, R, liquid, slot, cell, value, first):
    """The rows of all bodies: entries from first[n] to first[n + 1] are those of body n.

    Its faces along axis a are from ends[a, n] to ends[a, n + 1] of index[a], closed[a], R[a]. An entry is a liquid cell
    with the sum of `closed` R over the faces through which the body meets it: in through its lower, out through its
    upper one. `slot` is the latest entry of every cell, -1 at the beginning.
    """
    wet = liquid.reshape(-1)
    count = 0
    for n in range(ends.shape[1] - 1):
        first[n] = count
        for a in range(ends.shape[0]):
            rows, widths = R[a], closed[a]
            for f in range(ends[a, n], ends[a, n + 1]):
                above, below, _ = cells_beside(a, index[a][f], liquid.shape)
                for side in range(2):
                    c = below if side == 1 else above
                    if c < 0 or wet[c] == 0:
                        continue
                    e = slot[c]
                    if e < first[n]:
                        e = count
                        count += 1
                        slot[c], cell[e] = e, c
                        for m in range(rows.shape[1]):
                            value[e, m] = 0.0
                    w = widths[f] if side == 1 else -widths[f]
                    for m in range(rows.shape[1]):
                        value[e, m] += w * rows[f, m]
    first[ends.shape[1] - 1] = count


@kernel(parallel=True)
def add_masses(ends, closed, R, M):
    """M[n] += sum of closed R R' over the faces from ends[n] to ends[n + 1]."""
    m = R.shape[1]
    for n in prange(ends.shape[0] - 1):
        for f in range(ends[n], ends[n + 1]):
            for i in range(m):
                for j in range(m):
                    M[n, i, j] += R[f, i] * closed[f] * R[f, j]


@kernel(parallel=True)
def write_motions(index, body, R, motions, out):
    """out = R times the motion of its body, at every face of `index`."""
    for f in prange(index.shape[0]):
        total = 0.0
        for m in range(R.shape[1]):
            total += R[f, m] * motions[body[f], m]
        out[index[f]] = total


@kernel(parallel=True)
def fill_bodies(axis, index, body, closed, conduction, liquid, distance, links, areas, kept):
    """Make the cells beside closed faces liquid and open those faces, in place; away from the grid's border.

    `kept` (n, 2) is what links and areas were. Threads that meet in a cell write the same.
    """
    wet, phi, link, area = liquid.reshape(-1), distance.reshape(-1), links.reshape(-1), areas.reshape(-1)
    for f in prange(index.shape[0]):
        kept[f, 0], kept[f, 1] = link[index[f]], area[index[f]]
        passes = closed[f] * conduction[body[f]]
        if passes > 0.0:
            above, below, border = cells_beside(axis, index[f], liquid.shape)
            if not border:
                for side in range(2):
                    c = below if side == 1 else above
                    if wet[c] == 0:
                        wet[c], phi[c] = 1, -abs(phi[c])
                link[index[f]] += np.float32(passes)
                area[index[f]] = min(area[index[f]] + np.float32(closed[f]), np.float32(1.0))
