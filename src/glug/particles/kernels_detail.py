"""The kernel that says how large cells of a sparse tree may be for what the liquid does in them.

`near` (leaves, 54) are the lattice faces around leaves: for every axis a the lower and the upper one, and 3 x 3 across
each, along the axes a + 1 and a + 2.
"""

import numpy as np

from glug.jit import kernel, prange

HALF, QUARTER, ZERO = np.float32(0.5), np.float32(0.25), np.float32(0.0)


@kernel(inline=True)
def slope_and_bend(n, a, across, near, u):
    """Of the a-th velocity along the axis a + 1 + across, from leaf to leaf: its change, how far it bends."""
    stride = 3 - 2 * across
    change, bend = ZERO, ZERO
    for i in range(2):
        middle = 18 * a + 9 * i + 4
        low, here, high = u[near[n, middle - stride]], u[near[n, middle]], u[near[n, middle + stride]]
        change += QUARTER * (high - low)
        bend = max(bend, abs(HALF * (low + high) - here))
    return change, bend


@kernel(parallel=True)
def raise_detail(level, wet, start, near, u, dx, most_bend, most_turn, detail):
    """Particles of wet leaves: at least one over the side h at which bend h^2 and |curl u| h reach their limits."""
    for n in prange(near.shape[0]):
        if wet[n] == 0 or start[n] == start[n + 1]:
            continue
        h = dx * np.float32(np.int64(1) << np.int64(level[n]))
        bend, turn = ZERO, ZERO
        for a in range(3):  # the curl about a + 2: of a + 1 along a, less of a along a + 1
            along, first = slope_and_bend(n, a, 0, near, u)
            back, second = slope_and_bend(n, (a + 1) % 3, 1, near, u)
            bend = max(bend, max(first, second))
            turn += (back - along) * (back - along)
        wished = max(np.sqrt(bend / most_bend), np.sqrt(turn) / most_turn) / h
        for o in range(start[n], start[n + 1]):
            detail[o, 0] = max(detail[o, 0], wished)
