"""Fields on a grid and on the one with cells twice as large: sums, restriction, interpolation.

Fine samples lie between coarse ones: interpolation is linear, restriction its transpose. A quadratic form of fine
samples, such as the energy of strains that are interpolated like the samples themselves, is bounded on the coarse grid
by the restriction of its weights (Jensen's inequality).
"""

from collections.abc import Sequence

import numpy as np

from glug.grids import kernels_blocks
from glug.grids import kernels_coarsen as kernels
from glug.grids.blocks import active_blocks
from glug.grids.regular import Offset

# Weights of fine samples 2 I - 3 + o in coarse sample I, o = 0..3, by where samples sit along an axis.
CELLS = np.array([0.25, 0.75, 0.75, 0.25], np.float32)  # the transpose of linear interpolation
NODES = np.array([0.5, 1.0, 0.5, 0.0], np.float32)
PAIRS = np.array([0.0, 1.0, 1.0, 0.0], np.float32)  # differences between nodes, which interpolation keeps
EVERYWHERE = np.zeros((0, 0, 0), np.float32)


def coarse_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Cells of the coarse grid: the fine ones by pairs, and an empty layer on either side."""
    i, j, k = (n // 2 + 3 for n in shape)
    return i, j, k


def coarse_blocks(blocks: np.ndarray, fine: tuple[int, int, int], coarse: tuple[int, int, int]) -> np.ndarray:
    """Blocks of the grid of shape `coarse` that cover what `blocks` of the `fine` one touch."""
    return active_blocks(touched_cells(blocks, fine, coarse))


def touched_cells(blocks: np.ndarray, fine: tuple[int, int, int], coarse: tuple[int, int, int]) -> np.ndarray:
    """1 at the cells of the grid of shape `coarse` that `blocks` of the `fine` one touch."""
    touched = np.zeros(coarse, np.uint8)
    kernels_blocks.touch(blocks, fine, touched)
    return touched


def weights_at(offset: Offset) -> list[np.ndarray]:
    return [CELLS if o == 0.5 else NODES for o in offset]


def quarter(weights: np.ndarray) -> np.ndarray:
    """Differences over twice the distance have a quarter of the energy."""
    return np.float32(0.25) * weights


def gather(
    fine: np.ndarray,
    weights: Sequence[np.ndarray],
    out: np.ndarray,
    blocks: np.ndarray,
    mask: np.ndarray = EVERYWHERE,
) -> None:
    """`out` = the weighted sums of the fine field over `blocks`, where `mask` is positive."""
    kernels.coarsen(fine, *weights, mask, out, blocks)


def interpolate(coarse: np.ndarray, offset: Offset, mask: np.ndarray, fine: np.ndarray, blocks: np.ndarray) -> None:
    """Add the linear interpolant of the coarse field, where `mask` is positive."""
    kernels.refine(coarse, *(o == 0.0 for o in offset), mask, fine, blocks)


def every_other(distance: np.ndarray, dx: float, shape: tuple[int, int, int]) -> np.ndarray:
    """A distance at cell corners dx apart, on the coarse grid of `shape`. Beyond the fine grid it goes on as it arrives
    at its border."""
    i, j, k = (n + 1 for n in shape)
    coarse = np.empty((i, j, k), distance.dtype)
    kernels.pick_nodes(distance, np.float32(dx), coarse)
    return coarse
