"""The open parts of the faces of Voronoi cells."""

from glug.jit import kernel, prange
from glug.physics.covolume.kernels import closed_part, crossing


@kernel(inline=True)
def open_length(a, b):
    """The part of a segment with these values at its ends where they are not negative."""
    low, high = min(a, b), max(a, b)
    if low >= 0.0:
        return 1.0
    return 0.0 if high < 0.0 else 1.0 - crossing(low, high)


@kernel(parallel=True)
def open_rings(start, corner, place, middle, normal, at_vertex, at_middle, out):
    """The part of every face where a distance, linear between its middle and its vertices, is not negative."""
    dim = place.shape[1]
    for f in prange(len(out)):
        total, opened, last = 0.0, 0.0, -1
        for o in range(start[f], start[f + 1]):
            last = corner[o] if corner[o] >= 0 else last
        for o in range(start[f], start[f + 1]):
            v = corner[o]
            if v < 0:
                continue
            if dim == 2:
                total += 0.5
                opened += 0.5 * open_length(at_vertex[v], at_middle[f])
                continue
            p, q, m, n = place[last], place[v], middle[f], normal[f]
            x, y, z = p[0] - m[0], p[1] - m[1], p[2] - m[2]
            r, s, t = q[0] - m[0], q[1] - m[1], q[2] - m[2]
            size = abs((y * t - z * s) * n[0] + (z * r - x * t) * n[1] + (x * s - y * r) * n[2])
            total += size
            opened += size * (1.0 - closed_part(at_vertex[last], at_vertex[v], at_middle[f]))
            last = v
        out[f] = opened / total if total > 0.0 else 0.0
