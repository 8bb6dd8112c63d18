"""More smoothing where liquid meets walls and air at once.

Beside such a line liquid hangs over the wall with a gap that coarse grids do not see: they hold it. The cycle hardly
corrects its motions then, and they alone decide how many iterations a solve takes. On the octree, whose rows cost more,
sweeping over the line more often pays; on the regular grid the iterations that it saves cost as much as they did.
"""

import numpy as np

from glug.grids import kernels as kernels_tiles
from glug.grids.coarsen import touched_cells
from glug.grids.tiles import HEAD, TILE, active_blocks
from glug.physics import kernels_contact
from glug.physics.viscosity_levels import ViscosityLevel
from glug.solvers import kernels
from glug.solvers.cg import Vector
from glug.solvers.smoothers import GaussSeidel, coloured

SWEEPS = 8  # more of them on the finest level, on either side of the usual ones; half as many on every coarser one
REACH = 2.0  # cells from a wall
FULL = 0.999  # liquid fraction from which a face is not at the surface


def contact_cells(level: ViscosityLevel, full: float) -> np.ndarray:
    """1 at the cells of a level at such a line; `full` is the mass of a face full of liquid."""
    marked = np.empty(level.shape, np.uint8)
    reach = np.float32(REACH * level.dx)
    kernels_contact.mark_contact(level.mass, level.stopping, np.float32(FULL * full), reach, marked)
    return marked


def tiles_with(marked: np.ndarray) -> np.ndarray:
    """Whether a tile has a marked cell."""
    found = np.empty([-(-n // TILE) for n in marked.shape], np.bool_)
    kernels_tiles.active_tiles(marked, TILE, found)
    return found


def whole_tiles(marked: np.ndarray) -> np.ndarray:
    """1 at all cells of tiles that have a marked one."""
    nx, ny, nz = marked.shape
    cells = tiles_with(marked).view(np.uint8)
    for axis in range(3):
        cells = cells.repeat(TILE, axis=axis)
    return np.ascontiguousarray(cells[:nx, :ny, :nz])


class ContactSmoother:
    """A smoother, and more sweeps over contact lines before and after it.

    The mass of full faces grows eightfold from level to level, from 1 at `finest` cells. Coarse faces at walls have
    lost mass to them as well: only what lies around a line of the grid above is one.
    """

    def __init__(self, smoother: GaussSeidel, finest: float):
        self._smoother, self._finest = smoother, finest
        self._parts: dict[int, tuple[int, list[np.ndarray]]] = {}
        self._above: tuple[np.ndarray, tuple[int, int, int]] | None = None  # blocks and shape; cycles go down first

    def _part(self, level: ViscosityLevel) -> tuple[int, list[np.ndarray]]:
        """How often to sweep there, and the blocks by colour."""
        if id(level) not in self._parts:
            size = round(level.dx / self._finest)
            sweeps = SWEEPS // size
            blocks = self._blocks(level, size**3) if sweeps else np.zeros((0, HEAD), np.int32)
            self._parts[id(level)] = sweeps, [b for b in coloured(blocks) if len(b)]
        return self._parts[id(level)]

    def _blocks(self, level: ViscosityLevel, full: float) -> np.ndarray:
        cells = contact_cells(level, full)
        if self._above is not None:
            cells &= touched_cells(*self._above, level.shape)
        self._above = active_blocks(cells), level.shape
        return active_blocks(whole_tiles(cells))

    def _sweep(self, level: ViscosityLevel, b: Vector, x: Vector, forward: bool) -> None:
        sweeps, colours = self._part(level)
        for _ in range(sweeps):
            for blocks in colours if forward else reversed(colours):
                level.sweep(b, x, blocks, forward)

    def start(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self._sweep(level, b, x, True)
        self._smoother.forward(level, b, x, scratch)
        self._sweep(level, b, x, True)

    def backward(self, level: ViscosityLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self._sweep(level, b, x, False)
        self._smoother.backward(level, b, x, scratch)
        self._sweep(level, b, x, False)
