"""Which parts of a window are active: blocks of 8 x 8 cells by a run of tiles along z.

Hot kernels loop over a list of blocks, so their cost follows the liquid, not the box; sums over a block are
added in the order of the list, so they do not depend on the number of threads.
"""

import numpy as np

from glug.grids import kernels, kernels_blocks

TILE = int(kernels.TILE)
HEAD = int(kernels_blocks.HEAD)


def active_blocks(active: np.ndarray) -> np.ndarray:
    """Blocks (i0, j0, k0, k1, then a range along z for each of their rows), int32, that cover every active cell.

    Blocks run over i0 .. i0 + TILE, j0 .. j0 + TILE and k0 .. k1 of the window, in whole tiles.
    """
    if active.dtype.kind == "f":
        active = (active != 0.0).view(np.uint8)
    found = np.empty([-(-n // TILE) for n in active.shape], np.bool_)
    kernels.active_tiles(active, TILE, found)
    blocks = np.zeros((kernels_blocks.count_runs(found), HEAD + 2 * TILE * TILE), np.int32)
    kernels_blocks.find_runs(found, active.shape[2], blocks)
    kernels_blocks.fit_rows(active, blocks)
    return blocks
