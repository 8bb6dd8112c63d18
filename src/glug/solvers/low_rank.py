"""Systems A + J' T J: a grid's operator with a few reduced unknowns per item eliminated.

A rigid body (6 unknowns), an affine region (11) or a bubble of one pressure (1) meets the grid in sparse rows J; T is
its small symmetric matrix. Eliminating unknowns z from [A, J'; J, H] gives A - J' H^-1 J: there T = -H^-1.
J' T J is applied in factored form and never assembled.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glug.solvers import kernels_low_rank as kernels
from glug.solvers.cg import System, Vector

Rows = tuple[np.ndarray, np.ndarray]
"""Samples (n,) as flat indices into all components of a vector laid end to end, and coefficients (n, m)."""

CHUNK = 2048  # entries that one thread sums at a time


@dataclass(frozen=True)
class _Part:
    """The rows of all items in one component of the vectors, and the same by sample."""

    cell: np.ndarray
    coefficient: np.ndarray  # (m, n)
    item: np.ndarray  # of every entry
    chunks: np.ndarray  # (k, 2) ranges of entries, each of one item
    touched: np.ndarray  # samples, each once
    first: np.ndarray  # where their entries begin, sorted by sample
    sorted_item: np.ndarray
    sorted_coefficient: np.ndarray  # (n, m)

    @classmethod
    def build(cls, cell: np.ndarray, coefficient: np.ndarray, item: np.ndarray) -> "_Part":
        ends = np.flatnonzero(np.diff(item, append=-1)) + 1 if len(item) else np.zeros(0, np.int64)
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
        pairs = [(s, min(s + CHUNK, b)) for a, b in zip(starts, ends) for s in range(a, b, CHUNK)]
        order = np.argsort(cell, kind="stable")
        touched, first = np.unique(cell[order], return_index=True)
        return cls(
            cell,
            np.ascontiguousarray(coefficient.T),
            item,
            np.array(pairs, np.int64).reshape(-1, 2),
            touched,
            np.append(first, len(cell)).astype(np.int64),
            item[order],
            coefficient[order],
        )


class LowRank:
    """J' T J of items with m reduced unknowns each.

    mask    of the system: entries at samples without an unknown are left out
    rows    J' of every item
    T       (items, m, m), symmetric, of either sign
    """

    def __init__(self, mask: Vector, rows: Sequence[Rows], T: np.ndarray):
        self.T = np.asarray(T, np.float64)
        self.items, self.m = self.T.shape[:2]
        if len(rows) != self.items:
            raise ValueError(f"{len(rows)} items have rows, {self.items} have a matrix")
        none = np.zeros(0, np.int64), np.zeros((0, self.m))
        cell = np.concatenate([none[0], *(np.asarray(c, np.int64) for c, _ in rows)])
        coefficient = np.concatenate([none[1], *(np.asarray(k, np.float64).reshape(-1, self.m) for _, k in rows)])
        item = np.repeat(np.arange(self.items), [len(c) for c, _ in rows])
        self._parts = []
        begin = 0
        for m in mask:
            mine = np.flatnonzero((cell >= begin) & (cell < begin + m.size))
            mine = mine[m.reshape(-1)[cell[mine] - begin] > 0]
            self._parts.append(_Part.build(cell[mine] - begin, coefficient[mine], item[mine]))
            begin += m.size

    def with_matrix(self, T: np.ndarray) -> "LowRank":
        """The same rows with another T."""
        other = copy.copy(self)
        other.T = np.asarray(T, np.float64)
        return other

    @property
    def rank(self) -> int:
        """Number of reduced unknowns."""
        return self.items * self.m

    def sums(self, x: Vector) -> np.ndarray:
        """J x, (items, m), in float64."""
        y = np.zeros((self.items, self.m))
        for part, component in zip(self._parts, x):
            if len(part.chunks):
                partial = np.empty((len(part.chunks), self.m))
                kernels.sum_rows(component.reshape(-1), part.cell, part.coefficient, part.chunks, partial)
                np.add.at(y, part.item[part.chunks[:, 0]], partial)
        return y

    def spread(self, z: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """J' z: samples and values, per component."""
        z = np.ascontiguousarray(z, np.float64)
        found = []
        for part in self._parts:
            values = np.empty(len(part.touched))
            if len(values):
                kernels.spread_rows(z, part.first, part.sorted_item, part.sorted_coefficient, values)
            found.append((part.touched, values))
        return found

    def add(self, z: np.ndarray, q: Vector) -> None:
        """q += J' z."""
        z = np.ascontiguousarray(z, np.float64)
        for part, component in zip(self._parts, q):
            if len(part.touched):
                samples = part.touched, part.first, part.sorted_item, part.sorted_coefficient
                kernels.add_rows(z, *samples, component.reshape(-1))

    def touched(self) -> list[np.ndarray]:
        """The samples with entries, per component."""
        return [part.touched for part in self._parts]

    def times_matrix(self, y: np.ndarray) -> np.ndarray:
        """T y, item by item."""
        return np.einsum("bij,bj->bi", self.T, y)

    def columns(self, mask: Vector):  # type: ignore[no-untyped-def]
        """J' over the samples with a positive `mask`, in C order, as `scipy.sparse`."""
        from scipy import sparse

        active = [m.reshape(-1) > 0 for m in mask]
        ends = np.cumsum([0, *(int(a.sum()) for a in active)])
        columns = []
        for part, a, begin in zip(self._parts, active, ends):
            number = np.cumsum(a) - 1 + begin
            columns.append((number[part.cell], part.item, part.coefficient.T))
        at, item, value = (np.concatenate(c) for c in zip(*columns))
        place = np.repeat(at, self.m), (item[:, None] * self.m + np.arange(self.m)).ravel()
        return sparse.csc_matrix((value.ravel(), place), shape=(int(ends[-1]), self.rank))

    def assemble(self, mask: Vector):  # type: ignore[no-untyped-def]
        """J' T J over the samples with a positive `mask`, as `scipy.sparse`."""
        from scipy import sparse

        J = self.columns(mask)
        return J @ sparse.block_diag(list(self.T), format="csc") @ J.T if self.items else sparse.csc_matrix(J @ J.T)

    def diagonal(self, diagonal: Vector) -> Vector:
        """`diagonal` of A with that of J' T J added."""
        out = tuple(d.copy() for d in diagonal)
        for component, part in zip(out, self._parts):
            # Entries of one item at one sample add up before they are squared.
            pair, where = np.unique(part.cell * self.items + part.item, return_inverse=True)
            k = np.zeros((len(pair), self.m))
            np.add.at(k, where, part.coefficient.T)
            item = pair % self.items if self.items else pair
            np.add.at(component.reshape(-1), pair // max(1, self.items), np.einsum("ei,eij,ej->e", k, self.T[item], k))
        return out


class Joined:
    """Several of them at once, J' T J with the rows of all; their sums and reduced unknowns are laid end to end.

    T    (rank, rank), where unknowns of different parts act on each other; None where every part has its own
    """

    def __init__(self, parts: Sequence[LowRank], T: np.ndarray | None = None):
        self.parts, self.T = tuple(parts), T
        self.rank = sum(part.rank for part in parts)
        self._ends = np.cumsum([part.rank for part in parts])[:-1]

    def split(self, y: np.ndarray) -> list[np.ndarray]:
        """What belongs to each part, (items, m)."""
        return [v.reshape(p.items, p.m) for v, p in zip(np.split(y, self._ends), self.parts)]

    def sums(self, x: Vector) -> np.ndarray:
        """J x, (rank,)."""
        return np.concatenate([part.sums(x).ravel() for part in self.parts])

    def times_matrix(self, y: np.ndarray) -> np.ndarray:
        """T y."""
        if self.T is not None:
            return np.einsum("ij,j->i", self.T, y)  # no matrix product: its sums would depend on threads
        return np.concatenate([p.times_matrix(v).ravel() for p, v in zip(self.parts, self.split(y))])

    def add(self, z: np.ndarray, q: Vector) -> None:
        """q += J' z."""
        for part, own in zip(self.parts, self.split(z)):
            part.add(own, q)

    def spread(self, z: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """J' z: samples, each once, and values, per component."""
        each = [part.spread(own) for part, own in zip(self.parts, self.split(z))]
        found = []
        for entries in zip(*each):
            touched, where = np.unique(np.concatenate([cell for cell, _ in entries]), return_inverse=True)
            found.append((touched, np.bincount(where, np.concatenate([v for _, v in entries]), len(touched))))
        return found

    def touched(self) -> list[np.ndarray]:
        """The samples with entries, per component."""
        return [np.unique(np.concatenate(cells)) for cells in zip(*(part.touched() for part in self.parts))]

    def assemble(self, mask: Vector):  # type: ignore[no-untyped-def]
        """J' T J as `LowRank.assemble` gives it."""
        from scipy import sparse

        if self.T is None:
            return sum(part.assemble(mask) for part in self.parts)
        J = sparse.hstack([part.columns(mask) for part in self.parts], format="csc")
        return (J @ sparse.csc_matrix(self.T) @ J.T).tocsc()


class Coupled:
    """The system A + J' T J."""

    def __init__(self, system: System, low_rank: LowRank | Joined):
        self.system, self.low_rank = system, low_rank
        self.name, self.unknowns = system.name, system.unknowns
        self.mask, self.blocks = system.mask, system.blocks

    def apply(self, d: Vector, q: Vector) -> float:
        """q = (A + J' T J) d; returns d . q."""
        total = self.system.apply(d, q)
        y = self.low_rank.sums(d)
        z = self.low_rank.times_matrix(y)
        self.low_rank.add(z, q)
        return total + float((y * z).sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - (A + J' T J) x in float64.

        What A and the items contribute may cancel, so b - J' T J x goes into A's residual, and what float32 cannot
        hold of it is added afterwards.
        """
        low = self.low_rank
        shares = low.spread(low.times_matrix(low.sums(x)))
        kept, rest = [], []
        for component, (touched, values) in zip(b, shares):
            flat = component.reshape(-1)
            kept.append(flat[touched])
            exact = flat[touched].astype(np.float64) - values
            flat[touched] = exact
            rest.append(exact - flat[touched])
        self.system.residual(b, x, r)
        for component, out, (touched, _), old, more in zip(b, r, shares, kept, rest):
            component.reshape(-1)[touched] = old
            out.reshape(-1)[touched] += more
