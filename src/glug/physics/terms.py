"""Reduced unknowns of a problem: velocities of rigid bodies, pressures of bubbles.

Every item of a term (a body, a bubble) has a few unknowns z, which meet the unknowns x of a grid in sparse rows J:

    [ A   J' ] [ x ]   [ b ]
    [ J   H  ] [ z ] = [ h ]        z = T (J x - h),     T = -H^-1,     (A + J' T J) x = b + J' T h.

H is block diagonal within a term. Terms that act on each other without the grid between them (the air of a bubble on a
body) have blocks X of H between them, and T is then minus the inverse of the whole H. So any terms compose in one
solve, and a new one has to say no more than `Term` asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np

from glug.grids.regular import Staggered
from glug.solvers.cg import System, Vector
from glug.solvers.low_rank import Coupled, Joined, LowRank, Rows

MOVES = 1e-4  # share of a part's rows that has to be left of their sum: less is rounding


class Term(Protocol):
    """Reduced unknowns of one kind."""

    @property
    def rows(self) -> Sequence[Rows]:
        """J' of every item, over all samples of the grid laid end to end."""
        ...

    @property
    def T(self) -> np.ndarray:
        """(items, m, m): symmetric, of either sign."""
        ...

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        """h (items, m) for a right-hand side b, which may be made consistent with it in place."""
        ...

    def respond(self, y: np.ndarray) -> np.ndarray:
        """T y (items, m)."""
        ...

    def finish(self, z: np.ndarray, x: Vector) -> None:
        """Take the solution z that goes with x."""
        ...

    def crossing(self, other: Term) -> np.ndarray | None:
        """X (items m, items m of the other); None where they meet in the grid alone, or where the other answers."""
        ...


class Eliminated:
    """Terms over the unknowns of systems with one `mask`.

    number  where the vectors of the system are numbered otherwise than the samples: of every sample, -1 for none
    """

    def __init__(self, mask: Vector, terms: Sequence[Term], number: np.ndarray | None = None):
        self.terms = list(terms)
        self.parts = [LowRank(mask, numbered(t.rows, number), t.T) for t in terms]

    @cached_property
    def crossings(self) -> dict[tuple[int, int], np.ndarray]:
        """X between terms i < j by their places in the list, (items_i m_i, items_j m_j), where it is not zero."""
        found = {}
        for (i, one), (j, other) in combinations(enumerate(self.terms), 2):
            X, back = one.crossing(other), other.crossing(one)
            if X is None and back is not None:
                X = back.T
            if X is not None and np.any(X):
                found[i, j] = X
        return found

    def part_of(self, term: Term) -> LowRank:
        """J' T J of one of the terms."""
        return next(part for own, part in zip(self.terms, self.parts) if own is term)

    @cached_property
    def low_rank(self) -> LowRank | Joined | None:
        """J' T J; None without any term."""
        if len(self.parts) < 2:
            return self.parts[0] if self.parts else None
        return Joined(self.parts, self._joined_T() if self.crossings else None)

    def _joined_T(self) -> np.ndarray:
        """(1 - T X)^-1 T, with the terms' own T: the inverse of T^-1 - X, also where T lacks motions (an axle)."""
        ends = np.cumsum([0, *(part.rank for part in self.parts)])
        T, X = np.zeros((2, ends[-1], ends[-1]))
        for begin, part in zip(ends, self.parts):
            for n, own in enumerate(part.T):
                at = slice(begin + n * part.m, begin + (n + 1) * part.m)
                T[at, at] = own
        for (i, j), block in self.crossings.items():
            X[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
            X[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = block.T
        found = np.linalg.solve(np.eye(len(T)) - T @ X, T)
        return 0.5 * (found + found.T)

    def couple(self, system: System) -> System:
        """The system with all terms eliminated."""
        return system if self.low_rank is None else Coupled(system, self.low_rank)

    def prepare(self, b: Vector, given: Sequence[np.ndarray]) -> None:
        """b += J' T h, in place."""
        for part, z in zip(self.parts, self._respond(given)):
            if np.any(z):
                part.add(z, b)

    def finish(self, x: Vector, fields: Vector, given: Sequence[np.ndarray]) -> None:
        """Hand every term its solution; `fields` are x on the grid."""
        excess = [part.sums(x) - h for part, h in zip(self.parts, given)]
        for term, z in zip(self.terms, self._respond(excess)):
            term.finish(z, fields)

    def _respond(self, ys: Sequence[np.ndarray]) -> list[np.ndarray]:
        """T y of every term."""
        if isinstance(self.low_rank, Joined) and self.low_rank.T is not None:
            return self.low_rank.split(self.low_rank.times_matrix(np.concatenate([y.ravel() for y in ys])))
        return [term.respond(y) for term, y in zip(self.terms, ys)]


def moved(term: Term, label: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` parts, by the `label` of samples, move a term when all their unknowns rise together."""
    found = np.zeros(count, np.bool_)
    for (sample, value), T in zip(term.rows, term.T):
        part = label.reshape(-1)[sample]
        net, gross = np.zeros((2, count, len(T)))
        np.add.at(net, part[part >= 0], value[part >= 0].reshape(-1, len(T)))
        np.add.at(gross, part[part >= 0], np.abs(value[part >= 0]).reshape(-1, len(T)))
        found |= (np.abs(net) > MOVES * np.maximum(gross, 1.0)).any(axis=1) & (np.abs(T).max() > 0.0)
    return found


def numbered(rows: Sequence[Rows], number: np.ndarray | None) -> Sequence[Rows]:
    """Rows over samples with other numbers; those without one are left out."""
    if number is None:
        return rows
    kept = [(number[sample], value) for sample, value in rows]
    return [(sample[sample >= 0], value[sample >= 0]) for sample, value in kept]
