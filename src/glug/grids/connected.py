"""Cells with open faces, and their parts that are connected through these."""

import numpy as np

from glug.grids import kernels
from glug.grids.regular import Staggered


def open_cells(member: np.ndarray, area: Staggered) -> np.ndarray:
    """Those of some cells (uint8) that have an open face."""
    opening = np.empty(member.shape, np.float32)
    kernels.sum_faces(*area, member, opening)
    return (opening > 0).view(np.uint8)


def label_parts(member: np.ndarray, area: Staggered) -> tuple[np.ndarray, int]:
    """Number the parts of `member` cells (uint8) that are connected through open faces; how many there are.

    -1 marks other cells. Parts are numbered in the order of their first cells, whatever the number of threads.
    """
    parent, label = np.empty(member.size, np.int32), np.empty(member.shape, np.int32)
    kernels.join_slabs(member, *area, parent)
    kernels.join_between(member, area[0], parent)
    found = np.zeros(-(-member.shape[0] // int(kernels.SLAB)), np.int64)
    kernels.count_roots(member, parent, found)
    kernels.number_roots(member, parent, np.cumsum(found) - found, label)
    kernels.number_members(member, parent, label)
    return label, int(found.sum())
