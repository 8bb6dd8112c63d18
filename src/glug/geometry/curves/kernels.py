"""Closed curves in the plane: what they enclose, and motions in which they meet nothing."""

import numpy as np

from glug.jit import kernel, prange

NEVER = 2.0


@kernel
def measure(x, segments, part, area, length, normal):
    """Area and length of every part, and unit normals at the vertices, out of what counter-clockwise curves enclose."""
    area[:], length[:], normal[:] = 0.0, 0.0, 0.0
    for s in range(len(segments)):
        a, b = segments[s, 0], segments[s, 1]
        ex, ey = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
        area[part[a]] += 0.5 * (x[a, 0] * x[b, 1] - x[a, 1] * x[b, 0])
        length[part[a]] += np.sqrt(ex * ex + ey * ey)
        for v in (a, b):
            normal[v, 0] += ey
            normal[v, 1] -= ex
    for v in range(len(x)):
        size = np.sqrt(normal[v, 0] ** 2 + normal[v, 1] ** 2)
        if size > 0.0:
            normal[v, 0] /= size
            normal[v, 1] /= size


@kernel(inline=True)
def cross(ax, ay, bx, by):
    return ax * by - ay * bx


@kernel(inline=True)
def on_segment(x, d, p, a, b, t):
    """Whether, at time t, a point on the line of a segment is on the segment."""
    ax, ay = x[a, 0] + t * d[a, 0], x[a, 1] + t * d[a, 1]
    ex, ey = x[b, 0] + t * d[b, 0] - ax, x[b, 1] + t * d[b, 1] - ay
    rx, ry = x[p, 0] + t * d[p, 0] - ax, x[p, 1] + t * d[p, 1] - ay
    along = ex * rx + ey * ry
    return -1e-9 * (ex * ex + ey * ey) <= along <= (1.0 + 1e-9) * (ex * ex + ey * ey)


@kernel(inline=True)
def meeting_time(x, d, p, a, b):
    """When a point meets a segment while all three move from x to x + d; NEVER if not."""
    ex, ey, rx, ry = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[p, 0] - x[a, 0], x[p, 1] - x[a, 1]
    fx, fy, qx, qy = d[b, 0] - d[a, 0], d[b, 1] - d[a, 1], d[p, 0] - d[a, 0], d[p, 1] - d[a, 1]
    c2, c1, c0 = cross(fx, fy, qx, qy), cross(ex, ey, qx, qy) + cross(fx, fy, rx, ry), cross(ex, ey, rx, ry)
    root = c1 * c1 - 4.0 * c2 * c0
    if root < 0.0:
        return NEVER
    q = -0.5 * (c1 + np.sqrt(root)) if c1 >= 0.0 else -0.5 * (c1 - np.sqrt(root))
    first = c0 / q if q != 0.0 else NEVER
    second = q / c2 if c2 != 0.0 else NEVER
    first, second = min(first, second), max(first, second)
    for t in (first, second):
        if 0.0 <= t <= 1.0 and on_segment(x, d, p, a, b, t):
            return t
    return NEVER


@kernel(parallel=True)
def meetings(x, d, segments, time, segment):
    """The first time at which every vertex meets a segment that it does not belong to, and which."""
    for index in prange(len(x)):
        p = np.int64(index)
        time[p], segment[p] = NEVER, -1
        left, right = min(x[p, 0], x[p, 0] + d[p, 0]), max(x[p, 0], x[p, 0] + d[p, 0])
        low, high = min(x[p, 1], x[p, 1] + d[p, 1]), max(x[p, 1], x[p, 1] + d[p, 1])
        for s in range(len(segments)):
            a, b = segments[s, 0], segments[s, 1]
            if a == p or b == p:
                continue
            if max(x[a, 0], x[b, 0], x[a, 0] + d[a, 0], x[b, 0] + d[b, 0]) < left:
                continue
            if min(x[a, 0], x[b, 0], x[a, 0] + d[a, 0], x[b, 0] + d[b, 0]) > right:
                continue
            if max(x[a, 1], x[b, 1], x[a, 1] + d[a, 1], x[b, 1] + d[b, 1]) < low:
                continue
            if min(x[a, 1], x[b, 1], x[a, 1] + d[a, 1], x[b, 1] + d[b, 1]) > high:
                continue
            t = meeting_time(x, d, p, a, b)
            if t < time[p]:
                time[p], segment[p] = t, s


@kernel(inline=True)
def crosses(ax, ay, bx, by, cx, cy, dx, dy):
    """Whether two segments meet."""
    one, two = cross(bx - ax, by - ay, cx - ax, cy - ay), cross(bx - ax, by - ay, dx - ax, dy - ay)
    three, four = cross(dx - cx, dy - cy, ax - cx, ay - cy), cross(dx - cx, dy - cy, bx - cx, by - cy)
    return one * two <= 0.0 and three * four <= 0.0 and not (one == 0.0 and two == 0.0)


@kernel
def free_way(x, after, p, q, spared):
    """Whether the way from p to q meets no segment (v, after[v]), those with a spared vertex left aside."""
    left, right, low, high = min(p[0], q[0]), max(p[0], q[0]), min(p[1], q[1]), max(p[1], q[1])
    for a in range(len(after)):
        b = after[a]
        if b < 0:
            continue
        if max(x[a, 0], x[b, 0]) < left or min(x[a, 0], x[b, 0]) > right:
            continue
        if max(x[a, 1], x[b, 1]) < low or min(x[a, 1], x[b, 1]) > high:
            continue
        passed = False
        for v in spared:
            passed = passed or v in (a, b)
        if not passed and crosses(p[0], p[1], q[0], q[1], x[a, 0], x[a, 1], x[b, 0], x[b, 1]):
            return False
    return True


@kernel(parallel=True)
def facing(x, segments, normal, gap, partner, least):
    """The segment that every vertex looks at through the outside within `gap`, the nearest; -1 if there is none."""
    for index in prange(len(x)):
        p = np.int64(index)
        partner[p], least[p] = -1, gap
        for s in range(len(segments)):
            a, b = segments[s, 0], segments[s, 1]
            if a == p or b == p:
                continue
            ex, ey, rx, ry = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[p, 0] - x[a, 0], x[p, 1] - x[a, 1]
            size = ex * ex + ey * ey
            t = min(max((ex * rx + ey * ry) / max(size, 1e-300), 0.0), 1.0)
            wx, wy = t * ex - rx, t * ey - ry
            far = np.sqrt(wx * wx + wy * wy)
            if far >= least[p]:
                continue
            opposed = normal[p, 0] * ey - normal[p, 1] * ex < -0.5 * np.sqrt(size)
            if opposed and normal[p, 0] * wx + normal[p, 1] * wy > 0.5 * far:
                partner[p], least[p] = s, far


@kernel
def intersections(x, segments):
    """How many pairs of segments without a common vertex meet."""
    count = 0
    for s in range(len(segments)):
        a, b = segments[s, 0], segments[s, 1]
        for t in range(s + 1, len(segments)):
            c, d = segments[t, 0], segments[t, 1]
            if c != a and c != b and d != a and d != b:
                count += crosses(x[a, 0], x[a, 1], x[b, 0], x[b, 1], x[c, 0], x[c, 1], x[d, 0], x[d, 1])
    return count


@kernel
def distance_near(x, segments, corner, spacing, reach, out):
    """Distances to curves at the samples (i, j) within `reach` of them, where they are less than in `out` (float32)."""
    for s in range(len(segments)):
        a, b = segments[s, 0], segments[s, 1]
        ex, ey = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
        square = max(ex * ex + ey * ey, 1e-300)
        i0 = max(int(np.ceil((min(x[a, 0], x[b, 0]) - reach - corner[0]) / spacing)), 0)
        i1 = min(int(np.floor((max(x[a, 0], x[b, 0]) + reach - corner[0]) / spacing)), out.shape[0] - 1)
        j0 = max(int(np.ceil((min(x[a, 1], x[b, 1]) - reach - corner[1]) / spacing)), 0)
        j1 = min(int(np.floor((max(x[a, 1], x[b, 1]) + reach - corner[1]) / spacing)), out.shape[1] - 1)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                rx, ry = corner[0] + i * spacing - x[a, 0], corner[1] + j * spacing - x[a, 1]
                along = min(max((rx * ex + ry * ey) / square, 0.0), 1.0)
                qx, qy = rx - along * ex, ry - along * ey
                out[i, j] = min(out[i, j], np.float32(np.sqrt(qx * qx + qy * qy)))
