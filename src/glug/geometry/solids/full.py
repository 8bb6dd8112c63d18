"""Cells that are known to be full of liquid, whatever particles they hold: the coarse leaves of a tree.

The liquid's distance is found from particles as if those cells were solid, into which it is continued; then they are
deep in the liquid.
"""

from __future__ import annotations

import numpy as np

from glug.geometry.solids import kernels_full as kernels

DEPTH = 4  # cells: how deep the liquid is there at least


def nodes_around(nodes: np.ndarray, full: np.ndarray, dx: float) -> np.ndarray:
    """The solid distance at cell corners, with the full cells as solids."""
    out = np.empty_like(nodes)
    kernels.close_full(nodes, full, np.float32(dx), out)
    return out


def sink_full(phi: np.ndarray, full: np.ndarray, dx: float, refine: int = 1) -> None:
    """Give full cells their depth, in place; `phi` has `refine` samples per cell edge."""
    kernels.sink(phi, full, refine, np.float32(-DEPTH * dx))
