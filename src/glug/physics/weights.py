"""Fractions of the control volumes around all samples: how much of each is liquid, how much is not solid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Offset


@dataclass(frozen=True)
class Fractions:
    """One fraction per sample, flat: cells, faces (axis by axis) and edges (pair by pair)."""

    cell: np.ndarray
    face: np.ndarray
    edge: np.ndarray

    @classmethod
    def measure(cls, operators: Operators, fraction: Callable[[Offset], np.ndarray]) -> Fractions:
        """From a function that measures the control volumes around the samples at an offset."""

        def all_of(offsets: tuple[Offset, ...]) -> np.ndarray:
            return np.concatenate([np.asarray(fraction(o), dtype=float).ravel() for o in offsets])

        return cls(all_of((CENTRE,)), all_of(operators.faces), all_of(operators.edges))

    @classmethod
    def full(cls, operators: Operators) -> Fractions:
        return cls.measure(operators, lambda offset: np.ones(operators.count(offset)))

    def minus(self, inner: Fractions) -> Fractions:
        """Without the part that is in `inner`, which lies inside."""
        return Fractions(self.cell - inner.cell, self.face - inner.face, self.edge - inner.edge)
