"""Smoothers of multigrid: Gauss-Seidel over coloured blocks, and polynomials of Jacobi."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from glug.solvers import kernels
from glug.solvers.cg import Vector
from glug.solvers.multigrid import Level


class SweptLevel(Level, Protocol):
    colours: tuple[np.ndarray, ...]  # blocks by colour: two of one colour never touch

    def sweep(self, b: Vector, x: Vector, blocks: np.ndarray, forward: bool) -> None:
        """Gauss-Seidel over `blocks`, in place."""
        ...


class BlockLevel(Level, Protocol):
    @property
    def colours(self) -> tuple[np.ndarray, ...]: ...

    def sweep(self, b: Vector, x: Vector, blocks: np.ndarray, forward: bool, times: int) -> None:
        """Gauss-Seidel over `blocks`, `times` in each, in place."""
        ...


class PolynomialLevel(Level, Protocol):
    def relax(self, b: Vector, x: Vector, before: Vector, keep: float, step: float) -> None:
        """before = x + keep (x - before) + step D^-1 (b - A x)."""
        ...


def coloured(blocks: np.ndarray, tile: int = 8) -> tuple[np.ndarray, ...]:
    """Blocks in four colours; runs along z of one column are a tile apart."""
    colour = blocks[:, 0] // tile % 2 * 2 + blocks[:, 1] // tile % 2
    return tuple(np.ascontiguousarray(blocks[colour == c]) for c in range(4))


@dataclass(frozen=True)
class GaussSeidel:
    """`sweeps` sweeps before and after the coarse correction."""

    sweeps: int = 1

    def start(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            for blocks in level.colours:
                level.sweep(b, x, blocks, True)

    def backward(self, level: SweptLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            for blocks in reversed(level.colours):
                level.sweep(b, x, blocks, False)


@dataclass(frozen=True)
class BlockSweeps:
    """`sweeps` sweeps of every block before and after the coarse correction, without what its neighbours do meanwhile.

    A block is read from memory once, so that every sweep after the first costs next to nothing.
    """

    sweeps: int = 1

    def start(self, level: BlockLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: BlockLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for blocks in level.colours:
            level.sweep(b, x, blocks, True, self.sweeps)

    def backward(self, level: BlockLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for blocks in reversed(level.colours):
            level.sweep(b, x, blocks, False, self.sweeps)


@dataclass(frozen=True)
class Chebyshev:
    """Polynomial of degree `degree` in D^-1 A that damps the eigenvalues up to `largest` best.

    Chebyshev polynomials of the fourth kind (Lottes 2023) need no lower end of the spectrum.
    """

    degree: int
    largest: float

    def start(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        now, before = x, scratch
        for n in range(self.degree):
            keep = (2 * n - 1) / (2 * n + 3) if n else 0.0
            level.relax(b, now, before, keep, (8 * n + 4) / ((2 * n + 3) * self.largest))
            now, before = before, now
        if now is not x:
            kernels.copy(now, x, level.blocks)

    backward = forward


@dataclass(frozen=True)
class DampedJacobi:
    """Jacobi with a constant factor: the published baseline."""

    sweeps: int
    factor: float

    def start(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        kernels.clear(x, level.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: PolynomialLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        now, before = x, scratch
        for _ in range(self.sweeps):
            level.relax(b, now, before, 0.0, self.factor)
            now, before = before, now
        if now is not x:
            kernels.copy(now, x, level.blocks)

    backward = forward
