"""Cut, weld and zip: what changes the topology of a surface."""

import numpy as np

from glug.geometry.tracking import kernels_links as mesh
from glug.geometry.tracking.kernels_nearness import area_vector, dot, length, point, sub
from glug.geometry.tracking.kernels_pairs import opposite
from glug.jit import kernel

CREASE = 0.966  # minus the cosine between normals across a crease: less than 15 degrees wide
APART = 0.25  # of the way to its neighbours that each end of a cut neck goes back


@kernel(inline=True)
def _sector(m, first, last, loop, new, rows):
    """Mark the triangles between two half-edges that leave a vertex and add them, the loop's vertices replaced.

    rows   fan, numbers of its triangles, how many there are (changed)
    """
    fan, ids, n = rows
    g = first
    while g != last:
        t = g // 3
        if m.mark[t] != m.count[2]:
            if n[0] >= len(ids) - 2:
                return False
            m.mark[t] = m.count[2]
            for k in range(3):
                v = m.tri[t, k]
                for i in range(3):
                    v = new[i] if m.tri[t, k] == loop[i] else v
                fan[n[0], k] = v
            ids[n[0]] = t
            n[0] += 1
        g = mesh.around(m, g)
    return True


@kernel(inline=True)
def _pull(m, v, first, last, loop, at):
    """Where vertex v goes with the sector between two half-edges that leave it."""
    x, y, z, n = 0.0, 0.0, 0.0, 0
    g = first
    while True:
        w = mesh.origin(m, mesh.onward(g))
        if w != loop[0] and w != loop[1] and w != loop[2]:
            x, y, z, n = x + m.x[w, 0], y + m.x[w, 1], z + m.x[w, 2], n + 1
        if g == last:
            break
        g = mesh.around(m, g)
    p = point(m.x, v)
    at[0], at[1], at[2] = p
    if n > 0:
        at[0], at[1], at[2] = (
            p[0] + APART * (x / n - p[0]),
            p[1] + APART * (y / n - p[1]),
            p[2] + APART * (z / n - p[2]),
        )


@kernel(inline=True)
def cut(m, hab, w, fan, near):
    """Cut along the edges a-b-w, which bound no triangle, and close both ends, pulled apart; False where not clear."""
    a, b = mesh.origin(m, hab), mesh.origin(m, mesh.onward(hab))
    hbw, hwa = mesh.half_edge(m, b, w), mesh.half_edge(m, w, a)
    loop, side = (a, b, w), (hab, hbw, hwa)
    nv, nt = m.count[0], m.count[1]
    new = (nv, nv + 1, nv + 2)
    m.count[2] += 1
    ids, n = np.empty(len(fan), np.int64), np.zeros(1, np.int64)
    place = np.empty((6, 3))
    for i in range(3):
        out, other = side[i], m.twin[side[(i + 2) % 3]]  # both leave the loop's vertex i
        if not _sector(m, out, other, loop, new, (fan, ids, n)):
            return False
        _pull(m, loop[i], out, other, loop, place[i])
        _pull(m, loop[i], other, out, loop, place[3 + i])
    left = n[0]
    for i in range(3):
        if not _sector(m, m.twin[side[(i + 2) % 3]], side[i], loop, loop, (fan, ids, n)):
            return False
    total = n[0]
    fan[total, 0], fan[total, 1], fan[total, 2] = new[1], new[0], new[2]
    fan[total + 1, 0], fan[total + 1, 1], fan[total + 1, 2] = a, b, w
    was = np.empty((3, 3))
    for i in range(3):
        was[i] = m.x[loop[i]]
        m.x[new[i]], m.x[loop[i]] = place[i], place[3 + i]
    if not mesh.clear(m, fan, total + 2, near):
        for i in range(3):
            m.x[loop[i]] = was[i]
        return False
    gab, gbw, gwa = m.twin[hab], m.twin[hbw], m.twin[hwa]
    for f in range(total):
        mesh.take_out(m, ids[f])
        if f < left:
            for k in range(3):
                m.tri[ids[f], k] = fan[f, k]
        mesh.put_in(m, ids[f])
    m.count[0] += 3
    m.count[1] += 2
    mesh.write(m, nt, new[1], new[0], new[2])
    mesh.write(m, nt + 1, a, b, w)
    mesh.link(m, 3 * nt, hab)
    mesh.link(m, 3 * nt + 1, hwa)
    mesh.link(m, 3 * nt + 2, hbw)
    mesh.link(m, 3 * nt + 3, gab)
    mesh.link(m, 3 * nt + 4, gbw)
    mesh.link(m, 3 * nt + 5, gwa)
    return True


@kernel
def weld_pairs(m, first, second, longest, most, near):
    """Join triangles that face each other, one pair after the other: both go, and their corners become one.

    Returns the number of pairs that were joined, at most `most`.
    """
    fan, before = np.empty((mesh.MOST_FAN, 4), np.int64), np.empty((mesh.MOST_FAN, 5))
    count = 0
    for n in range(len(first)):
        t, s = first[n], second[n]
        if count < most and m.tri[t, 0] >= 0 and m.tri[s, 0] >= 0 and _weld(m, t, s, longest, (fan, before), near):
            count += 1
    return count


@kernel(inline=True)
def _strangers(m, a, b):
    """Whether the corners of two triangles are different, not joined by edges, and have no neighbour in common."""
    for i in range(3):
        for j in range(3):
            if a[i] == b[j] or mesh.half_edge(m, a[i], b[j]) >= 0:
                return False
        if mesh.common_neighbour(m, a[i], b[i], -1, -1) >= 0:
            return False
    return True


@kernel(inline=True)
def _weld(m, t, s, longest, rows, near):
    """Remove two triangles and weld their corners in pairs, in the middle; False where that is not clear."""
    fan, before = rows
    turn, _ = opposite(m.x, m.tri[t], m.tri[s])
    a = (m.tri[t, 0], m.tri[t, 1], m.tri[t, 2])
    b = (m.tri[s, turn], m.tri[s, (turn + 2) % 3], m.tri[s, (turn + 1) % 3])
    if not _strangers(m, a, b):
        return False
    m.count[2] += 1
    m.mark[t] = m.mark[s] = m.count[2]
    n = 0
    for i in range(3):
        n = mesh.add_fan(m, b[i], b, a, fan, mesh.add_fan(m, a[i], b, a, fan, n))
    if n < 0:
        return False
    mesh.remember(m, fan, n, before)
    was = np.empty((3, 3))
    for i in range(3):
        for k in range(3):
            was[i, k] = m.x[a[i], k]
            m.x[a[i], k] = 0.5 * (was[i, k] + m.x[b[i], k])
    if not (mesh.good(m, fan, n, before, longest) and mesh.clear(m, fan, n, near)):
        for i in range(3):
            m.x[a[i]] = was[i]
        return False
    outer_t, outer_s = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(3):
        outer_t[k], outer_s[k] = m.twin[3 * t + k], m.twin[3 * s + k]
    mesh.remove(m, t)
    mesh.remove(m, s)
    mesh.rename(m, fan, n)
    for i in range(3):
        m.out[b[i]] = -1
        mesh.link(m, outer_t[i], outer_s[(turn - i + 2) % 3])
    return True


@kernel
def zip_creases(m, gap, longest, near):
    """Close creases: where two triangles beside an edge all but lie on each other, their far corners become one.

    Only through the outside: a thin sheet of liquid stays. Returns how many were closed.
    """
    fan, before = np.empty((mesh.MOST_FAN, 4), np.int64), np.empty((mesh.MOST_FAN, 5))
    count = 0
    for h in range(3 * m.count[1]):
        if m.tri[h // 3, 0] >= 0 and mesh.origin(m, h) < mesh.origin(m, mesh.onward(h)) and _creased(m, h, gap):
            count += 1 if _zip(m, h, longest, (fan, before), near) else 0
    return count


@kernel(inline=True)
def _creased(m, h, gap):
    """Whether the far corners of the two triangles at an edge are near each other's planes, through the outside."""
    a, b = point(m.x, mesh.origin(m, h)), point(m.x, mesh.origin(m, mesh.onward(h)))
    c, d = point(m.x, mesh.origin(m, mesh.back(h))), point(m.x, mesh.origin(m, mesh.back(m.twin[h])))
    n0, n1 = area_vector(a, b, c), area_vector(b, a, d)
    if dot(n0, n1) > -CREASE * length(n0) * length(n1):
        return False
    above = dot(sub(d, a), n0) / length(n0)
    return 0.0 < above < gap and length(sub(c, d)) < length(sub(a, b))


@kernel(inline=True)
def _zip(m, h0, longest, rows, near):
    fan, before = rows
    h1, a, b, c, d = mesh.beside(m, h0)
    if c == d or mesh.half_edge(m, c, d) >= 0 or mesh.common_neighbour(m, c, d, a, b) >= 0:
        return False
    if (
        mesh.around(m, mesh.around(m, mesh.around(m, mesh.around(m, h0)))) == h0
        or mesh.around(m, mesh.around(m, mesh.around(m, mesh.around(m, h1)))) == h1
    ):
        return False  # a corner of four triangles would be left with two
    t0, t1 = h0 // 3, h1 // 3
    m.count[2] += 1
    m.mark[t0] = m.mark[t1] = m.count[2]
    n = mesh.add_fan(m, d, (d,), (c,), fan, mesh.add_fan(m, c, (d,), (c,), fan, 0))
    if n < 0:
        return False
    mesh.remember(m, fan, n, before)
    was = point(m.x, c)
    for k in range(3):
        m.x[c, k] = 0.5 * (was[k] + m.x[d, k])
    if not (mesh.good(m, fan, n, before, longest) and mesh.clear(m, fan, n, near)):
        m.x[c, 0], m.x[c, 1], m.x[c, 2] = was
        return False
    g0, f0, g1, f1 = m.twin[mesh.onward(h0)], m.twin[mesh.back(h0)], m.twin[mesh.onward(h1)], m.twin[mesh.back(h1)]
    mesh.remove(m, t0)
    mesh.remove(m, t1)
    mesh.rename(m, fan, n)
    m.out[d] = -1
    mesh.link(m, f0, g1)
    mesh.link(m, g0, f1)
    m.out[a], m.out[b] = f0, f1
    return True
