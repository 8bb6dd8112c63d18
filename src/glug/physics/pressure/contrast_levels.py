"""The grids of a pressure solve where densities differ by orders of magnitude.

What a light fluid is to a heavy one is a good conductor: inside it pressures hardly vary. Coarse links are conductances
in series along an axis and side by side across it, and interpolation follows the resistances, so that a pressure in the
air does not leak into the water or back.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from glug.grids.blocks import active_blocks
from glug.grids.coarsen import coarse_shape
from glug.grids.kernels import sum_faces
from glug.grids.regular import Grid, Staggered
from glug.physics.pressure import kernels_contrast as contrast
from glug.physics.pressure.levels import PressureLevel
from glug.solvers.cg import PATIENCE, Vector

MOST_AVERAGED = 30.0  # contrast up to which links that are averaged take less time (10 iterations against 6 at 10:1)


def contrast_of(mobility: Staggered) -> float:
    """The heaviest density over the lightest."""
    return max(float(m.max()) for m in mobility) / min(float(m.min()) for m in mobility)


@dataclass
class ContrastLevel(PressureLevel):
    """`spring` ties cells to p = 0 beside the links."""

    spring: np.ndarray = field(default_factory=lambda: np.zeros(0))
    sweeps: ClassVar[int] = 4
    patience: ClassVar[tuple[int, int]] = (4 * PATIENCE, 10 * PATIENCE)  # the diagonal takes thousands

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spring.size == 0:
            self.spring = np.zeros(self.shape, np.float32)

    def apply(self, d: Vector, q: Vector) -> float:
        contrast.apply_differences(d[0], q[0], *self.links, self.spring, self.diagonal, self.blocks, self.rows.sums)
        return float(self.rows.sums.sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        if x[0].dtype == np.float64:  # of the finest level, which has no springs
            self.rows.residual(b[0], x[0], r[0])
        else:
            contrast.residual_differences(b[0], x[0], r[0], *self.links, self.spring, self.diagonal, self.blocks)

    @cached_property
    def weights(self) -> Staggered:
        """Of the next pair of cells along every axis, at cells."""
        x, y, z = (np.zeros(self.shape, np.float32) for _ in range(3))
        for a, (link, weight) in enumerate(zip(self.links, (x, y, z))):
            contrast.transfer_weights(a, link, self.diagonal, self.blocks, weight)
        return x, y, z

    def restrict(self, r: Vector, coarse: PressureLevel, b: Vector) -> None:
        contrast.coarsen_weighted(r[0], *self.weights, coarse.diagonal, b[0], coarse.blocks)

    def interpolate(self, e: Vector, x: Vector) -> None:
        contrast.refine_weighted(e[0], *self.weights, self.diagonal, x[0], self.blocks)

    def coarser(self) -> "ContrastLevel":
        grid = Grid(1.0, coarse_shape(self.shape))
        liquid, spring, links = grid.scalar(dtype=np.uint8), grid.scalar(), grid.staggered()
        contrast.coarse_unknowns(self.diagonal, self.spring, liquid, spring)
        for a in range(3):
            contrast.series_links(a, self.links[a], self.diagonal, liquid, links[a], spring)
        diagonal = grid.scalar()
        sum_faces(*links, liquid, diagonal)
        diagonal += spring
        empty = np.zeros((0, 0, 0), np.float32)
        area = (empty, empty, empty)
        return ContrastLevel(
            grid.shape, empty, liquid, area, links, diagonal, active_blocks(liquid), 2.0 * self.scale, spring=spring
        )
