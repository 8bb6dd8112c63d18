"""Smoothers of multigrid: Gauss-Seidel over coloured blocks, and polynomials of Jacobi."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from glug.grids.blocks import TILE
from glug.solvers import kernels
from glug.solvers.cg import Vector
from glug.solvers.multigrid import Level


class Colours(NamedTuple):
    """Blocks, and their numbers, by colour: starts[c] .. starts[c + 1] are those of colour c, which never touch."""

    blocks: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray

    def each(self, forward: bool) -> Iterator[np.ndarray]:
        """The blocks of every colour, in order or in the opposite one."""
        parts = np.split(self.blocks, self.starts[1:-1])
        return iter(parts if forward else parts[::-1])


class SweptLevel(Level, Protocol):
    @property
    def colours(self) -> Colours: ...

    def sweep(self, b: Vector, x: Vector, colours: Colours, forward: bool, times: int) -> None:
        """Gauss-Seidel over the blocks, colour by colour or in the opposite order, in place.

        `times` sweeps, each over all blocks or all in one block before the next: a level does what is faster for it.
        """
        ...


class PolynomialLevel(Level, Protocol):
    def relax(self, b: Vector, x: Vector, before: Vector, keep: float, step: float) -> None:
        """before = x + keep (x - before) + step D^-1 (b - A x)."""
        ...


def coloured(blocks: np.ndarray) -> Colours:
    """Blocks in four colours; runs along z of one column are a tile apart."""
    colour = blocks[:, 0] // TILE % 2 * 2 + blocks[:, 1] // TILE % 2
    numbers = np.argsort(colour, kind="stable")
    return Colours(blocks[numbers], numbers, np.cumsum([0, *np.bincount(colour, minlength=4)]))


@dataclass(frozen=True)
class GaussSeidel:
    """`sweeps` sweeps before and after the coarse correction."""

    sweeps: int = 1

    def start(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        level.sweep(b, x, level.colours, True, self.sweeps)

    def backward(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        level.sweep(b, x, level.colours, False, self.sweeps)


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in D^-1 A: one `relax` for every pair (keep, step) of `terms`."""

    terms: tuple[tuple[float, float], ...]

    def start(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        now, before = x, scratch
        for keep, step in self.terms:
            level.relax(b, now, before, keep, step)
            now, before = before, now
        if now is not x:
            kernels.copy(now, x, level.blocks)

    backward = forward


def chebyshev(degree: int, largest: float) -> Polynomial:
    """The polynomial that damps the eigenvalues of D^-1 A up to `largest` best.

    Chebyshev polynomials of the fourth kind (Lottes 2023) need no lower end of the spectrum.
    """
    keep = [(2 * n - 1) / (2 * n + 3) if n else 0.0 for n in range(degree)]
    return Polynomial(tuple((keep[n], (8 * n + 4) / ((2 * n + 3) * largest)) for n in range(degree)))


def damped_jacobi(sweeps: int, factor: float) -> Polynomial:
    """Jacobi with a constant factor: the published baseline."""
    return Polynomial(((0.0, factor),) * sweeps)
