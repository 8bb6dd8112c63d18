"""The pressure matrix of one grid, laid out for the passes of a solve (see `kernels_rows`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glug.grids.blocks import TILE
from glug.grids.regular import Staggered
from glug.physics.pressure import kernels_rows as kernels
from glug.solvers.smoothers import Colours, coloured


@dataclass(frozen=True)
class PressureRows:
    """Products, residuals and sweeps with the matrix of `links` and `diagonal`; fields are zero beside unknowns."""

    links: Staggered
    diagonal: np.ndarray
    scale: np.float32  # of a link away from surfaces and solids
    rows: np.ndarray
    start: np.ndarray
    cell: np.ndarray
    entry: np.ndarray
    colours: Colours
    sums: np.ndarray  # one per block

    @classmethod
    def build(cls, links: Staggered, diagonal: np.ndarray, scale: float, blocks: np.ndarray) -> "PressureRows":
        matrix = (*links, diagonal, np.float32(scale))
        found, counts = np.empty((len(blocks), 2 * TILE * TILE), np.int32), np.empty((len(blocks), 2), np.int64)
        kernels.find_rows(*matrix, blocks, found, counts)
        ends = np.zeros((2, len(blocks) + 1), np.int64)
        np.cumsum(counts.T, axis=1, out=ends[:, 1:])
        start, first = ends
        rows, cell = np.empty((start[-1], 7), np.int32), np.empty(first[-1], np.int32)
        entry = np.empty((first[-1], 8), np.float32)
        kernels.list_rows(*matrix, blocks, found, start, first, rows, cell, entry)
        sums = np.zeros(len(blocks))
        return cls(links, diagonal, np.float32(scale), rows, start, cell, entry, coloured(blocks), sums)

    @property
    def matrix(self) -> tuple[Any, ...]:
        """What the kernels take."""
        return (*self.links, self.diagonal, self.scale, self.rows, self.start, self.cell, self.entry)

    def apply(self, d: np.ndarray, q: np.ndarray) -> float:
        """q = A d; returns d . q."""
        kernels.apply_pressure(d, q, *self.matrix, self.sums)
        return float(self.sums.sum())

    def residual(self, b: np.ndarray, x: np.ndarray, r: np.ndarray) -> None:
        """r = b - A x, in the precision of x."""
        exact = x.dtype == np.float64
        (kernels.residual_pressure if exact else kernels.residual_pressure_fast)(b, x, r, *self.matrix)

    def sweep(self, b: np.ndarray, x: np.ndarray, colours: Colours, forward: bool, times: int) -> None:
        """Gauss-Seidel in every block, `times` before the next, colour by colour or in the opposite order."""
        kernels.relax_pressure(x, b, *self.matrix, colours.numbers, colours.starts, times, forward)
