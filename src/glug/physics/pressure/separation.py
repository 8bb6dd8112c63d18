"""Walls that let go: the projection with pressures that push and never pull (Batty 2010, section 2.4).

At a separating wall  0 <= p  and  (u - u_wall) . n >= 0, one of the two equal to zero. The cells that touch the wall
have q >= 0; the multiplier A q - (target - D u*) = D u - target >= 0 is the rate at which such a cell opens. One that
opens has q = 0, like air: it is freed. Minimising the kinetic energy of the projection with these bounds is all there
is to it (`solvers.bounded`).

A part of the liquid without free surface cannot open anywhere: its openings are not negative and sum to zero. Its cells
are not bounded; a constant added to its pressures makes the smallest at separating walls zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glug.solvers.bounded import Bounds

if TYPE_CHECKING:
    from glug.physics.pressure.components import Components
    from glug.physics.pressure.problem import PressureProblem


@dataclass(frozen=True)
class SeparatingWalls:
    """Walls that let go."""

    cells: np.ndarray  # uint8: those that touch such a wall

    def bounds(self, problem: PressureProblem, freed: np.ndarray | None, earlier: np.ndarray | None) -> Bounds:
        """The bounds of a solve, on the numbers of its vectors, which begins with `freed` cells at them (uint8).

        `earlier` is q of a projection before, in the same step: the sum of both is bounded.
        """
        cell = bounded_cells(self.cells, problem.liquid, problem.components, fixed_by_open_air(problem))
        lower = 0.0 if earlier is None else -earlier.reshape(-1)[cell]
        held = np.zeros(0, np.bool_) if freed is None else freed.reshape(-1)[cell] > 0
        return Bounds(problem.numbered(cell), lower, held)

    def lift(self, problem: PressureProblem, q: np.ndarray) -> None:
        """Lift the pressures of closed parts to what walls allow, in place."""
        lift_closed(q, self.cells, problem.components, closed_parts(problem))


def closed_parts(problem: PressureProblem) -> np.ndarray:
    """Number, for every component, the part whose pressures are known up to one constant; -1 where they are fixed.

    Components that bubbles join share the constant. Pressures that as a whole push a body are what they are.
    """
    if problem.bubbles is not None:
        return problem.bubbles.unfixed
    loose = ~problem.components.free & ~problem.pushed
    return np.where(loose, np.arange(len(loose)), -1)


def fixed_by_open_air(problem: PressureProblem) -> np.ndarray:
    """The components whose pressures are fixed by open air, next to them or behind bubbles.

    Behind bubbles a body that gives way fixes them as well.
    """
    return problem.components.free if problem.bubbles is None else problem.bubbles.unfixed < 0


def bounded_cells(separating: np.ndarray, liquid: np.ndarray, components: Components, fixed: np.ndarray) -> np.ndarray:
    """Flat indices of the liquid cells at separating walls, in the components whose pressure is `fixed`."""
    index = np.flatnonzero((separating > 0) & (liquid > 0))
    return index[fixed[components.label.reshape(-1)[index]]]


def lift_closed(q: np.ndarray, separating: np.ndarray, components: Components, part: np.ndarray) -> None:
    """Add to the pressures of every closed part what makes the smallest at separating walls zero, in place.

    `part` numbers the part of every component, -1 where it is not closed.
    """
    if not (part >= 0).any():
        return
    of_cell = np.append(part, -1)[components.label]
    least = np.full(int(part.max()) + 1, np.inf)
    touching = (separating > 0) & (of_cell >= 0)
    np.minimum.at(least, of_cell[touching], q[touching])
    least[~np.isfinite(least)] = 0.0
    inside = of_cell >= 0
    q[inside] -= least[of_cell[inside]]
