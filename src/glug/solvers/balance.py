"""A preconditioner for systems that leave a constant open.

In a part of the unknowns that nothing fixes, A 1 = 0. There a residual must sum to zero, which rounding spoils: the
preconditioner makes a constant of the sum, which A cannot reduce, and in the end directions consist of little else.
"""

from collections.abc import Callable

import numpy as np

from glug.solvers import kernels_balance as kernels
from glug.solvers.cg import System, Vector


class PartMeans:
    """The means of a field over parts; `label` numbers the part of every cell, -1 for none, and `blocks` cover them."""

    def __init__(self, label: np.ndarray, blocks: np.ndarray):
        self.label, self.blocks = label, blocks
        self.cells = np.bincount(label[label >= 0].ravel()).astype(np.float64)
        self._sums = np.empty((len(blocks), len(self.cells)))

    def remove(self, v: np.ndarray) -> None:
        """v less its mean over every part, in place."""
        kernels.sum_parts(v, self.label, self.blocks, self._sums)
        mean = (self._sums.sum(axis=0) / np.maximum(self.cells, 1.0)).astype(np.float32)
        kernels.subtract_parts(v, self.label, self.blocks, mean)


class Balanced:
    """P M P: a symmetric cycle M between projections P that remove the mean over every part.

    `label` numbers the parts that nothing fixes, by cell; other cells have -1. The residual it is given is balanced in
    place: what it loses is rounding.
    """

    def __init__(self, precondition: Callable[[Vector, Vector, Vector], float], system: System, label: np.ndarray):
        self.precondition, self.means = precondition, PartMeans(label, system.blocks)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """z = P M P r; returns r . z."""
        self.means.remove(r[0])
        energy = self.precondition(r, z, scratch)
        self.means.remove(z[0])
        return energy
