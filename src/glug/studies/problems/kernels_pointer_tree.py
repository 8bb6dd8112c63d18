"""Kernels of the pointer octree, the baseline: every neighbour is found by climbing and descending."""

import numpy as np

from glug.grids.octree.linear.kernels import ABSENT
from glug.jit import kernel

MOST = 16  # levels of a path


@kernel(inline=True)
def neighbour(node, side, child, parent, place, root_links, path):
    """The node across a side: climb until the path turns, step over, and mirror it going down; -1 where there is none.

    A finer neighbour is its first child that touches.
    """
    bit = np.int64(1) << (side >> 1)
    up = (side & 1) == 1
    depth = 0
    while parent[node] >= 0 and ((place[node] & bit) != 0) == up:
        path[depth] = place[node]
        depth += 1
        node = parent[node]
    if parent[node] < 0:
        node = root_links[node, side]
        if node < 0:
            return node
    else:
        node = child[parent[node], place[node] ^ bit]
    while depth > 0 and child[node, 0] >= 0:
        depth -= 1
        node = child[node, path[depth] ^ bit]
    while child[node, 0] >= 0:
        node = child[node, 0 if up else bit]
    return node


@kernel
def search(order, child, parent, place, root_links, leaf, links):
    """Neighbours of all leaves, in the order of the tree; `leaf` is the number of a node that is one."""
    path = np.zeros(MOST, np.int64)
    for n in range(order.shape[0]):
        for side in range(6):
            found = neighbour(order[n], side, child, parent, place, root_links, path)
            links[n, side] = leaf[found] if found >= 0 else found


@kernel
def descend(keys, top, start, child, leaf, found):
    """The leaves that cover finest cells, from their roots (`start`, of level `top`) down."""
    for n in range(keys.shape[0]):
        node, shift = np.int64(start[n]), 3 * (top - 1)
        while node >= 0 and child[node, 0] >= 0:
            node = np.int64(child[node, (np.int64(keys[n]) >> shift) & 7])
            shift -= 3
        found[n] = leaf[node] if node >= 0 else ABSENT


@kernel
def follow(links, out):
    """The same from stored links: the sum of the numbers on the way, so that nothing is left out."""
    for n in range(links.shape[0]):
        total = np.int64(0)
        for side in range(6):
            total += links[n, side]
        out[n] = total
