"""The connected parts of the liquid, and which of them are closed."""

from dataclasses import dataclass

import numpy as np

from glug.grids.connected import label_parts
from glug.grids.regular import Staggered
from glug.physics.pressure import kernels


@dataclass(frozen=True)
class Components:
    """`label` numbers the component of every liquid cell (-1 elsewhere)."""

    label: np.ndarray
    cells: np.ndarray  # cells of each component
    free: np.ndarray  # whether it touches air anywhere

    def sums(self, rhs: np.ndarray, liquid: np.ndarray, links: Staggered) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per component: its cells, its links to air, and the sum of `rhs`."""
        return _sums(self.label, liquid, rhs, links, len(self.cells))

    def compatibility(self, rhs: np.ndarray, liquid: np.ndarray, links: Staggered) -> np.ndarray:
        """What to add per cell so that the sum over every closed component is zero."""
        if self.free.all():
            return np.zeros(len(self.cells))
        cells, _, total = self.sums(rhs, liquid, links)
        return np.where(self.free, 0.0, -total / np.maximum(cells, 1))


def find_components(liquid: np.ndarray, area: Staggered, links: Staggered) -> Components:
    """Connected through open faces; a component that touches air through an open face is open (`free`)."""
    label, count = label_parts(liquid, area)
    cells, opening, _ = _sums(label, liquid, np.zeros_like(label, np.float32), links, count)
    return Components(label, cells, opening > 0.0)


def _sums(
    label: np.ndarray, liquid: np.ndarray, rhs: np.ndarray, links: Staggered, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells, opening, total = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    kernels.component_sums(label, liquid, rhs, *links, cells, opening, total)
    return cells, opening, total
