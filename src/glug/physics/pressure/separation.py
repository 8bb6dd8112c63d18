"""Walls that let go: the projection with pressures that push and never pull (Batty 2010, section 2.4).

At a separating wall  0 <= p  and  (u - u_wall) . n >= 0, one of the two equal to zero. The cells that touch the wall
have q >= 0; the multiplier A q - (target - D u*) = D u - target >= 0 is the rate at which such a cell opens. One that
opens has q = 0, like air: it is freed. Minimising the kinetic energy of the projection with these bounds is all there
is to it (`solvers.bounded`).

A part of the liquid without free surface cannot open anywhere: its openings are not negative and sum to zero. Its cells
are not bounded; a constant added to its pressures makes the smallest at separating walls zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glug.physics.pressure.levels import PressureLevel, hierarchy
from glug.physics.rigid.levels import BodyGrids, BodySmoother
from glug.solvers.bounded import Bounds, Preconditioners
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, System
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel

if TYPE_CHECKING:
    from glug.physics.pressure.components import Components

SAME = 0.1  # share of the held cells that may differ before coarse grids are made anew


def bounded_cells(separating: np.ndarray, liquid: np.ndarray, components: Components) -> np.ndarray:
    """Flat indices of the liquid cells at separating walls, in the parts of the liquid that have a free surface."""
    index = np.flatnonzero((separating > 0) & (liquid > 0))
    return index[components.free[components.label.reshape(-1)[index]]]


def lift_closed(q: np.ndarray, separating: np.ndarray, components: Components, pushes: np.ndarray) -> None:
    """Add to the pressures of every closed part what makes the smallest at separating walls zero, in place.

    Not to those of parts whose pressure as a whole `pushes` a body: they are what they are.
    """
    if components.free.all():
        return
    label = components.label
    least = np.full(len(components.cells), np.inf)
    touching = (separating > 0) & (label >= 0)
    np.minimum.at(least, label[touching], q[touching])
    least[components.free | pushes | ~np.isfinite(least)] = 0.0
    inside = label >= 0
    q[inside] -= least[label[inside]]


class HeldSystems:
    """The pressure system with any cells held, and its multigrid; coarse grids serve similar sets of cells."""

    def __init__(self, system: PressureLevel, sweeps: int, multigrid: bool, bodies: BodyGrids | None = None):
        self.system, self.sweeps, self.multigrid, self.bodies = system, sweeps, multigrid, bodies
        self._coarse: list[PressureLevel] = []
        self._index = np.full(1, -1)

    def __call__(self, index: np.ndarray) -> tuple[System, Preconditioners]:
        """Without the cells `index`: they count as air."""
        liquid, diagonal = self.system.liquid.copy(), self.system.diagonal.copy()
        liquid.reshape(-1)[index] = 0
        diagonal.reshape(-1)[index] = 0.0
        level = replace(self.system, liquid=liquid, diagonal=diagonal)

        coupled = None if self.bodies is None else self.bodies.with_bodies(level)

        def jacobi() -> Preconditioner:
            return Diagonal(level.mask if coupled is None else coupled.low_rank.diagonal(level.mask), level.blocks)

        def cycle() -> Preconditioner:
            differing = len(np.setxor1d(index, self._index, assume_unique=True))
            if differing > SAME * max(len(index), 1):
                self._coarse = hierarchy(level)[1:] if self.bodies is None else self.bodies.coarser(level)
                self._index = index
            if self.bodies is None or coupled is None:
                return Cycle(level, Multigrid([level, *self._coarse], GaussSeidel(self.sweeps)))
            finest = self.bodies.finest(level, coupled.low_rank)
            return Cycle(level, Multigrid([finest, *self._coarse], BodySmoother(self.sweeps)))

        return coupled or level, [cycle, jacobi] if self.multigrid else [jacobi]


def opened(bounds: Bounds, shape: tuple[int, ...]) -> np.ndarray:
    """1 at the cells that a bounded solve left at their bound."""
    freed = np.zeros(shape, np.uint8)
    freed.reshape(-1)[bounds.index[bounds.held]] = 1
    return freed
