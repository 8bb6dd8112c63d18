"""Constraint bubbles in a Stokes solve: all cells of a bubble share one pressure, s = Q lambda.

The bubble's continuity is the sum of its cells', in which the faces between them cancel: no net flux into it. Its
pressure lambda lives in one of them, its *home*, whose row of B is that of any cell; the term adds the others' rows,

    B_home + j,     j = sum of B over the other cells of the bubble,

which is j e' + e j' in the symmetric matrix, e being one at home: J' T J of two rows j and e with T = [0 1; 1 0]. The
solve does not know it from a cell with many faces. Elsewhere air is at s = 0, and so is the largest bubble of a group
without open air, which knows its pressures up to a constant: what it loses is what the others gain.
"""

from __future__ import annotations

import numpy as np

from glug.grids.regular import Staggered
from glug.physics.air.bubbles import Bubbles
from glug.physics.terms import Term
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Rows

SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])


class SharedPressures:
    """The bubbles of a pressure problem as a term over faces and cells; `flux` as in `physics.stokes.levels`.

    Those that no unknown face touches are left at s = 0. `home` are the cells (flat) with the pressures of the others,
    `cell` where the pressure of every cell lives, `members` (uint8) the cells that share one.
    """

    def __init__(self, bubbles: Bubbles, flux: Staggered):
        self.bubbles = bubbles
        label = bubbles.regions.label
        number = np.full(len(bubbles.regions) + 1, -1)
        number[bubbles.number] = np.arange(len(bubbles))
        self._bubble = number[label].reshape(-1)  # of every cell, -1 for none
        face, bubble, value, wide = _surface(self._bubble.reshape(label.shape), flux)
        homes = np.full(len(bubbles) + 1, -1)
        order = np.argsort(-wide, kind="stable")[: np.count_nonzero(wide)]
        which, first = np.unique(self._bubble[order], return_index=True)
        homes[which] = order[first]
        homes[:-1][bubbles.anchors] = -1
        self.chosen = np.flatnonzero(homes >= 0)
        self.home = homes[self.chosen]
        own = homes[self._bubble]
        self.cell = np.where(own >= 0, own, np.arange(label.size))
        self.members = (own >= 0).view(np.uint8).reshape(label.shape)
        self.T = np.tile(SWAP, (len(self.home), 1, 1))
        faces = sum(f.size for f in flux)
        self.rows: list[Rows] = []
        for n, home in zip(self.chosen, self.home):
            mine = bubble == n
            beside, own = _row(home, flux)
            index = np.concatenate([face[mine], beside, [faces + home]])
            entries = np.zeros((len(index), 2))
            entries[:-1, 0] = np.concatenate([value[mine], -own])
            entries[-1, 1] = 1.0
            self.rows.append((index, entries))

    @property
    def air(self) -> np.ndarray:
        """The cells of all bubbles (uint8)."""
        return (self._bubble >= 0).view(np.uint8).reshape(self.members.shape)

    def gather(self, g: np.ndarray) -> None:
        """Put what is known of the flux into the cells of every bubble at its home, in place.

        What is asked of groups of liquid and bubbles without open air is made to sum to zero.
        """
        flat, at = g.reshape(-1), np.flatnonzero(self._bubble >= 0)
        h = -np.bincount(self._bubble[at], flat[at].astype(np.float64), len(self.bubbles))
        flat[at] = 0.0
        self.bubbles.balance(g, h, np.zeros(len(h)))
        flat[self.home] = -h[self.chosen]

    def fill(self, s: np.ndarray) -> np.ndarray:
        """The pressures of homes in all cells of their bubbles."""
        return s.reshape(-1)[self.cell].reshape(s.shape)

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        return np.zeros((len(self.home), 2))

    def respond(self, y: np.ndarray) -> np.ndarray:
        return y[:, ::-1]

    def finish(self, z: np.ndarray, x: Vector) -> None:
        """Pressures are in x."""

    def crossing(self, other: Term) -> None:
        """Bodies meet bubbles in their homes."""


def _surface(found: np.ndarray, flux: Staggered) -> tuple[np.ndarray, ...]:
    """The faces of bubbles: number, bubble, coefficient in the sum of its rows; and what passes into every cell."""
    faces, bubbles, values, wide, begin = [], [], [], np.zeros(found.shape), 0
    for a, f in enumerate(flux):
        inner = np.moveaxis(f, a, 0)[1:-1]
        cells = np.moveaxis(found, a, 0)
        number = np.moveaxis(begin + np.arange(f.size).reshape(f.shape), a, 0)[1:-1]
        passes = (inner > 0) & (cells[1:] != cells[:-1])
        for side, sign, own in ((cells[1:], 1.0, slice(1, None)), (cells[:-1], -1.0, slice(None, -1))):
            at = passes & (side >= 0)
            faces.append(number[at])
            bubbles.append(side[at])
            values.append(sign * inner[at].astype(np.float64))
            np.moveaxis(wide, a, 0)[own] += np.where(at, inner, 0.0)
        begin += f.size
    for a in range(3):  # stencils do not reach the border
        ends = np.moveaxis(wide, a, 0)
        ends[0], ends[-1] = 0.0, 0.0
    return np.concatenate(faces), np.concatenate(bubbles), np.concatenate(values), wide.reshape(-1)


def _row(cell: int, flux: Staggered) -> tuple[np.ndarray, np.ndarray]:
    """Its row of B: faces and coefficients."""
    shape = flux[0].shape[0] - 1, flux[0].shape[1], flux[0].shape[2]
    at = np.array(np.unravel_index(cell, shape))
    faces, values, begin = [], [], 0
    for a, f in enumerate(flux):
        for step, sign in ((0, 1.0), (1, -1.0)):
            place = tuple(at + step * (np.arange(3) == a))
            faces.append(begin + int(np.ravel_multi_index(place, f.shape)))
            values.append(sign * float(f[place]))
        begin += f.size
    return np.array(faces), np.array(values)
