"""Fractions of the control volumes around all samples: how much of each is liquid, how much is not solid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.geometry.fractions import liquid_volume, solid_volume
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Offset, midway

LEAST_FRACTION = 1e-3  # of a level set: what is smaller counts as nothing, sampled distances know no better


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
    def of_liquid(cls, operators: Operators, phi: np.ndarray) -> Fractions:
        """Liquid fractions from a level set: the liquid's distance at cell centres [m]."""
        return cls.measure(operators, lambda o: _trimmed(liquid_volume(phi, operators.grid, o)))

    @classmethod
    def outside_solid(cls, operators: Operators, nodes: np.ndarray) -> Fractions:
        """What is not solid, from a level set: the solid's distance at cell corners [m]."""
        return cls.measure(operators, lambda o: _trimmed(1.0 - solid_volume(nodes, operators.grid, o)))

    @classmethod
    def full(cls, operators: Operators) -> Fractions:
        return cls.measure(operators, lambda offset: np.ones(operators.count(offset)))


def _trimmed(fraction: np.ndarray) -> np.ndarray:
    return np.where(fraction < LEAST_FRACTION, 0.0, np.minimum(fraction, 1.0))


def at_samples(field: np.ndarray, operators: Operators) -> tuple[np.ndarray, np.ndarray]:
    """A field over the cells at cells and edges, flat: the mean of the cells around an edge."""
    edges = [_mean_around(field, offset) for offset in operators.edges]
    return field.ravel().astype(np.float64), np.concatenate([e.ravel() for e in edges])


def _mean_around(cells: np.ndarray, offset: Offset) -> np.ndarray:
    out = cells.astype(np.float64)
    for a, (o, centre) in enumerate(zip(offset, CENTRE)):
        if o != centre:
            pad = [(1, 1) if b == a else (0, 0) for b in range(3)]
            out = midway(np.pad(out, pad, mode="edge"), a)
    return out
