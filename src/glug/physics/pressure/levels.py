"""The grids of a pressure solve.

Links between liquid cells are restricted, which bounds the fine energy of interpolated pressures at walls of any shape;
links towards air follow anew on every level from the liquid's distance. A coarse cell is an unknown when fine unknowns
lie around it and its centre is in the liquid: where the surface leaves a coarse cell it is left to finer grids.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from glug.grids.blocks import active_blocks
from glug.grids.coarsen import (
    CELLS,
    NODES,
    PAIRS,
    coarse_blocks,
    coarse_shape,
    gather,
    interpolate,
    quarter,
    weights_at,
)
from glug.grids.regular import CENTRE, Grid, Staggered, clear_border
from glug.physics.pressure import kernels_grids
from glug.physics.pressure.rows import PressureRows
from glug.solvers.cg import PATIENCE, Vector
from glug.solvers.multigrid import BOTTOM
from glug.solvers.smoothers import Colours

COARSEST = 8  # cells along the longest side, padding included
PICK = np.array([0.0, 1.0, 0.0, 0.0], np.float32)  # the fine node at the coarse one
HALF = np.float32(0.5)


@dataclass
class PressureLevel:
    """The matrix of the links over the liquid cells of one grid.

    `phi` is the liquid's distance in fine cells or metres (only ratios count), `area` the open fraction of faces;
    `scale` is what a full link between neighbours weighs.
    """

    shape: tuple[int, int, int]
    phi: np.ndarray
    liquid: np.ndarray
    area: Staggered
    links: Staggered
    diagonal: np.ndarray
    blocks: np.ndarray
    scale: float = 1.0
    name: str = "pressure"
    sweeps: ClassVar[int] = 2  # of a cycle, on every level
    # Iterations by cycles, and by incomplete factors, which take more, before another preconditioner is tried.
    patience: ClassVar[tuple[int, int]] = (PATIENCE, 10 * PATIENCE)

    def __post_init__(self) -> None:
        self.mask: Vector = (self.diagonal,)
        self.unknowns = int(np.count_nonzero(self.diagonal > 0))

    @cached_property
    def rows(self) -> PressureRows:
        return PressureRows.build(self.links, self.diagonal, self.scale, self.blocks)

    @property
    def colours(self) -> Colours:
        return self.rows.colours

    def apply(self, d: Vector, q: Vector) -> float:
        return self.rows.apply(d[0], q[0])

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        self.rows.residual(b[0], x[0], r[0])

    def sweep(self, b: Vector, x: Vector, colours: Colours, forward: bool, times: int) -> None:
        self.rows.sweep(b[0], x[0], colours, forward, times)

    def restrict(self, r: Vector, coarse: "PressureLevel", b: Vector) -> None:
        gather(r[0], weights_at(CENTRE), b[0], coarse.blocks, coarse.diagonal)

    def interpolate(self, e: Vector, x: Vector) -> None:
        interpolate(e[0], CENTRE, self.diagonal, x[0], self.blocks)

    def coarser(self) -> "PressureLevel":
        """The level with cells twice as large."""
        return coarser(self)

    def without(self, cells: np.ndarray) -> "PressureLevel":
        """The level in which some cells (flat) count as air."""
        liquid, diagonal = self.liquid.copy(), self.diagonal.copy()
        liquid.reshape(-1)[cells] = 0
        diagonal.reshape(-1)[cells] = 0.0
        return replace(self, liquid=liquid, diagonal=diagonal)


def hierarchy(finest: PressureLevel) -> list[PressureLevel]:
    """`finest` and ever coarser levels, down to one that is solved at once or has nothing left."""
    levels = [finest]
    while levels[-1].unknowns > BOTTOM and max(levels[-1].shape) > COARSEST:
        coarse = levels[-1].coarser()
        if coarse.unknowns == 0:
            break
        levels.append(coarse)
    return levels


def coarser(fine: PressureLevel) -> PressureLevel:
    """The level with cells twice as large."""
    grid = Grid(1.0, coarse_shape(fine.shape))
    blocks = coarse_blocks(fine.blocks, fine.shape, grid.shape)
    phi = grid.scalar()
    gather(fine.phi, [HALF * PAIRS] * 3, phi, active_blocks(np.ones(grid.shape, np.uint8)))
    reach = grid.scalar()
    gather(fine.diagonal, [CELLS] * 3, reach, blocks)
    liquid = ((reach > 0) & (phi < 0)).view(np.uint8)
    clear_border(liquid)  # stencils do not reach it

    scale = 2.0 * fine.scale
    area, links = grid.staggered(), grid.staggered()
    for a in range(3):
        gather(fine.area[a], [PICK if b == a else HALF * PAIRS for b in range(3)], area[a], blocks)
        weights = [quarter(NODES) if b == a else CELLS for b in range(3)]
        kernels_grids.coarsen_links(a, fine.links[a], fine.liquid, *weights, links[a], blocks)
        kernels_grids.coarse_links(a, phi, liquid, area[a], np.float32(scale), links[a])
    diagonal, held = grid.scalar(), grid.scalar()
    colours = fine.colours
    kernels_grids.coarsen_springs(*fine.rows.matrix, fine.liquid, colours.numbers, colours.starts, held)
    kernels_grids.coarse_diagonal(*links, liquid, held, np.float32(scale), diagonal)
    liquid = (diagonal > 0).view(np.uint8)
    return PressureLevel(grid.shape, phi, liquid, area, links, diagonal, active_blocks(liquid), scale)
